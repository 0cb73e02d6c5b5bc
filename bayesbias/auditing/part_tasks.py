"""Parts of an audit in other processes, or on the machines of a cluster."""

from __future__ import annotations

import dataclasses
import logging
import os
import socket
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from bayesbias._core.progress import progress_bar
from bayesbias.auditing.artifacts import RECORD
from bayesbias.auditing.audit_folder import Folder, PartFolder, holder_of
from bayesbias.auditing.audit_inputs import Given, Loading, embedding_hash, load_all
from bayesbias.auditing.audit_options import Options
from bayesbias.auditing.audit_steps import Part, part_table
from bayesbias.debias import Method
from bayesbias.embeddings import DOWNLOADS, NAMED, Embedding, Sent, received, to_send
from bayesbias.errors import BayesBiasWarning, ClusterError
from bayesbias.parallel import current_cluster, in_parallel
from bayesbias.wordlists import Study

_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class PartTask:
    """All that another process needs to do a part of an audit, but for the embedding."""

    folder: Path
    holder: str
    force: bool
    place: str
    name: str | None
    embedding_hash: str
    studies: tuple[Study, ...]  # their words are read from the file
    study: Study
    options: Options
    how: Loading
    methods: Mapping[str, Method]


def in_other_processes(options: Options, parts: Sequence[Part]) -> bool:
    """Return whether the parts of an audit are shared among processes."""
    return current_cluster() is not None or (options.n_jobs != 1 and len(parts) > 1)


def run_parts(
    folder: Folder,
    parts: Sequence[Part],
    given: Sequence[Given],
    studies: Sequence[Study],
    how: Loading,
    *,
    force: bool,
) -> None:
    """Have all steps of the parts done by other processes, and take them over.

    What is not done afterwards, such as a step whose files were damaged, is left to `Part.run`.
    """
    sources = [_source(one) for one in given]
    first = PartTask(
        folder=folder.path.absolute(),
        holder=holder_of(folder.path),
        force=force,
        place=parts[0].place,
        name=given[0].name,
        embedding_hash=parts[0].embedding_hash,
        studies=tuple(studies),
        study=parts[0].study,
        options=dataclasses.replace(parts[0].options, n_jobs=1, progress=False),
        how=dataclasses.replace(how, progress=False),
        methods=parts[0].methods,
    )
    of_part = [source for source in zip(given, sources, strict=True) for _ in studies]
    tasks = (
        (
            dataclasses.replace(
                first,
                place=part.place,
                name=one.name,
                embedding_hash=part.embedding_hash,
                study=part.study,
                methods=part.methods,
            ),
            source,
        )
        for part, (one, source) in zip(parts, of_part, strict=True)
    )
    shared = [source for source in sources if isinstance(source, Embedding)]
    show = parts[0].options.progress
    n_jobs = parts[0].options.n_jobs
    with progress_bar("Auditing", total=len(parts), show=show, unit="steps") as advance:
        done = in_parallel(_run_part, tasks, n_jobs=n_jobs, shared=shared)
        for part, (seconds, host) in zip(parts, done, strict=True):
            folder.adopt(part.place)
            _log.info("%s on %s: %.1f s on %s", part.embedding.name, part.study.name, seconds, host)
            advance(1)


def _source(given: Given) -> str | Sent:
    """Return an embedding, or where another process finds it."""
    if isinstance(given.source, Embedding):
        return to_send(given.source)
    text = str(given.source)
    if text in NAMED or (text in DOWNLOADS and not Path(text).exists()):
        return text
    return str(Path(text).absolute())


def _run_part(task: PartTask, source: str | Sent) -> tuple[float, str]:
    """Do all steps of a part, and return how long it took, and where that was."""
    start = time.perf_counter()
    host = socket.gethostname()
    os.environ.setdefault("MPLBACKEND", "Agg")  # not a window, which needs the main thread
    if not (task.folder / RECORD).is_file():
        raise ClusterError(
            f"the worker on {host} does not find {task.folder}; put the folder of the audit where "
            "all machines of the cluster see it by the same name."
        )
    if not isinstance(source, str):
        source = received(source)
    elif source not in (*NAMED, *DOWNLOADS) and not Path(source).exists():
        raise ClusterError(
            f"the worker on {host} does not find {source}; put it where all machines of the "
            "cluster see it by the same name."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)  # the client has seen them
        (embedding,) = load_all([Given(task.name, source)], task.studies, task.how)
    if embedding_hash(embedding) != task.embedding_hash:
        raise ClusterError(
            f"{embedding.name} is not the same on the worker {host} ({source}); copy the file "
            "there, or start the audit again if it has changed."
        )
    table, warned = part_table(embedding, task.study, task.options)
    Part(
        folder=PartFolder(task.folder, task.place, task.holder, force=task.force),
        place=task.place,
        embedding=embedding,
        embedding_hash=task.embedding_hash,
        study=task.study,
        table=table,
        options=task.options,
        methods=task.methods,
        warned=warned,
    ).run()
    return time.perf_counter() - start, host
