"""A task of reader processes: run an operation that opens the store of a job."""

from collections.abc import Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre.core.message_data import to_builtins
from nacre.job.imports import ImportMode, ImportOptions, ImportTally
from nacre.machine.layout import Layout
from nacre.ops.frontier import FRONTIER
from nacre.ops.lifecycle import LIFECYCLE
from nacre.ops.operation import OperationContext
from nacre.ops.uri_import import file_lines, import_lines
from nacre.web.workers.task import PROGRESS
from nacre.web.workers.views import CLOCK, VIEWS

_PATIENCE: Final = 3600.0
"""Seconds that a running job may take for a change of its frontier."""
_OPERATIONS = {operation.name: operation for operation in LIFECYCLE} | FRONTIER


def operate(layout: Layout, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of the operation
    """Run an operation; durable when it answers.

    Args:
        layout: The job.
        arguments: `operation`: its name; `request`: its options; `by`: the requester.

    Raises:
        JobError: The job refuses.
        StorageError: It runs meanwhile, or cannot be written.
    """
    operation = _OPERATIONS[str(arguments["operation"])]
    request = msgspec.convert(arguments["request"], operation.request)
    VIEWS.drop(layout.root)
    context = worker_context(layout, str(arguments["by"]))
    return to_builtins(operation.run(context, request))


def worker_context(layout: Layout, by: str) -> OperationContext:
    """Return the context of an operation in a reader process.

    Args:
        layout: The job.
        by: The requester.
    """
    return OperationContext(layout, CLOCK, by, _PATIENCE, PROGRESS.tell)


_REJECTED: Final = 20


def import_uris(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
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
    total, rejected = ImportTally(), list[dict[str, object]]()
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
