"""Files of the action directory are taken in once, whatever happens meanwhile, and reported."""

import asyncio
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nacre.frontier.listing import pending
from nacre.job.clock import SystemClock
from nacre.job.companions.actions import ActionDirectory, Progress
from nacre.job.configuration.settings import JobSettings
from nacre.job.events import ActionTaken, Event, Events
from nacre.job.intake.edits import PORTION
from nacre.job.session import Session
from nacre.store.disk import RealDisk
from tests.job.opened import log_of, opened

MANY = PORTION * 5
HOST = "http://b.test/"


def put(root: Path, name: str, data: bytes) -> Path:
    folder = root / "action"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    os.utime(path, (1e9, 1e9))
    return path


def urls(count: int = MANY) -> bytes:
    return b"".join(b"%s%d\n" % (HOST.encode(), number) for number in range(count))


def waiting(session: Session) -> list[str]:
    uris = [entry.uri.url for entry in pending(session.parts.store)]
    return [url for url in uris if url.startswith(HOST)]


def play(root: Path, heard: list[Event] | None = None) -> tuple[Session, list[str]]:
    """One look at the directory; the session, closed, and what waits then."""

    async def look() -> tuple[Session, list[str]]:
        events = Events()
        events.subscribe((heard if heard is not None else []).append)
        async with opened(root) as session:
            await ActionDirectory(session, RealDisk(), SystemClock(), events).look()
            return session, waiting(session)

    return asyncio.run(look())


def done(session: Session) -> dict[str, str]:
    """What lies among the actions that are done, by name without the time."""
    folder = session.directory / "actions-done"
    return {
        path.name.partition("-")[2]: path.read_text(errors="replace") for path in folder.iterdir()
    }


def test_taken_in_reported_and_put_away(tmp_path: Path):
    put(tmp_path, "1.schedule", b"# mine\nhttp://b.test/x\nnonsense\nhttp://b.test/x\n\xff\n")
    put(tmp_path, "2.s.schedule.gz", gzip.compress(b"http://a.test/y\nhttp://b.test/z\n"))
    put(tmp_path, "odd.txt", b"")
    heard: list[Event] = []
    session, waits = play(tmp_path, heard)
    assert waits == ["http://b.test/x"]
    reports = done(session)
    assert set(reports) == {
        "1.schedule", "1.schedule.report", "2.s.schedule.gz", "2.s.schedule.gz.report",
    }  # fmt: skip
    assert reports["1.schedule.report"] == (
        "line 3: neither a URI nor a line of a journal: nonsense\n"
        "line 5: longer than 64 kB, or not UTF-8: (not shown)\n"
        "4 lines: 1 scheduled, 1 known already, 2 rejected\n"
    )
    assert "line 2: out of scope, by the rule" in reports["2.s.schedule.gz.report"]
    assert [path.name for path in (tmp_path / "action").iterdir()] == ["odd.txt"]
    assert [each.name for each in heard if isinstance(each, ActionTaken)] == [
        "1.schedule",
        "2.s.schedule.gz",
    ]
    log = log_of(session)
    assert "WARNING action/1.schedule: 4 lines: 1 scheduled" in log
    assert "action/odd.txt: left alone" in log


def test_a_script_is_refused_with_the_reason(tmp_path: Path):
    put(tmp_path, "tidy.groovy", b"println 1")
    session, _ = play(tmp_path)
    assert done(session)["tidy.groovy.report"].startswith("scripts are not run: ")
    assert "tidy.groovy: scripts are not run" in log_of(session, "alerts.log")


def test_a_damaged_file_is_taken_in_as_far_as_it_can_be_read(tmp_path: Path):
    packed = gzip.compress(urls(20_000))
    put(tmp_path, "x.schedule.gz", packed[: len(packed) // 2])
    session, waits = play(tmp_path)
    assert 1000 < len(waits) < 20_000
    report = done(session)["x.schedule.gz.report"]
    assert f"it is damaged after line {len(waits)}" in report
    assert f"{len(waits):,} scheduled" in report


class Crash(BaseException):
    """The process ends here."""


def crash(monkeypatch: pytest.MonkeyPatch, root: Path, after: int, *, durable: bool) -> None:
    """Take in until so many portions were read; then the process ends, with or without a commit."""
    left = [after]

    async def breathe(parts: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Crash
        await asyncio.sleep(0)

    async def look() -> None:
        async with opened(root) as session:
            commit = session.parts.commit
            try:
                await ActionDirectory(session, RealDisk(), SystemClock(), Events()).look()
            except Crash:
                if durable:
                    await commit.flush()
                commit._finishing = True
                session.parts.store.seal()  # what is not committed by now never is
                session.parts.store.settle()

    with monkeypatch.context() as patch:
        patch.setattr("nacre.job.companions.actions.breathe", breathe)
        asyncio.run(look())


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("after", [0, 2])
def test_after_a_crash_it_goes_on_with_the_next_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, durable: bool
):
    lines = urls() + b"nonsense\n"
    put(tmp_path, "x.force", b"nonsense\n" + lines)
    crash(monkeypatch, tmp_path, after, durable=durable)
    session, waits = play(tmp_path)
    # Forced URIs enter however often they are taken in, so that each would be seen twice.
    assert sorted(waits) == sorted(lines.decode().split()[:-1])
    report = done(session)["x.force.report"]
    assert report.count("neither a URI") == 2
    assert f"{MANY + 2:,} lines: {MANY:,} scheduled, 2 rejected" in report


def test_after_a_crash_in_the_second_pass_of_a_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    every = urls().decode().split()
    done_lines = [f"Fs {url}" for url in every[::2]]
    lines = [*(f"F+ {url} L {HOST}" for url in every), *done_lines, "nonsense"]
    put(tmp_path, "old.recover", "\n".join(lines).encode())
    portions = -(-len(lines) // PORTION)
    crash(monkeypatch, tmp_path, portions + 2, durable=True)
    session, waits = play(tmp_path)
    assert sorted(waits) == sorted(every[1::2])
    report = done(session)["old.recover.report"].splitlines()
    assert report == [
        f"line {len(lines)}: neither a URI nor a line of a journal: nonsense",
        f"{len(lines):,} lines: {MANY // 2:,} scheduled, {MANY // 2:,} marked as seen, or "
        f"directives, {MANY // 2:,} known already, 1 rejected",
    ]


def test_another_file_of_the_same_name_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    put(tmp_path, "x.schedule", urls())
    crash(monkeypatch, tmp_path, 2, durable=True)
    put(tmp_path, "x.schedule", b"http://b.test/0\nhttp://b.test/other\n")
    session, waits = play(tmp_path)
    assert len(waits) == PORTION * 3 + 1
    assert "2 lines: 1 scheduled, 1 known already\n" in done(session)["x.schedule.report"]


def test_what_a_restored_checkpoint_has_only_begun_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = put(tmp_path, "x.force", urls())
    crash(monkeypatch, tmp_path, 2, durable=True)

    async def go_on() -> list[str]:
        async with opened(tmp_path) as session:
            row = session.parts.store.get("meta", b"action:%s:x.force" % _run(session))
            progress = msgspec.msgpack.decode(row or b"", type=Progress)
            folder = session.directory / "actions-done"
            folder.mkdir(exist_ok=True)
            path.rename(folder / progress.done_as)  # as the crawl after the checkpoint had done
            actions = ActionDirectory(session, RealDisk(), SystemClock(), Events())
            actions.bring_back()
            await actions.look()
            return waiting(session)

    assert sorted(asyncio.run(go_on())) == sorted(urls().decode().split())


def _run(session: Session) -> bytes:
    return session.run_row.name.encode()


def test_the_crawl_is_not_over_while_there_are_files(tmp_path: Path):
    async def look(check: Callable[[ActionDirectory], None], interval: float) -> None:
        settings = JobSettings.model_validate({"action": {"interval": interval}})
        async with opened(tmp_path, settings) as session:
            actions = ActionDirectory(session, RealDisk(), SystemClock(), Events())
            check(actions)
            await actions.look()
            assert not actions.busy

    def busy(actions: ActionDirectory) -> None:
        assert actions.busy

    def idle(actions: ActionDirectory) -> None:
        assert not actions.busy

    asyncio.run(look(idle, 30))
    put(tmp_path, "x.schedule", b"http://b.test/\n")
    asyncio.run(look(idle, 0))
    put(tmp_path, "x.schedule", b"http://b.test/\n")
    asyncio.run(look(busy, 30))


class Clock(SystemClock):
    """Time goes on by sleeping only, and ends."""

    def __init__(self, until: float) -> None:
        self.time = 0.0
        self._until = until

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        if self.time > self._until:
            raise TimeoutError


@pytest.mark.parametrize(
    ("interval", "times"), [(30, [10, 40, 70]), (4, [4, 8, 12]), (0, []), (60, [10, 70])]
)
def test_when_it_looks(tmp_path: Path, interval: float, times: list[float]):
    async def run() -> list[float]:
        settings = JobSettings.model_validate({"action": {"interval": interval}})
        async with opened(tmp_path, settings) as session:
            clock = Clock(times[-1] + 1 if times else 1000)
            actions = ActionDirectory(session, RealDisk(), clock, Events())
            looks: list[float] = []

            async def look() -> None:
                looks.append(clock.time)

            actions.look = look  # type: ignore[method-assign]
            with pytest.raises(TimeoutError):
                await actions.run()
            return looks

    assert asyncio.run(run()) == times
