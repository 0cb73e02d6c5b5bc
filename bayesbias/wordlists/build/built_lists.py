"""Word lists that were built, with how each word got in."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias._core.files import atomic, check_folder
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import counted, quoted
from bayesbias.errors import SpecError
from bayesbias.wordlists import toml_text
from bayesbias.wordlists.query import Query
from bayesbias.wordlists.study import Study
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlists.build.group_classifier import GroupClassifier


@dataclass(frozen=True, eq=False, repr=False)
class BuiltLists:
    """A list of words for each group, with how each word got in; made by `build_lists`.

    Parameters
    ----------
    word_sets : mapping of str to WordSet
        The lists. Their sources say how they were built.
    words : DataFrame
        One row per word: ``group``, ``word``, ``how`` (``labelled``, or ``classified``),
        ``probability`` of the group, ``rank`` by frequency in the vocabulary; and where it applies
        ``count``, ``tag``, ``cluster`` (the attribute) with ``similarity`` (the cosine to its
        centroid), and ``pair``, a number that words of similar frequency share.
    left_out : DataFrame
        Every other word of the vocabulary: ``word``, ``why``, and if it was classified its most
        probable ``group`` with ``probability``.
    notes : tuple of str
        What to know before the lists are used.
    method : str
        How words were chosen.
    classifier : GroupClassifier
        What estimated the groups of words; see its `evaluation_`.
    attributes : tuple of WordSet
        The attribute words, which are in no list.

    Examples
    --------
    >>> import bayesbias as bb
    >>> weat = bb.word_sets("weat")
    >>> built = bb.build_lists(
    ...     bb.load_embedding("demo"), "gender", size=5, attributes=[weat["career"], weat["family"]]
    ... )
    >>> built
    <BuiltLists by frequency: female 5, male 5 words>
    >>> built.word_sets["female"].words
    ('she', 'her', 'women', 'wife', 'woman')
    >>> built.query()
    <Query 'female and male wrt career and family', template (2, 2), 5+5 × 8+8 words>
    """

    word_sets: Mapping[str, WordSet]
    words: pd.DataFrame
    left_out: pd.DataFrame
    notes: tuple[str, ...]
    method: str
    classifier: GroupClassifier
    attributes: tuple[WordSet, ...] = ()

    def query(
        self,
        attribute_sets: Iterable[Iterable[str]] | None = None,
        attribute_names: Iterable[str] | None = None,
    ) -> Query:
        """Return a query with the lists as target sets.

        Parameters
        ----------
        attribute_sets : iterable of lists of str or WordSet, optional
            The attributes; by default those that the lists were built with.
        attribute_names : iterable of str, optional
            Their names, as in `Query`.

        Returns
        -------
        Query
            The query, as metrics take it.

        Raises
        ------
        SpecError
            If a word is both in a list and among the attributes.
        """
        given = self.attributes if attribute_sets is None else attribute_sets
        query = Query(self.word_sets.values(), given, attribute_names=attribute_names)
        for attributes in query.attribute_sets:
            for targets in query.target_sets:
                both = [word for word in attributes if word in targets]
                if both:
                    raise SpecError(
                        f"{quoted(both)}: both in the list {targets.name!r} and among the "
                        f"attributes {attributes.name!r}; build the lists with attributes=… to "
                        "keep these words out of them."
                    )
        return query

    def study(
        self,
        name: str,
        stereotypes: Mapping[str, Iterable[str]],
        controls: Mapping[str, Iterable[str]] | None = None,
    ) -> Study:
        """Return a study with the lists as groups.

        Parameters
        ----------
        name : str
            The name of the study.
        stereotypes : mapping of str to iterable of str
            The stereotypical attributes of each group.
        controls : mapping of str to iterable of str, optional
            Control words under the keys ``human`` and ``neutral``.

        Returns
        -------
        Study
            The study; its `save` writes it to a file that `load_study` reads.
        """
        source = next(iter(self.word_sets.values())).source
        return Study(name, self.word_sets, stereotypes, controls, source, self.notes)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the lists to a ``.toml`` file, and how each word got in to a ``.csv`` beside it.

        Parameters
        ----------
        path : path-like
            Such as ``lists.toml``; `load_query` reads it back as a query with the lists as target
            sets and the attributes they were built with. ``lists.words.csv`` holds `words`.

        Raises
        ------
        SpecError
            If the suffix is another.
        """
        target = Path(path)
        provenance = writable_lists(target)
        sources = dict.fromkeys(words.source for words in self.word_sets.values())
        comments = [" ".join(text.split()) for text in (*sources, *self.notes)]
        lines = [f"# {text}" for text in comments]
        lines += toml_text.table("target_sets", self.word_sets)
        lines += toml_text.table("attribute_sets", {words.name: words for words in self.attributes})
        with atomic(target, provenance) as (lists, words):
            lists.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
            self.words.to_csv(words, index=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row per word, with how it got in; `words`."""
        return self.words

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the lists, with all their words, as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the number of words and the method.

        Returns
        -------
        str
            A ``table`` environment, for a document with the package booktabs.
        """
        import pandas as pd

        lists = self.word_sets.items()
        rows = [{"list": name, "n": len(words), "words": list(words)} for name, words in lists]
        text = f"{counted(len(self.words), 'word')} in lists built by {self.method}."
        return frame_to_latex(
            pd.DataFrame(rows), text if caption is None else caption, paragraphs=["words"]
        )

    def summary(self) -> str:
        """Say what is in the lists, why other words are not, and what to know of them.

        Returns
        -------
        str
            One line per list, one for the words left out, and one per note.
        """
        lines = [
            f"{name} ({len(words)}): {words.preview(8)}" for name, words in self.word_sets.items()
        ]
        reasons = self.left_out["why"].value_counts()
        if len(self.left_out):
            lines.append(f"{len(self.left_out):,} words left out: {listed(reasons)}.")
        return "\n".join((*lines, *self.notes))

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {len(words)}" for name, words in self.word_sets.items())
        return f"<BuiltLists by {self.method}: {counts} words>"

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><td>{html.escape(name)}</td><td>{len(words)}</td>"
            f"<td style='text-align:left'>{html.escape(words.preview())}</td></tr>"
            for name, words in self.word_sets.items()
        ]
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f"<table><caption>Lists built by {html.escape(self.method)}</caption>"
            "<thead><tr><th>group</th><th>words</th><th></th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table><ul>{notes}</ul>"
        )


def listed(reasons: Mapping[str, int] | pd.Series[int]) -> str:
    """Return how many words were left out for each reason, in one line."""
    return ", ".join(f"{reason} {n:,}" for reason, n in reasons.items() if n)


def writable_lists(path: Path) -> Path:
    """Return where the provenance of the words goes; refuse what cannot be written."""
    if path.suffix.lower() != ".toml":
        raise SpecError(f"{path}: lists are written to a .toml file.")
    check_folder(path)
    return path.with_suffix(".words.csv")
