import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.core.states import ExitStatus
from nacre.job.background.control_files import PAUSED, ControlFiles
from nacre.job.session import Session
from nacre.job.settings_change import SettingsEditor
from nacre.machine.clock import SystemClock
from tests.job.opened import log_of, opened


class Play:
    """Files that change, one look after the other."""

    def __init__(self, root: Path, session: Session) -> None:
        self.session = session
        self.before: dict[str, object] = {}
        self.files = ControlFiles(session, SystemClock(), self.before)
        self._folder = root / "control"
        self._folder.mkdir(exist_ok=True)
        self._time = 1_600_000_000

    def put(self, name: str, text: str | None) -> None:
        path = self._folder / name
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
            self._time += 1
            os.utime(path, (self._time, self._time))
        self.files.look()

    def delay(self) -> object:
        return self.session.rules.settings.politeness.delay

    def set(self, *assignments: str) -> None:
        changer = SettingsEditor(self.session.rules.settings, Path(), running=True)
        changer.assign(assignments)
        self.session.apply(changer.finish())


def play(root: Path, act: Callable[[Play], None]) -> Session:
    async def run() -> Session:
        async with opened(root) as session:
            act(Play(root, session))
            return session

    return asyncio.run(run())


def test_a_delay_holds_as_long_as_its_file(tmp_path: Path):
    def act(one: Play) -> None:
        one.put("delay", "5\n")
        assert one.delay() == 5
        assert one.session.rules.settings.politeness.delay == 5
        one.put("delay", "500ms")
        assert one.delay() == 0.5
        one.put("delay", "")
        assert one.delay() == 0.5
        one.put("delay", None)
        assert one.delay() is None
        assert one.before == {}

    log = log_of(play(tmp_path, act))
    assert "control/delay: politeness.delay: None -> 5.0" in log
    assert "control/delay: gone; politeness.delay: 0.5 -> None" in log


@pytest.mark.parametrize("text", ["quickly", "-1", "5\npoliteness.min_delay=0", "\x00", "null x"])
def test_what_is_wrong_is_told_and_not_obeyed(tmp_path: Path, text: str):
    def act(one: Play) -> None:
        one.put("delay", "4")
        one.put("delay", text)
        one.files.look()
        assert one.delay() == 4

    alerts = log_of(play(tmp_path, act), "alerts.log")
    assert alerts.count("control/delay is not obeyed") == 1


def test_what_was_set_meanwhile_stays(tmp_path: Path):
    def act(one: Play) -> None:
        one.put("delay", "5")
        assert one.files.says("politeness.delay") == "delay"
        assert one.files.says("politeness.min_delay") == ""
        one.set("politeness.delay=7")
        assert one.files.says("politeness.delay") == ""
        one.put("delay", None)
        assert one.delay() == 7

    assert "stays 7.0, which was set otherwise" in log_of(play(tmp_path, act))


def test_concurrency(tmp_path: Path):
    def act(one: Play) -> None:
        engine = one.session.engine
        one.put("concurrency", "3")
        assert engine.parallel == 3
        one.put("concurrency", "0")
        assert engine.parallel == 3
        one.put("concurrency", None)
        assert engine.parallel == 25

    play(tmp_path, act)


def links_of(session: Session, *urls: str) -> int:
    page = CrawlURI("http://a.test/", b"k" * 16, "test,a,")
    visit = Visit(page, status=200, outlinks=[Outlink(url, Hop.LINK, "a/@href") for url in urls])
    return session.scheduling.candidates.admit(visit, 0.0)


def test_ignores_hold_for_links_and_for_what_waits(tmp_path: Path):
    def step(one: Play, **fields: object) -> int:
        """Status of a visit; 0 where it would be fetched."""
        uri = CrawlURI("http://a.test/x?sort=1", b"k" * 16, "test,a,", **fields)  # type: ignore[arg-type]  # any field
        visit = Visit(uri)
        return visit.status if one.session.scheduling.ignored.refuses(visit) else 0

    async def run() -> Session:
        async with opened(tmp_path) as session:
            one = Play(tmp_path, session)
            assert links_of(session, "http://a.test/1?sort=1") == 1
            assert step(one) == 0
            one.put("ignores", "# sorted lists\n[?]sort=\n(\n\n/calendar/\n")
            assert links_of(session, "http://a.test/2?sort=1", "http://a.test/calendar/3") == 0
            assert links_of(session, "http://a.test/4") == 1
            assert step(one) == -5000
            assert step(one, is_seed=True) == 0
            one.put("ignores", None)
            assert links_of(session, "http://a.test/2?sort=1") == 1
            assert step(one) == 0
            return session

    session = asyncio.run(run())
    assert "control/ignores: expressions that hold: 2" in log_of(session)
    assert "control/ignores, line 3: '(' is not a regular" in log_of(session, "alerts.log")


def test_pause_and_stop(tmp_path: Path):
    def act(one: Play) -> None:
        one.put("pause", "")
        assert one.session.holds == {PAUSED}
        one.put("pause", None)
        assert not one.session.holds
        one.put("stop", "")
        assert one.session._requests.exit is ExitStatus.ABORTED
        assert not (tmp_path / "control" / "stop").exists()

    log = log_of(play(tmp_path, act))
    assert "control/stop: ends the crawl" in log
