"""Changes of the file of a job, in reader processes; and what a change or the scope names."""

from typing import Final

import msgspec

from nacre.config.layer import assignment_layer
from nacre.console.readers.task import NoRequest, reader_task
from nacre.editing.exclusion import ScopeExclusion, exclusions
from nacre.job.apply_change import Changed, ChangeRequest, alone, change_stopped
from nacre.ops import library
from nacre.settings.load import load_job
from nacre.settings.named_settings import named_in
from nacre.store.disk import RealDisk
from nacre.store.layout import Layout


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


class ExclusionList(msgspec.Struct, frozen=True):
    """The expressions that the scope excludes, each with its rule."""

    items: tuple[ScopeExclusion, ...]


@reader_task("named-files")
def named_files(_: Layout, request: EditRequest) -> NamedPaths:
    """Read which settings of a change name something of the machine."""
    tree = assignment_layer(request.change.assignments).tree
    if request.change.associate is not None:
        tree = {**tree, "sheet_associations": [request.change.associate]}
    return NamedPaths(tuple(sorted({named.path for named in named_in(tree)})))


@reader_task("change-settings")
def change_file(layout: Layout, request: EditRequest) -> Changed:
    """Change the file of a job that does not run.

    Raises:
        ConfigError: The change is wrong.
        JobError: The file cannot be changed.
    """
    with alone(layout):
        return change_stopped(layout, request.change, RealDisk(), request.who)


@reader_task("exclusions")
def list_exclusions(layout: Layout, _: NoRequest) -> ExclusionList:
    """Read the expressions that the scope of a job excludes.

    Raises:
        ConfigError: The settings have problems.
    """
    return ExclusionList(tuple(exclusions(load_job(layout).settings.scope)))


CLIP_OF_LINES: Final = reader_task("clip-of-lines")(library.clip_of_lines)
