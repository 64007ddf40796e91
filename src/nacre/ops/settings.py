"""Change the settings of a job: of its process and its file, or of its file."""

from typing import TYPE_CHECKING

import msgspec

from nacre.core.message_data import to_plain

if TYPE_CHECKING:
    from nacre.job.apply_change import Changed, ChangeRequest
    from nacre.machine.layout import Layout
    from nacre.ops.operation import OperationContext
    from nacre.settings.schema import Schema


def change_settings(
    context: "OperationContext", request: "ChangeRequest"
) -> "tuple[bool, Changed]":
    """Change settings, sheets or associations.

    Args:
        context: The job, and for whom.
        request: The change.

    Returns:
        Whether the job runs, and the changes.

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
            user = context.by or user_name()
            return False, change_stopped(layout, request, RealDisk(), user)
        by = {BY: context.by} if context.by else {}
        answer = send_command(
            layout.socket, "change", context.patience, change=to_plain(request), **by
        )
        return True, msgspec.convert(answer["changed"], Changed)


def change_settings_file(layout: "Layout", request: "ChangeRequest", user: str) -> "Changed":
    """Change the settings of a job that does not run.

    Args:
        layout: The job.
        request: The change.
        user: The requester, for the history.

    Raises:
        ConfigError: The change is wrong.
        JobError: The file cannot be changed.
    """
    from nacre.job.apply_change import alone, change_stopped
    from nacre.store.disk import RealDisk

    with alone(layout):
        return change_stopped(layout, request, RealDisk(), user)


def settings_schema() -> "Schema":
    """Return the JSON Schema of crawl.yaml, with the rules and processors of plug-ins."""
    from nacre.engine.chain.entry import PROCESSORS
    from nacre.scope.rules.stock import RULES
    from nacre.settings.schema import schema

    RULES.load_plugins()
    PROCESSORS.load_plugins()
    return schema()
