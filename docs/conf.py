"""Settings of the documentation's site; ``make docs`` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import dragonfly_env

project = "dragonfly-env"
author = "the authors of dragonfly-env"
release = version = dragonfly_env.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "dragonfly_docs.site",
    "dragonfly_docs.snippets",
]
exclude_patterns = ["_ext", "**/*.inc"]
source_suffix = {".md": "markdown"}
root_doc = "index"

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
suppress_warnings = ["myst.strikethrough"]

html_theme = "furo"
html_title = "dragonfly-env"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
html_show_copyright = False
html_copy_source = False
smartquotes = False  # "--set" is an option, no dash
pygments_style = "friendly"
pygments_dark_style = "monokai"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types where they matter; signatures stay readable
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["ray"]  # its environment pins another gymnasium
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

# Every reference must lead somewhere (nitpicky, and warnings are errors), but for classes of other projects: their
# inventories would need a network at every build.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!dragonfly_env\b).*\..*"),
    ("py:class", r"(ABC|ParallelEnv|AECEnv|VecEnv|MultiAgentEnv|ObsType|ActType|ActionType|AgentID)"),
    ("py:(class|obj)", r"(dragonfly_env\.(.*\.)?)?_.*"),
]
