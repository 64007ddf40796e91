"""What is kept can be read again, and a row that cannot be read hides no other one."""

from pathlib import Path

import msgspec
import pytest

from nacre.console.routes import API
from nacre.console.schedule_runner import ScheduleRunner
from nacre.console.webhook_runner import WebhookRunner
from nacre.errors import ConfigError
from nacre.fleet.database import BrokenRow, ConsoleDatabase
from nacre.fleet.schedule_book import ScheduleBook, ScheduleNote, ScheduleWish
from nacre.fleet.webhook_book import HookWish, WebhookBook
from nacre.machine.clock import SystemClock
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play

WISH = ScheduleWish("crawls~demo", "@daily")
NEW = msgspec.structs.replace(WISH, mode="new-job")
BAD = b'{"job":"crawls~demo","at":"@daily","until":-1.0}'


@pytest.fixture
def database(tmp_path: Path):
    made = ConsoleDatabase(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("wish", "path"),
    [
        (msgspec.structs.replace(NEW, seeds=("http://a.test/\nhttp://b.test/",)), "seeds[0]"),
        (msgspec.structs.replace(WISH, until=-1.0), "until"),
        (msgspec.structs.replace(WISH, job="x" * 251), "job"),
        (msgspec.structs.replace(NEW, seeds=("http://a.test/\udcff",)), ""),
    ],
)
def test_a_schedule_that_could_not_be_read_again_is_not_kept(
    database: ConsoleDatabase, wish: ScheduleWish, path: str
):
    book = ScheduleBook(database, SystemClock())
    number = book.add(WISH, "/crawls/demo", "anna")
    for refused in (
        lambda: book.add(wish, "/crawls/demo", "anna"),
        lambda: book.change(number, wish, "anna"),
    ):
        with pytest.raises(ConfigError) as told:
            refused()
        assert told.value.problems[0].path == path
    assert [one.wish for one in book.all()] == [WISH]


@pytest.mark.parametrize("length", [2001, 2083])
def test_a_webhook_that_could_not_be_read_again_is_not_kept(database: ConsoleDatabase, length: int):
    book = WebhookBook(database, SystemClock())
    kept = HookWish("http://a.test/".ljust(2000, "a"))
    long = HookWish("http://a.test/".ljust(length, "a"))
    number = book.add(kept, "", "anna")
    for refused in (
        lambda: book.add(long, "", "anna"),
        lambda: book.change(number, long, "", "anna"),
    ):
        with pytest.raises(ConfigError, match="url: Expected `str` of length <= 2000"):
            refused()
    assert [one.wish for one in book.all()] == [kept]


def put_broken(database: ConsoleDatabase) -> None:
    """A schedule and a webhook that a version before wrote and this one cannot read."""
    note = msgspec.json.encode(ScheduleNote())
    database.rows(
        "INSERT INTO schedules (path, wish, owner, seen, note) VALUES ('', ?, '', 0, ?)", BAD, note
    )
    database.rows("INSERT INTO webhooks (wish, secret, owner) VALUES (?, '', '')", b'{"url": ')


def test_a_row_that_cannot_be_read_is_left_out_and_told(database: ConsoleDatabase):
    schedules = ScheduleBook(database, SystemClock())
    webhooks = WebhookBook(database, SystemClock())
    put_broken(database)
    assert schedules.add(WISH, "/crawls/demo", "anna") == 2
    assert webhooks.add(HookWish("http://a.test/"), "", "anna") == 2
    assert [one.id for one in schedules.all()] == [one.id for one in webhooks.all()] == [2]
    assert schedules.broken() == {
        1: BrokenRow("schedule", 1, "Expected `float` >= 0.0 - at `$.until`")
    }
    assert "`nacre console webhook remove 1` removes it" in webhooks.broken()[1].words
    schedules.remove(1)
    webhooks.remove(1)
    assert schedules.broken() == webhooks.broken() == {}


def test_the_console_goes_on_with_the_others_and_says_so(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        parts = console.parts
        put_broken(parts.books.schedules._database)
        fields = console.as_session()
        for path in ("/", "/j/crawls~demo", "/calendar", "/webhooks", f"{API}/jobs"):
            assert (await console.client.get(path, headers=fields)).status_code == 200, path
        await ScheduleRunner(parts.runners).turn()
        WebhookRunner(parts.runners).look()
        page = (await console.client.get("/alerts", headers=fields)).text
        assert "schedule 1 cannot be read, and does nothing" in page
        assert "webhook 1 cannot be read, and does nothing" in page
        parts.books.schedules.remove(1)
        await ScheduleRunner(parts.runners).turn()
        assert [one.work for one in parts.troubles.all()] == ["webhook 1"]

    play(tmp_path, scene)
