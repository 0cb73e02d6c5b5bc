"""Settings of the documentation site; `scripts/build_docs.py` builds it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

import bayesbias as bb

project = "bayesbias"
author = "The bayesbias developers"
copyright = author
version = release = bb.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
root_doc = "index"
# Docstrings write names in single backticks.
default_role = "py:obj"
add_module_names = False
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 3

# Types stand in the docstrings.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"bayesbias {version}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "color-brand-primary": "#005b8f",
        "color-brand-content": "#005b8f",
        "color-brand-visited": "#005b8f",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc4ee",
        "color-brand-content": "#7cc4ee",
        "color-brand-visited": "#7cc4ee",
    },
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

_CALL = re.compile(r"(?:\w+ = )?bb\.(\w+(?:\.\w+)*)(?:\W.*)?", re.S)
# A word such as `fit` may be a command, or a method of something else.
_NAME = re.compile(r"(?=\w*[A-Z_])(\w+(?:\.\w+)*)")


def link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Let every mention of a public name in running text lead to its reference."""
    objects = app.env.domains.python_domain.objects
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference | nodes.title):
            continue
        text = literal.astext()
        found = _CALL.fullmatch(text) or _NAME.fullmatch(text)
        place = found and objects.get(f"bayesbias.{found[1]}")
        if place and place.docname != docname:
            literal.replace_self(
                make_refnode(app.builder, docname, place.docname, place.node_id, literal.deepcopy())
            )


def keep_fit(
    app: Sphinx, what: str, name: str, thing: object, options: Any, lines: list[str]
) -> None:
    """Where methods of debiasing are described, `fit` is theirs and not the function."""
    if name.startswith(("bayesbias.debias.Debiaser", "bayesbias.errors.NotFittedError")):
        lines[:] = [line.replace("`fit`", "``fit``") for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what is ours."""
    app.connect("doctree-resolved", link_names)
    app.connect("autodoc-process-docstring", keep_fit)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
