"""The house stays in order: small files, small classes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 400
MOST_METHODS = 26  # public and private ones of a C++ class
_CLASS = re.compile(
    r"^(?:template [^\n]*\n)?(?:class|struct) (?:alignas\(\d+\) )?(\w+)[^;{]*\{$", re.MULTILINE
)


def sources() -> list[Path]:
    """Everything that is written by hand and read by people who change it."""
    folders = ("csrc", "dragonfly_env", "agents", "baselines", "benchmarks", "examples", "tests")
    return [
        path
        for folder in folders
        for suffix in ("*.py", "*.pyi", "*.cpp", "*.hpp")
        for path in sorted((ROOT / folder).rglob(suffix))
        if not path.is_symlink()
    ]


def methods(body: str) -> int:
    """Functions that are declared directly in the body of a class, overloads and constructors included."""
    depth, text = 0, []
    for character in re.sub(r"//[^\n]*|\"[^\"\n]*\"|'.'", "", body):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            text.append(";" if character == "}" else character)
    statements = re.sub(r"\[\[[^\]]*\]\]|\b(?:public|protected|private):", "", "".join(text)).split(";")
    declared = [re.sub(r"\s+", " ", statement).strip() for statement in statements]
    named = re.compile(r"^(?!using|friend|static_assert|enum)[^=]*?\b(?:~?\w+|operator\S{1,3}) ?\(")
    return sum(bool(named.match(statement)) and " = delete" not in statement for statement in declared)


def classes(text: str) -> dict[str, int]:
    """Classes at the top of a header, with the number of their methods."""
    found = {}
    for match in _CLASS.finditer(text):
        end = text.index("\n};", match.end())
        found[match.group(1)] = methods(text[match.end() : end])
    return found


def test_the_counter_counts_methods() -> None:
    text = """
class Counted final : public Base<int> {
 public:
  explicit Counted(int x) : x_{x} {}
  Counted(const Counted&) = delete;
  [[nodiscard]] int x() const noexcept { return f(x_); }  // not f(
  template <class T>
  void each(T&& visit) const;
  bool operator==(const Counted&) const = default;

 private:
  struct Inner {
    void not_mine();
  };
  int x_ = call(1);
  std::vector<int> values_;
};
"""
    assert classes(text) == {"Counted": 4}


def test_no_file_is_longer_than_it_may_be() -> None:
    found = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert len(found) > 300
    assert {name: lines for name, lines in found.items() if lines > MOST_LINES} == {}


def test_no_class_of_the_engine_does_everything() -> None:
    found = {
        f"{path.parent.name}/{path.name}: {name}": count
        for path in sources()
        if path.suffix == ".hpp"
        and path.parent.name in ("core", "topology", "decisions", "network", "simulation")
        for name, count in classes(path.read_text()).items()
    }
    assert found["network/partition.hpp: Partition"] <= 10
    assert {name: count for name, count in found.items() if count > MOST_METHODS} == {}


@pytest.mark.parametrize("name", ["PartitionState", "SourceHosts", "RouterPorts"])
def test_the_floors_of_a_partition_are_counted(name: str) -> None:
    texts = "\n".join(path.read_text() for path in (ROOT / "csrc" / "network").glob("*.hpp"))
    assert 5 <= classes(texts)[name] <= MOST_METHODS
