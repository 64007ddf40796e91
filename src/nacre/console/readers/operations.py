"""A task of reader processes: run an operation that opens the store of a job."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from nacre.console.readers.progress import PROGRESS
from nacre.console.readers.views import CLOCK, VIEWS
from nacre.core.message_data import to_builtins
from nacre.ops.frontier import FRONTIER
from nacre.ops.lifecycle import LIFECYCLE
from nacre.ops.operation import OperationContext
from nacre.store.layout import Layout

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
