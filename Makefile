# Everything runs in .venv, which `make setup` creates; nothing outside this folder is touched.
# The two to know: `make demo` and `make test`.

SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Most modules of PyTorch and its kin are never imported: Python compiles a module at its first import.
INSTALL := $(PIP) install --no-compile
CONSTRAINTS := .ci/constraints.txt
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
TESTS ?=
SHARE ?= all
RLLIB := build/rllib-venv
EXTRAS := build/extras-venv
CLUSTERS := build/clusters-venv
FRAMEWORKS := build/frameworks-venv
DOCS := build/docs-venv
# Tests start many Pythons: where containers set this, each would compile every module anew.
export PYTHONDONTWRITEBYTECODE :=
ECOSYSTEMS := gymnasium*.py pettingzoo*.py rllib*.py sb3*.py

native_sources := csrc/CMakeLists.txt $(shell find csrc -name '*.cpp' -not -path 'csrc/tests/*' -o -name '*.hpp' -not -path 'csrc/tests/*')
cpp_files = $(shell find csrc -name '*.cpp' -o -name '*.hpp')

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-products test-rllib test-frameworks test-matrix test-extras test-clusters oracle lint types format format-check cpp-test sanitize bench docs docs-links wheel clean distclean
.DELETE_ON_ERROR:

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/installed ## create .venv, build the core, install everything for development

demo: $(VENV)/core ## compare five routing policies on 1,056 hosts: table, figure and page in results/demo/
	$(BIN)/dragonfly-env sweep examples/demo.toml --out results/demo

test: setup ## every fact once: Python tests, products of parameters pairwise (some of them: make test TESTS='-k topology -x')
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(TESTS)

test-all: test test-products test-rllib test-frameworks test-extras test-clusters test-matrix ## everything that can be tested here, complete products included

test-products: setup ## slow tests, and complete products of parameters, of which `make test` takes every pair of values (SHARE=3/20: a share)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m 'product or slow' --products $(SHARE)

test-rllib: setup $(RLLIB)/installed ## the ecosystems' checkers with RLlib, and the older gymnasium that it pins
	$(RLLIB)/bin/python -m pytest -n $(JOBS) -k 'not leave_nothing_behind' $(wildcard $(addprefix tests/conformance/test_,$(ECOSYSTEMS)))

test-frameworks: setup $(FRAMEWORKS)/installed ## TorchRL, BenchMARL, Tianshou and SuperSuit on the PettingZoo views, with their examples
	$(FRAMEWORKS)/bin/python -m pytest -n $(JOBS) tests/conformance/test_frameworks.py

test-matrix: cpp-test ## the wheel on every Python found, on the oldest one with the oldest versions allowed
	@.ci/test-matrix $(BIN) build/matrix $(JOBS)

test-extras: setup $(EXTRAS)/installed ## learners and checkers with the oldest versions of [sb3] and [rllib]
	$(EXTRAS)/bin/python -m pytest -n $(JOBS) tests/conformance/test_rllib.py tests/conformance/test_sb3.py \
		tests/unit/agents/test_deep_q.py tests/unit/agents/test_ppo.py tests/unit/cli/test_cli_train.py tests/unit/test_packaging.py

test-clusters: setup $(CLUSTERS)/installed ## sweeps on real clusters of this machine, Ray and Dask, of which workers are killed
	$(CLUSTERS)/bin/python -m pytest tests/clusters

oracle: setup ## what must not change (identifiers of runs, settings of the core, verdicts, public names): difference to BASE=commit
	@$(BIN)/python -m tests.identity.dump $(if $(BASE),--base $(BASE)) $(if $(WRITE),--write)

lint: setup ## ruff: rules and formatting; the wording of pages, docstrings and help texts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python docs/_ext/dragonfly_docs/wording.py

types: setup ## mypy --strict
	$(BIN)/mypy
	MYPYPATH=docs/_ext $(BIN)/mypy -p dragonfly_docs

format: setup ## format Python and C++ in place
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(cpp_files)

format-check: setup ## clang-format, without changing anything
	$(BIN)/clang-format --dry-run -Werror $(cpp_files)

cpp-test: setup ## C++ unit tests, with assertions on and all warnings as errors
	@.ci/cpp-test $(BIN) build/cpp-test ""

sanitize: setup ## C++ tests and a short run from Python under ASan + UBSan, then under TSan
	@.ci/sanitize $(BIN)

bench: setup ## speed and scale, as JSON in results/bench/
	$(BIN)/python -m benchmarks --out results/bench

docs: setup $(DOCS)/installed ## the documentation's site in build/docs/: snippets run, links checked, warnings are errors
	$(DOCS)/bin/python -m sphinx -b html -E -a -n -W --keep-going -q docs build/docs

wheel: setup ## a source archive and a manylinux wheel in dist/, each installed elsewhere and tried
	@.ci/wheel $(BIN) dist build/wheel

docs-links: docs ## whether the links to other sites lead somewhere (needs a network)
	$(DOCS)/bin/python -m sphinx -b linkcheck -n -W --keep-going -q docs build/docs-links

clean: ## remove what was built (keeps .venv and results)
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

distclean: clean ## remove .venv too
	rm -rf $(VENV)

# The virtual environment, and what the build needs: cmake and ninja come from pip as well.
$(VENV)/ready: pyproject.toml $(CONSTRAINTS) .ci/check-system
	@.ci/check-system $(PYTHON)
	@test -x $(BIN)/python || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing build tools"
	@$(INSTALL) -c $(CONSTRAINTS) 'scikit-build-core>=1.1' 'pybind11>=3.1' cmake ninja
	@touch $@

# Python files are used where they stand; only a change in csrc needs a build, and that is incremental.
$(VENV)/core: $(VENV)/ready $(native_sources)
	@echo "building the core and installing (in silence; the first time some three minutes of a processor)"
	@headers=$$(.ci/python-headers $(BIN)/python $(CURDIR)/$(VENV)/include/headers) && \
		CMAKE_ARGS="$$CMAKE_ARGS $$headers" $(INSTALL) -c $(CONSTRAINTS) --no-build-isolation -e '.[analysis]'
	@touch $@

# What learners, tests and linters need beside it: PyTorch is most of that.
$(VENV)/installed: $(VENV)/core .ci/extra.py
	@echo "installing what development needs"
	@mkdir -p build && $(BIN)/python .ci/extra.py dev >build/dev-requirements.txt
	@$(INSTALL) -c $(CONSTRAINTS) -r build/dev-requirements.txt
	@echo "ready; to have python and dragonfly-env at hand: . $(BIN)/activate"
	@touch $@

# RLlib wants a gymnasium of its own: both lie in a second environment in front of .venv.
$(RLLIB)/installed: .ci/overlay-venv $(CONSTRAINTS) | $(VENV)/installed
	@.ci/overlay-venv $(BIN)/python $(RLLIB) -c $(CONSTRAINTS) 'ray[rllib]'
	@touch $@

# What else takes the views brings much of its own, and is nobody's requirement.
$(FRAMEWORKS)/installed: .ci/overlay-venv $(CONSTRAINTS) | $(VENV)/installed
	@.ci/overlay-venv $(BIN)/python $(FRAMEWORKS) -c $(CONSTRAINTS) torchrl benchmarl tianshou supersuit
	@touch $@

# So do the oldest versions of what the extras need. All else comes from .venv, the newest.
$(EXTRAS)/installed: .ci/overlay-venv .ci/oldest.py pyproject.toml | $(VENV)/installed
	@mkdir -p build && $(BIN)/python .ci/oldest.py sb3 rllib >build/oldest-extras.txt
	@.ci/overlay-venv $(BIN)/python $(EXTRAS) -r build/oldest-extras.txt
	@touch $@

# What other machines do sweeps with.
$(CLUSTERS)/installed: .ci/overlay-venv .ci/extra.py $(CONSTRAINTS) pyproject.toml | $(VENV)/installed
	@mkdir -p build && for extra in ray dask; do $(BIN)/python .ci/extra.py $$extra; done >build/clusters-requirements.txt
	@.ci/overlay-venv $(BIN)/python $(CLUSTERS) -c $(CONSTRAINTS) -r build/clusters-requirements.txt
	@touch $@

# Sphinx and its theme too, so that .venv stays small: what the extra [docs] names, in front of .venv.
$(DOCS)/installed: .ci/overlay-venv .ci/extra.py $(CONSTRAINTS) pyproject.toml | $(VENV)/installed
	@mkdir -p build && $(BIN)/python .ci/extra.py docs >build/docs-requirements.txt
	@.ci/overlay-venv $(BIN)/python $(DOCS) -c $(CONSTRAINTS) -r build/docs-requirements.txt
	@touch $@
