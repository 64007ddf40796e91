"""Profiles: settings for a kind of crawl, to stand on. They ship with Nacre, or are the user's."""

import os
from pathlib import Path
from typing import NamedTuple

from nacre.config.ordinary import open_ordinary

_OWN = Path(__file__).parents[2] / "profiles"
_SUFFIX = ".yaml"
_LONGEST = 1000


class Profile(NamedTuple):
    """A profile: its name, what it is for, and where it stands."""

    name: str
    purpose: str
    path: Path


def user_folder() -> Path:
    """The user's own directory for Nacre: `config.yaml` and `profiles/`."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "nacre"


def find_profile(name: str, root: Path) -> Path | None:
    """The file of a profile; None when there is none.

    Args:
        name: Its name: the user's own come first. Or a file, with `/` or `.yaml` in its name,
            relative to the job.
        root: The job's directory.
    """
    if "/" in name or name.endswith(_SUFFIX):
        path = root / Path(name).expanduser()
        return path if path.is_file() else None
    places = (folder / (name + _SUFFIX) for folder in _folders())
    return next((path for path in places if path.is_file()), None)


def profiles() -> list[Profile]:
    """All profiles that a name stands for, in the order of their names."""
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in folder.glob("*" + _SUFFIX):
            found.setdefault(path.stem, path)
    return [Profile(name, _purpose(path), path) for name, path in sorted(found.items())]


def profile_names() -> list[str]:
    """The names of all profiles."""
    return [profile.name for profile in profiles()]


def _folders() -> tuple[Path, Path]:
    return user_folder() / "profiles", _OWN


def _purpose(path: Path) -> str:
    """The comment in the first line."""
    try:
        with open_ordinary(path) as file:
            first = file.readline(_LONGEST).decode().rstrip()
    except (OSError, UnicodeDecodeError):
        return ""
    return first.removeprefix("#").strip() if first.startswith("#") else ""
