"""The files that a job's settings come from: the user's, a profile's, includes, `crawl.yaml`.

Weakest first: default, the user's file, the profile, the includes in their order, the file itself.
A profile is a file of settings for a kind of crawl; profiles ship with Nacre, or are the user's.
"""

import errno
import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.config.document import read_yaml
from nacre.config.layer import Layer, assignment_layer, environment_layer
from nacre.config.registry import nearest
from nacre.errors import Problem
from nacre.machine.layout import Layout
from nacre.machine.local_files import home_path, open_ordinary, read_ordinary
from nacre.messages import message

_OWN = Path(__file__).parents[1] / "profiles"
_SUFFIX = ".yaml"
_PURPOSE_LENGTH = 1000
_MOST_INCLUDES = 64
_MOST_FILES = 1000
_MAGIC = frozenset("*?[")
_LONGEST = 2_000_000
"""Bytes of a file of settings; seeds and rules may be in separate files, of any length."""


class Profile(NamedTuple):
    """A profile: its name, its purpose, and its file."""

    name: str
    purpose: str
    path: Path


def user_folder() -> Path:
    """Return the user's own directory for Nacre: `config.yaml` and `profiles/`."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "nacre"


def find_profile(name: str, root: Path) -> Path | None:
    """Return the file of a profile; None when there is none.

    Args:
        name: Its name: the user's own come first. Or a file, with `/` or `.yaml` in its name,
            relative to the job.
        root: The job's directory.
    """
    if "/" in name or name.endswith(_SUFFIX):
        path = root / home_path(name)
        return path if path.is_file() else None
    places = (folder / (name + _SUFFIX) for folder in _folders())
    return next((path for path in places if path.is_file()), None)


def list_profiles() -> list[Profile]:
    """Return all profiles that a name can mean, in the order of their names."""
    paths: dict[str, Path] = {}
    for folder in _folders():
        for path in folder.glob("*" + _SUFFIX):
            paths.setdefault(path.stem, path)
    return [Profile(name, _purpose(path), path) for name, path in sorted(paths.items())]


def profile_names() -> list[str]:
    """Return the names of all profiles."""
    return [profile.name for profile in list_profiles()]


def _folders() -> tuple[Path, Path]:
    return user_folder() / "profiles", _OWN


def _purpose(path: Path) -> str:
    """Return the comment in the first line."""
    try:
        with open_ordinary(path) as file:
            first = file.readline(_PURPOSE_LENGTH).decode().rstrip()
    except (OSError, UnicodeDecodeError):
        return ""
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def user_config() -> Path:
    """Return the user's own configuration, which holds for all jobs: contact and the like."""
    return user_folder() / "config.yaml"


def inner_layers(files: Sequence[Layer], root: Path) -> list[Layer]:
    """The layers up to the job's own files: the user's and the profile's come before them."""
    named = [layer for layer in files if layer.profile[0]]
    profile = _profile_layers(named[-1], root) if named else []
    return [*_user_layer(), *profile, *files]


def file_layers(path: Path, root: Path, text: str | None = None) -> list[Layer]:
    """Return the layers of a file after the layers of its includes: its own values are stronger.

    Args:
        path: The file.
        root: The job's directory; files below it are named relative to it.
        text: Used as the text of the file, which is not read then; None: the file is read.
    """
    return _Files(root, "file").of(path, text=text)


def own_layers(layout: Layout, text: str | None = None) -> list[Layer]:
    """Return the file of a job after its includes; once it was crawled, the file may not be empty.

    With all defaults its filters and limits would silently be off.

    Args:
        layout: The directory of the job.
        text: Another text in place of the file's; see `file_layers`.
    """
    layers = file_layers(layout.config, layout.root, text)
    if layers[-1].blank and layout.was_crawled:
        problem = message(
            "settings.settings-empty",
            "it is empty, though this directory was crawled: put the settings of before back "
            "from a copy, or write `{{}}` if all defaults are meant",
        )
        layers[-1].problems.append(Problem("", problem, file=_name(layout.config, layout.root)))
    return layers


def job_layers(
    layout: Layout, assignments: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> list[Layer]:
    """All layers of a job, weakest first: user, profile, includes, file, environment, `--set`.

    Raises:
        JobError: The directory is not a job.
    """
    layout.require()
    inner = inner_layers(own_layers(layout), layout.root)
    return [*inner, *outer_layers(assignments, environ)]


def outer_layers(assignments: Iterable[str], environ: Mapping[str, str] | None) -> list[Layer]:
    """Make the layers of the environment (None: of this process) and of `path=value` texts."""
    environment = environment_layer(os.environ if environ is None else environ)
    return [environment, assignment_layer(assignments)]


def _user_layer() -> list[Layer]:
    path = user_config()
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        pass  # reported by the layer, with its path
    return [_read(path, str(path), "user")]


def _profile_layers(by: Layer, root: Path) -> list[Layer]:
    name, line = by.profile
    path = find_profile(name, root)
    if path is not None:
        layers = _Files(root, f"profile {name}").of(path)
        for layer in layers:
            if layer.profile[0]:
                problem = Problem(
                    "profile",
                    message(
                        "settings.profile-of-profile",
                        "a profile cannot be based on another one",
                    ),
                    file=str(path),
                )
                layer.problems.append(problem._replace(line=layer.profile[1]))
        return layers
    near = nearest(name, profile_names())
    hint = f"did you mean `{near}`?" if near else "one of: " + ", ".join(profile_names())
    layer = Layer("profile")
    file = by.places["profile"].file if "profile" in by.places else ""
    layer.problems.append(
        Problem(
            "profile",
            message(
                "settings.no-such-profile", "no such profile: {name}; {hint}", name=name, hint=hint
            ),
            "",
            "",
            file,
            line,
        )
    )
    return [layer]


class _Files:
    """Files with their includes, each as often as it is included.

    Args:
        root: The job's directory.
        source: Reported origin of their values.
    """

    def __init__(self, root: Path, source: str) -> None:
        self._root = root
        self._source = source
        self._left = _MOST_FILES

    def of(self, path: Path, above: Sequence[Path] = (), *, text: str | None = None) -> list[Layer]:
        """Return the layers of a file after those of its includes; see `file_layers`."""
        name = _name(path, self._root)
        if text is None:
            own = _read(path, name, self._source)
        else:
            own = read_yaml(text, name, source=self._source)
        layers: list[Layer] = []
        for named, line in own.includes:
            for include in _find_includes(path, named):
                self._left -= 1
                problem = _not_included(include, [*above, path], self._root)
                if problem or self._left < 0:
                    problem = problem or message(
                        "settings.includes-number", "more than {most} files are included",
                        most=_MOST_FILES,
                    )  # fmt: skip
                    own.problems.append(Problem("include", problem, "", "", name, line))
                    if self._left < 0:
                        return [*layers, own]
                    continue
                layers += self.of(include, [*above, path])
        return [*layers, own]


def _find_includes(path: Path, text: str) -> Iterator[Path]:
    """Yield the files that an include names; those of a pattern in the order of their names."""
    place = os.path.normpath(path.parent / home_path(text))
    if _MAGIC.isdisjoint(text):
        yield Path(place)
    else:
        yield from map(Path, sorted(glob.glob(place)))  # noqa: PTH207 - absolute patterns too


def _not_included(path: Path, above: Sequence[Path], root: Path) -> str:
    """Why a file cannot be included; "" when it can."""
    if path in above:
        circle = [*above[above.index(path) :], path]
        names = " -> ".join(_name(file, root) for file in circle)
        return message("settings.includes-circle", "a circle of includes: {names}", names=names)
    if len(above) >= _MOST_INCLUDES:
        return message(
            "settings.includes-depth", "more than {most} includes within each other",
            most=_MOST_INCLUDES,
        )  # fmt: skip
    if not path.is_file():
        name = _name(path, root)
        if path.exists():
            return message("settings.not-a-file", "{name} is not an ordinary file", name=name)
        return message("settings.no-file", "{name} does not exist", name=name)
    return ""


def _name(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _read(path: Path, name: str, source: str) -> Layer:
    try:
        text = read_ordinary(path, _LONGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or message(
            "settings.not-utf-8", "it is not UTF-8"
        )
        if getattr(error, "errno", 0) == errno.EFBIG:
            reason = message(
                "settings.file-too-large",
                "{reason}; put seeds and rules into separate files, which can have any length",
                reason=reason,
            )
        layer = Layer(source)
        layer.problems.append(
            Problem(
                "",
                message("settings.cannot-be-read", "cannot be read: {reason}", reason=reason),
                file=name,
            )
        )
        return layer
    return read_yaml(text, name, source=source)
