import asyncio
from pathlib import Path

import pytest

from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.core.states import ExitStatus
from nacre.errors import JobError
from nacre.job.background.checkpoints import CheckpointService, list_checkpoints
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.report.progress import HEADER
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from tests.job.opened import log_of, opened


class Clock(SystemClock):
    """Time goes on by sleeping only; it begins at 2022-09-30 06:17:13."""

    def __init__(self) -> None:
        self.time = 1_664_518_633.0
        self.until = float("inf")

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        if self.time > self.until:
            raise TimeoutError
        await asyncio.sleep(0)


def settings(**values: object) -> JobSettings:
    return JobSettings.model_validate({"checkpoint": values})


def note(session: Session, number: int) -> None:
    """Something happens."""
    session.frontier.note([b"%016d" % number])


def keeper(session: Session) -> CheckpointService:
    return CheckpointService(session, RealDisk(), Clock())


def names(root: Path) -> list[str]:
    return [each.name for each in list_checkpoints(Layout(root))]


def test_made_and_listed_and_only_when_something_changed(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path) as session:
            keeps = keeper(session)
            assert await keeps.make() == "cp00001-20220930061713"
            assert await keeps.make() == ""
            assert await keeps.make("before-the-change") == "before-the-change"
            with pytest.raises(JobError, match="choose another"):
                await keeps.make("before-the-change")
            for name in ("../elsewhere", ".hidden", "mine.tmp"):
                with pytest.raises(JobError, match="is not a name"):
                    await keeps.make(name)
            note(session, 1)
            assert await keeps.make() == "cp00002-20220930061713"

    asyncio.run(play())
    listed = list(list_checkpoints(Layout(tmp_path)))
    assert [each.name for each in listed] == [
        "cp00001-20220930061713",
        "before-the-change",
        "cp00002-20220930061713",
    ]
    moments = [each.moment for each in listed]
    assert [(m.queued, m.discovered) for m in moments if m] == [(1, 1), (1, 1), (1, 2)]


def test_only_the_latest_are_kept_but_names_stay(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path, settings(keep=2)) as session:
            keeps = keeper(session)
            await keeps.make("mine")
            for number in range(4):
                note(session, number)
                await keeps.make()
            return session

    session = asyncio.run(play())
    assert [name.partition("-")[0] for name in names(tmp_path)] == ["mine", "cp00003", "cp00004"]
    left = {path.name.partition("-")[0] for path in (tmp_path / "state/checkpoints").iterdir()}
    assert left == {"mine", "mine.json", "cp00003", "cp00004"}
    assert "checkpoint cp00001-20220930061713 is no longer kept" in log_of(session)


def test_the_timer_makes_them_when_something_changed(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path, settings(interval="10m")) as session:
            clock = Clock()
            keeps = CheckpointService(session, RealDisk(), clock)
            clock.until = clock.time + 2000
            with pytest.raises(TimeoutError):
                await keeps.run()

    asyncio.run(play())
    assert len(names(tmp_path)) == 1


def test_at_the_end_of_what_can_go_on(tmp_path: Path):
    async def play(how: ExitStatus, *, on_stop: bool) -> int:
        root = tmp_path / f"{how}{on_stop}"
        async with opened(root, settings(on_stop=on_stop)) as session:
            await keeper(session).ending(how)
        return len(names(root))

    assert asyncio.run(play(ExitStatus.ABORTED, on_stop=True)) == 1
    assert asyncio.run(play(ExitStatus.FINISHED, on_stop=True)) == 0
    assert asyncio.run(play(ExitStatus.ABORTED, on_stop=False)) == 0


def test_one_that_cannot_be_made_is_an_alert_and_no_end(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path, settings(on_stop=True)) as session:
            (tmp_path / "state/checkpoints").write_text("in the way")
            await keeper(session).ending(ExitStatus.ABORTED)
            return session

    assert "no checkpoint was made" in log_of(asyncio.run(play()), "alerts.log")


def test_logs_begin_anew_at_a_checkpoint_where_the_operator_wants_that(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path, settings(rotate_logs=True)) as session:
            logs = session.logs
            for name in ("一", "second"):
                logs.job(f"before {name}")
                logs.alert(f"alert before {name}")
                note(session, len(name))
                await keeper(session).make(name)
            with pytest.raises(JobError, match="choose another one"):
                await keeper(session).make("second")
            logs.job("behind")
            return session

    session = asyncio.run(play())
    folder = session.directory / "logs"
    texts = {file.name: file.read_text() for file in folder.iterdir()}
    assert "before 一" in texts["job.log.一"]
    assert "before second" not in texts["job.log.一"]
    assert "before second" in texts["job.log.second"]
    assert "behind" in texts["job.log"]
    assert "before" not in texts["job.log"]
    assert "alert before second" in texts["alerts.log.second"]
    assert texts["alerts.log"] == texts["crawl.log"] == ""
    assert not any(name.startswith("crawl.log.") for name in texts)
    heads = [text.splitlines()[0] for name, text in texts.items() if name.startswith("progress")]
    assert heads == [HEADER] * 3


def test_rotated_logs_are_known_to_the_next_start(tmp_path: Path):
    async def play(text: str) -> Session:
        async with opened(tmp_path, settings(rotate_logs=True)) as session:
            session.logs.job(text)
            note(session, len(text))
            await keeper(session).make(text)
            return session

    asyncio.run(play("one"))
    session = asyncio.run(play("another"))
    folder = session.directory / "logs"
    assert "one" in (folder / "job.log.one").read_text()
    assert " INFO another" in (folder / "job.log.another").read_text()
    assert not session.recovered.lost
    assert not session.recovered.moved


def test_logs_stay_where_fetches_take_too_long(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path, settings(rotate_logs=True)) as session:
            uri = CrawlURI("http://a.test/", b"k" * 16, "test,a,")
            session.engine.current[0] = Visit(uri)
            note(session, 1)
            await keeper(session).make("busy")
            session.engine.current.clear()
            return session

    session = asyncio.run(play())
    assert "logs were not rotated" in log_of(session)
    assert not (session.directory / "logs" / "job.log.busy").exists()
