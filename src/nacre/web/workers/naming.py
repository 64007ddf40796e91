"""The check of changes of settings that name something of the machine."""

import msgspec

from nacre.config.layer import assignment_layer
from nacre.core.message_data import to_builtins
from nacre.fleet.places import FoundJob
from nacre.fleet.reach import ConsoleReach, may_name_files
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import Requester
from nacre.job.apply_change import ChangeRequest
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.settings.named_settings import named_in
from nacre.web.workers.pool import ReaderPool
from nacre.web.workers.task import reader_task

_PATIENCE = 60.0
"""Seconds that the check may take."""


class EditRequest(msgspec.Struct, frozen=True):
    """A change of settings.

    Attributes:
        change: The change.
        who: Name of the requester, for the history.
    """

    change: ChangeRequest
    who: str = ""


class NamedPaths(msgspec.Struct, frozen=True):
    """The paths of settings that name something of the machine."""

    paths: tuple[str, ...]


@reader_task("named-files")
def named_files(_: Layout, request: EditRequest) -> NamedPaths:
    """Read which settings of a change name something of the machine."""
    tree = assignment_layer(request.change.assignments).tree
    if request.change.associate is not None:
        tree = {**tree, "sheet_associations": [request.change.associate]}
    return NamedPaths(tuple(sorted({named.path for named in named_in(tree)})))


async def require_may_name(
    readers: ReaderPool,
    reach: ConsoleReach,
    requester: Requester,
    job: FoundJob,
    request: ChangeRequest,
) -> None:
    """Refuse a change that names files, servers or networks if that is for admins alone.

    Args:
        readers: They read the change.
        reach: The reach of the console.
        requester: The caller.
        job: The job.
        request: The change.

    Raises:
        RefusedRequestError: It does (403).
    """
    if may_name_files(requester.role, is_remote=reach.is_remote, places=requester.places):
        return
    fields = to_builtins(EditRequest(request))
    answer = await readers.ask(named_files.name, job.layout.root, _PATIENCE, **fields)
    paths = ", ".join(answer["paths"])
    if paths:
        raise RefusedRequestError(
            403,
            "files",
            message(
                "console.admin-only-settings",
                "only administrators may change {paths}: it refers to a file, a program, a "
                "variable, a server, a network or a port",
                paths=paths,
            ),
        )
