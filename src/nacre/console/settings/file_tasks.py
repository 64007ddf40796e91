"""Tasks of reader processes for editors of settings: the text, its findings, its versions."""

from typing import Any, Final

import msgspec

from nacre.editing.complete import Completions, complete
from nacre.editing.hover import HoverCard, hover
from nacre.editing.secrets import without_secrets
from nacre.job.edits import ConfigEdit
from nacre.machine.layout import Layout
from nacre.ops import settings_file
from nacre.ops.settings import settings_schema
from nacre.ops.settings_file import (
    ConfigVersion,
    EffectiveValues,
    FormattedYaml,
    SettingFacts,
    StoredVersion,
)
from nacre.web.workers.task import NoRequest, reader_task


class SettingsText(msgspec.Struct, frozen=True):
    """A text of settings."""

    text: str


class TextPlace(msgspec.Struct, frozen=True):
    """A position in a text, as the number of preceding characters."""

    text: str
    offset: int


class VersionNumber(msgspec.Struct, frozen=True):
    """The number of a version."""

    number: int


class SettingPath(msgspec.Struct, frozen=True):
    """The path of a setting."""

    path: str


FIND_PROBLEMS: Final = reader_task("find-in-text")(settings_file.find_problems)
SAVE_CONFIG: Final = reader_task("save-config")(settings_file.save_config)
PUT_CONFIG: Final = reader_task("put-config")(settings_file.put_config)


@reader_task("config-text")
def config_text(layout: Layout, _: NoRequest) -> ConfigVersion:
    """Read the file of a job, and its ETag."""
    layout.require()
    return settings_file.read_version(layout)


@reader_task("shown-text")
def shown_text(_: Layout, request: SettingsText) -> SettingsText:
    """Return any text of settings without its secrets."""
    return SettingsText(without_secrets(request.text).text)


@reader_task("closed-files")
def closed_files(layout: Layout, _: NoRequest) -> list[tuple[int, int]]:
    """Return device and inode of each file of a job that is closed to all users."""
    return list(settings_file.list_closed_files(layout))


@reader_task("complete-text")
def complete_text(_: Layout, request: TextPlace) -> Completions:
    """Return the completions at a place."""
    return complete(request.text, request.offset)


@reader_task("hover-text")
def hover_text(_: Layout, request: TextPlace) -> HoverCard:
    """Return the meaning of the word at a place."""
    return hover(request.text, request.offset)


@reader_task("format-text")
def format_text(_: Layout, request: SettingsText) -> FormattedYaml:
    """Return a text in the style of new jobs."""
    return settings_file.format_text(request.text)


@reader_task("effective-settings")
def effective_settings(layout: Layout, _: NoRequest) -> EffectiveValues:
    """Return each setting of a job as it holds."""
    return settings_file.read_effective(layout)


@reader_task("edit-versions")
def edit_versions(layout: Layout, _: NoRequest) -> list[ConfigEdit]:
    """Return the versions of the file, the newest first."""
    return settings_file.list_versions(layout)


@reader_task("edit-version")
def edit_version(layout: Layout, request: VersionNumber) -> StoredVersion | None:
    """Return a version with its text."""
    return settings_file.get_version(layout, request.number)


@reader_task("settings-schema")
def json_schema(_: Layout, __: NoRequest) -> dict[str, Any]:
    """Return the JSON Schema, with the parts of plug-ins."""
    return settings_schema()


@reader_task("setting-facts")
def setting_facts(_: Layout, request: SettingPath) -> SettingFacts | None:
    """Return the facts about a setting or a section."""
    return settings_file.setting_facts(request.path)
