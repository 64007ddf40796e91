"""Control files: `echo 5 > JOB/control/delay`, for people who like that. After grab-site.

A setting that a file gives holds as long as the file lies there. It is checked like `nacre set`,
but not written into `crawl.yaml`; without the file, what held before holds again.
"""

from collections.abc import Callable, MutableMapping
from contextlib import suppress
from pathlib import Path

from nacre.config.ordinary import read_ordinary
from nacre.config.place import find
from nacre.core.clock import Clock
from nacre.errors import ConfigError, NacreError
from nacre.job.changes.change import Change, Changer
from nacre.job.changes.live import apply
from nacre.job.changes.rehearsal import rehearse
from nacre.job.session import Session
from nacre.job.states import ExitStatus
from nacre.scope.patterns import examine
from nacre.store.private import close_to_others

SETTINGS = {"delay": "politeness.delay", "concurrency": "engine.parallel"}
"""File -> the setting that it gives."""

PAUSED = "control/pause"
"""The reason of a pause by a file."""

_EVERY = 1.0
_LARGEST = 1_000_000

_State = tuple[int, int] | None
"""When a file was changed, and its size; None where there is none."""


class ControlFiles:
    """Watches the files of one job.

    Args:
        session: The running session.
        clock: For the time between two looks.
        before: What held before a file said otherwise, by path; kept from session to session.
    """

    name = "control-files"
    busy = False

    def __init__(self, session: Session, clock: Clock, before: MutableMapping[str, object]) -> None:
        self._session = session
        self._clock = clock
        self._before = before
        self._states: dict[str, _State] = {}
        self._given: dict[str, object] = {}
        self._acts: dict[str, Callable[[str | None], None]] = {
            "delay": lambda text: self._give("delay", text),
            "concurrency": lambda text: self._give("concurrency", text),
            "ignores": self._ignore,
            "pause": self._pause,
            "stop": self._stop,
        }

    async def run(self) -> None:
        """Look again and again until cancelled."""
        with suppress(OSError):
            self._session.layout.control.mkdir(0o700, exist_ok=True)
            close_to_others(self._session.layout.control, 0o700)
        while True:
            self.look()
            await self._clock.sleep(_EVERY)

    async def ending(self, how: ExitStatus) -> None:
        """The files stay; the next start obeys them."""

    def look(self) -> None:
        """Obey what changed since the last look."""
        for name, act in self._acts.items():
            path = self._session.layout.control / name
            state = _state(path)
            if state == self._states.get(name):
                continue
            self._states[name] = state
            try:
                act(None if state is None else _text(path))
            except (ConfigError, OSError, UnicodeDecodeError) as error:
                said = " ".join(str(error).split())
                self._session.parts.logs.alert(f"control/{name} is not obeyed: {said}")
            except NacreError:
                raise
            except Exception as error:  # noqa: BLE001 - a bug here is not the end of a crawl
                self._session.parts.logs.command_error(f"control/{name}", error)

    def says(self, path: str) -> str:
        """The file whose value of a setting holds; "" where none gave it, or it was set since."""
        file = next((name for name, said in SETTINGS.items() if said == path), "")
        return file if path in self._given and self._given[path] == self._value(path) else ""

    def _note(self, name: str, text: str) -> None:
        self._session.parts.logs.job(f"control/{name}: {text}")

    # ---- settings

    def _give(self, name: str, text: str | None) -> None:
        path = SETTINGS[name]
        if text is None:
            self._take_back(name, path)
            return
        wanted = text.strip()
        if not wanted:
            return  # it is just being written
        old = self._value(path)
        change = self._planned(lambda changer: changer.assign([f"{path}={wanted}"]))
        self._before.setdefault(path, old)
        apply(self._session, change)
        new = self._given[path] = self._value(path)
        self._note(name, f"{path}: {old} -> {new}")

    def _take_back(self, name: str, path: str) -> None:
        given, now = self._given.pop(path, None), self._value(path)
        before = self._before.pop(path, now)
        if given is None or now != given:
            self._note(name, f"gone; {path} stays {now}, which was set otherwise meanwhile")
            return
        apply(self._session, self._planned(lambda changer: changer.put(path, before)))
        self._note(name, f"gone; {path}: {now} -> {before}")

    def _planned(self, wish: Callable[[Changer], None]) -> Change:
        """A change, checked as `nacre set` does it."""
        settings, root = self._session.parts.settings, self._session.layout.root
        changer = Changer(settings, root, running=True)
        wish(changer)
        change = changer.done()
        rehearse(change.settings, change.sheets, root)
        return change

    def _value(self, path: str) -> object:
        return find(self._session.parts.settings, path).value

    # ---- others

    def _ignore(self, text: str | None) -> None:
        good: list[str] = []
        for number, line in enumerate((text or "").splitlines(), 1):
            pattern = line.strip()
            if not pattern or pattern.startswith("#"):
                continue
            note = examine(pattern)
            if note is None or note.usable:
                good.append(pattern)
            else:
                told = f"control/ignores, line {number}: {pattern!r} is {note.message}"
                self._session.parts.logs.alert(told)
        parts = self._session.parts
        parts.ignored.use(good)
        parts.candidates.ignored = parts.ignored.matches
        self._note("ignores", f"expressions that hold: {len(good):,}")

    def _pause(self, text: str | None) -> None:
        if text is not None:
            self._session.hold(PAUSED)
            self._note("pause", "pauses")
        elif PAUSED in self._session.held:
            self._session.release(PAUSED)
            self._note("pause", "gone; goes on")

    def _stop(self, text: str | None) -> None:
        """Removed at once, so that the next start does not end at it."""
        if text is not None:
            (self._session.layout.control / "stop").unlink()
            self._note("stop", "ends the crawl")
            self._session.stop(ExitStatus.ABORTED)


def _state(path: Path) -> _State:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size


def _text(path: Path) -> str:
    return read_ordinary(path, _LARGEST).decode()
