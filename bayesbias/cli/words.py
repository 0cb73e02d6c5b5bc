"""The commands `bayesbias words list`, `show`, `check` and `build`."""

from __future__ import annotations

from typing import Any

import click

from bayesbias._core.wording import quoted, same_name
from bayesbias.cli.common import (
    corpus_options,
    corpus_source,
    fallback_option,
    force_option,
    format_option,
    load_embeddings,
    loading_options,
    matching_option_values,
    print_rows,
    quiet_option,
    say,
    seed_option,
)
from bayesbias.cli.completion import complete_lists
from bayesbias.cli.word_check import check_out, print_check, write_check
from bayesbias.cli.words_build import build
from bayesbias.errors import NotFoundError


@click.group(short_help="Show, check and build word lists.")
def words() -> None:
    """Look at word lists, queries and studies, and build lists from data."""


words.add_command(build)


@words.command(
    "list",
    short_help="List collections, queries and studies.",
    epilog="Example: bayesbias words list weat",
)
@click.argument("collection", required=False)
@click.option(
    "--language",
    metavar="CODE",
    help="Only what is in this language, such as en or de (ISO 639-1).",
)
@format_option
@quiet_option
def list_(collection: str | None, language: str | None, output: str, quiet: bool) -> None:
    """List the collections, queries and studies, or the word lists of one COLLECTION."""
    from bayesbias import wordlists

    if language is not None:
        language = wordlists.check_language(language)
    if collection is None:
        rows = wordlists.list_rows(language)
        if not rows:
            raise NotFoundError(
                f"no published list is in {wordlists.LANGUAGES[str(language)]} ({language}); "
                f"there are {quoted(wordlists.listed_languages())}."
            )
        print_rows(rows, output)
        return
    collection = wordlists.collection_name(collection)
    about = wordlists.describe_collection(collection)
    if language is not None and about["language"] != language:
        raise NotFoundError(
            f"the lists of {collection!r} are in {about['language']!r}, not in {language!r}."
        )
    sizes: dict[str, Any] = {
        **wordlists.word_sets(collection),
        **wordlists.word_tuples(collection),
    }
    rows = [
        {
            "list": f"{collection}:{name}",
            "language": about["language"],
            "entries": len(sizes[name]),
            "about": text,
        }
        for name, text in about["sets"].items()
    ]
    if output == "text" and not quiet:
        click.echo(f"{about['title']}\n{about['source']}\n{about['licence']}\n")
    print_rows(rows, output, caption=str(about["title"]))


@words.command(
    short_help="Print the words of a list.", epilog="Example: bayesbias words show weat:career"
)
@click.argument("name", shell_complete=complete_lists)
@quiet_option
def show(name: str, quiet: bool) -> None:
    """Print the words of a list (weat:career), a study (religion) or a query (gender_1).

    NAME may also be a file with a study or a query. Where both have one name, query:weat_7 is the
    query. A list is printed one word per line, so that it can be piped on.
    """
    from bayesbias import wordlists

    collection, colon, key = name.partition(":")
    if colon and collection.lower() in wordlists.COLLECTIONS:
        tuples = wordlists.word_tuples(collection)
        same = same_name(key, tuples)
        if same is not None:
            click.echo("\n".join(" ".join(together) for together in tuples[same]))
            return
        chosen = wordlists.resolve(name)
        say(f"# {chosen.source}", quiet)
        if chosen.note:
            say(f"# {chosen.note}", quiet)
        click.echo("\n".join(chosen))
        return
    lists = wordlists.load_lists(name)
    click.echo(f"{lists!r}\n")
    for label, word_set in lists.word_sets().items():
        click.echo(f"{label} ({len(word_set)})")
        click.echo(click.wrap_text(", ".join(word_set), 96, "  ", "  "))
    for note in () if quiet else getattr(lists, "notes", ()):
        click.echo(click.wrap_text(f"Note: {note}", 96, subsequent_indent="  "))


@words.command(
    short_help="Find problems in word lists.",
    epilog="Example: bayesbias words check religion demo demo-100d",
)
@click.argument("lists", shell_complete=complete_lists)
@click.argument("embeddings", nargs=-1, metavar="[EMBEDDING]...")
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
    "--pipeline", metavar="NAME", help="spaCy pipeline that tags the words of the corpus."
)
@click.option(
    "--samples",
    type=click.IntRange(min=0),
    default=500,
    show_default=True,
    help="Random or shuffled lists to compare with.",
)
@seed_option
@click.option("-o", "--out", metavar="DIR", help="Write every table and the warnings here.")
@force_option
@click.option("--strict", is_flag=True, help="Exit with 1 if there is a warning.")
@fallback_option
@loading_options
@format_option
@quiet_option
def check(
    lists: str,
    embeddings: tuple[str, ...],
    frequencies: str | None,
    corpus: tuple[str, ...],
    unit: Any,
    field: str | None,
    encoding: str,
    pipeline: str | None,
    samples: int,
    seed: int,
    out: str | None,
    force: bool,
    strict: bool,
    fallbacks: tuple[str, ...],
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
) -> None:
    """Check the word lists of a study or query, list by list and pair by pair.

    LISTS is the name or file of a study or query (query:weat_7 where both have one name); EMBEDDING
    a file or a name, by default demo. Its whole vocabulary is read, as the lists are compared with
    it. With --format csv, only the table of lists is printed; json and --out have everything.
    """
    from bayesbias.corpus import load_pipeline, read_corpus, tag_words
    from bayesbias.wordlists import check_words, load_lists, read_frequencies

    if frequencies is not None and corpus:
        raise click.UsageError("--frequencies and --corpus both tell counts; give one of them.")
    if pipeline is not None and not corpus:
        raise click.UsageError("--pipeline tags the words of a corpus: give --corpus.")
    if out is not None:
        check_out(out, force)
    study = load_lists(lists)
    counts = None if frequencies is None else read_frequencies(frequencies)
    # What may fail comes before what takes long.
    text = None
    if corpus:
        text = read_corpus(corpus_source(corpus), unit=unit, field=field, encoding=encoding)
    tagger = load_pipeline(pipeline) if pipeline is not None else None
    loaded = load_embeddings(embeddings or ("demo",), limit=limit, trust=trust, quiet=quiet)
    tags = None
    if text is not None:
        counts = text.counts(progress=not quiet)
        if tagger is not None:
            listed = [word for word_set in study.word_sets().values() for word in word_set]
            tags = tag_words(text, tagger, words=listed, progress=not quiet)
    result = check_words(
        study,
        loaded,
        frequencies=counts,
        tags=tags,
        matching=matching_option_values(fallbacks),
        samples=samples,
        seed=seed,
    )
    if out is not None:
        write_check(result, out)
        say(f"tables and warnings written to {out}", quiet)
    print_check(result, output, quiet)
    if strict and result.warnings:
        click.get_current_context().exit(1)
