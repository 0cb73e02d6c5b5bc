"""Word lists that were built, with why each word was included."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.files import atomic, check_folder
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, one_of, word_list
from bayesbias._core.wording import counted, did_you_mean, quoted
from bayesbias.errors import SpecError
from bayesbias.wordlists import toml_text
from bayesbias.wordlists.build.review_sheets import (
    DROP,
    KEEP,
    read_sheet,
    writable_sheet,
    write_sheet,
)
from bayesbias.wordlists.build.review_sheets import contexts as find_contexts
from bayesbias.wordlists.query import Query
from bayesbias.wordlists.study import Study
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlists.build.group_classifier import GroupClassifier


@dataclass(frozen=True, eq=False, repr=False)
class BuiltLists:
    """A list of words for each group, with why each word was included; made by `build_lists`.

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
    associated : mapping of str to WordSet
        Words that go with a group without meaning it, if some were labelled so (the group
        ``associated with …``). They are in no list.

    Examples
    --------
    >>> import bayesbias as bb
    >>> weat = bb.word_sets("weat")
    >>> labelled = bb.load_labelled("gender")
    >>> two = {name: labelled[name] for name in ("female", "male")}
    >>> groups = bb.wordlists.GroupClassifier(background=200).fit("demo", two)
    >>> built = bb.build_lists(
    ...     "demo", groups, size=5, attributes=[weat["career"], weat["family"]]
    ... )
    >>> built
    <BuiltLists by frequency: female 5, male 5 words>
    >>> built.word_sets["female"].words
    ('she', 'her', 'women', 'wife', 'woman')
    >>> built.query(order=["male", "female"])
    <Query 'male and female wrt career and family', template (2, 2), 5+5 × 8+8 words>
    >>> built.without(["wife"]).word_sets["female"].words
    ('she', 'her', 'women', 'woman')
    """

    word_sets: Mapping[str, WordSet]
    words: pd.DataFrame
    left_out: pd.DataFrame
    notes: tuple[str, ...]
    method: str
    classifier: GroupClassifier
    attributes: tuple[WordSet, ...] = ()
    associated: Mapping[str, WordSet] = field(default_factory=dict)

    def query(
        self,
        attribute_sets: Iterable[Iterable[str]] | None = None,
        attribute_names: Iterable[str] | None = None,
        *,
        order: Iterable[str] | None = None,
    ) -> Query:
        """Return a query with the lists as target sets.

        Parameters
        ----------
        attribute_sets : iterable of lists of str or WordSet, optional
            The attributes; by default those that the lists were built with.
        attribute_names : iterable of str, optional
            Their names, as in `Query`.
        order : iterable of str, optional
            The groups, in the order of the target sets, on which the sign of many metrics
            depends; some may be left out. By default all, in the order of the labels.

        Returns
        -------
        Query
            The query, as metrics take it.

        Raises
        ------
        SpecError
            If a word is both in a list and among the attributes, or there is no such group.
        """
        given = self.attributes if attribute_sets is None else attribute_sets
        names = [*self.word_sets] if order is None else word_list("order", order)
        for name in names:
            one_of("order", name, self.word_sets)
        lists = [self.word_sets[name] for name in names]
        query = Query(lists, given, attribute_names=attribute_names)
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

    def without(self, words: Iterable[str], *, why: str = "removed by hand") -> BuiltLists:
        """Return the lists without some words, which are then among those left out.

        Parameters
        ----------
        words : iterable of str
            The words.
        why : str, default "removed by hand"
            The reason, for the table of words left out and the notes.

        Returns
        -------
        BuiltLists
            Other lists; these stay as they are.

        Raises
        ------
        SpecError
            If no list has one of the words, or a list would have no word left.
        """
        removed = word_list("words", words)
        listed_words = set(self.words["word"])
        unknown = [word for word in removed if word not in listed_words]
        if unknown:
            raise SpecError(
                f"no list has {quoted(unknown)}.{did_you_mean(unknown[0], listed_words)}"
            )
        gone = self.words["word"].isin(removed)
        text = f"{why[:1].upper()}{why[1:]}: {quoted(dict.fromkeys(removed), len(removed))}."
        return self._changed(self.words[~gone], self.words[gone], why, [text] if removed else [])

    def review_sheet(
        self,
        path: str | PathLike[str],
        corpus: Iterable[Sequence[str]] | None = None,
        *,
        contexts: int = 3,
        seed: Seed = 0,
    ) -> None:
        """Write a table on which a person decides about each word.

        Parameters
        ----------
        path : path-like
            A ``.csv`` file, for a spreadsheet. It has one line per word: `words`, the columns
            ``decision`` and ``comment``, which are empty, and contexts. A decision is ``keep``,
            ``drop``, or the name of the group that the word belongs in.
        corpus : Corpus, optional
            Text with the words, to show how they are used.
        contexts : int, default 3
            How many places in the corpus to show for each word. They are drawn at random.
        seed : int, Generator or None, default 0
            The seed of that draw.

        Raises
        ------
        SpecError
            If the suffix is another.

        See Also
        --------
        reviewed : Read the decisions.
        """
        at_least("contexts", contexts, 0)
        target = writable_sheet(path)
        places: dict[str, list[str]] = {}
        if corpus is not None:
            rng = np.random.default_rng(as_seed(seed))
            places = find_contexts(self.words["word"], corpus, contexts, rng)
        write_sheet(target, self.words, places, contexts if corpus is not None else 0)

    def reviewed(self, path: str | PathLike[str]) -> BuiltLists:
        """Return the lists with the decisions of a review sheet.

        Parameters
        ----------
        path : path-like
            What `review_sheet` wrote, with decisions. It may have been sorted.

        Returns
        -------
        BuiltLists
            Other lists. `words` has the columns ``decision`` and ``comment``; a word that was moved
            has its new group, and ``reviewed`` in the column ``how``. Words that were dropped are
            among those left out. A note counts the decisions.

        Raises
        ------
        NotFoundError
            If there is no such file.
        DataError
            If a decision or a word is not known, or a word has two lines.
        SpecError
            If a list would have no word left.
        """
        sheet = read_sheet(Path(path), self.words, tuple(self.word_sets))
        decision = sheet["decision"].to_numpy()
        moved = ~np.isin(decision, ["", KEEP, DROP]) & (decision != self.words["group"].to_numpy())
        words = self.words.assign(decision=decision, comment=sheet["comment"].to_numpy())
        words.loc[moved, "group"] = decision[moved]
        words.loc[moved, "how"] = "reviewed"
        gone = decision == DROP
        text = (
            f"Reviewed in {Path(path).name}: {int((decision != '').sum())} of "
            f"{counted(len(words), 'word')} decided, {int(gone.sum())} dropped, "
            f"{int(moved.sum())} moved to another group."
        )
        return self._changed(words[~gone], words[gone], "dropped in review", [text])

    def _changed(
        self, words: pd.DataFrame, gone: pd.DataFrame, why: str, notes: list[str]
    ) -> BuiltLists:
        """Return these lists with other words; those that are gone are left out."""
        import pandas as pd

        sets = {}
        for name, given in self.word_sets.items():
            kept = words.loc[words["group"] == name, "word"].tolist()
            if not kept:
                raise SpecError(f"no word is left for the group {name!r}; keep at least one.")
            changed = kept != list(given)
            source = f"{given.source}; {why.replace('removed', 'words removed')}" if changed else ""
            sets[name] = replace(given, name=name, words=tuple(kept), source=source or given.source)
        out = gone[["word", "group", "probability"]].assign(why=why)
        left_out = pd.concat([self.left_out.astype({"why": object}), out], ignore_index=True)
        return replace(
            self,
            word_sets=sets,
            words=words.reset_index(drop=True),
            left_out=left_out.astype({"why": "category"}),
            notes=(*self.notes, *notes),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the lists to a ``.toml`` file, and why each word was included to a ``.csv``.

        Parameters
        ----------
        path : path-like
            Such as ``lists.toml``; `load_query` reads it back as a query with the lists as target
            sets and the attributes they were built with, `load_study` as a study whose groups are
            the lists and whose stereotypes are the attributes in the same order, and `word_sets`
            as lists by name. Sources and notes are kept. ``lists.words.csv`` holds `words`.

        Raises
        ------
        SpecError
            If the suffix is another.
        """
        target = Path(path)
        provenance = writable_lists(target)
        sources = dict.fromkeys(words.source for words in self.word_sets.values())
        lines = [f"source = {toml_text.quote('; '.join(sources))}"]
        lines.append(f"notes = {toml_text.array(self.notes)}")
        lines += toml_text.table("target_sets", self.word_sets)
        lines += toml_text.table("attribute_sets", {words.name: words for words in self.attributes})
        with atomic(target, provenance) as (lists, words):
            lists.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
            self.words.to_csv(words, index=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row per word, with why it was included; `words`."""
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
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
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
        lines += [
            f"{words.name}, in no list ({len(words)}): {words.preview(8)}"
            for words in self.associated.values()
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
