"""The settings with names of parts of the machine: files, programs, servers, networks, ports.

Whoever may edit a job from another machine may not thereby read files of this one, reach its
networks or have it contact servers: a console that others can reach lets only administrators change
these settings. The types of the settings declare them (`config.component`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final

from nacre.config.component import NamedKind
from nacre.config.document import read_yaml
from nacre.config.named_values import NamedValue, marked_names
from nacre.errors import Problem
from nacre.messages import message
from nacre.settings.named_settings import named_in

CLOSED: Final = frozenset(("state", "logins", "control", "cycle"))
"""Directories of a job that are for its processes alone."""
_SETTINGS: Final = re.compile(r"\.ya?ml(?![a-z0-9])", re.IGNORECASE)
_WHY: Final = {
    NamedKind.FILE: Problem(
        "",
        message(
            "editing.admin-only-files",
            "only administrators may change this: it contains the name of a file, a program "
            "or a variable",
        ),
    ),
    NamedKind.SERVER: Problem(
        "",
        message(
            "editing.admin-only-servers",
            "only administrators may change this: it contains the name of a server that Nacre "
            "contacts",
        ),
    ),
    NamedKind.PROGRAM: Problem(
        "",
        message(
            "editing.admin-only-programs",
            "only administrators may change this: it contains the name of a program that is "
            "executed",
        ),
    ),
    NamedKind.NETWORK: Problem(
        "",
        message(
            "editing.admin-only-networks",
            "only administrators may change this: it names networks or addresses",
        ),
    ),
    NamedKind.LISTENER: Problem(
        "",
        message(
            "editing.admin-only-ports",
            "only administrators may change this: it contains a port that other machines can reach",
        ),
    ),
}


@lru_cache(maxsize=2)  # the saved text is asked for with each letter that is typed
def named_files(text: str) -> Mapping[str, Any]:
    """The values of a text that are names of parts of the machine, by their paths."""
    return {setting.path: setting.value for setting in _named_in_text(text)}


def _named_in_text(text: str) -> Iterator[NamedValue]:
    layer = read_yaml(text, "crawl.yaml")
    yield from named_in(layer.tree)
    if layer.includes:
        yield NamedValue("include", [name for name, _ in layer.includes], NamedKind.FILE)
    if is_file_of_profile(layer.profile[0]):
        yield NamedValue("profile", layer.profile[0], NamedKind.FILE)


def has_settings(name: str) -> bool:
    """Whether a file has settings of Nacre, or had them: it is shown without secrets."""
    return _SETTINGS.search(name) is not None


def is_file_of_profile(name: str) -> bool:
    """Whether the name of a profile is that of a file."""
    return "/" in name or name.endswith(".yaml")


def changed_files(before: str, after: str) -> list[str]:
    """Paths of settings that name something in one text that the other does not name, sorted.

    The number of an item in its list does not count: rules may move.
    """
    old = {
        _key(path, item)
        for path, value in named_files(before).items()
        for item in _iterate_items(value)
    }
    new = named_files(after)
    return sorted(
        path
        for path, value in new.items()
        if any(_key(path, file) not in old for file in _iterate_items(value))
    )


def _iterate_items(value: Any) -> Iterator[Any]:  # noqa: ANN401 - YAML
    yield from value if isinstance(value, list) and value else (value,)


def _key(path: str, value: object) -> tuple[str, str]:
    """What tells a value that names something from others."""
    plain = ".".join("*" if part.isdigit() else part for part in path.split("."))
    return plain, json.dumps(value, sort_keys=True, default=str)


def for_admins(path: str) -> Problem:
    """Return the problem of such a setting, which only administrators may change.

    Args:
        path: The setting; "" for a setting with the name of a file.
    """
    kind = _kind_at(path)
    return _WHY.get(kind, _WHY[NamedKind.FILE])._replace(path=path)


def _kind_at(path: str) -> NamedKind:
    """Return what a setting refers to, from the last known name in its path."""
    kinds = marked_names()
    return next(
        (kinds[part] for part in reversed(path.split(".")) if part in kinds), NamedKind.FILE
    )


def stays_in_job(path: str, value: object) -> bool:
    """Whether what a setting names are files in the job's directory, as far as it tells.

    Args:
        path: Path of the setting.
        value: Its value: a path of a file, or a list of such; anything else is none.
    """
    if isinstance(value, list | tuple):
        return all(stays_in_job(path, part) for part in value)
    if (
        _kind_at(path) is not NamedKind.FILE
        or not isinstance(value, str)
        or set(value) & set("$~\\")
    ):
        return False
    parts = PurePosixPath(value).parts
    return value[:1] != "/" and ".." not in parts and not CLOSED.intersection(parts[:1])
