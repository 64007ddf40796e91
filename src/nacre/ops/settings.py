"""Change the settings of a job: of its process and its file, or of its file."""

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from nacre.job.apply_change import Changed, ChangeRequest
    from nacre.ops.operation import OperationContext


def change_settings(
    context: "OperationContext", request: "ChangeRequest"
) -> "tuple[bool, Changed]":
    """Change settings, sheets or associations.

    Args:
        context: The job, and for whom.
        request: The change.

    Returns:
        Whether the job runs, and what was changed.

    Raises:
        ConfigError: The change is wrong.
        JobError: The job refuses, or its file cannot be changed.
    """
    from nacre.job.apply_change import Changed, alone, change_stopped, user_name
    from nacre.job.control import BY, is_running, send_command
    from nacre.store.disk import RealDisk

    layout = context.layout
    layout.require()
    with alone(layout):
        if not is_running(layout.socket):
            who = context.by or user_name()
            return False, change_stopped(layout, request, RealDisk(), who)
        by = {BY: context.by} if context.by else {}
        answer = send_command(
            layout.socket, "change", context.patience, change=msgspec.to_builtins(request), **by
        )
        return True, msgspec.convert(answer["changed"], Changed)
