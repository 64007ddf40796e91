"""Names of WARC files from Heritrix's template, with no way out of their directory."""

import re
from collections.abc import Mapping

VARIABLES = ("prefix", "timestamp17", "timestamp14", "serialno", "hostname", "pid", "port")

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._~+=@,-]")
_LONGEST = 200  # bytes; file systems take 255, and suffixes follow


def file_name(template: str, values: Mapping[str, str]) -> str:
    """The name without suffix. What is no letter, digit or plain sign in a value becomes `_`.

    Args:
        template: One that `check_template` accepts.
        values: Value of each of `VARIABLES`.
    """
    name = _VARIABLE.sub(lambda match: _safe(values[_plain_name(match[1])]), template)
    return name[:1].replace(".", "_") + name[1:_LONGEST]


def check_template(template: str) -> None:
    """Raise ValueError when a template names unknown variables, or cannot give safe names."""
    names = [_plain_name(name) for name in _VARIABLE.findall(template)]
    unknown = [name for name in names if name not in VARIABLES]
    if unknown:
        raise ValueError(f"unknown variable ${{{unknown[0]}}}; known: {', '.join(VARIABLES)}")
    if "serialno" not in names:
        raise ValueError("without ${serialno} two files could have one name")
    literal = _VARIABLE.sub("", template)
    unsafe = _UNSAFE.search(literal)
    if unsafe:
        raise ValueError(f"{unsafe[0]!r} may not stand in a file name")


def check_directory(directory: str) -> None:
    """Raise ValueError when a directory is empty or climbs out with `..`."""
    if not directory or ".." in directory.split("/") or "\0" in directory:
        raise ValueError(f"{directory!r} is no directory below the run, nor an absolute one")


def _plain_name(name: str) -> str:
    return name.removeprefix("heritrix.")


def _safe(value: str) -> str:
    return _UNSAFE.sub("_", value)
