"""The settings that name files, programs or variables of the machine.

Who may edit a job from another machine may not thereby read files of this one: a console that
others can reach lets only administrators change these.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final

from nacre.config.document import read_yaml
from nacre.errors import Problem

_KEYS: Final = frozenset(
    (
        "file", "files", "env", "load_file", "save_file", "mime_file", "surts_file", "dump_file",
        "map_file", "directories", "storage", "log_to_file",
    )
)  # fmt: skip
"""Keys whose values name files or variables, wherever they stand."""
_NO_FILES: Final = frozenset(("env", "servers"))
"""Those of them whose values are no files."""
CLOSED: Final = frozenset(("state", "logins", "control", "cycle"))
"""Directories of a job that are for its processes alone."""
_PATHS: Final = frozenset(("seeds", "cycle.generate.limits", "dns.hosts", "dns.servers"))


@lru_cache(maxsize=2)  # the saved text is asked for with each letter that is typed
def named_files(text: str) -> Mapping[str, Any]:
    """The values of a text that name files, programs or variables, by their paths."""
    layer = read_yaml(text, "crawl.yaml")
    found = dict(named_in(layer.tree))
    if layer.includes:
        found["include"] = [name for name, _ in layer.includes]
    if "/" in layer.profile[0] or layer.profile[0].endswith(".yaml"):
        found["profile"] = layer.profile[0]
    return found


def changed_files(before: str, after: str) -> list[str]:
    """Paths of settings that name other files in one text than in another, sorted."""
    old, new = named_files(before), named_files(after)
    return sorted(path for path, value in new.items() if old.get(path) != value)


def for_admins(path: str) -> Problem:
    """The problem of a setting that names something, for those who may not change it."""
    said = "only administrators may change this: it names a file, a program or a variable"
    return Problem(path, said)


def stays_in_job(path: str, value: object) -> bool:
    """Whether what a setting names are files in the job's directory, as far as it tells.

    Args:
        path: Path of the setting.
        value: Its value: a path of a file, or a list of such; anything else is none.
    """
    if isinstance(value, list | tuple):
        return all(stays_in_job(path, one) for one in value)
    if (
        path.rpartition(".")[2] in _NO_FILES
        or not isinstance(value, str)
        or set(value) & set("$~\\")
    ):
        return False
    parts = PurePosixPath(value).parts
    return value[:1] != "/" and ".." not in parts and not CLOSED.intersection(parts[:1])


def named_in(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - YAML
    """The values of a tree that name files, programs or variables.

    Args:
        value: The tree.
        path: Its place; "" for the top.
    """
    if _is_named(path) and not (path == "seeds" and not isinstance(value, str)):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from named_in(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from named_in(inner, f"{path}.{number}")


def _is_named(path: str) -> bool:
    plain = path.partition("sheets.")[2].partition(".")[2] if path.startswith("sheets.") else path
    return path.rpartition(".")[2] in _KEYS or plain in _PATHS or path in _PATHS
