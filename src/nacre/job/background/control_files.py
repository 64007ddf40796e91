"""Control files: `echo 5 > JOB/control/delay` changes a running job. Source: grab-site.

A setting in a file is in effect as long as the file exists. It is checked like `nacre set`,
but not written into `crawl.yaml`; without the file, what held before holds again.
"""

from collections.abc import Callable, MutableMapping
from contextlib import suppress
from pathlib import Path

from nacre.config.place import find
from nacre.core.clock import Clock
from nacre.core.states import ExitStatus
from nacre.errors import ConfigError, NacreError
from nacre.job.holds import NAME as HOLD
from nacre.job.holds import holds_in
from nacre.job.session import Session
from nacre.job.settings_change import SettingsChange, SettingsEditor, require_buildable
from nacre.machine.local_files import close_to_others, read_ordinary
from nacre.scope.patterns.matching import examine

SETTINGS = {"delay": "politeness.delay", "concurrency": "engine.parallel"}
"""File -> the setting that it gives."""

PAUSED = "control/pause"
"""The reason of a pause by a file."""

_EVERY = 1.0
_LARGEST = 1_000_000

_State = tuple[int, int] | None
"""When a file was changed, and its size; None if there is none."""


class ControlFiles:
    """A background task that watches the files in `JOB/control`.

    Args:
        session: The running session.
        clock: For the time between two looks.
        before: Values before a file changed them, by path; kept from session to session.
    """

    name = "control-files"
    busy = False

    def __init__(self, session: Session, clock: Clock, before: MutableMapping[str, object]) -> None:
        self._session, self._layout = session, session.layout
        self._effective, self._logs = session.rules.effective, session.logs
        self._ignored = session.scheduling.ignored
        self._directory = session.layout.control
        self._clock = clock
        self._before = before
        self._states: dict[str, _State] = {}
        self._given: dict[str, object] = {}
        self._holds: frozenset[str] = frozenset()
        self._acts: dict[str, Callable[[str | None], None]] = {
            "delay": lambda text: self._give("delay", text),
            "concurrency": lambda text: self._give("concurrency", text),
            "ignores": self._ignore,
            "pause": self._pause,
            HOLD: self._hold,
            "stop": self._stop,
        }

    async def run(self) -> None:
        """Look again and again until cancelled."""
        with suppress(OSError):
            self._directory.mkdir(0o700, exist_ok=True)
            close_to_others(self._directory, 0o700)
        while True:
            self.look()
            await self._clock.sleep(_EVERY)

    async def ending(self, how: ExitStatus) -> None:
        """The files stay; the next start obeys them."""

    def look(self) -> None:
        """Apply the files that changed since the last look."""
        for name, act in self._acts.items():
            path = self._directory / name
            state = _state(path)
            if state == self._states.get(name):
                continue
            self._states[name] = state
            try:
                act(None if state is None else _text(path))
            except (ConfigError, OSError, UnicodeDecodeError) as error:
                reason = " ".join(str(error).split())
                self._logs.alert(f"control/{name} is not obeyed: {reason}")
            except NacreError:
                raise
            except Exception as error:  # noqa: BLE001 - a bug here is not the end of a crawl
                self._logs.command_error(f"control/{name}", error)

    def says(self, path: str) -> str:
        """The file whose value of a setting is in effect; "" if none, or if it was set since."""
        file = next((name for name, setting in SETTINGS.items() if setting == path), "")
        return file if path in self._given and self._given[path] == self._value(path) else ""

    def _note(self, name: str, text: str) -> None:
        self._logs.job(f"control/{name}: {text}")

    # ---- settings

    def _give(self, name: str, text: str | None) -> None:
        path = SETTINGS[name]
        if text is None:
            self._take_back(name, path)
            return
        value = text.strip()
        if not value:
            return  # it is just being written
        old = self._value(path)
        change = self._planned(lambda changer: changer.assign([f"{path}={value}"]))
        self._before.setdefault(path, old)
        self._session.apply(change)
        new = self._given[path] = self._value(path)
        self._note(name, f"{path}: {old} -> {new}")

    def _take_back(self, name: str, path: str) -> None:
        file_value, now = self._given.pop(path, None), self._value(path)
        before = self._before.pop(path, now)
        if file_value is None or now != file_value:
            self._note(name, f"gone; {path} stays {now}, which was set otherwise meanwhile")
            return
        change = self._planned(lambda changer: changer.put(path, before))
        self._session.apply(change)
        self._note(name, f"gone; {path}: {now} -> {before}")

    def _planned(self, edit: Callable[[SettingsEditor], None]) -> SettingsChange:
        """A change, checked as `nacre set` does it."""
        settings, root = self._effective[0], self._layout.root
        changer = SettingsEditor(settings, root, running=True)
        edit(changer)
        change = changer.finish()
        require_buildable(change.settings, change.sheets, root)
        return change

    def _value(self, path: str) -> object:
        return find(self._effective[0], path).value

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
                warning = f"control/ignores, line {number}: {pattern!r} is {note.message}"
                self._logs.alert(warning)
        self._ignored.use(good)
        self._note("ignores", f"expressions that hold: {len(good):,}")

    def _pause(self, text: str | None) -> None:
        if text is not None:
            self._session.hold(PAUSED)
            self._note("pause", "pauses")
        elif PAUSED in self._session.holds:
            self._session.release(PAUSED)
            self._note("pause", "removed; the crawl resumes")

    def _hold(self, text: str | None) -> None:
        holds = holds_in(text or "")
        for reason in sorted(self._holds - holds.keys()):
            self._session.release(reason)
            self._note(HOLD, f"{reason} is over")
        for reason in sorted(holds.keys() - self._holds):
            self._session.hold(reason)
            self._note(HOLD, f"pauses for {reason}: {holds[reason]}".removesuffix(": "))
        self._holds = frozenset(holds)

    def _stop(self, text: str | None) -> None:
        """Removed at once, so that the next start does not end at it."""
        if text is not None:
            (self._directory / "stop").unlink()
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
