"""The names of files in the action directory, and what each asks for. Source: Heritrix 3."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.job.intake.intake import Options, Way

WAYS: dict[str, tuple[Way, ...]] = {
    "seeds": (Way.SEEDS,),
    "recover": (Way.FINISHED, Way.PENDING),
    "include": (Way.INCLUDE,),
    "schedule": (Way.SCHEDULE,),
    "force": (Way.FORCE,),
}
"""Ending -> how its lines are read, pass by pass."""

_NAME = re.compile(rf"(?P<scoped>\.s)?\.(?P<kind>{'|'.join(WAYS)})(?:\.gz)?\Z")
_SCRIPTS = frozenset(
    (".groovy", ".bsh", ".js", ".py", ".rb", ".sh", ".pl", ".lua", ".clj", ".scala", ".kts")
)
_SETTLED = 1.0
"""Seconds for which a file must not have changed before it is read; or since the last look."""


class Action(NamedTuple):
    """A file in the action directory.

    Attributes:
        path: The file.
        size: Its size, bytes.
        changed: When it was changed, nanoseconds since the epoch.
        passes: How its lines are read, pass by pass; none for a script, which is refused.
    """

    path: Path
    size: int
    changed: int
    passes: Sequence[Options] = ()

    @property
    def is_script(self) -> bool:
        """See `passes`."""
        return not self.passes


def action_of(path: Path) -> Action | None:
    """What a file asks for; None for one that asks for nothing, or is not there any more."""
    match = _NAME.search(path.name)
    is_script = path.suffix.lower() in _SCRIPTS
    if path.name.startswith(".") or not (match or is_script) or not path.is_file():
        return None
    try:
        facts = path.stat()
    except OSError:
        return None
    action = Action(path, facts.st_size, facts.st_mtime_ns)
    if match is None:
        return action
    scoped = match["scoped"] is not None
    passes = tuple(Options(way, scoped=scoped) for way in WAYS[match["kind"]])
    return action._replace(passes=passes)


class Scanner:
    """Looks a directory through, again and again."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seen: dict[str, tuple[int, int]] = {}
        self._odd: set[str] = set()

    def look(self, now: float) -> tuple[list[Action], bool]:
        """The files to be read, in the order of their names; and whether others are being written.

        Raises:
            OSError: The directory cannot be read.
        """
        ready: list[Action] = []
        before, self._seen = self._seen, {}
        found = list(self._actions())
        for action in found:
            state = (action.size, action.changed)
            name = action.path.name
            self._seen[name] = state
            if 0 <= action.changed / 1e9 <= now - _SETTLED or before.get(name) == state:
                ready.append(action)
        return ready, len(ready) < len(found)

    def _actions(self) -> Iterator[Action]:
        names = self._names()
        for name in names:
            action = action_of(self._directory / name)
            if action is not None:
                yield action

    def _names(self) -> list[str]:
        if not self._directory.is_dir():
            return []
        return sorted(path.name for path in self._directory.iterdir())

    def odd(self) -> list[str]:
        """Names that ask for nothing, each told once."""
        names = {
            name
            for name in self._names()
            if name[0] != "." and action_of(self._directory / name) is None
        }
        new = sorted(names - self._odd)
        self._odd = names
        return new
