"""The command `bayesbias words build`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli.common import (
    check_new,
    corpus_options,
    corpus_source,
    force_option,
    format_option,
    is_for_programs,
    load_embeddings,
    loading_options,
    print_frame,
    quiet_option,
    say,
    seed_option,
)
from bayesbias.cli.debias import read_words

if TYPE_CHECKING:
    from bayesbias.embeddings import Embedding
    from bayesbias.wordlists import BuiltLists, WordSet


@click.command(
    short_help="Build word lists from data.",
    epilog="Example: bayesbias words build glove.txt --attributes weat:career,weat:family "
    "--match-frequency --out lists.toml",
)
@click.argument("source", metavar="[EMBEDDING]", required=False)
@click.option(
    "-l",
    "--labelled",
    default="gender",
    show_default=True,
    help="Words whose group is known: a name, or a .toml or .json file with the table groups.",
)
@click.option(
    "--method",
    type=click.Choice(["frequency", "pos", "clusters"], case_sensitive=False),
    default="frequency",
    show_default=True,
    help="Take the most frequent words, the same number of each part of speech, or those near "
    "attributes.",
)
@click.option(
    "-k",
    "--size",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Words for each group.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME",
    help="Group that gets a list; may be given several times. By default all but neutral and those "
    "that are called associated with ….",
)
@click.option(
    "--classifier",
    type=click.Choice(["logistic", "svm", "forest", "best"], case_sensitive=False),
    default="svm",
    show_default=True,
    help="Which classifier predicts the group of a word.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.8,
    show_default=True,
    help="The least probability of its group that a word must have.",
)
@click.option(
    "--attributes",
    metavar="LISTS",
    help="Words to keep out, and to cluster around: built-in lists, text files or tables (.csv), "
    "with commas between them.",
)
@click.option(
    "--frequencies", metavar="FILE", help="Words and counts, .csv or .tsv with a line of names."
)
@click.option(
    "--corpus",
    multiple=True,
    metavar="PATH",
    help="Count words in this text file or folder, or demo; may be given several times.",
)
@corpus_options
@click.option(
    "--pipeline",
    default="en_core_web_sm",
    show_default=True,
    metavar="NAME",
    help="spaCy pipeline that tags the words of the corpus, for the method pos.",
)
@click.option(
    "--train",
    type=click.Choice(["word2vec", "fasttext", "glove", "pmi"], case_sensitive=False),
    help="Train the embedding on the corpus; word2vec if there is a corpus and no EMBEDDING.",
)
@click.option("--save-embedding", metavar="FILE", help="Write the embedding that was trained.")
@click.option("--match-frequency", is_flag=True, help="Take words in pairs of similar frequency.")
@click.option(
    "--centroids",
    type=click.Choice(["fixed", "spherical", "free"], case_sensitive=False),
    default="fixed",
    show_default=True,
    help="Whether the centres of clusters stay at the attributes.",
)
@click.option(
    "--include-labelled/--leave-labelled",
    default=True,
    show_default=True,
    help="Whether labelled words may be in the lists.",
)
@click.option(
    "--stop-words",
    default="english",
    show_default=True,
    metavar="LIST",
    help="Words to leave out: english, none, a built-in list or a text file.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    help="Write the lists to a .toml file, and why each word was included to a .words.csv next to "
    "it.",
)
@click.option(
    "--review",
    metavar="FILE",
    help="Write a .csv table for decisions about each word, with contexts from --corpus.",
)
@click.option(
    "--reviewed",
    metavar="FILE",
    help="Read such a table, with decisions (keep, drop, or another group), and change the lists.",
)
@click.option("--save-classifier", metavar="FILE", help="Write the classifier to an .npz file.")
@force_option
@seed_option
@loading_options
@format_option
@quiet_option
def build(
    source: str | None,
    labelled: str,
    method: str,
    groups: tuple[str, ...],
    classifier: Any,
    threshold: float,
    attributes: str | None,
    frequencies: str | None,
    corpus: tuple[str, ...],
    unit: Any,
    field: str | None,
    encoding: str,
    pipeline: str,
    train: Any,
    save_embedding: str | None,
    match_frequency: bool,
    centroids: Any,
    stop_words: str,
    out: str | None,
    review: str | None,
    reviewed: str | None,
    save_classifier: str | None,
    force: bool,
    seed: int,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Build a list of words for each group, from an embedding and words whose group is known.

    EMBEDDING is a file or a name, by default demo; with --corpus and without it, one is trained.
    Prints the accuracy of the classifier on words that it was not trained on, and the lists; as csv
    or json, why each word was included. The lists can be used as a query: bayesbias metrics
    lists.toml.
    """
    from bayesbias._core.validation import one_of
    from bayesbias.corpus import load_pipeline, read_corpus, tag_words, train_embedding
    from bayesbias.errors import BayesBiasWarning
    from bayesbias.wordlists import (
        GroupClassifier,
        as_labelled,
        as_sets,
        build_lists,
        read_frequencies,
    )

    _check_sources(source, method, attributes, frequencies, corpus, train, save_embedding)
    if method == "clusters" and match_frequency:
        raise click.UsageError("--match-frequency goes with the methods frequency and pos.")
    _check_writable(out, save_embedding, force)
    check_new(force, review, save_classifier)
    words = as_labelled(labelled)
    for name in groups:
        one_of("--group", name, words)
    listed = attributes.split(",") if attributes else []
    chosen_sets = [words for name in listed for words in _attribute_sets(name.strip())]
    sets = as_sets("attribute", chosen_sets, None)
    unwanted = _stop_words(stop_words)
    counts: Any = None if frequencies is None else read_frequencies(frequencies)
    text = None
    if corpus:
        text = read_corpus(corpus_source(corpus), unit=unit, field=field, encoding=encoding)
    tagger = load_pipeline(pipeline) if method == "pos" else None

    # What may fail comes before what takes long, and what took long is written at once.
    if text is not None and source is None:
        embedding = train_embedding(text, train or "word2vec", seed=seed, progress=not quiet)
        _save_embedding(embedding, save_embedding, quiet)
    else:
        [embedding] = load_embeddings([source or "demo"], limit=limit, trust=trust, quiet=quiet)
    fitted = GroupClassifier(classifier, threshold=threshold, seed=seed).fit(embedding, words)
    if save_classifier is not None:
        fitted.save(save_classifier)
    tags = tag_words(text, tagger, progress=not quiet) if text is not None and tagger else None
    how = _method(method, centroids, tags, match_frequency)
    if text is not None and tagger is None:
        counts = text
    with warnings.catch_warnings():
        # What it warns of is among the notes, which are printed below.
        warnings.simplefilter("ignore", BayesBiasWarning)
        built = build_lists(
            embedding,
            fitted,
            method=how,
            groups=groups or None,
            frequencies=counts,
            attributes=sets,
            stop_words=unwanted,
            progress=not quiet,
            **chosen,
        )
    built = _reviewed(built, reviewed, review, text, quiet)
    _save(built, out, quiet)
    _print(built, output, quiet)


def _method(method: str, centroids: Any, tags: Any, match_frequency: bool) -> Any:
    """Return how words are chosen."""
    from bayesbias.wordlists import ByCluster, ByFrequency, ByPartOfSpeech

    if method == "clusters":
        return ByCluster(centroids)
    if tags is not None:
        return ByPartOfSpeech(tags, match_frequency=match_frequency)
    return ByFrequency(match_frequency=match_frequency)


def _reviewed(
    built: BuiltLists, decisions: str | None, review: str | None, corpus: Any, quiet: bool
) -> BuiltLists:
    """Return the lists with decisions that were made, and write a table for others."""
    if decisions is not None:
        built = built.reviewed(decisions)
    if review is not None:
        built.review_sheet(review, corpus)
        say(f"{len(built.words):,} words to review written to {review}", quiet)
    return built


def _check_sources(
    source: str | None,
    method: str,
    attributes: str | None,
    frequencies: str | None,
    corpus: tuple[str, ...],
    train: str | None,
    save_embedding: str | None,
) -> None:
    """Refuse options that contradict each other or need another one."""
    if frequencies is not None and corpus:
        raise click.UsageError("--frequencies and --corpus both give counts; give one of them.")
    if method == "clusters" and attributes is None:
        raise click.UsageError("--method clusters needs --attributes, the words to cluster around.")
    if method == "pos" and not corpus:
        raise click.UsageError("--method pos needs --corpus, whose words are tagged in sentences.")
    if train is not None and not corpus:
        raise click.UsageError("--train needs --corpus, the text to train on.")
    if train is not None and source is not None:
        raise click.UsageError("--train makes an embedding; leave EMBEDDING out.")
    if save_embedding is not None and (source is not None or not corpus):
        raise click.UsageError("--save-embedding is for one that is trained: give --corpus.")


def _check_writable(out: str | None, save_embedding: str | None, force: bool) -> None:
    """Refuse files that cannot be written, before the work."""
    from bayesbias.embeddings import vocabulary_path, writable_format
    from bayesbias.wordlists import writable_lists

    if out is not None:
        check_new(force, out, writable_lists(Path(out)))
    if save_embedding is not None:
        path = Path(save_embedding)
        words_file = vocabulary_path(path) if writable_format(path, None) == "npy" else None
        check_new(force, path, words_file)


def _attribute_sets(source: str) -> list[WordSet]:
    """Return the lists of a table, a built-in list, or the words of a text file."""
    from bayesbias.wordlists import word_sets

    if source.lower().endswith((".csv", ".tsv")):
        return list(word_sets(source).values())
    return [_word_set(source)]


def _word_set(source: str) -> WordSet:
    """Return a built-in list, or the words of a text file under the name of the file."""
    from bayesbias.wordlists import WordSet, resolve

    words = read_words(source)
    return resolve(words) if isinstance(words, str) else WordSet(Path(source).stem, words)


def _save(built: BuiltLists, path: str | None, quiet: bool) -> None:
    if path is not None:
        built.save(path)
        say(f"{len(built.words):,} words written to {path}", quiet)


def _save_embedding(embedding: Embedding, path: str | None, quiet: bool) -> None:
    if path is not None:
        embedding.save(path)
        say(f"{embedding!r} written to {path}", quiet)


def _stop_words(source: str) -> Any:
    """Return the words to leave out as `build_lists` takes them."""
    if source in ("english", "none"):
        return None if source == "none" else source
    return _word_set(source)


def _print(built: BuiltLists, output: str, quiet: bool) -> None:
    import pandas as pd

    say(built.classifier.summary(), quiet)
    for note in built.notes:
        say(f"Note: {note}", quiet)
    if is_for_programs(output):
        print_frame(built.words, output)
        return
    two_digits = dict.fromkeys(("precision", "recall", "f1", "fpr", "fnr", "unsure"), 2)
    evaluation = built.classifier.evaluation_
    text = "The classifier on held-out words."
    print_frame(evaluation, output, digits=2, caption=text, decimals=two_digits)
    _between(output)
    lists = built.word_sets.items()
    rows = [{"list": name, "size": len(words), "words": words.preview(10)} for name, words in lists]
    rows += [
        {"list": f"{words.name} (in no list)", "size": len(words), "words": words.preview(10)}
        for words in built.associated.values()
    ]
    print_frame(pd.DataFrame(rows), output, caption=f"Word lists built by {built.method}.")
    _between(output)
    reasons = built.left_out["why"].value_counts()
    left_out = reasons[reasons > 0].rename_axis("left_out").reset_index(name="words")
    print_frame(left_out, output, caption="Words left out, and why.")


def _between(output: str) -> None:
    """Print the empty line that ends a table in a document."""
    if output != "text":
        click.echo()
