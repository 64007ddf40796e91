"""Tasks of reader processes that change a frontier: of a job at rest, or by a file of lines."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre.console.readers.progress import PROGRESS
from nacre.console.readers.views import VIEWS
from nacre.console.readers.waiting import QueueNames, ScanBudget, waiting_rows
from nacre.editing.exclusion import exclusions
from nacre.engine.seeding.seedfile import WIDE, decoded_lines, file_coding, open_bytes
from nacre.errors import ConfigError
from nacre.frontier.pending import PendingUri, export, matcher
from nacre.job.control import is_running, send_command
from nacre.job.frontier_edits import Imported
from nacre.job.imports import ImportMode, ImportOptions, ImportTally
from nacre.job.readmission import readmitted_files, takes_back
from nacre.job.stopped_job import open_stopped
from nacre.settings.load import load_job
from nacre.store.layout import Layout

_LINES: Final = 1000
"""Lines that are sent to a running job at a time."""
_REJECTED: Final = 20
_PART: Final = 20_000
_PART_SECONDS: Final = 0.5
_LOOKED: Final = 65_536


def _by(arguments: Mapping[str, Any]) -> str:
    return f"{arguments['by']} (uid {os.getuid()})"


def change_frontier(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Change the frontier of a job that does not run; durable when it answers.

    Args:
        layout: The job.
        arguments: `action`, `urls`, `queues` (expressions), `limit`, `by`.

    Raises:
        JobError: It never ran, or its run is over.
        StorageError: It runs meanwhile, or cannot be written.
    """
    action, urls, queues = (str(arguments[name]) for name in ("action", "urls", "queues"))
    settings = load_job(layout).settings

    async def change() -> int:
        async with open_stopped(layout, settings) as editor:
            if action != "delete":
                limit = int(arguments.get("limit", 0))
                return await editor.apply(action, queues, urls, limit, _by(arguments))
            number = await editor.delete(matcher(urls), matcher(queues))
            editor.note("delete", queues, urls, number, _by(arguments))
            return number

    VIEWS.drop(layout.root)
    return {"changed": asyncio.run(change())}


def import_uris(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Take the lines of a file into the frontier, as `nacre frontier JOB import` does.

    Args:
        layout: The job, running or not.
        arguments: `file`: its path; `gz`: it is compressed; `modes`: names of `ImportMode`, each a
            pass over the file; `scoped`, `force`, `retain_failures`; `by`.

    Raises:
        ConfigError: The file is no text.
        JobError: The run of the job is over, or it refuses.
        StorageError: It cannot be written.
    """
    path = Path(str(arguments["file"]))
    total, rejected = ImportTally(), list[dict[str, Any]]()
    for mode in arguments["modes"]:
        options = ImportOptions(
            ImportMode(mode), scoped=bool(arguments["scoped"]), force=bool(arguments["force"]),
            retain_failures=bool(arguments["retain_failures"]),
        )  # fmt: skip
        for imported in _imported(layout, path, options, arguments):
            for name in total.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(imported.tally, name))
            more = (line._asdict() for line in imported.rejected)
            rejected += islice(more, _REJECTED - len(rejected))
            PROGRESS.tell(total.lines)
    return {"changed": total.scheduled, "tally": msgspec.to_builtins(total), "rejected": rejected}


def _imported(
    layout: Layout, path: Path, options: ImportOptions, arguments: Mapping[str, Any]
) -> Iterator[Imported]:
    settings = load_job(layout).settings
    if is_running(layout.socket):
        asked = msgspec.to_builtins(options)
        with _lines(path) as lines:
            for first, some in _chunks(lines):
                answer = send_command(
                    layout.socket, "frontier-import", lines=some, first=first, options=asked,
                    by=str(arguments["by"]),
                )  # fmt: skip
                yield msgspec.convert(answer["imported"], Imported)
        return

    async def change() -> Imported:
        with _lines(path) as lines:
            async with open_stopped(layout, settings, new=True) as editor:
                imported = await editor.import_lines(lines, options)
                what = f"import ({options.way})"
                editor.note(what, "", "", imported.tally.scheduled, _by(arguments))
                return imported

    VIEWS.drop(layout.root)
    yield asyncio.run(change())


def readmit_uris(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Take back the URIs that an exclusion had deleted or refused; the scope takes them by now.

    Args:
        layout: The job, running or not.
        arguments: `urls`: what is found in the URLs that were excluded; `by`; `since`.

    Returns:
        `changed`: URIs that wait again; `over`: the run is over, so that none can.

    Raises:
        JobError: It refuses.
        StorageError: It cannot be written.
    """
    urls, changed = matcher(str(arguments["urls"])), 0
    excluded = [exclusion.found for exclusion in exclusions(load_job(layout).settings.scope)]
    look = partial(VIEWS.looking, layout, float(arguments.get("since", 0.0)))
    with look() as view:
        if not is_running(layout.socket) and not takes_back(view.store):
            return {"changed": 0, "over": True}
    for path, options in readmitted_files(look, urls, excluded):
        for imported in _imported(layout, path, options, arguments):
            changed += imported.tally.scheduled
            PROGRESS.tell(changed)
    return {"changed": changed, "over": False}


@contextmanager
def _lines(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a file in any encoding that a seed list may have.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        with open_bytes(path) as packed:
            codec = file_coding(path)
            if not codec.startswith(WIDE) and b"\0" in packed.peek(_LOOKED):
                raise ConfigError("the file is not text: there are NUL bytes in it")
            yield decoded_lines(packed, codec)
    except (OSError, EOFError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"the file cannot be read: {why}") from error


def _chunks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    first, rest = 1, iter(lines)
    while some := list(islice(rest, _LINES)):
        yield first, some
        first += len(some)


def export_part(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A part of the URIs that wait, as lines of a recovery journal.

    Args:
        layout: The job.
        arguments: `urls`, `queues` (expressions), `after` (family and key, or None).
    """
    urls, queues = matcher(str(arguments["urls"])), matcher(str(arguments["queues"]))
    place = arguments["after"]
    start = (str(place[0]), bytes(place[1])) if place else None
    with VIEWS.looking(layout, float(arguments.get("since", 0.0))) as view:
        names, budget = QueueNames(view), ScanBudget(_PART, _PART_SECONDS)
        found, last = list[PendingUri](), None
        for row in waiting_rows(view, "", start):
            if budget.spent:
                break
            last = (row.family, row.key)
            uri, _ = names.uri(row)
            if urls(uri.url) and queues(uri.queue):
                found.append(PendingUri(row.family, row.key, uri))
        else:
            last = None
        text = "".join(f"{line}\n" for line in export(found))
        return {"text": text, "next": None if last is None else list(last)}
