"""Change the frontier of a job: its queued URIs, its queues, and what the scope excludes."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from nacre.errors import ConfigError
from nacre.messages import message
from nacre.ops.fields import LineText, Typed, Whole
from nacre.ops.operation import LIVE, STOPPED, Operation, OperationContext, requester_of
from nacre.ops.settings import change_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from nacre.inspect.view import View
    from nacre.machine.layout import Layout
    from nacre.settings.settings import JobSettings

_URLS: Final = Typed("REGEX", option="--regex", letter="-r")
_QUEUES: Final = Typed("REGEX", option="--queue")


class QueueRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The queues that are changed.

    Attributes:
        queues: Only queues whose key matches; default: all.
    """

    queues: Annotated[LineText, _QUEUES] = ""


class UriRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The URIs that are changed: those of which both expressions match.

    Attributes:
        urls: Only URLs that match.
        queues: Only queues whose key matches, such as com,example,.
        everything: Without --regex and --queue: all of them.
    """

    urls: Annotated[LineText, _URLS] = ""
    queues: Annotated[LineText, _QUEUES] = ""
    everything: Annotated[bool, Typed("", option="--all")] = False


class FirstRequest(UriRequest, frozen=True):
    """The URIs that are moved to the front.

    Attributes:
        limit: At most this many; 0: all.
    """

    limit: Annotated[Whole, Typed("N")] = 0


class ExcludeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The URLs that the scope excludes.

    Attributes:
        urls: Found anywhere in the URL; it joins the scope's rule matches-list-regex.
    """

    urls: Annotated[LineText, _URLS]


class IncludeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The exclusion that is undone.

    Attributes:
        urls: As it was excluded, or as the rule of the scope has it.
    """

    urls: Annotated[LineText, _URLS]


class FrontierChange(msgspec.Struct, frozen=True):
    """The result of a change.

    Attributes:
        changed: URIs or queues that changed.
    """

    changed: int


class ScopeChange(msgspec.Struct, frozen=True):
    """The result of an exclusion, or of its end.

    Attributes:
        changed: URIs that were deleted, or that are queued again.
        rule: Path of the rule of the scope that changed, such as `scope.4`; "" for none.
        over: No run can be resumed, so that nothing is queued again.
    """

    changed: int
    rule: str
    over: bool = False


def require_chosen(request: UriRequest) -> None:
    """Refuse a change that cannot be undone unless the request says of which URIs.

    Raises:
        ConfigError: It does not say it.
    """
    if not (request.urls or request.queues or request.everything):
        raise ConfigError(message("ops.selection-missing", "say which: --regex, --queue, or --all"))


def change_frontier(
    context: OperationContext, action: str, urls: str, queues: str, limit: int = 0
) -> int:
    """Change a frontier: of the process that runs the job, or in the store of a job at rest.

    Args:
        context: The job, and for whom.
        action: `delete`, or one of `frontier_edits.QUEUE_ACTIONS`.
        urls: Expression found in URLs; "" for all.
        queues: Expression found in queue keys; "" for all.
        limit: Most URIs, for `first`; 0: all.

    Returns:
        How many URIs or queues changed.

    Raises:
        ConfigError: An expression cannot be read.
        JobError: The job never ran, or its run is over.
        StorageError: The store is in use or cannot be written.
    """
    from nacre.job.control import BY, NotRunningError, is_running, send_command
    from nacre.scope.patterns.matching import matcher

    matcher(urls), matcher(queues)
    context.layout.require()
    socket, user = context.layout.socket, {BY: context.by} if context.by else {}
    if not is_running(socket):
        return _change_stopped(context, action, urls, queues, limit)
    if action != "delete":
        answer = send_command(
            socket, "frontier-steer", context.patience, action=action, queue=queues, url=urls,
            limit=limit, **user,
        )  # fmt: skip
        return int(answer["changed"])
    try:
        answer = send_command(
            socket, "frontier-delete", context.patience, urls=urls, queues=queues, **user
        )
        return int(answer["deleted"])
    except NotRunningError:  # the job ended meanwhile: delete from its stored frontier
        return _change_stopped(context, action, urls, queues, limit)


def _change_stopped(
    context: OperationContext, action: str, urls: str, queues: str, limit: int
) -> int:
    import asyncio

    from nacre.job.stopped_job import open_stopped
    from nacre.scope.patterns.matching import matcher
    from nacre.settings.load import load_job

    layout = context.layout
    settings, by = load_job(layout).settings, requester_of(context)

    async def change() -> int:
        async with open_stopped(layout, settings) as editor:
            if action != "delete":
                return await editor.apply(action, queues, urls, limit, by)
            number = await editor.delete(matcher(urls), matcher(queues))
            editor.note("delete", queues, urls, number, by)
            return number

    return asyncio.run(change())


def _change_uris(action: str) -> "Callable[[OperationContext, UriRequest], FrontierChange]":
    def run(context: OperationContext, request: UriRequest) -> FrontierChange:
        require_chosen(request)
        return FrontierChange(change_frontier(context, action, request.urls, request.queues))

    return run


def _move_first(context: OperationContext, request: FirstRequest) -> FrontierChange:
    require_chosen(request)
    urls, queues, limit = request.urls, request.queues, request.limit
    return FrontierChange(change_frontier(context, "first", urls, queues, limit))


def _change_queues(
    action: str,
) -> "Callable[[OperationContext, QueueRequest], FrontierChange]":
    def run(context: OperationContext, request: QueueRequest) -> FrontierChange:
        return FrontierChange(change_frontier(context, action, "", request.queues))

    return run


def _exclude(context: OperationContext, request: ExcludeRequest) -> ScopeChange:
    """Change the scope first: URLs that are found from now on must not come back."""
    from nacre.editing.exclusion import exclusion
    from nacre.job.apply_change import ChangeRequest
    from nacre.settings.load import load_job

    layout = context.layout
    assignment = exclusion(load_job(layout).settings.scope, request.urls)
    if assignment:
        change_settings(context, ChangeRequest(assignments=[assignment]))
    number = change_frontier(context, "delete", request.urls, "") if layout.has_store else 0
    return ScopeChange(number, _rule_of(assignment))


def _include(context: OperationContext, request: IncludeRequest) -> ScopeChange:
    from nacre.editing.exclusion import readmission
    from nacre.job.apply_change import ChangeRequest
    from nacre.settings.load import load_job

    layout, settings = context.layout, load_job(context.layout).settings
    assignment, regex = readmission(settings.scope, request.urls)
    if assignment:
        change_settings(context, ChangeRequest(assignments=[assignment]))
    number = _readmit(context, settings, regex) if layout.has_store else None
    return ScopeChange(number or 0, _rule_of(assignment), over=number is None)


def _rule_of(assignment: str) -> str:
    """The path of the rule that an assignment of its expressions changes; "" for none."""
    return assignment.partition("=")[0].rpartition(".")[0]


def _readmit(context: OperationContext, settings: "JobSettings", regex: str) -> int | None:
    """Queue deleted and refused URIs again; return their number, None if no run can be resumed."""
    from functools import partial

    from nacre.editing.exclusion import exclusions
    from nacre.inspect.view import reading
    from nacre.job.control import is_running
    from nacre.job.frontier_edits import readmitted_files, takes_back
    from nacre.ops.uri_import import file_lines, import_lines
    from nacre.scope.patterns.matching import matcher
    from nacre.settings.load import load_job

    layout: Layout = context.layout
    look: Callable[[], AbstractContextManager[View]] = partial(reading, layout, settings)
    with look() as view:
        if not is_running(layout.socket) and not takes_back(view.store):
            return None
    number = 0
    excluded = [exclusion.pattern for exclusion in exclusions(load_job(layout).settings.scope)]
    for path, options in readmitted_files(look, matcher(regex), excluded):
        for imported in import_lines(context, partial(file_lines, path), options):
            number += imported.tally.scheduled
            context.tell(number, 0)
    return number


_STATES: Final = frozenset((*LIVE, STOPPED))
_Q: Final = (QueueRequest, FrontierChange)
_U: Final = (UriRequest, FrontierChange)

DELETE: Final = Operation(
    "delete", "Delete the waiting URIs that match; they count as disregarded (-6000).",
    *_U, _change_uris("delete"), _STATES, opens_store=True,
)  # fmt: skip
EXCLUDE: Final = Operation(
    "exclude", "Exclude URLs from the scope, at once if the job runs, and delete those that wait.",
    ExcludeRequest, ScopeChange, _exclude, _STATES, opens_store=True,
)  # fmt: skip
INCLUDE: Final = Operation(
    "include",
    "Undo an exclusion: the scope accepts the URLs; deleted and refused URIs are queued again.",
    IncludeRequest, ScopeChange, _include, _STATES, opens_store=True,
)  # fmt: skip
RETIRE: Final = Operation(
    "retire", "Stop handing out URIs of these queues until `unretire`.",
    *_Q, _change_queues("retire"), _STATES, opens_store=True,
)  # fmt: skip
UNRETIRE: Final = Operation(
    "unretire", "Bring retired queues back; those over their budget or quota retire again.",
    *_Q, _change_queues("unretire"), _STATES, opens_store=True,
)  # fmt: skip
WAKE: Final = Operation(
    "wake", "End the wait of queues; the politeness delay stays.",
    *_Q, _change_queues("wake"), _STATES, opens_store=True,
)  # fmt: skip
FORGET: Final = Operation(
    "forget",
    "Forget that URIs were crawled, so that they are crawled again once they are found again.",
    *_U, _change_uris("forget"), _STATES, opens_store=True,
)  # fmt: skip
RECONSIDER: Final = Operation(
    "reconsider",
    "Check budgets, quotas and order of queues again; those retired by command stay retired.",
    *_Q, _change_queues("reconsider"), _STATES, opens_store=True,
)  # fmt: skip
FIRST: Final = Operation(
    "first",
    "Move waiting URIs to the front of their queues; those that wait for a retry keep its time.",
    FirstRequest, FrontierChange, _move_first, _STATES, opens_store=True,
)  # fmt: skip

FRONTIER: Final[dict[str, Operation[Any, Any]]] = {
    operation.name: operation
    for operation in (
        DELETE, EXCLUDE, INCLUDE, RETIRE, UNRETIRE, WAKE, FORGET, RECONSIDER, FIRST,
    )
}  # fmt: skip
"""The operations that change a frontier, by name."""
