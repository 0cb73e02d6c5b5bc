"""The published lists, queries and studies that come with the package, and files of one's own."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from bayesbias._core.files import is_file, missing_file_hint, refuse_spreadsheet
from bayesbias._core.toml_json import read_json, read_toml
from bayesbias._core.wording import brief, did_you_mean, kind_of, quoted, same_name
from bayesbias.errors import BayesBiasError, DataError, NotFoundError, SpecError
from bayesbias.wordlists.languages import ENGLISH, check_language, from_entry
from bayesbias.wordlists.list_files import LIST_SUFFIXES, read_lists
from bayesbias.wordlists.query import Query
from bayesbias.wordlists.study import Study
from bayesbias.wordlists.wordset import WordSet

_DATA = Path(__file__).parent / "data"
_T = TypeVar("_T")

# The tests of WEAT that the translated lists have, by number; the others are of American names.
_TRANSLATED_TESTS = (1, 2, 6, 7, 8, 9)

#: Collections of published word lists.
COLLECTIONS = (
    "weat",
    "garg",
    "bolukbasi",
    "manzini",
    "bing_liu",
    "controls",
    "silhouettes",
    "bad_seeds",
    "xweat_de",
    "xweat_es",
    "xweat_hr",
    "xweat_it",
    "xweat_ru",
    "xweat_tr",
    "weathub_fr",
)
#: Studies that come with the package.
STUDIES = ("religion", "gender", "race", "weat_1", "weat_7")
#: Labelled words that come with the package.
LABELLED = ("gender", "religion", "ethnicity")
#: Sets of queries that come with the package.
QUERY_SETS = (
    "weat",
    "gender",
    "ethnicity",
    "religion",
    "silhouettes",
    "xweat_de",
    "xweat_es",
    "xweat_hr",
    "xweat_it",
    "xweat_ru",
    "xweat_tr",
    "weathub_fr",
)
#: Concepts that several published lists are for.
CONCEPTS = ("gender", "ethnicity", "religion", "age", "sentiment")


class Concept(NamedTuple):
    """Published lists for the same groups: pairs of lists by name, and two attribute lists."""

    name: str
    pairs: dict[str, tuple[WordSet, WordSet]]
    attributes: tuple[WordSet, WordSet]


def word_sets(collection: str | PathLike[str]) -> dict[str, WordSet]:
    """Return the word lists of a published source, or of a file.

    Parameters
    ----------
    collection : str or path-like
        The source: ``weat`` (Caliskan et al. 2017), ``garg`` (Garg et al. 2018), ``bolukbasi``
        (Bolukbasi et al. 2016), ``manzini`` (Manzini et al. 2019), ``bing_liu`` (Hu & Liu 2004),
        ``controls`` (Dobrzeniecka 2021), ``silhouettes`` (Spliethöver & Wachsmuth 2021), or
        ``bad_seeds`` (lists of other papers, gathered by Antoniak & Mimno 2021); in other
        languages ``xweat_de``, ``xweat_es``, ``xweat_hr``, ``xweat_it``, ``xweat_ru`` and
        ``xweat_tr`` (Lauscher & Glavaš 2019) and ``weathub_fr`` (Mukherjee et al. 2023); or a
        ``.toml`` or ``.json`` file of lists, such as `BuiltLists.save` writes, a query, a study
        or labelled words; a ``.txt`` file with one word per line (lines that begin with # are
        skipped); or a ``.csv`` or ``.tsv`` table with one column per list, or with the columns
        ``word`` and ``list`` (or ``group``).

    Returns
    -------
    dict of str to WordSet
        The lists by name. Each knows its source, and its known slips as `note`.

    Raises
    ------
    NotFoundError
        If there is no such collection.
    DataError
        If a file has no words, or its columns no names.

    Examples
    --------
    >>> import bayesbias as bb
    >>> list(bb.word_sets("weat"))[:3]
    ['flowers', 'insects', 'pleasant_5']
    >>> len(bb.word_sets("bing_liu")["negative_words"])
    4783
    """
    path = Path(collection)
    if path.suffix.lower() in LIST_SUFFIXES:
        if not is_file(path):
            hint = missing_file_hint(path)
            raise NotFoundError(f"{str(path)!r}: no such file of word lists.{hint}")
        return read_lists(path)
    refuse_spreadsheet(path)
    if isinstance(collection, PathLike) or path.suffix.lower() in (".toml", ".json"):
        return _build(collection, _document(collection, "word lists", COLLECTIONS), _sets_of)
    return {name: _word_set(collection, name) for name in _collection(collection)["sets"]}


def word_tuples(collection: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the pairs and sets of words that belong together, as debiasing takes them.

    Parameters
    ----------
    collection : {"bolukbasi", "manzini"}
        The source: definitional and equalize pairs of Bolukbasi et al. 2016, or definitional sets
        and evaluation targets of Manzini et al. 2019.

    Returns
    -------
    dict of str to tuple of tuples
        The lists of tuples by name; empty for sources that have none.

    Raises
    ------
    NotFoundError
        If there is no such collection.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.word_tuples("bolukbasi")["definitional_pairs"][0]
    ('woman', 'man')
    >>> bb.word_tuples("manzini")["religion_definitional_sets"][0]
    ('judaism', 'christianity', 'islam')
    """
    tuples = _collection(collection).get("tuples", {})
    return {name: tuple(map(tuple, entry["words"])) for name, entry in tuples.items()}


def load_query(source: str | PathLike[str]) -> Query:
    """Load a query by its name, or from a file.

    Parameters
    ----------
    source : str or path-like
        ``weat_1`` to ``weat_10``; a query of the WEFE case study, ``gender_1`` to ``gender_7``,
        ``ethnicity_1`` to ``ethnicity_9``, ``religion_1`` to ``religion_9``; one of the bias
        silhouette analysis, ``silhouettes_ethnicity``, ``silhouettes_gender`` or
        ``silhouettes_religion``; WEAT 1, 2 and 6 to 9 in another language, such as
        ``xweat_de_6`` or ``weathub_fr_7``; or a ``.toml`` or ``.json`` file with the tables
        ``target_sets`` and ``attribute_sets``, whose words are lists or the names of built-in
        lists such as ``"weat:flowers"``, and ``language``, if it is not English.

    Returns
    -------
    Query
        The query.

    Raises
    ------
    NotFoundError
        If there is neither such a name nor such a file.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.load_query("weat_6").target_names
    ('Male names', 'Female names')
    >>> bb.load_query("xweat_de_7").attribute_sets[0]
    WordSet('Male terms', 8 words in de: männlich, Mann, Junge, …)
    """
    name = _built_in(source, _query_entries())
    if name is not None:
        return _query(_query_entries()[name])
    return _build(source, _document(source, "query", _query_entries()), _query_of)


def query_set(name: str) -> list[Query]:
    """Return a set of published queries.

    Parameters
    ----------
    name : str
        ``gender``, ``ethnicity`` or ``religion``, the 7, 9 and 9 queries of the WEFE case study
        (Badilla 2020); ``weat``, WEAT 1 to 10; ``silhouettes``, the three of the bias silhouette
        analysis (Spliethöver & Wachsmuth 2021); or WEAT 1, 2 and 6 to 9 in another language:
        ``xweat_de``, ``xweat_es``, ``xweat_hr``, ``xweat_it``, ``xweat_ru``, ``xweat_tr``
        (Lauscher & Glavaš 2019) or ``weathub_fr`` (Mukherjee et al. 2023).

    Returns
    -------
    list of Query
        The queries, in published order.

    Raises
    ------
    NotFoundError
        If there is no such set.

    Examples
    --------
    >>> import bayesbias as bb
    >>> [len(bb.query_set(name)) for name in ("gender", "ethnicity", "religion")]
    [7, 9, 9]
    """
    same = same_name(name, QUERY_SETS)
    if same is None:
        raise NotFoundError(
            f"no set of queries {name!r}; there are {quoted(QUERY_SETS)}."
            f"{did_you_mean(name, QUERY_SETS)}"
        )
    return [_query(entry) for entry in _entries(same)]


def load_concept(name: str) -> Concept:
    """Return the published lists for a concept, and the attributes that they are compared by."""
    same = same_name(name, CONCEPTS)
    if same is None:
        raise NotFoundError(
            f"no concept {name!r}; there are {quoted(CONCEPTS)}.{did_you_mean(name, CONCEPTS)}"
        )
    data = tomllib.loads((_DATA / "concepts.toml").read_text("utf-8"))[same]
    pairs = {}
    for entry in data["lists"]:
        sets = [resolve(reference) for reference in entry["sets"]]
        first, second = (
            replace(words, name=group) for group, words in zip(entry["groups"], sets, strict=True)
        )
        pairs[entry["name"]] = (first, second)
    first, second = (
        replace(words, name=label)
        for label, words in zip(
            data["attribute_names"], map(resolve, data["attributes"]), strict=True
        )
    )
    return Concept(same, pairs, (first, second))


def as_study(study: Study | str | PathLike[str]) -> Study:
    """Return a study that is given itself, by its name or by its file."""
    if isinstance(study, str | PathLike):
        return load_study(study)
    if not isinstance(study, Study):
        raise SpecError(
            f"'study' is {kind_of(study)}; expected a Study, its name such as 'religion', or "
            "a file."
        )
    return study


def load_study(source: str | PathLike[str]) -> Study:
    """Load a study by its name, or from a file.

    Parameters
    ----------
    source : str or path-like
        ``religion``, ``gender``, ``race``, ``weat_1`` or ``weat_7``; or a ``.toml`` or ``.json``
        file with the tables ``groups``, ``stereotypes`` and ``controls``, whose words are lists or
        the names of built-in lists such as ``"controls:neutral"``. The tables ``labels.groups`` and
        ``labels.words`` say how figures and reports name them, and ``language`` is the code of the
        language, if it is not English. Of a file with ``target_sets`` and
        ``attribute_sets``, such as `BuiltLists.save` writes, the target sets are the groups and
        each attribute set holds the stereotypes of the group at the same place.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    NotFoundError
        If there is neither such a name nor such a file.
    SpecError
        If the file is not a valid study; the message names the file and the fault.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.load_study("religion")
    <Study 'religion': 3 groups with 15 protected words, 11 stereotypes, 269 controls>
    """
    name = _built_in(source, STUDIES)
    if name is not None:
        source = _DATA / "studies" / f"{name}.toml"
    data = _document(source, "study", STUDIES)
    return _build(source, data, _study_of_lists if "target_sets" in data else Study.from_dict)


def load_labelled(source: str | PathLike[str]) -> dict[str, WordSet]:
    """Load words that are labelled by group, for a `GroupClassifier` to learn from.

    Parameters
    ----------
    source : str or path-like
        ``gender``: words of women, of men and of neither; ``religion``: words for Judaism,
        Christianity and Islam; ``ethnicity``: surnames; or a ``.toml`` or ``.json`` file with the
        table ``groups``, whose words are lists or the names of built-in lists such as
        ``"garg:female_terms"``, and, if you like, ``title``, ``source``, ``licence``, ``notes`` and
        ``language``.

    Returns
    -------
    dict of str to WordSet
        The words of each group.

    Raises
    ------
    NotFoundError
        If there is neither such a name nor such a file.
    SpecError
        If the file has no groups, or something else; the message names the file and the fault.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.load_labelled("gender")["female"]
    WordSet('female', 195 words: actress, actresses, aunt, …)
    """
    name = _built_in(source, LABELLED)
    if name is not None:
        source = _DATA / "labelled" / f"{name}.toml"
    return _build(source, _document(source, "labelled words", LABELLED), _labelled)


def load_lists(source: str) -> Study | Query:
    """Load a study or a query, whichever has that name or is in that file.

    Where both have one name, ``query:weat_7`` is the query and plain ``weat_7`` the study.
    """
    kind, colon, name = source.partition(":")
    if colon and kind in ("query", "study"):
        return load_query(name) if kind == "query" else load_study(name)
    if _built_in(source, STUDIES) is not None:
        return load_study(source)
    if _built_in(source, _query_entries()) is not None:
        return load_query(source)
    names = list(dict.fromkeys([*STUDIES, *_query_entries()]))
    data = _document(source, "study or query", names)
    if "target_sets" in data or "attribute_sets" in data:
        return _build(source, data, _query_of)
    return _build(source, data, Study.from_dict)


def load_question(source: str) -> Study | Query:
    """Load a query or a study; where both have one name, it is the query, as metrics have it."""
    is_query = _built_in(source, _query_entries()) is not None
    return load_query(source) if is_query else load_lists(source)


def describe_collection(collection: str) -> dict[str, Any]:
    """Return title, source, licence, notes and language of a collection, and what its sets are."""
    data = _collection(collection)
    about = {key: value for key, value in data.items() if key not in ("sets", "tuples")}
    about.setdefault("language", ENGLISH)
    entries = {**data["sets"], **data.get("tuples", {})}
    return {
        **about,
        "sets": {name: entry.get("description", "") for name, entry in entries.items()},
    }


def collection_name(name: str) -> str:
    """Return the name of a collection that is given in any case."""
    same = same_name(name, COLLECTIONS)
    if same is None:
        raise NotFoundError(
            f"no collection of word lists {name!r}; there are {quoted(COLLECTIONS)}."
            f"{did_you_mean(name, COLLECTIONS)}"
        )
    return same


def query_names(name: str | None = None) -> tuple[str, ...]:
    """Return the names of all queries, or of those of one set."""
    return tuple(
        entry["id"] for each in QUERY_SETS if name in (None, each) for entry in _entries(each)
    )


def collections_in(language: str | None = None) -> tuple[str, ...]:
    """Return the names of the collections that are in a language; of all, if it is None."""
    if language is None:
        return COLLECTIONS
    code = check_language(language)
    return tuple(n for n in COLLECTIONS if _collection(n).get("language", ENGLISH) == code)


@cache
def _collection(name: str) -> dict[str, Any]:
    name = collection_name(name)
    return tomllib.loads((_DATA / f"{name}.toml").read_text("utf-8"))


@cache
def _queries() -> dict[str, Any]:
    return tomllib.loads((_DATA / "queries.toml").read_text("utf-8"))


@cache
def _query_entries() -> dict[str, Any]:
    return {entry["id"]: entry for name in QUERY_SETS for entry in _entries(name)}


def _entries(name: str) -> list[dict[str, Any]]:
    """Return the entries of a set of queries; translated ones are those of WEAT, with its names."""
    if name in _queries():
        return list(_queries()[name])
    return [
        {
            **_queries()["weat"][number - 1],
            "id": f"{name}_{number}",
            **{
                side: [
                    f"{name}:{reference.partition(':')[2]}"
                    for reference in _queries()["weat"][number - 1][side]
                ]
                for side in ("targets", "attributes")
            },
        }
        for number in _TRANSLATED_TESTS
    ]


def _query(entry: Mapping[str, Any]) -> Query:
    return Query(
        [resolve(reference) for reference in entry["targets"]],
        [resolve(reference) for reference in entry["attributes"]],
        entry["target_names"],
        entry["attribute_names"],
    )


def _query_of(data: Mapping[str, Any]) -> Query:
    """Make a query; its sets have the source that the file names."""
    if "groups" in data:
        raise SpecError(
            "this is a study; a query has the tables 'target_sets' and 'attribute_sets'. Of a "
            "study: Query(study.groups, study.stereotypes)."
        )
    words = {key: value for key, value in data.items() if key not in ("source", "notes")}
    query = Query.from_dict(words)
    source = str(data.get("source", ""))
    targets, attributes = (
        [replace(s, source=s.source or source) for s in side]
        for side in (query.target_sets, query.attribute_sets)
    )
    return Query(targets, attributes)


def _study_of_lists(data: Mapping[str, Any]) -> Study:
    """Make a study: the attribute sets hold the stereotypes of the target sets, in their order."""
    query = _query_of(data)
    n_groups, n_stereotypes = query.template
    if not n_stereotypes or n_stereotypes > n_groups:
        raise SpecError(
            f"{n_stereotypes} attribute sets for {n_groups} target sets; as a study, the file "
            "needs one attribute set for each target set, the stereotypes of that group."
        )
    pairs = zip(query.target_names, query.attribute_sets, strict=False)
    groups = dict(zip(query.target_names, query.target_sets, strict=True))
    source, notes = str(data.get("source", "")), data.get("notes", ())
    return Study(query.name, groups, dict(pairs), None, source, notes)


def _sets_of(data: Mapping[str, Any]) -> dict[str, WordSet]:
    """Return every list of a file by its name."""
    source = str(data.get("source", ""))
    parts = {
        name: part
        for name, part in data.items()
        if isinstance(part, Mapping) and name not in ("labels", "language")
    }
    codes = from_entry(data.get("language", ENGLISH), parts)
    sets: dict[str, WordSet] = {}
    for part, lists in parts.items():
        for name, words in lists.items():
            if name in sets:
                raise SpecError(f"two lists are called {name!r}; give them different names.")
            sets[name] = _of_file(name, words, source, codes[part][name])
    if not sets:
        raise SpecError("no lists; expected a table such as [target_sets] with names and words.")
    return sets


def _labelled(data: Mapping[str, Any]) -> dict[str, WordSet]:
    keys = ("groups", "title", "source", "licence", "notes", "language")
    for key in data:
        if key not in keys:
            raise SpecError(
                f"labelled words have no {key!r}; expected {quoted(keys)}.{did_you_mean(key, keys)}"
            )
    groups = data.get("groups")
    if not isinstance(groups, Mapping) or not groups:
        raise SpecError("labelled words need 'groups', a table of names and their words.")
    source = str(data.get("source", ""))
    codes = from_entry(data.get("language", ENGLISH), {"groups": groups})["groups"]
    return {name: _of_file(name, words, source, codes[name]) for name, words in groups.items()}


def _of_file(name: str, words: Iterable[str], source: str, language: str) -> WordSet:
    """Return a list of a file; one that is built in keeps its source, note and language."""
    if isinstance(words, WordSet):
        return replace(words, name=name, source=words.source or source)
    return WordSet(name, words, source, language=language)


def resolve(reference: str) -> WordSet:
    """Return the list that a reference such as ``weat:flowers`` names."""
    collection, _, name = reference.partition(":")
    sets = _collection(collection)["sets"]
    same = same_name(name, sets)
    if same is None:
        raise NotFoundError(
            f"{reference!r}: {collection!r} has no list {name!r}.{did_you_mean(name, sets)}"
        )
    return _word_set(collection, same)


def _word_set(collection: str, name: str) -> WordSet:
    data = _collection(collection)
    entry = data["sets"][name]
    source = entry.get("source", data["source"])
    language = data.get("language", ENGLISH)
    return WordSet(name, entry["words"], source, entry.get("notes", ""), language)


def _build(
    source: str | PathLike[str],
    data: Mapping[str, Any],
    build: Callable[[Mapping[str, Any]], _T],
) -> _T:
    """Put built-in lists in place of their names, and build; a fault is told with its file."""
    try:
        for name, part in data.items():
            if isinstance(part, dict) and name not in ("labels", "language"):
                part.update({k: resolve(v) for k, v in part.items() if _is_reference(v)})
        return build(data)
    except BayesBiasError as err:
        raise SpecError(f"{source}: {err}") from err


def _built_in(source: str | PathLike[str], names: Collection[str]) -> str | None:
    """Return the built-in name that a source is; in another case only if there is no such file."""
    if not isinstance(source, str):
        return None
    if source in names:
        return source
    return None if is_file(Path(source)) else same_name(source, names)


def _document(source: str | PathLike[str], kind: str, names: Iterable[str]) -> dict[str, Any]:
    """Read a TOML or JSON file."""
    if not isinstance(source, str | PathLike):
        raise SpecError(f"'source' is {brief(source)}; expected the name of a {kind}, or a file.")
    path = Path(source)
    if not is_file(path):
        hint = did_you_mean(source, names) or missing_file_hint(path)
        raise NotFoundError(
            f"no {kind} {str(source)!r}: neither a file nor one of {quoted(names, 12)}.{hint}"
        )
    refuse_spreadsheet(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        raise DataError(
            f"{path}: expected a TOML or JSON file. word_sets({path.name!r}) reads the lists of a "
            "table; make a Study or a Query of them."
        )
    language = "JSON" if path.suffix.lower() == ".json" else "TOML"
    data = read_json(path) if language == "JSON" else read_toml(path)
    if not isinstance(data, dict):
        raise DataError(f"{path}: expected a table with the parts of a {kind}.")
    return data


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and same_name(value.partition(":")[0], COLLECTIONS) is not None
