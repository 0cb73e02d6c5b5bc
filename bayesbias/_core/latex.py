"""Tables of results in LaTeX: booktabs rules, escaped names, numbers rounded by their intervals."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from bayesbias._core.rounded_table import RoundedTable, rounded_table

if TYPE_CHECKING:
    import pandas as pd

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # At the start of a row these would belong to the end of the row before.
        "[": "{[}",
        "*": "{*}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": "$-$",
        "–": "--",
        "×": r"$\times$",
        "→": r"$\to$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "∞": r"$\infty$",
        "…": r"\dots{}",
    }
)
#: Characters in a row, with two for the space between columns, that fit beside another column of
#: text.
_NARROW = 40
#: Rows of a table that fit on a page.
_ROWS_OF_PAGE = 45
#: Scales a table down to the width of the text, and never up; for the package graphicx.
_SCALED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{"
#: The format of a column of long texts.
_PARAGRAPH = r"p{0.6\linewidth}"
#: Numbers with a sign, and infinity.
_SIGNED = re.compile(r"[−<>]\d+(?:,\d{3})*(?:\.\d+)?|−?∞")
# A comma in the mode of mathematics would be followed by a space.
_SIGNS = str.maketrans({"−": "-", "∞": r"\infty", ",": "{,}"})


def escape(text: object) -> str:
    r"""Return a text with the characters that LaTeX gives a meaning to made plain.

    >>> print(escape("word_class & 5%"))
    word\_class \& 5\%
    """
    return str(text).translate(_SPECIAL)


def frame_to_latex(
    frame: pd.DataFrame,
    caption: str = "",
    *,
    label: str = "",
    titles: Mapping[str, str] | None = None,
    decimals: Mapping[str, int] | None = None,
    by_row: bool = False,
    paragraphs: Collection[str] = (),
) -> str:
    r"""Return a table as LaTeX, for a document with the packages booktabs, graphicx and longtable.

    An estimate and its interval become one column, ``-0.15 [-0.27, -0.04]``, with two digits of the
    narrowest interval: the columns ``lower`` and ``upper`` belong to ``mean`` (or to the column
    before them), ``x_lower`` and ``x_upper`` to ``x``. The index is left out.

    A table that may be wider than the text is scaled down to fit, with the package graphicx. One
    with more rows than a page has is a ``longtable``, with the package longtable.

    Parameters
    ----------
    frame : DataFrame
        The table, one row per line.
    caption : str, default ""
        The caption; it is escaped, as all texts are.
    label : str, default ""
        What ``\ref`` refers to.
    titles : mapping of str to str, optional
        Headings of columns; by default their names, with spaces for underscores.
    decimals : mapping of str to int, optional
        Digits after the point of columns; by default those of the interval, or else enough for
        three digits of the largest number.
    by_row : bool, default False
        Whether each row is rounded by its own interval, as rows are of different measures.
    paragraphs : collection of str, default ()
        Headings of columns with texts so long that lines have to be broken.

    Returns
    -------
    str
        A ``table`` or ``longtable`` environment; without caption and label, the ``tabular`` alone.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"word": ["imam"], "mean": -0.151, "lower": -0.27, "upper": -0.04})
    >>> print(frame_to_latex(frame, "One word"))
    \begin{table}
    \caption{One word}
    \begin{tabular}{lr}
    \toprule
    word & mean \\
    \midrule
    imam & $-0.15$ [$-0.27$, $-0.04$] \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    import pandas as pd

    rounded = rounded_table(frame, titles=titles, decimals=decimals, by_row=by_row)
    columns = {
        escape(heading): list(map(_math if is_number else escape, cells))
        for heading, cells, is_number in zip(
            rounded.headings, rounded.columns, rounded.is_number, strict=True
        )
    }
    is_long = len(frame) > _ROWS_OF_PAGE and bool(caption or label)
    latex = pd.DataFrame(columns).to_latex(
        index=False,
        escape=False,
        caption=escape(caption) or None,
        label=label or None,
        longtable=is_long,
        column_format="".join(
            _PARAGRAPH if heading in paragraphs else "r" if is_number else "l"
            for heading, is_number in zip(rounded.headings, rounded.is_number, strict=True)
        ),
    )
    if is_long:
        return f"{{\\footnotesize\n\\setlength{{\\tabcolsep}}{{3pt}}\n{latex}}}\n"
    return _scaled(latex) if _characters(rounded) > _NARROW else latex


def _characters(table: RoundedTable) -> int:
    """Return how many characters the longest cells of all columns have, with spaces between."""
    columns = zip(table.headings, table.columns, strict=True)
    return sum(max(map(len, [heading, *cells])) + 2 for heading, cells in columns)


def _scaled(latex: str) -> str:
    before, tabular = latex.split(r"\begin{tabular}", 1)
    tabular, after = tabular.split("\\end{tabular}\n", 1)
    return f"{before}{_SCALED}\\begin{{tabular}}{tabular}\\end{{tabular}}}}\n{after}"


def _math(cell: str) -> str:
    """Return a number with the signs that only the mode of mathematics has."""
    return _SIGNED.sub(lambda found: f"${found[0].translate(_SIGNS)}$", cell)
