"""The settings that name files, programs or variables of the machine.

Who may edit a job from another machine may not thereby read files of this one: a console that
others can reach lets only administrators change these.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from nacre.config.document import read_yaml

_KEYS: Final = frozenset(
    (
        "file", "files", "env", "load_file", "save_file", "mime_file", "surts_file", "dump_file",
        "map_file", "directories", "storage", "log_to_file",
    )
)  # fmt: skip
"""Keys whose values name files or variables, wherever they stand."""
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
