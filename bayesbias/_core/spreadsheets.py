"""Tables for spreadsheets, which take some texts for formulas and compute them."""

from __future__ import annotations

import pandas as pd

# A tab and a carriage return are left out by some programs, and what follows is then computed.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def escape_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts no spreadsheet computes: an apostrophe is put before them.

    >>> escape_formulas(pd.DataFrame({"word": ["=1+1", "oak"], "x": [-1.0, 2.0]}))
        word    x
    0  '=1+1 -1.0
    1    oak  2.0
    """
    text = {
        name: frame[name].astype(object).map(escaped)
        for name in frame.columns
        if not pd.api.types.is_numeric_dtype(frame[name].dtype)
    }
    return frame.assign(**text).rename(columns=escaped)


def escaped(value: object) -> object:
    """Return a text with an apostrophe before it if a spreadsheet would compute it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
