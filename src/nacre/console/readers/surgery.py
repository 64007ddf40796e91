"""Tasks of reader processes that change a frontier: of a job at rest, or by a file of lines."""

from collections.abc import Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from nacre.console.readers.operations import worker_context
from nacre.console.readers.progress import PROGRESS
from nacre.console.readers.views import VIEWS
from nacre.console.readers.waiting import QueueNames, ScanBudget, waiting_rows
from nacre.core.message_data import to_builtins
from nacre.frontier.pending import PendingUri, export, matcher
from nacre.job.imports import ImportMode, ImportOptions, ImportTally
from nacre.ops.uri_import import file_lines, import_lines
from nacre.store.layout import Layout

_LINES: Final = 1000
"""Lines that are sent to a running job at a time."""
_REJECTED: Final = 20
_PART: Final = 20_000
_PART_SECONDS: Final = 0.5
_LOOKED: Final = 65_536


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
    VIEWS.drop(layout.root)
    context = worker_context(layout, str(arguments["by"]))
    lines = partial(file_lines, path, "the file")
    total, rejected = ImportTally(), list[dict[str, Any]]()
    for mode in arguments["modes"]:
        options = ImportOptions(
            ImportMode(mode), scoped=bool(arguments["scoped"]), force=bool(arguments["force"]),
            retain_failures=bool(arguments["retain_failures"]),
        )  # fmt: skip
        for imported in import_lines(context, lines, options):
            total.add(imported.tally)
            more = (line._asdict() for line in imported.rejected)
            rejected += islice(more, _REJECTED - len(rejected))
            PROGRESS.tell(total.lines)
    return {"changed": total.scheduled, "tally": to_builtins(total), "rejected": rejected}


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
