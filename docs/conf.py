"""Settings of the documentation's site; ``make docs`` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import dragonfly_env
from dragonfly_docs.inventories import write_inventories

REPOSITORY = ""
"""The public address of the repository, for edit links (``https://HOST/OWNER/NAME``); empty: there is none yet."""

project = "dragonfly-env"
author = "the authors of dragonfly-env"
release = version = dragonfly_env.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "dragonfly_docs.site",
    "dragonfly_docs.snippets",
]
exclude_patterns = ["_ext", "**/*.inc"]
source_suffix = {".md": "markdown"}
root_doc = "index"

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
# "ref.python": a word in a text about values that several classes have as an attribute.
suppress_warnings = ["myst.strikethrough", "ref.python"]

html_theme = "furo"
html_title = f"dragonfly-env {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_theme_options: dict[str, object] = {"navigation_with_keys": True}
if REPOSITORY:
    html_theme_options |= {
        "source_repository": REPOSITORY,
        "source_branch": "main",
        "source_directory": "docs/",
        "source_edit_link": f"{REPOSITORY}/edit/main/docs/{{filename}}",
    }
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:not(.printed) > div.highlight > pre"
html_show_copyright = False
html_copy_source = False
smartquotes = False  # "--set" is an option, no dash
pygments_style = "friendly"
pygments_dark_style = "monokai"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = (
    False  # what a base says of a method is in the reference of the base
)
maximum_signature_line_length = 72
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

intersphinx_mapping = {
    name: (address, (file,))
    for name, (address, file) in write_inventories(
        Path(__file__).parents[1] / "build" / "inventories"
    ).items()
}

# Every reference must lead somewhere (nitpicky, and warnings are errors), but for classes of other projects, of which
# only some are in the inventories, and the names of types in signatures.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!dragonfly_env\b).*\..*"),
    ("py:class", r"\w+"),
    ("py:class", r".*[^\w.].*"),  # words about the values of a setting
    (
        "py:class",
        r"dragonfly_env\.(config\.(rows\.(Record|Made)|groups\.NamedShape)|jobs\.program\.Made|traffic\.base\.NamedTraffic)",
    ),
    ("py:class", r"dragonfly_env\.agents\.network_agent\.TrainedLayout"),
    ("py:class", r"dragonfly_env\.training\.agents\.AgentSource"),
    ("py:class", r"dragonfly_env\.(_core\.Graph|jobs\.models\.Model)"),
    ("py:class", r"dragonfly_env\.(envs\.rounds\.Infos?|colors\.SeriesStyle)"),
    (
        "py:class",
        r"dragonfly_env\.sweeps\.(scenario\.(Policy|Traffic)Choice|progress\.Bar)",
    ),
    (
        "py:(class|obj|data)",
        r"dragonfly_env\..*\.(Several|GivenConfig|\w*Array|Draws|Layer|Floats|Ints|Columns)",
    ),
    ("py:(class|obj)", r"(dragonfly_env\.(.*\.)?)?_.*"),
]
