"""Profiles and clips: their lists and texts; save, remove and insert them."""

import re
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre.config.check import load_partly
from nacre.config.document import read_yaml, yaml_text
from nacre.config.layer import Tree, merge
from nacre.core.message_data import to_builtins
from nacre.editing.clips import find_clip, insert_clip, list_clips, remove_clip, save_clip
from nacre.editing.file_settings import changed_files, for_admins
from nacre.editing.outline import selected_piece
from nacre.editing.secrets import is_secret, without_secrets
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.edits import read_config
from nacre.machine.layout import Layout
from nacre.machine.local_files import read_ordinary, replace_file
from nacre.messages import message
from nacre.ops.fields import LineText, ShortText, Text
from nacre.ops.settings_file import read_version
from nacre.settings.amend import REMOVED, Edit, amended
from nacre.settings.layers import (
    file_layers,
    find_profile,
    inner_layers,
    list_profiles,
    user_folder,
)
from nacre.settings.load import examine_text
from nacre.settings.settings import JobSettings

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_LONGEST: Final = 2_000_000
_MARK: Final = re.compile(r"NOT-SHOWN-\d+")
_OWN_TO_A_JOB: Final = (
    "name", "seeds", "include", "profile", "fetch.credentials", "fetch.proxy",
    "alerts.webhook.secret", "cookies.load_file",
)  # fmt: skip
"""Settings that a profile does not take from a job: seeds, secrets, and files in its directory."""


class ProfileItem(msgspec.Struct, frozen=True):
    """A profile in the list.

    Attributes:
        name: Its name.
        purpose: What it is for; "" where it does not say.
        source: `shipped` or `yours`.
    """

    name: str
    purpose: str
    source: str


class ProfileList(msgspec.Struct, frozen=True):
    """All profiles, by name."""

    items: tuple[ProfileItem, ...]


class ProfileDetails(msgspec.Struct, frozen=True):
    """A profile with its text.

    Attributes:
        name: Its name.
        purpose: What it is for.
        source: `shipped` or `yours`.
        text: Its YAML.
    """

    name: str
    purpose: str
    source: str
    text: str


class ProfileWish(msgspec.Struct, frozen=True):
    """A job whose settings become a profile.

    Attributes:
        name: Name of the profile.
        purpose: What it is for, a line.
        job: Id of the job; its seeds and secrets are left out.
        replace: A profile of the same name may go.
    """

    name: ShortText
    purpose: LineText
    job: ShortText
    replace: bool = False


class ClipParameterFacts(msgspec.Struct, frozen=True):
    """A parameter of a clip.

    Attributes:
        means: Its meaning.
        default: Its value where none is given.
    """

    means: str
    default: str | int | float | bool


class ClipItem(msgspec.Struct, frozen=True):
    """A clip.

    Attributes:
        name: Its name.
        title: Its purpose.
        source: `shipped` or `yours`.
        place: The settings that it is about.
        parameters: Its parameters by name.
        text: Its YAML with the defaults of its parameters.
    """

    name: str
    title: str
    source: str
    place: str
    parameters: dict[str, ClipParameterFacts]
    text: str


class ClipList(msgspec.Struct, frozen=True):
    """All clips, by name."""

    items: tuple[ClipItem, ...]


class ClipWish(msgspec.Struct, frozen=True):
    """YAML that becomes a clip.

    Attributes:
        name: Name of the clip.
        title: What it is for, a line.
        text: The YAML, as it was selected; `{{name}}` is a parameter.
        place: The setting that the text is the value of, such as `scope`; "" for several sections.
    """

    name: ShortText
    title: LineText
    text: Text
    place: ShortText = ""


class ClipResult(msgspec.Struct, frozen=True):
    """A text with a clip in it; nothing was saved.

    Attributes:
        text: The text.
        etag: ETag of the saved file, to save it with.
    """

    text: str
    etag: str


class NoOptions(msgspec.Struct, frozen=True):
    """A request without options."""


class NameRequest(msgspec.Struct, frozen=True):
    """The name of a profile or a clip."""

    name: ShortText


class ClipLines(msgspec.Struct, frozen=True):
    """Lines of a text that become a clip.

    Attributes:
        name: Name of the clip.
        title: Its purpose, a line.
        text: The text.
        first: Its first line, from 1.
        last: Its last line.
    """

    name: str
    title: str
    text: str
    first: int
    last: int


class InsertRequest(msgspec.Struct, frozen=True):
    """A clip that is inserted into the settings of a job.

    Attributes:
        name: Name of the clip.
        values: Values of its parameters; the others have their defaults.
        text: The text that it is inserted into; None for the saved text.
        files: The user may name files.
    """

    name: str
    values: dict[str, str]
    text: str | None = None
    files: bool = False


# ---- profiles


def all_profiles(_: Layout, __: NoOptions) -> ProfileList:
    """Read all profiles by name."""
    items = (
        ProfileItem(profile.name, profile.purpose, _source(profile.path))
        for profile in list_profiles()
    )
    return ProfileList(tuple(items))


def _source(path: Path) -> str:
    return "yours" if path.is_relative_to(user_folder()) else "shipped"


def profile_text(_: Layout, request: NameRequest) -> ProfileDetails | None:
    """Read a profile with its text; None if there is none of the name.

    Raises:
        JobError: It cannot be read.
    """
    name = request.name
    path = find_profile(name, Path("/")) if _NAME.fullmatch(name) else None
    if path is None:
        return None
    try:
        text = read_ordinary(path, _LONGEST).decode("utf-8", "replace")
    except OSError as error:
        raise JobError(
            message(
                "ops.file-unreadable",
                "{path} cannot be read: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    purpose = next((profile.purpose for profile in list_profiles() if profile.name == name), "")
    public_text = without_secrets(text).text
    return ProfileDetails(name, purpose, _source(path), public_text)


def save_profile(layout: Layout, request: ProfileWish) -> ProfileDetails:
    """Save the settings of a job as a profile of the user's, without its seeds and secrets.

    Raises:
        ConfigError: The name, the purpose or the settings are wrong.
        JobError: There is one of that name, or it cannot be written.
    """
    name, purpose = request.name, request.purpose.strip()
    if not _NAME.fullmatch(name):
        detail = message(
            "ops.profile-name",
            "the name of a profile has small letters, digits and hyphens, 60 at most",
        )
        raise ConfigError([Problem("name", detail, sample="our-library")])
    if not purpose or not purpose.isprintable():
        raise ConfigError(
            [
                Problem(
                    "purpose",
                    message(
                        "ops.profile-without-purpose", "say in one line what the profile is for"
                    ),
                )
            ]
        )
    path = user_folder() / "profiles" / f"{name}.yaml"
    if path.exists() and not request.replace:
        raise JobError(
            message(
                "ops.profile-exists",
                "there is a profile {name} already; say that it may be replaced",
                name=name,
            )
        )
    text = f"# {purpose}\n\n{profile_of(layout)}"
    _, problems = load_partly(JobSettings, [read_yaml(text, path.name)])
    if problems:
        raise ConfigError(problems)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    except OSError as error:
        raise JobError(
            message(
                "ops.file-unwritable",
                "{path} cannot be written: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    return ProfileDetails(name, purpose, _source(path), without_secrets(text).text)


def profile_of(layout: Layout) -> str:
    """Return the settings of a job as the text of a profile; with comments if they are in one file.

    Raises:
        ConfigError: The file is not YAML.
    """
    raw = read_config(layout.config).decode("utf-8", "replace")
    layer = read_yaml(raw, layout.config.name)
    if layer.problems:
        raise ConfigError(layer.problems)
    if layer.includes or layer.profile[0]:
        inner = inner_layers(file_layers(layout.config, layout.root), layout.root)
        tree, _ = merge(part for part in inner if part.source != "user")
        return _without_marks(yaml_text(_public(tree, ()))) if tree else ""
    gone = [Edit(path, REMOVED) for path in _private(layer.tree, ())]
    text = amended(raw, gone) if gone else raw
    return _without_marks(_without_head(text))


def _without_marks(text: str) -> str:
    """The text with words in place of the secrets that are left in it."""
    return _MARK.sub("left out", without_secrets(text).text)


def _private(tree: object, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    """The places of a tree that a profile does not have, the last first."""
    named = ".".join(map(str, path))
    if path and (named in _OWN_TO_A_JOB or is_secret(tuple(map(str, path)), None)):
        return [path]
    if isinstance(tree, dict):
        pairs: list[tuple[str | int, object]] = list(tree.items())
    else:
        pairs = list(enumerate(tree)) if isinstance(tree, list) else []
    return [place for key, value in reversed(pairs) for place in _private(value, (*path, key))]


def _public(tree: Tree, path: tuple[str, ...]) -> Tree:
    public = [
        (key, value)
        for key, value in tree.items()
        if ".".join((*path, key)) not in _OWN_TO_A_JOB and not is_secret((*path, key), None)
    ]
    return {key: _public_value(value, (*path, key)) for key, value in public}


def _public_value(value: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, dict):
        return _public(value, path)
    if isinstance(value, list):
        return [_public_value(entry, (*path, str(number))) for number, entry in enumerate(value)]
    return value


def _without_head(text: str) -> str:
    """The text without the comments above its first setting."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    return "\n".join(lines[first:])


def remove_profile(_: Layout, request: NameRequest) -> None:
    """Remove a profile of the user's.

    Raises:
        JobError: There is none, or it cannot be removed.
    """
    name = request.name
    path = user_folder() / "profiles" / f"{name}.yaml"
    if not _NAME.fullmatch(name) or not path.is_file():
        ships = any(profile.name == name for profile in list_profiles())
        text = (
            message("ops.shipped", "comes with Nacre")
            if ships
            else message("ops.absent", "is not there")
        )
        raise JobError(
            message("ops.profile-error", "the profile {name!r} {text}", name=name, text=text)
        )
    try:
        path.unlink()
    except OSError as error:
        raise JobError(
            message(
                "ops.file-not-removed",
                "{path} cannot be removed: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error


# ---- clips


def all_clips(_: Layout, __: NoOptions) -> ClipList:
    """Read all clips by name."""
    return ClipList(tuple(_clip(clip.name) for clip in list_clips()))


def _clip(name: str) -> ClipItem:
    return msgspec.convert(to_builtins(find_clip(name)), ClipItem)


def clip_text(_: Layout, request: NameRequest) -> ClipItem | None:
    """Read a clip; None if there is none of the name."""
    is_there = any(clip.name == request.name for clip in list_clips())
    return _clip(request.name) if is_there else None


def put_clip(_: Layout, request: ClipWish) -> ClipItem:
    """Save YAML as a clip of the user's.

    Raises:
        ConfigError: The name or the text is wrong.
    """
    if "NOT-SHOWN-" in request.text:
        raise ConfigError(
            [Problem("text", message("ops.clip-with-secret", "a clip cannot hold a secret"))]
        )
    save_clip(request.name, request.title, request.place, request.text)
    return _clip(request.name)


def clip_of_lines(layout: Layout, request: ClipLines) -> ClipItem:
    """Save some lines of a text as a clip of the user's.

    Raises:
        ConfigError: The name is wrong, or the lines are no piece of settings.
    """
    piece = selected_piece(request.text, request.first, request.last)
    return put_clip(layout, ClipWish(request.name, request.title, piece.text, piece.place))


def drop_clip(_: Layout, request: NameRequest) -> None:
    """Remove a clip of the user's."""
    remove_clip(request.name)


def with_clip(layout: Layout, request: InsertRequest) -> ClipResult:
    """Return the text of a job with a clip in it.

    Raises:
        ConfigError: A value is wrong, or the text is not YAML.
        JobError: There is no such clip, or the text cannot be changed in part.
    """
    version = read_version(layout)
    text = version.text if request.text is None else request.text
    if not request.files and (refused := changed_files(version.text, text)):
        raise ConfigError([for_admins(path) for path in refused])
    loaded, _ = examine_text(layout, text)
    settings = loaded.settings if loaded is not None else None
    clipped = insert_clip(text, find_clip(request.name), request.values, settings)
    return ClipResult(clipped, version.etag)
