import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nacre.cli.console_books import console_books
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.webhook_book import MOST_WAITING
from tests.cli.site import Done, nacre


class Listener(BaseHTTPRequestHandler):
    """It takes messages at `/ok`, and no others."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204 if self.path == "/ok" else 500)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    thread.join()
    made.server_close()


def webhook(folder: Path, *words: object, stdin: str | None = None) -> Done:
    return nacre("console", "webhook", *words, "--state", folder / "state", stdin=stdin)


def test_a_webhook_is_added_tested_paused_and_removed(tmp_path: Path, server: str):
    assert webhook(tmp_path, "list").out == "no webhooks\n"
    words = ("add", f"{server}/ok", "--private", "--on", "crashed", "--on", "quota", "--secret")
    added = webhook(tmp_path, *words, stdin="s3cret\n")
    assert added.out == f"added webhook 1: {server}/ok\n"
    (one,) = json.loads(webhook(tmp_path, "list", "--json").out)
    assert (one["on"], one["signed"], one["private"]) == (["crashed", "quota"], True, True)
    assert "s3cret" not in webhook(tmp_path, "show", 1).out
    sent = webhook(tmp_path, "test", 1)
    assert sent.code == 0, sent.err
    assert sent.out == "delivered: 204\n"
    assert "a test that " in webhook(tmp_path, "show", 1).out
    assert webhook(tmp_path, "set", 1, "--url", f"{server}/bad", "--on", "finished").code == 0
    failed = webhook(tmp_path, "test", 1)
    assert failed.code == 1
    assert "waits: " in failed.out
    assert webhook(tmp_path, "pause", 1).out == "webhook 1 is paused\n"
    assert "is paused" in webhook(tmp_path, "test", 1).err
    assert webhook(tmp_path, "resume", 1).out == "webhook 1 is on again\n"
    assert webhook(tmp_path, "set", 1, "--no-secret", "--public").code == 0
    (one,) = json.loads(webhook(tmp_path, "list", "--json").out)
    assert (one["signed"], one["private"], one["on"]) == (False, False, ["finished"])
    refused = webhook(tmp_path, "test", 1)
    assert refused.code == 1
    assert webhook(tmp_path, "remove", 1).out == "removed webhook 1\n"
    assert webhook(tmp_path, "show", 1).code == 2
    audit = (tmp_path / "state" / "audit.log").read_text()
    assert "s3cret" not in audit


def test_a_webhook_that_cannot_be_read_is_told_and_removed(tmp_path: Path):
    for host in ("a.test", "b.test"):
        assert webhook(tmp_path, "add", f"http://{host}/").code == 0
    with closing(ConsoleDatabase(tmp_path / "state")) as database:
        database.rows("UPDATE webhooks SET wish = ? WHERE id = 1", b'{"url": 1}')
    done = webhook(tmp_path, "list", "--json")
    assert [one["id"] for one in json.loads(done.out)] == [2]
    assert "webhook 1 cannot be read, and does nothing: Expected `str`" in done.err
    assert webhook(tmp_path, "remove", 1).code == 0
    assert webhook(tmp_path, "list").err == ""


def test_a_test_is_posted_before_what_waits_and_refused_where_too_much_does(
    tmp_path: Path, server: str
):
    words = ("add", f"{server}/ok", "--private", "--on", "finished")
    assert webhook(tmp_path, *words).code == 0
    with console_books(tmp_path / "state") as books:
        for number in range(MOST_WAITING - 1):
            books.webhooks.tell("finished", "crawls~图书馆", str(number))
    sent = webhook(tmp_path, "test", 1, "--json")
    assert sent.code == 0, sent.err
    facts = json.loads(sent.out)
    assert (facts["event"], facts["step"], facts["answer"]) == ("test", "delivered", "204")
    with console_books(tmp_path / "state") as books:
        assert books.webhooks.tell("finished", "crawls~图书馆", "last")
        before = books.webhooks.deliveries(1)
    refused = webhook(tmp_path, "test", 1)
    assert (refused.code, refused.out) == (2, "")
    assert "100 messages wait for webhook 1" in refused.err
    with console_books(tmp_path / "state") as books:
        assert books.webhooks.deliveries(1) == before


def test_a_webhook_is_about_places_that_there_are(tmp_path: Path):
    words = ("add", "https://ops.example/", "--place")
    none = webhook(tmp_path, *words, "图书")
    assert none.code == 2
    assert "there is no place '图书'; there are: none: start" in none.err
    (tmp_path / "图书馆").mkdir()
    folder = ("--state", tmp_path / "state")
    assert nacre("console", "place", "add", tmp_path / "图书馆", *folder).code == 0
    wrong = webhook(tmp_path, *words, "图书馆", "--place", "图书")
    assert wrong.code == 2
    assert "there is no place '图书'; there are: 图书馆" in wrong.err
    assert webhook(tmp_path, "list").out == "no webhooks\n"
    assert webhook(tmp_path, *words, "图书馆").code == 0
    (one,) = json.loads(webhook(tmp_path, "list", "--json").out)
    assert one["places"] == ["图书馆"]


def test_what_is_no_webhook_is_refused(tmp_path: Path):
    for words in (
        ("add", "ftp://a.test/"), ("add", "http://a.test/".ljust(2001, "a")),
        ("add", "http://a.test/", "--on", "everything"), ("remove", 9),
    ):  # fmt: skip
        assert webhook(tmp_path, *words).code == 2
