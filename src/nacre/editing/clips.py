"""Clips: named pieces of a configuration with parameters, which are put into a job's settings.

A clip is a file of YAML: its purpose in the first line, `parameters`, and `settings` as
`crawl.yaml` has them, with `{{name}}` where a parameter goes. Parameters are put into the values
after the file was read, so that none of them can change its structure. Clips ship with Nacre, or
are the user's.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import msgspec

from nacre.config.document import read_yaml, yaml_text
from nacre.config.layer import Layer, assignment_layer
from nacre.config.registry import did_you_mean, nearest, one_of
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.settings_change import plain
from nacre.machine.local_files import read_ordinary, replace_file
from nacre.messages import message
from nacre.settings.amend import Edit, amended
from nacre.settings.layers import user_folder
from nacre.settings.settings import JobSettings

_SHIPPED: Final = Path(__file__).parents[1] / "clips"
_SUFFIX: Final = ".yaml"
_LONGEST: Final = 100_000
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_PLACEHOLDER: Final = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")
_LONGEST_VALUE: Final = 2_000


class ClipParameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter of a clip.

    Attributes:
        means: Its meaning, as a label.
        default: Its value where none is given.
    """

    means: str
    default: str | int | float | bool


class Clip(msgspec.Struct, frozen=True, kw_only=True):
    """A clip.

    Attributes:
        name: Its name.
        title: Its purpose.
        source: `shipped` or `yours`.
        place: The settings that it is about, with commas between them: `scope`, `chains.fetch`.
        parameters: Its parameters by name.
        settings: Its settings, with placeholders.
        text: The same as YAML, with the defaults of the parameters.
    """

    name: str
    title: str
    source: str
    place: str
    parameters: dict[str, ClipParameter]
    settings: dict[str, Any]
    text: str


class _ClipFile(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of the file of a clip."""

    settings: dict[str, Any]
    parameters: dict[str, ClipParameter] = {}


def user_clips() -> Path:
    """The directory of the user's own clips."""
    return user_folder() / "clips"


def list_clips() -> list[Clip]:
    """All clips by name; the user's own come before shipped ones of the same name.

    An unreadable clip is left out: `read_clip` reports its problems.
    """
    clips: dict[str, Clip] = {}
    for folder in (user_clips(), _SHIPPED):
        for path in sorted(folder.glob("*" + _SUFFIX)):
            try:
                clips.setdefault(path.stem, _read(path))
            except (ConfigError, JobError):
                continue
    return [clips[name] for name in sorted(clips)]


def find_clip(name: str) -> Clip:
    """A clip by its name.

    Raises:
        JobError: There is none; the message suggests one.
        ConfigError: Its file is wrong.
    """
    for folder in (user_clips(), _SHIPPED):
        path = folder / (name + _SUFFIX)
        if _NAME.fullmatch(name) and path.is_file():
            return _read(path)
    names = [clip.name for clip in list_clips()]
    near = nearest(name, names)
    hint = did_you_mean(near) if near else one_of(names)
    raise JobError(
        message("editing.no-clip", "there is no clip {name!r}; {hint}", name=name, hint=hint)
    )


def _read(path: Path) -> Clip:
    if path.parent == _SHIPPED:
        return _shipped(path)
    return _read_clip(path, "yours")


@cache
def _shipped(path: Path) -> Clip:
    return _read_clip(path, "shipped")


def _read_clip(path: Path, source: str) -> Clip:
    try:
        text = read_ordinary(path, _LONGEST).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or message("editing.not-utf-8", "it is not UTF-8")
        raise JobError(
            message(
                "editing.cannot-be-read",
                "{path} cannot be read: {reason}",
                path=path,
                reason=reason,
            )
        ) from error
    return clip_of(text, path.stem, source, str(path))


def clip_of(text: str, name: str, source: str, file: str) -> Clip:
    """A clip from the text of its file.

    Raises:
        ConfigError: The text is none.
    """
    layer = read_yaml(text, file)
    if layer.problems:
        raise ConfigError(layer.problems)
    try:
        read = msgspec.convert(layer.tree, _ClipFile)
    except msgspec.ValidationError as error:
        raise ConfigError(
            [
                Problem(
                    "", message("editing.not-clip", "not a clip: {error}", error=error), file=file
                )
            ]
        ) from None
    first = text.partition("\n")[0]
    title = first.removeprefix("#").strip() if first.startswith("#") else name
    used = set(_placeholders(read.settings))
    unknown = sorted(used - set(read.parameters))
    if unknown:
        fault = message(
            "editing.undeclared-parameter",
            "it uses a parameter that it does not declare: {names}",
            names=", ".join(unknown),
        )
        raise ConfigError([Problem("parameters", fault, file=file)])
    settings = _fill_placeholders(
        read.settings, {key: parameter.default for key, parameter in read.parameters.items()}
    )
    return Clip(
        name=name,
        title=title,
        source=source,
        place=", ".join(_places(read.settings)),
        parameters=read.parameters,
        settings=read.settings,
        text=yaml_text(settings),
    )


def _places(settings: Mapping[str, Any]) -> Iterator[str]:
    for key, value in settings.items():
        if key == "chains" and isinstance(value, dict):
            yield from (f"chains.{chain}" for chain in value)
        else:
            yield key


def _placeholders(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _placeholders(key)
            yield from _placeholders(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _placeholders(inner)
    elif isinstance(value, str):
        yield from _PLACEHOLDER.findall(value)


def filled(clip: Clip, arguments: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a clip with its parameters.

    Args:
        clip: The clip.
        arguments: Values by the names of parameters; the others have their defaults.

    Raises:
        ConfigError: There is no such parameter, or a value is none.
    """
    problems = []
    for name, value in arguments.items():
        if name not in clip.parameters:
            near = nearest(name, clip.parameters)
            parameters = ", ".join(clip.parameters) or message(
                "editing.no-parameters", "it has none"
            )
            hint = did_you_mean(near) if near else parameters
            problems.append(
                Problem(
                    name,
                    message(
                        "editing.clip-has-no-such-parameter",
                        "the clip {name} has no such parameter; {hint}",
                        name=clip.name,
                        hint=hint,
                    ),
                )
            )
        elif not value or len(value) > _LONGEST_VALUE or not value.isprintable():
            fault = message(
                "editing.single-line",
                "must be one line of 1 to {longest_value:,} characters",
                longest_value=_LONGEST_VALUE,
            )
            problems.append(Problem(name, fault, clip.parameters[name].means))
    if problems:
        raise ConfigError(problems)
    values = {
        name: _scalar(arguments.get(name), parameter) for name, parameter in clip.parameters.items()
    }
    settings: dict[str, Any] = _fill_placeholders(clip.settings, values)
    return settings


def _scalar(text: str | None, parameter: ClipParameter) -> str | int | float | bool:
    """The value of a parameter: a number where the text is one, never a mapping or a list."""
    if text is None:
        return parameter.default
    layer: Layer = assignment_layer([f"value={text}"])
    read = layer.tree.get("value")
    return read if isinstance(read, bool | int | float) else text


def _fill_placeholders(value: Any, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, dict):
        return {
            str(_fill_placeholders(key, values)): _fill_placeholders(inner, values)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_fill_placeholders(inner, values) for inner in value]
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    if whole:
        return values[whole[1]]
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), value)


# ---- putting in


def insert_clip(
    text: str, clip: Clip, arguments: Mapping[str, str], settings: JobSettings | None = None
) -> str:
    """The text of `crawl.yaml` with a clip in it; comments and order stay.

    Items of lists come to those that are there, at the end; other settings take the place of what
    the text says of them.

    Args:
        text: The text.
        clip: The clip.
        arguments: Values of its parameters.
        settings: The effective settings: a list that the text does not have begins with theirs.

    Raises:
        ConfigError: A parameter is wrong, or the text is not YAML.
        JobError: The text is written in a way that cannot be changed in part.
    """
    tree = read_yaml(text, "crawl.yaml").tree
    edits = list(_edits(filled(clip, arguments), tree, (), settings or JobSettings()))
    return amended(text, edits)


def _edits(
    values: Mapping[str, Any], tree: object, path: tuple[str | int, ...], settings: JobSettings
) -> Iterator[Edit]:
    for key, value in values.items():
        place = (*path, key)
        present = tree.get(key) if isinstance(tree, dict) else None
        if isinstance(value, dict) and (isinstance(present, dict) or not _is_whole(place)):
            yield from _edits(value, present, place, settings)
        elif isinstance(value, list):
            if isinstance(present, list):
                places = range(len(present), len(present) + len(value))
                yield from (
                    Edit((*place, at), item) for at, item in zip(places, value, strict=True)
                )
            else:
                yield Edit(place, [*_effective(settings, place), *value])
        else:
            yield Edit(place, value)


def _is_whole(path: tuple[str | int, ...]) -> bool:
    """Whether a mapping that is not there yet is written at once: a sheet, an entry of a chain."""
    return path[0] == "sheets" and len(path) == 2


def _effective(settings: JobSettings, path: tuple[str | int, ...]) -> list[Any]:
    """The items of a list as they hold without the text saying it; empty for changes of chains."""
    value: object = settings
    for part in path:
        value = getattr(value, str(part), None)
    listed = plain(value) if isinstance(value, tuple) else []
    return listed if isinstance(listed, list) else []


# ---- the user's own


def save_clip(name: str, title: str, place: str, text: str) -> Path:
    """Save YAML as a clip of the user's.

    Args:
        name: Its name; one of the same name is replaced.
        title: Its purpose, a line.
        place: What the text is the value of: `scope`, `chains.fetch`; "" for several sections.
        text: The YAML, set in as it was selected.

    Returns:
        The file.

    Raises:
        ConfigError: The name or the text is wrong.
        JobError: It cannot be written.
    """
    _require_clip_name(name, title)
    value = _selected(text)
    for part in reversed(place.split(".") if place else []):
        value = {part: value}
    if not isinstance(value, dict):
        fault = message(
            "editing.clip-without-place",
            "say what the text belongs to, such as `scope`: it is not a mapping of settings",
        )
        raise ConfigError([Problem("place", fault)])
    parameters = {
        key: {"means": key, "default": key} for key in dict.fromkeys(_placeholders(value))
    }
    body = {"parameters": parameters, "settings": value} if parameters else {"settings": value}
    written = f"# {title.strip()}\n{yaml_text(body)}"
    path = user_clips() / (name + _SUFFIX)
    clip_of(written, name, "yours", str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, written.encode())
    except OSError as error:
        raise JobError(
            message(
                "editing.cannot-be-written",
                "{path} cannot be written: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    return path


def _require_clip_name(name: str, title: str) -> None:
    """Check the name and the title of a clip.

    Raises:
        ConfigError: One of them is wrong.
    """
    if not _NAME.fullmatch(name):
        text = message(
            "editing.clip-name",
            "the name of a clip has small letters, digits and hyphens, 60 at most",
        )
        raise ConfigError([Problem("name", text, sample="no-calendars")])
    if not title.strip() or not title.isprintable():
        text = message("editing.clip-without-purpose", "say in one line what the clip is for")
        raise ConfigError([Problem("title", text)])


def remove_clip(name: str) -> None:
    """Remove a clip of the user's.

    Raises:
        JobError: There is none, or it cannot be removed.
    """
    path = user_clips() / (name + _SUFFIX)
    if not _NAME.fullmatch(name) or not path.is_file():
        ships = any(clip.name == name for clip in list_clips())
        if ships:
            raise JobError(
                message("editing.clip-ships", "the clip {name!r} ships with Nacre", name=name)
            )
        raise JobError(message("editing.no-such-clip", "the clip {name!r} is not there", name=name))
    try:
        path.unlink()
    except OSError as error:
        raise JobError(
            message(
                "editing.cannot-be-removed",
                "{path} cannot be removed: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error


def _selected(text: str) -> Any:  # noqa: ANN401 - YAML
    """The value of a selection of lines; the first line may begin in the middle.

    Raises:
        ConfigError: It is not YAML.
    """
    lines = [line.rstrip() for line in text.expandtabs(2).split("\n") if line.strip()]
    if lines:
        lines[0] = _first_column(lines) * " " + lines[0].lstrip()
    plain_lines = dedent("\n".join(lines)).split("\n")
    layer = read_yaml("value:\n" + "".join(f"  {line}\n" for line in plain_lines), "selection")
    if layer.problems or "value" not in layer.tree:
        raise ConfigError(
            layer.problems
            or [Problem("", message("editing.nothing-is-selected", "nothing is selected"))]
        )
    return layer.tree["value"]


def _first_column(lines: list[str]) -> int:
    """The column of the first line of a selection, by those below where its blanks are missing."""
    first, *following = lines
    indents = [len(line) - len(line.lstrip()) for line in following]
    lead, own = min(indents, default=0), len(first) - len(first.lstrip())
    if own or not lead or first.endswith(":"):
        return own
    is_alone = not any(
        line.lstrip().startswith("- ")
        for line, indent in zip(following, indents, strict=True)
        if indent == lead
    )
    return lead - 2 if first.startswith("- ") and is_alone else lead


# ---- completion


def clips_at(
    path: tuple[str, ...], column: int, *, item: bool, existing: frozenset[str] = frozenset()
) -> list[Clip]:
    """The clips that may be typed at a place, each with the text that goes there.

    Args:
        path: Of a key: the mapping; of an item: the item.
        column: Column of its keys.
        item: It is an item of a list.
        existing: Sections that the text has, where the place is its top.
    """
    clips = []
    for clip in list_clips():
        settings = _fill_placeholders(
            clip.settings, {key: parameter.default for key, parameter in clip.parameters.items()}
        )
        if not path and not item:
            if existing.isdisjoint(settings):
                clips.append(msgspec.structs.replace(clip, text=clip.text.rstrip("\n")))
            continue
        above = path[:-1] if item else path
        if len(settings) != 1 or not above:
            continue
        inner: Any = settings
        for part in above:
            inner = inner.get(part) if isinstance(inner, dict) else None
        if item and isinstance(inner, list):
            text = _set_in(yaml_text(inner), column)
            clips.append(msgspec.structs.replace(clip, text=text))
        elif not item and isinstance(inner, dict):
            text = _indented(yaml_text(inner), column)
            clips.append(msgspec.structs.replace(clip, text=text))
    return clips


def _set_in(text: str, column: int) -> str:
    """Items of a list without the first dash, which is typed already, at a column."""
    lines = [line.removeprefix("  ") for line in text.rstrip("\n").split("\n")]
    first, *following = lines
    lead = " " * max(0, column - 2)
    return "\n".join([first.removeprefix("- "), *(lead + line for line in following)])


def _indented(text: str, column: int) -> str:
    first, *following = text.rstrip("\n").split("\n")
    return "\n".join([first, *(" " * column + line for line in following)])
