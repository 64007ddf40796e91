"""Tasks of reader processes about single settings: changes of a file, dry runs, sheets."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import msgspec

from nacre.config.check import Loaded
from nacre.config.layer import assignment_layer
from nacre.core.message_data import to_builtins
from nacre.editing.exclusion import exclusions
from nacre.editing.file_settings import changed_files, for_admins
from nacre.editing.secrets import without_secrets
from nacre.errors import ConfigError
from nacre.inspect.explain.dry_run import DryRun, DryRunAnswer
from nacre.inspect.view import reading
from nacre.job.apply_change import ChangeRequest, alone, change_stopped
from nacre.job.edits import read_config
from nacre.settings.load import examine_text, load_job
from nacre.settings.named_settings import named_in
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.layout import Layout

Arguments = Mapping[str, Any]


def named_files_of(_: Layout, arguments: Arguments) -> list[str]:
    """The paths of a change that name something of the machine: `change`."""
    request = msgspec.convert(arguments["change"], ChangeRequest)
    tree = assignment_layer(request.assignments).tree
    if request.associate is not None:
        tree = {**tree, "sheet_associations": [request.associate]}
    return sorted({one.path for one in named_in(tree)})


def change_settings(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """Change the file of a job that does not run: `change`, `who`."""
    request = msgspec.convert(arguments["change"], ChangeRequest)
    with alone(layout):
        made = change_stopped(layout, request, RealDisk(), str(arguments["who"]))
    return dict(to_builtins(made))


def exclusions_of(layout: Layout, _: Arguments) -> list[dict[str, str]]:
    """The expressions that the scope excludes: each with its `expression` and its `rule`."""
    return [exclusion._asdict() for exclusion in exclusions(load_job(layout).settings.scope)]


def dry_run(layout: Layout, arguments: Arguments) -> list[dict[str, Any]]:
    """The dry runs of URLs.

    Args:
        layout: The job.
        arguments: `urls`; `text` that is tried beside the saved one, None for none; `files`: the
            asker may name files.
    """
    urls: Sequence[str] = arguments["urls"]
    saved = _outlooks(layout, load_job(layout), urls)
    text = arguments.get("text")
    if text is None:
        return [{"now": to_builtins(one)} for one in saved]
    raw = read_config(layout.config).decode("utf-8", "replace")
    if not arguments.get("files"):
        refused = changed_files(without_secrets(raw).text, str(text))
        if refused:
            raise ConfigError([for_admins(path) for path in refused])
    loaded, problems = examine_text(layout, str(text))
    if problems or loaded is None:
        raise ConfigError(problems)
    fresh = _outlooks(layout, loaded, urls)
    return [_compared(new, old) for new, old in zip(fresh, saved, strict=True)]


def _outlooks(
    layout: Layout, loaded: Loaded[JobSettings], urls: Sequence[str]
) -> list[DryRunAnswer]:
    dry = DryRun(layout, loaded)
    with ExitStack() as stack:
        if layout.has_store:
            dry.know(stack.enter_context(reading(layout, loaded.settings)).store)
        return [dry.outlook(url) for url in urls]


def _compared(new: DryRunAnswer, old: DryRunAnswer) -> dict[str, Any]:
    """Both answers where they differ in more than the opinions of single rules."""
    bare = msgspec.structs.replace(new, opinions=()), msgspec.structs.replace(old, opinions=())
    said: dict[str, Any] = {"now": to_builtins(new)}
    if bare[0] != bare[1]:
        said["saved"] = to_builtins(old)
    return said
