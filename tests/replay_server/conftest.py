from pathlib import Path

import pytest

from tests.replay.archives import record
from tests.replay_server.site import FIRST, SECOND, Server, date_of, new_archive, reply

PAGE = (
    '<!doctype html><title>Home & "more"</title><link rel=stylesheet href=/s.css>'
    '<h1>Home</h1><a href="/two?a=1">two</a>'
)


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two jobs; the first with captures of two days."""
    folder = tmp_path_factory.mktemp("crawls")
    first = new_archive(
        folder / "demo",
        {
            "http://h.test/": reply(PAGE.encode()),
            "http://h.test/s.css": reply(b"h1 { background: url(/b.png) }", "text/css"),
            "http://h.test/two?a=1": reply(b"<title>Two</title>"),
            "http://h.test/film.mp4": reply(bytes(range(256)) * 8, "video/mp4"),
            "http://h.test/gone": reply(b"gone", status="404 Not Found"),
            "http://h.test/moved": reply(
                b"", "text/html", "302 Found", "Location: http://other.test/", "Set-Cookie: a=b",
                "Strict-Transport-Security: max-age=9", "Clear-Site-Data: *",
            ),
            "http://h.test/old": reply(b"x", status="999 Denied"),
            "http://other.test/": reply(
                "<title>书</title><p>书".encode("gbk"), "text/html; charset=gbk"
            ),
        },
    )  # fmt: skip
    changed = reply(b"<title>Home</title><h1>Changed</h1>", "text/html", "200 OK", 'ETag: "x"')
    first.add(record(changed, url="http://h.test/", date=date_of(SECOND)))
    new_archive(folder / "other", {"http://secret.test/": reply(b"<title>Secret</title>")}, FIRST)
    return {"demo": first.root, "other": folder / "other"}


@pytest.fixture
def server(jobs: dict[str, Path]) -> Server:
    """A replay server over both jobs; anna sees both, and ben the second."""
    return Server(jobs)
