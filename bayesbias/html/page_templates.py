"""The templates of a page: files of HTML in which all that comes from outside is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesbias.html.markup import inline, printable


def fill(template: str, **values: object) -> Markup:
    """Return a template with values in its places: text is escaped, `Markup` is HTML already.

    >>> print(fill("fold.html", title="P<0.05", classes="fold", blocks=Markup("<p>None.</p>")))
    <details class="fold"><summary>P&lt;0.05</summary><p>None.</p></details>
    """
    return Markup(_environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bayesbias.html"),
        autoescape=True,
        finalize=_without_controls,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["inline"] = inline
    return environment


def _without_controls(value: object) -> object:
    """Return what a template shows, before it is escaped, without what no page may hold."""
    return value if isinstance(value, Markup) else printable(value)
