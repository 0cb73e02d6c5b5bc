"""The commands `bayesbias words list`, `show` and `check`."""

from __future__ import annotations

from typing import Any

import click

from bayesbias.cli.common import (
    fallback_option,
    format_option,
    load_embeddings,
    loading_options,
    print_frame,
    quiet_option,
    say,
    subwords_option,
)


@click.group()
def words() -> None:
    """Look at word lists, queries and studies."""


@words.command("list", epilog="Example: bayesbias words list weat")
@click.argument("collection", required=False)
@format_option
@quiet_option
def list_(collection: str | None, output: str, quiet: bool) -> None:
    """List the collections, queries and studies, or the word lists of one COLLECTION."""
    import pandas as pd

    from bayesbias.words import builtin

    if collection is not None:
        about = builtin.describe(collection)
        sizes: dict[str, Any] = {
            **builtin.word_sets(collection),
            **builtin.word_tuples(collection),
        }
        rows = [
            {"list": f"{collection}:{name}", "entries": len(sizes[name]), "about": text}
            for name, text in about["sets"].items()
        ]
        if output == "table" and not quiet:
            click.echo(f"{about['title']}\n{about['source']}\n{about['licence']}\n")
        print_frame(pd.DataFrame(rows), output)
        return
    rows = []
    for name in builtin.COLLECTIONS:
        about = builtin.describe(name)
        rows.append(
            {"kind": "lists", "name": name, "entries": len(about["sets"]), "about": about["title"]}
        )
    for name in builtin.QUERY_SETS:
        queries = builtin.query_set(name)
        label = f"{name}_1 … {name}_{len(queries)}"
        text = f"{queries[0].name}, …"
        rows.append({"kind": "queries", "name": label, "entries": len(queries), "about": text})
    for name in builtin.STUDIES:
        study = builtin.load_study(name)
        text = f"groups {', '.join(study.groups)}"
        count = len(study.protected_words)
        rows.append({"kind": "study", "name": name, "entries": count, "about": text})
    print_frame(pd.DataFrame(rows), output)


@words.command(epilog="Example: bayesbias words show weat:career")
@click.argument("name")
@quiet_option
def show(name: str, quiet: bool) -> None:
    """Print the words of a list (weat:career), a study (religion) or a query (gender_1).

    NAME may also be a file with a study or a query. Where both have one name, query:weat_7 is the
    query. A list is printed one word a line, so that it can be piped on.
    """
    from bayesbias.words import builtin

    collection, colon, key = name.partition(":")
    if colon and collection in builtin.COLLECTIONS:
        tuples = builtin.word_tuples(collection)
        if key in tuples:
            click.echo("\n".join(" ".join(together) for together in tuples[key]))
            return
        chosen = builtin.resolve(name)
        say(f"# {chosen.source}", quiet)
        if chosen.note:
            say(f"# {chosen.note}", quiet)
        click.echo("\n".join(chosen))
        return
    lists = builtin.load_lists(name)
    click.echo(f"{lists!r}\n")
    for label, word_set in lists.word_sets().items():
        click.echo(f"{label} ({len(word_set)})")
        click.echo(click.wrap_text(", ".join(word_set), 96, "  ", "  "))
    for note in () if quiet else getattr(lists, "notes", ()):
        click.echo(click.wrap_text(f"Note: {note}", 96, subsequent_indent="  "))


@words.command(epilog="Example: bayesbias words check religion demo demo-100d")
@click.argument("lists")
@click.argument("embeddings", nargs=-1, metavar="[EMBEDDING]...")
@fallback_option
@subwords_option
@loading_options
@format_option
@quiet_option
def check(
    lists: str,
    embeddings: tuple[str, ...],
    fallbacks: tuple[str, ...],
    subwords: bool,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
) -> None:
    """Tell which words of a study or query the embeddings have, and which lists overlap.

    LISTS is the name or file of a study or query (query:weat_7 where both have one name); EMBEDDING
    a file or a name, by default demo.
    """
    from bayesbias.words import builtin, check_words

    study = builtin.load_lists(lists)
    loaded = load_embeddings(
        embeddings or ("demo",),
        study,
        fallbacks=fallbacks,
        limit=limit,
        subwords=subwords,
        trust=trust,
        quiet=quiet,
    )
    print_frame(check_words(study, loaded, fallbacks=fallbacks), output)
