"""What lists, queries and studies come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbias.wordlists.catalogue import (
    COLLECTIONS,
    LABELLED,
    QUERY_SETS,
    STUDIES,
    describe_collection,
    load_labelled,
    load_study,
    query_names,
    query_set,
)
from bayesbias.wordlists.languages import check_language, joined

if TYPE_CHECKING:
    import pandas as pd


def published_lists(language: str | None = None) -> pd.DataFrame:
    """Return an overview of the lists, queries, studies and labelled words in the package.

    Parameters
    ----------
    language : str, optional
        Only those in this language, by its code of ISO 639-1, such as ``"de"``; all by default.

    Returns
    -------
    DataFrame
        One row each: ``kind`` (``lists``, ``queries``, ``study`` or ``labelled``), ``name``,
        ``language``, ``entries`` (lists, queries or words) and ``about``.

    Raises
    ------
    SpecError
        If the language has no such code.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.wordlists.published_lists("de")[["kind", "name", "language", "entries"]]
          kind                     name language  entries
    0    lists                 xweat_de       de       26
    1  queries  xweat_de_1 … xweat_de_9       de        6
    """
    import pandas as pd

    columns = ["kind", "name", "language", "entries", "about"]
    return pd.DataFrame(list_rows(language), columns=columns)


def listed_languages() -> tuple[str, ...]:
    """Return the codes of the languages that there are lists in."""
    return tuple(dict.fromkeys(describe_collection(name)["language"] for name in COLLECTIONS))


def list_rows(language: str | None = None) -> list[dict[str, str | int]]:
    """Return the rows of the overview; the command line does without pandas."""
    rows: list[dict[str, str | int]] = []

    def add(kind: str, name: str, code: str, entries: int, about: str) -> None:
        rows.append(
            {"kind": kind, "name": name, "language": code, "entries": entries, "about": about}
        )

    for name in COLLECTIONS:
        about = describe_collection(name)
        add("lists", name, about["language"], len(about["sets"]), about["title"])
    for name in QUERY_SETS:
        queries, names = query_set(name), query_names(name)
        code = joined(query.language for query in queries)
        add("queries", f"{names[0]} … {names[-1]}", code, len(queries), f"{queries[0].name}, …")
    for name in STUDIES:
        study = load_study(name)
        text = f"groups {', '.join(study.groups)}"
        add("study", name, study.language, len(study.protected_words), text)
    for name in LABELLED:
        groups = load_labelled(name)
        code = joined(words.language for words in groups.values())
        text = f"for words build: {', '.join(groups)}"
        add("labelled", name, code, sum(map(len, groups.values())), text)
    if language is None:
        return rows
    code = check_language(language)
    return [row for row in rows if row["language"] == code]
