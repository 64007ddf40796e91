"""Tasks of reader processes about profiles and clips: lists, texts, saving, putting in."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nacre.config.check import load_partly
from nacre.config.document import read_yaml, yaml_text
from nacre.config.layer import Tree, merge
from nacre.config.ordinary import read_ordinary
from nacre.console.readers.editing import version_of
from nacre.core.message_data import to_builtins
from nacre.editing.clips import find_clip, insert_clip, list_clips, remove_clip, save_clip
from nacre.editing.file_settings import changed_files, for_admins
from nacre.editing.secrets import is_secret, without_secrets
from nacre.editing.selection import selected_piece
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.edits import read_config
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
from nacre.store.layout import Layout
from nacre.store.local_files import replace_file

Arguments = Mapping[str, Any]
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_LONGEST: Final = 2_000_000
_MARK: Final = re.compile(r"NOT-SHOWN-\d+")
_OWN_TO_A_JOB: Final = (
    "name", "seeds", "include", "profile", "fetch.credentials", "fetch.proxy",
    "alerts.webhook.secret", "cookies.load_file",
)  # fmt: skip
"""Settings that a profile does not take from a job: seeds, secrets, and files beside it."""


# ---- profiles


def profiles(_: Layout, __: Arguments) -> list[dict[str, Any]]:
    """All profiles by name."""
    return [
        {"name": profile.name, "purpose": profile.purpose, "source": _source(profile.path)}
        for profile in list_profiles()
    ]


def _source(path: Path) -> str:
    return "yours" if path.is_relative_to(user_folder()) else "shipped"


def profile_text(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """A profile with its text: `name`; empty where there is none."""
    name = str(arguments["name"])
    path = find_profile(name, Path("/")) if _NAME.fullmatch(name) else None
    if path is None:
        return {}
    try:
        text = read_ordinary(path, _LONGEST).decode("utf-8", "replace")
    except OSError as error:
        raise JobError(f"{path} cannot be read: {error.strerror}") from error
    purpose = next((profile.purpose for profile in list_profiles() if profile.name == name), "")
    shown = without_secrets(text).text
    return {"name": name, "purpose": purpose, "source": _source(path), "text": shown}


def save_profile(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """Save the settings of a job as a profile of the user's, without its seeds and secrets.

    Args:
        layout: The job.
        arguments: `name`; `purpose`, a line; `replace`: one of the same name may go.

    Raises:
        ConfigError: The name, the purpose or the settings are wrong.
        JobError: There is one of that name, or it cannot be written.
    """
    name, purpose = str(arguments["name"]), str(arguments["purpose"]).strip()
    if not _NAME.fullmatch(name):
        said = "the name of a profile has small letters, digits and hyphens, 60 at most"
        raise ConfigError([Problem("name", said, sample="our-library")])
    if not purpose or not purpose.isprintable():
        raise ConfigError([Problem("purpose", "say in one line what the profile is for")])
    path = user_folder() / "profiles" / f"{name}.yaml"
    if path.exists() and not arguments.get("replace"):
        raise JobError(f"there is a profile {name} already; say that it may be replaced")
    text = f"# {purpose}\n\n{profile_of(layout)}"
    _, problems = load_partly(JobSettings, [read_yaml(text, path.name)])
    if problems:
        raise ConfigError(problems)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    except OSError as error:
        raise JobError(f"{path} cannot be written: {error.strerror}") from error
    return profile_text(layout, {"name": name})


def profile_of(layout: Layout) -> str:
    """The settings of a job as the text of a profile; with its comments where it is one file.

    Raises:
        ConfigError: The file is not YAML.
    """
    raw = read_config(layout.config).decode("utf-8", "replace")
    layer = read_yaml(raw, layout.config.name)
    if layer.problems:
        raise ConfigError(layer.problems)
    if layer.includes or layer.profile[0]:
        inner = inner_layers(file_layers(layout.config, layout.root), layout.root)
        tree, _ = merge(one for one in inner if one.source != "user")
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
    kept = [
        (key, value)
        for key, value in tree.items()
        if ".".join((*path, key)) not in _OWN_TO_A_JOB and not is_secret((*path, key), None)
    ]
    return {key: _public_value(value, (*path, key)) for key, value in kept}


def _public_value(value: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, dict):
        return _public(value, path)
    if isinstance(value, list):
        return [_public_value(one, (*path, str(number))) for number, one in enumerate(value)]
    return value


def _without_head(text: str) -> str:
    """The text without the comments above its first setting."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    return "\n".join(lines[first:])


def remove_profile(_: Layout, arguments: Arguments) -> None:
    """Remove a profile of the user's: `name`.

    Raises:
        JobError: There is none, or it cannot be removed.
    """
    name = str(arguments["name"])
    path = user_folder() / "profiles" / f"{name}.yaml"
    if not _NAME.fullmatch(name) or not path.is_file():
        ships = any(profile.name == name for profile in list_profiles())
        said = "comes with Nacre" if ships else "is not there"
        raise JobError(f"the profile {name!r} {said}")
    try:
        path.unlink()
    except OSError as error:
        raise JobError(f"{path} cannot be removed: {error.strerror}") from error


# ---- clips


def clips(_: Layout, __: Arguments) -> list[dict[str, Any]]:
    """All clips by name."""
    return [_clip(clip.name) for clip in list_clips()]


def _clip(name: str) -> dict[str, Any]:
    made: dict[str, Any] = to_builtins(find_clip(name))
    made.pop("settings")
    return made


def clip_text(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """A clip: `name`; empty where there is none."""
    name = str(arguments["name"])
    return _clip(name) if any(clip.name == name for clip in list_clips()) else {}


def put_clip(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """Save YAML as a clip of the user's: `name`, `title`, `place`, `text`.

    Raises:
        ConfigError: The name or the text is wrong.
    """
    text = str(arguments["text"])
    if "NOT-SHOWN-" in text:
        raise ConfigError([Problem("text", "a clip cannot hold a secret")])
    name = str(arguments["name"])
    save_clip(name, str(arguments["title"]), str(arguments["place"]), text)
    return _clip(name)


def clip_of_lines(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """Save some lines of a text as a clip of the user's: `text`, `first`, `last`, `name`, `title`.

    Raises:
        ConfigError: The name is wrong, or the lines are no piece of settings.
    """
    first, last = int(arguments["first"]), int(arguments["last"])
    piece = selected_piece(str(arguments["text"]), first, last)
    return put_clip(_, {"name": arguments["name"], "title": arguments["title"], **piece._asdict()})


def drop_clip(_: Layout, arguments: Arguments) -> None:
    """Remove a clip of the user's: `name`."""
    remove_clip(str(arguments["name"]))


def with_clip(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """The text of a job with a clip in it.

    Args:
        layout: The job.
        arguments: `name` of the clip; `values` of its parameters; `text` to put it into, None for
            the saved one; `files`: the caller may name files.

    Raises:
        ConfigError: A value is wrong, or the text is not YAML.
        JobError: There is no such clip, or the text cannot be changed in part.
    """
    version = version_of(layout)
    text = version.text if arguments.get("text") is None else str(arguments["text"])
    if not arguments.get("files") and (refused := changed_files(version.text, text)):
        raise ConfigError([for_admins(path) for path in refused])
    loaded, _ = examine_text(layout, text)
    settings = loaded.settings if loaded is not None else None
    made = insert_clip(text, find_clip(str(arguments["name"])), arguments["values"], settings)
    return {"text": made, "etag": version.etag}
