"""A crawl ends when its work is done: what was only guessed does not keep it alive."""

import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nacre.cli.app import app
from tests.cli.site import nacre
from tests.cli.site import site as site_of
from tests.cli.test_control import ended, running, until

pytestmark = pytest.mark.crawl


@pytest.fixture
def dead() -> Iterator[int]:
    """A port that nobody listens on, now or later."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@pytest.fixture
def site(dead):
    """A page of documentation: its script names a server that runs on the reader's machine."""
    page = (
        f'<!DOCTYPE html><title>文档</title><img src="http://127.0.0.1:{dead}/图.png">'
        f'<script>const server = "http://127.0.0.1:{dead}/api/v1/";</script>'
    )

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = page.encode()
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_example_address_of_a_manual_costs_one_more_try(site: str, dead: int, tmp_path: Path):
    told = ("--out", str(tmp_path / "job"), "--contact", "a@example.org")
    quick = ("--set", "politeness.delay=0")
    result = CliRunner().invoke(app, ["crawl", site, *told, *quick])
    assert result.exit_code == 0, result.output
    (log,) = (tmp_path / "job").glob("runs/*/logs/crawl.log")
    lines = [line.split() for line in log.read_text().splitlines()]
    robots = next(line for line in lines if line[3] == f"http://127.0.0.1:{dead}/robots.txt")
    assert robots[1] == "-2"
    assert robots[11].split(",")[0] == "2t"
    given_up = [line for line in lines if f":{dead}/" in line[3] and line is not robots]
    assert {line[1] for line in given_up} == {"-61"}


def test_who_waits_is_told_for_what_until_when_and_how_to_end_it(dead: int, tmp_path: Path):
    job = tmp_path / "job"
    pages = {"/": f'<a href="http://127.0.0.1:{dead}/页.html">dead</a>'}
    quick = ("--scope", "any", "--set", "politeness.delay=0")
    with (
        site_of(pages) as home,
        running(job, "crawl", home, "--out", job, *quick) as process,
    ):
        until(lambda: "nothing but further tries is left" in nacre("status", job).out)
        assert process.stderr is not None
        told = next(line for line in process.stderr if "waits for" in line)
        assert f"waits for http://127.0.0.1:{dead}/robots.txt: " in told
        assert "ends by itself at " in told
        assert f"nacre frontier {job} delete --all` gives them up" in told
        assert nacre("frontier", job, "delete", "--all").out == "deleted 2 URIs\n"
        assert ended(process)[0] == 0
