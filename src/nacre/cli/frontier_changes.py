"""The commands of `nacre frontier DIR` that change something: texts of results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nacre.cli import output
from nacre.cli.operations import OperationCommand
from nacre.core.message_data import to_plain
from nacre.ops.frontier import (
    DELETE,
    EXCLUDE,
    FIRST,
    FORGET,
    INCLUDE,
    RECONSIDER,
    RETIRE,
    UNRETIRE,
    WAKE,
    FrontierChange,
    ScopeChange,
)
from nacre.ops.operation import Operation


def _deleted(result: FrontierChange, _request: object, _: Path) -> str:
    return f"deleted {output.count(result.changed, 'URI')}"


def _excluded(result: ScopeChange, _request: object, _: Path) -> str:
    text = "excluded" if result.rule else "it was excluded already"
    return f"{text}; deleted {output.count(result.changed, 'URI')}"


def _included(result: ScopeChange, _request: object, directory: Path) -> str:
    from nacre.machine.layout import Layout

    text = "the scope takes them again" if result.rule else "no rule of the scope had it"
    if result.over:
        job, nacre = output.typed(directory), output.program()
        if not Layout(directory).has_store:
            return f"{text}; it never ran: `{nacre} run {job}` begins the first run"
        return f"{text}; no run goes on: `{nacre} recrawl {job} --full` finds all of them"
    urls = output.count(result.changed, "URI that was deleted or refused waits again",
                        "URIs that were deleted or refused wait again")  # fmt: skip
    return f"{text}; {urls}"


def _changed(noun: str, verb: str) -> Callable[[FrontierChange, object, Path], str]:
    return lambda result, _request, _: f"{output.count(result.changed, noun)} {verb}"


def _scope_json(name: str) -> Callable[[ScopeChange], object]:
    return lambda result: {
        "changed": bool(result.rule), name: None if result.over else result.changed,
    }  # fmt: skip


_CHANGES: tuple[tuple[Operation[Any, Any], str, str], ...] = (
    (RETIRE, "queue", "retired"),
    (UNRETIRE, "queue", "brought back"),
    (WAKE, "queue", "woken"),
    (FORGET, "URI", "forgotten"),
    (RECONSIDER, "queue", "changed places"),
    (FIRST, "URI", "moved to the front"),
)
COMMANDS = {
    command.__name__: command
    for command in (
        OperationCommand(DELETE, _deleted, lambda r: {"deleted": r.changed}, in_group=True),
        OperationCommand(EXCLUDE, _excluded, _scope_json("deleted"), in_group=True),
        OperationCommand(INCLUDE, _included, _scope_json("waiting"), in_group=True),
        *(
            OperationCommand(operation, _changed(noun, outcome), to_plain, in_group=True)
            for operation, noun, outcome in _CHANGES
        ),
    )
}
"""The functions of the commands, by name."""
