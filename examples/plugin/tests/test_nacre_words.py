"""The rule alone, and all of it in a crawl of a server on loopback; `pytest` runs them."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import typer
from nacre_words import ManyParameters
from nacre_words.commands import register
from typer.testing import CliRunner

import nacre
from nacre.plugin import ScopeState, Subject

PAGES = {
    "/": '<p>many words are here</p><a href="a.html">一</a><a href="b.html?x=1&y=2">b</a>'
    '<a href="list"></a>',
    "/a.html": '<a href="c.html">few</a>',
    "/list": "# more pages\n/d.html\n",
    "/d.html": "<p>a page of a list</p>",
    "/b.html?x=1&y=2": "<p>too many parameters</p>",
    "/c.html": "<p>behind a page with few words</p>",
}


@pytest.mark.parametrize(
    ("url", "many"),
    [
        ("http://a.test/", False),
        ("http://a.test/?", False),
        ("http://a.test/?q=%E9%80%9A%E7%9F%A5", False),
        ("http://a.test/?a=1&b=2", False),
        ("http://a.test/?a=1&b=2&c=3", True),
    ],
)
def test_the_rule(url: str, many: bool) -> None:
    rule = ManyParameters(decision="REJECT", most=2)
    assert rule.build(ScopeState())(Subject(url)) is many


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        kind = "text/uri-list" if self.path == "/list" else "text/html"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def home() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_crawl(home: str, tmp_path: Path) -> None:
    job = nacre.new_job(
        tmp_path / "job",
        home,
        scope="host",
        settings={
            "politeness": {"delay": 0},
            "extract": {"infer_favicon": False, "extractors": ["uri-list"]},
            "scope": ["accept", {"rule": "many-parameters", "decision": "REJECT", "most": 1}],
            "chains": {"fetch": {"insert": [{"processor": "count-words", "follow_from": 3}]}},
        },
    )
    assert asyncio.run(job.run()) == nacre.ExitStatus.FINISHED
    counted = (job.layout.latest / "logs" / "words.log").read_text().splitlines()
    assert sorted(counted) == [f"1 {home}a.html", f"5 {home}d.html", f"6 {home}"]
    app = typer.Typer()
    register(app)
    listed = CliRunner().invoke(app, [str(tmp_path / "job"), "--top", "2"])
    assert listed.stdout.split() == ["6", home, "5", f"{home}d.html"]
