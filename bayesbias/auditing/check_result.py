"""What a check of conditions found."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import pandas as pd

from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import counted, shortened

# What no XML file can hold, however it is escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """Which conditions hold, and with what probability; made by `check`.

    Parameters
    ----------
    table : DataFrame
        One row per condition, embedding, study and level: ``condition``, ``embedding``, ``study``
        (empty for a fit), ``level`` (the data set, a group or a word), ``probability`` (the share
        of the draws of the contrast beyond the limit), ``threshold`` (the probability that it is
        compared with), ``failed`` (whether the condition holds, by the draws) and ``doubt`` (why
        the draws are unreliable, so that the check cannot decide; empty if they are reliable).

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("demo", "weat_7")
    >>> fit = bb.fit(table, draws=250, progress=False)
    >>> result = bb.check(fit, "associated - different < -0.5 with P > 0.95 for any group")
    >>> result.passed
    True
    >>> result
    <Check: 0 of 1 condition failed>
    """

    table: pd.DataFrame

    @property
    def passed(self) -> bool:
        """Whether no condition holds, by draws that can be relied on."""
        return not (self.table["failed"].any() or self._is_doubtful.any())

    @property
    def _is_doubtful(self) -> pd.Series[bool]:
        return self.table["doubt"] != ""

    @property
    def _failed(self) -> pd.DataFrame:
        """The rows in which a condition holds, by draws that can be relied on."""
        return self.table[self.table["failed"] & ~self._is_doubtful]

    def __repr__(self) -> str:
        number = self.table["condition"].nunique()
        failed = set(self._failed["condition"])
        unclear = set(self.table.loc[self._is_doubtful, "condition"]) - failed
        text = f"{len(failed)} of {counted(number, 'condition')} failed"
        return f"<Check: {text}{f', {len(unclear)} cannot be decided' if unclear else ''}>"

    @property
    def doubts(self) -> list[str]:
        """One line per embedding and study whose draws cannot be relied on, with the reasons."""
        rows = self.table[self._is_doubtful].drop_duplicates(["embedding", "study", "doubt"])
        return [
            f"{_part(row['embedding'], row['study'])}: the fit is not to be relied on: "
            f"{row['doubt']}"
            for row in rows.to_dict("records")
        ]

    def failures(self) -> list[str]:
        """Return one line per condition that holds, with where it does, the most probable first.

        Returns
        -------
        list of str
            The condition, then up to three levels with their probabilities; without those whose
            draws cannot be relied on.
        """
        rows = self._failed
        lines = []
        for condition, failed in rows.groupby("condition", sort=False):
            likely = failed.sort_values("probability", ascending=False, kind="stable")
            lines.append(f"{condition} ({shortened(_places(likely), 3)})")
        return lines

    def summary(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        str
            How many conditions failed, then one line each; and one line for each fit that cannot
            be relied on.
        """
        unclear = [f"Cannot tell: {line}" for line in self.doubts]
        return "\n".join([f"{repr(self)[1:-1]}.", *self.failures(), *unclear])

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_colwidth", None):  # conditions are long
            shown = self.table.round(3).to_html(index=False, border=0)
        return f"<p><b>{html.escape(repr(self)[1:-1])}</b></p>{shown}"

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the table in LaTeX.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that says how many conditions failed.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        frame = self.table.assign(failed=self.table["failed"].map({True: "yes", False: "no"}))
        known = [name for name in ("embedding", "study", "doubt") if not (frame[name] != "").any()]
        text = f"{repr(self)[1:-1]}: probabilities are shares of posterior draws."
        return frame_to_latex(frame.drop(columns=known), text if caption is None else caption)

    def to_junit(self) -> str:
        """Return the result as JUnit XML, which continuous integration displays.

        Returns
        -------
        str
            One test suite per embedding and study, with one test case per condition. A condition
            that holds is a failure; one that cannot be decided is an error.
        """
        root = ET.Element("testsuites", name="bayesbias")
        for (embedding, study), part in self.table.groupby(["embedding", "study"], sort=False):
            name = _plain(_part(embedding, study))
            suite = ET.SubElement(root, "testsuite", name=name)
            for condition, rows in part.groupby("condition", sort=False):
                case = ET.SubElement(
                    suite, "testcase", classname=f"bayesbias {name}", name=_plain(condition)
                )
                failed, doubt = rows[rows["failed"]], _plain(rows["doubt"].iloc[0])
                if doubt:
                    message = "cannot tell: the fit is not to be relied on"
                    error = ET.SubElement(case, "error", message=message, type="diagnostics")
                    error.text = doubt
                elif len(failed):
                    numbers = zip(failed["level"], failed["probability"], strict=True)
                    lines = [_plain(f"{level}: P = {number:.4f}") for level, number in numbers]
                    message = shortened(lines, 1)
                    failure = ET.SubElement(case, "failure", message=message, type="condition")
                    failure.text = "\n".join(lines)
            _count(suite)
        _count(root)
        ET.indent(root)
        text = ET.tostring(root, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _places(rows: pd.DataFrame) -> Iterator[str]:
    for row in rows.to_dict("records"):
        part = _part(row["embedding"], row["study"])
        yield f"{row['level']} of {part}: P = {row['probability']:.3f}"


def _part(embedding: object, study: object) -> str:
    return f"{embedding} on {study}" if study else str(embedding)


def _plain(text: object) -> str:
    return _NOT_XML.sub("\ufffd", str(text))


def _count(element: ET.Element) -> None:
    """Add the numbers that readers of JUnit files expect."""
    element.set("tests", str(len(list(element.iter("testcase")))))
    element.set("failures", str(len(list(element.iter("failure")))))
    element.set("errors", str(len(list(element.iter("error")))))
