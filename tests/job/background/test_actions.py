"""Files of the action directory are taken in once, whatever happens meanwhile, and reported."""

import asyncio
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nacre.core.events import ActionTaken, Event, Events
from nacre.frontier.pending import pending
from nacre.job.background.actions import ActionDirectory, ActionProgress, ActionScanner, action_of
from nacre.job.frontier_edits import PORTION
from nacre.job.imports import ImportMode, ImportOptions
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from tests.job.opened import log_of, opened

MANY = PORTION * 5
HOST = "http://b.test/"
NOW = 1_700_000_000.0


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
    uris = [entry.uri.url for entry in pending(session.storing.store)]
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

    async def yielding(commit: object, clock: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Crash
        await asyncio.sleep(0)

    async def look() -> None:
        async with opened(root) as session:
            commit = session.storing.commit
            try:
                await ActionDirectory(session, RealDisk(), SystemClock(), Events()).look()
            except Crash:
                if durable:
                    await commit.flush()
                commit._finishing = True
                session.storing.store.seal()  # what is not committed by now never is
                session.storing.store.settle()

    with monkeypatch.context() as patch:
        patch.setattr("nacre.job.background.actions.yield_to_loop", yielding)
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
            row = session.storing.store.get("meta", b"action:%s:x.force" % _run(session))
            progress = msgspec.msgpack.decode(row or b"", type=ActionProgress)
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


def put_aged(path: Path, text: str = "x", age: float = 60.0) -> Path:
    path.write_text(text)
    os.utime(path, (NOW - age, NOW - age))
    return path


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("more.seeds", [ImportOptions(ImportMode.SEEDS)]),
        ("a.b.schedule", [ImportOptions(ImportMode.SCHEDULE)]),
        ("a.s.schedule.gz", [ImportOptions(ImportMode.SCHEDULE, scoped=True)]),
        ("x.force.gz", [ImportOptions(ImportMode.FORCE)]),
        ("x.s.include", [ImportOptions(ImportMode.INCLUDE, scoped=True)]),
        (
            "frontier.recover.gz",
            [ImportOptions(ImportMode.FINISHED), ImportOptions(ImportMode.PENDING)],
        ),
        ("tidy.groovy", []),
        ("README", None),
        ("x.schedule.bz2", None),
        (".x.schedule", None),
        ("schedule", None),
    ],
)
def test_names(tmp_path: Path, name: str, passes: list[ImportOptions] | None):
    action = action_of(put_aged(tmp_path / name))
    assert (None if action is None else list(action.passes)) == passes
    if action is not None:
        assert action.is_script == (not passes)


def test_a_directory_asks_for_nothing(tmp_path: Path):
    (tmp_path / "x.schedule").mkdir()
    assert action_of(tmp_path / "x.schedule") is None


def test_in_the_order_of_names_and_not_while_they_are_written(tmp_path: Path):
    scanner = ActionScanner(tmp_path / "action")
    assert scanner.look(NOW) == ([], False)
    folder = tmp_path / "action"
    folder.mkdir()
    for name in ("b.schedule", "a.include", "note.txt"):
        put_aged(folder / name)
    growing = put_aged(folder / "c.seeds", age=0.2)
    ready, more = scanner.look(NOW)
    assert ([each.path.name for each in ready], more) == (["a.include", "b.schedule"], True)
    put_aged(growing, "xyz", age=0.1)
    assert len(scanner.look(NOW)[0]) == 2
    assert len(scanner.look(NOW)[0]) == 3
    assert scanner.odd() == ["note.txt"]
    assert scanner.odd() == []


def test_a_seed_list_in_another_encoding_is_read_as_seed_files_are(tmp_path: Path):
    lines = "".join(f"http://b.test/书籍/第{number}章\n" for number in range(20))
    put(tmp_path, "books.seeds", lines.encode("gbk"))
    session, waits = play(tmp_path)
    assert len(waits) == 20
    assert waits[0] == "http://b.test/%E4%B9%A6%E7%B1%8D/%E7%AC%AC0%E7%AB%A0"
    assert "20 lines: 20 scheduled" in done(session)["books.seeds.report"]


def test_a_seed_list_whose_compressed_file_is_cut_off_is_damaged(tmp_path: Path):
    packed = gzip.compress("http://b.test/书\n".encode("gbk") * 5000)
    put(tmp_path, "cut.seeds.gz", packed[:-20])
    session, _ = play(tmp_path)
    assert "it is damaged" in done(session)["cut.seeds.gz.report"]
