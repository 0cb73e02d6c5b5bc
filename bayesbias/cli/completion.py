"""Names that the shell completes; where none fits, it completes files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completer(names: Callable[[], Iterable[str]]) -> Completer:
    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        start = incomplete.casefold()
        items = [CompletionItem(name) for name in names() if name.casefold().startswith(start)]
        return items or [CompletionItem(incomplete, type="file")]

    return complete


def _studies() -> Iterable[str]:
    from bayesbias.wordlists import STUDIES

    return STUDIES


def _queries() -> Iterable[str]:
    from bayesbias.wordlists import QUERY_SETS, query_names

    for name in QUERY_SETS:
        yield name
        yield from query_names(name)


def _lists() -> Iterable[str]:
    return dict.fromkeys([*_studies(), *_queries()])


def _metrics() -> Iterable[str]:
    from bayesbias.metrics import METRICS

    return METRICS


def _methods() -> Iterable[str]:
    from bayesbias.debias import DEBIASERS

    return DEBIASERS


def _models() -> Iterable[str]:
    from bayesbias.models import MODELS

    return MODELS


def _embeddings() -> Iterable[str]:
    from bayesbias.embeddings import DOWNLOADS, NAMED

    return (*NAMED, *DOWNLOADS)


def _downloads() -> Iterable[str]:
    from bayesbias.embeddings import downloads

    names: list[str] = downloads()["name"].tolist()
    return names


complete_studies = _completer(_studies)
complete_queries = _completer(_queries)
complete_lists = _completer(_lists)
complete_metrics = _completer(_metrics)
complete_methods = _completer(_methods)
complete_models = _completer(_models)
complete_embeddings = _completer(_embeddings)
complete_downloads = _completer(_downloads)
