import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nacre.archive.settings import WarcSettings
from nacre.config.place import with_values
from nacre.core.states import JobState
from nacre.job.background.outbackcdx import IndexPusher, PushingJob
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.settings.load import load_job
from tests.cli.site import nacre, site

PAGES: dict[str, str | bytes] = {
    "/": '<meta charset="utf-8"><title>图书馆</title><a href="/%E4%B9%A6.html">书</a>',
    "/%E4%B9%A6.html": '<meta charset="utf-8"><title>书</title>',
}


class _Server(ThreadingHTTPServer):
    """A server that speaks the part of OutbackCDX's protocol that a crawler needs."""

    daemon_threads = True
    status = 200

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.collections: dict[str, dict[tuple[str, str], list[str]]] = {}
        self.posts = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        length = int(self.headers["Content-Length"])
        lines = self.rfile.read(length).decode().splitlines()
        server.posts += 1
        fields = [line.split(" ") for line in lines if not line.startswith(" CDX")]
        bad = [line for line in fields if len(line) != 11]
        status = 400 if bad else server.status
        name, _, delete = self.path.strip("/").partition("/")
        if status == 200:
            found = server.collections.setdefault(name, {})
            for one in fields:
                found.pop((one[0], one[1]), None)
            if not delete:
                found.update({(one[0], one[1]): one for one in fields})
        self._answer(status, f"Added {len(fields)} records\n")

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def outbackcdx(status: int = 200) -> Iterator[tuple[_Server, str]]:
    """A server, and the URL of a collection of it."""
    server = _Server()
    server.status = status
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_address[1]}/图书馆"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def collection(server: _Server) -> dict[tuple[str, str], list[str]]:
    (found,) = server.collections.values()
    return found


def test_the_index_of_each_closed_warc_is_posted_once(tmp_path: Path):
    job = tmp_path / "图书馆"
    with site(PAGES) as url, outbackcdx() as (server, at):
        crawled = nacre(
            "crawl", url, "--out", job, "-q", "--delay", "0", "--set", f"archive.outbackcdx={at}"
        )
        assert crawled.code == 0, crawled.err
        rows = collection(server)
        urls = {row[2] for row in rows.values()}
        assert {url, f"{url}%E4%B9%A6.html"} <= urls
        (warc,) = (job / "latest" / "archive").glob("*.warc.gz")
        assert {row[10] for row in rows.values()} == {warc.name}
        index = warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj").read_text()
        assert len(rows) == len(set(index.splitlines()))
        posts = server.posts
        again = nacre("archive", job, "push")
        assert (again.code, server.posts) == (0, posts)
        assert "0 indexes with 0 captures posted" in again.out


def test_a_server_that_is_away_holds_nothing_up_and_gets_all_later(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as url, outbackcdx(503) as (server, at):
        crawled = nacre(
            "crawl", url, "--out", job, "-q", "--delay", "0", "--set", f"archive.outbackcdx={at}"
        )
        assert crawled.code == 0, crawled.err
        assert server.posts >= 1
        assert not server.collections
        refused = nacre("archive", job, "push")
        assert refused.code == 1
        assert "answered 503" in refused.err
        server.status = 200
        pushed = nacre("archive", job, "push")
        assert pushed.code == 0, pushed.err
        assert "1 index with" in pushed.out
        assert len(collection(server)) >= 2


def test_a_running_job_obeys_the_setting_as_it_was_changed(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (server, at):
        assert nacre("crawl", url, "--out", tmp_path / "job", "-q", "--delay", "0").code == 0
        layout = Layout(tmp_path / "job")
        settings = load_job(layout).settings
        changed = with_values(settings, {"archive.outbackcdx": at})
        session = SimpleNamespace(settings=changed, state=JobState.FINISHED)
        job = SimpleNamespace(
            layout=layout, settings=settings, session=session, clock=SystemClock()
        )

        async def play() -> None:
            async with IndexPusher(cast("PushingJob", job)).running():
                pass

        asyncio.run(play())
        assert len(collection(server)) >= 2


def crawled(tmp_path: Path, url: str, at: str) -> Path:
    job = tmp_path / "job"
    assert nacre("crawl", url, "--out", job, "-q", "--delay", "0").code == 0
    assert nacre("set", job, f"archive.outbackcdx={at}").code == 0
    return job


def test_a_second_server_gets_everything(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (first, at), outbackcdx() as (second, other):
        job = crawled(tmp_path, url, at)
        assert "1 index with" in nacre("archive", job, "push").out
        assert nacre("set", job, f"archive.outbackcdx={other}").code == 0
        assert "1 index with" in nacre("archive", job, "push").out
        assert collection(second) == collection(first)
        assert nacre("set", job, f"archive.outbackcdx={at}").code == 0
        assert "0 indexes with" in nacre("archive", job, "push").out


def test_what_is_gone_here_is_deleted_there_when_somebody_says_so(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (server, at):
        job = crawled(tmp_path, url, at)
        (first,) = (job / "latest" / "archive").resolve().glob("*.cdxj")
        assert nacre("recrawl", job, "--full", "-q").code == 0
        assert nacre("archive", job, "push").code == 0
        pushed = nacre("archive", job, "push", "--withdraw")
        assert "0 indexes withdrawn" in pushed.out
        before = dict(collection(server))
        warc = first.with_name(first.name.removesuffix(".cdxj") + ".warc.gz")
        first.unlink()
        warc.unlink()
        told = nacre("archive", job, "push")
        assert "whose WARCs are not here any more; `--withdraw`" in told.err
        assert collection(server) == before
        assert "1 index withdrawn" in nacre("archive", job, "push", "--withdraw").out
        left = collection(server)
        assert left
        assert {row[10] for row in left.values()}.isdisjoint({warc.name})
        assert "any more" not in nacre("archive", job, "push").err


def test_a_deletion_here_deletes_there(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (server, at):
        job = crawled(tmp_path, url, at)
        first = (job / "latest").resolve().name
        assert nacre("recrawl", job, "--full", "-q").code == 0
        assert nacre("archive", job, "push").code == 0
        warcs = {row[10] for row in collection(server).values()}
        assert len(warcs) == 2
        words = ("archive", job, "delete", "--run", first)
        before = dict(collection(server))
        assert nacre(*words).code == 0
        assert collection(server) == before
        done = nacre(*words, "--yes", "--resolve-first")
        assert done.code == 0, done.err
        assert "captures deleted from the OutbackCDX server" in done.out
        rows = collection(server).values()
        gone = next((name for name in warcs if not list(job.rglob(name))), "")
        assert gone
        assert gone not in {row[10] for row in rows}
        assert any(row[10].startswith("resolved-") for row in rows)
        assert "any more" not in nacre("archive", job, "push").err


def test_a_deletion_names_a_server_that_is_away(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (server, at):
        job = crawled(tmp_path, url, at)
        assert nacre("archive", job, "push").code == 0
        before = dict(collection(server))
        (warc,) = (job / "latest" / "archive").resolve().glob("*.warc.gz")
        server.status = 503
        done = nacre("archive", job, "delete", "--warc", warc.name, "--yes")
        assert done.code == 0, done.err
        assert not warc.exists()
        assert "answered 503" in done.out
        assert f"archive {job} push --withdraw` deletes them there" in done.out
        assert "outbackcdx: the server may still have" in (job / "job.log").read_text()
        assert collection(server) == before
        server.status = 200
        assert "1 index withdrawn" in nacre("archive", job, "push", "--withdraw").out
        assert collection(server) == {}


def test_what_is_in_a_second_index_too_stays_when_the_first_one_is_gone(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (server, at):
        job = crawled(tmp_path, url, at)
        (index,) = (job / "latest" / "archive").resolve().glob("*.cdxj")
        twin = index.with_name("twin.cdxj")
        twin.write_text(index.read_text().replace(index.stem, "twin"))
        assert nacre("archive", job, "push").code == 0
        twin.unlink()
        assert "1 index withdrawn" in nacre("archive", job, "push", "--withdraw").out
        assert {row[10] for row in collection(server).values()} == {f"{index.stem}.warc.gz"}


def test_an_index_that_was_made_again_replaces_the_former_one(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (server, at):
        job = crawled(tmp_path, url, at)
        assert nacre("archive", job, "push").code == 0
        (index,) = (job / "latest" / "archive").resolve().glob("*.cdxj")
        lines = index.read_text().splitlines(keepends=True)
        index.write_text("".join(lines[1:]))
        assert "1 index with" in nacre("archive", job, "push").out
        assert len(collection(server)) == len(set(lines)) - 1
        assert nacre("archive", job, "index").code == 0
        assert "1 index with" in nacre("archive", job, "push").out
        assert len(collection(server)) == len(set(lines))


def test_a_directory_that_is_away_deletes_nothing(tmp_path: Path):
    with site(PAGES) as url, outbackcdx() as (server, at):
        disk = tmp_path / "disk"
        job = tmp_path / "job"
        setting = f"archive.directories=['{disk}']"
        sets = ("--set", f"archive.outbackcdx={at}", "--set", setting)
        assert nacre("crawl", url, "--out", job, "-q", "--delay", "0", *sets).code == 0
        before = dict(collection(server))
        assert before
        disk.rename(tmp_path / "elsewhere")
        refused = nacre("archive", job, "push", "--withdraw")
        assert (refused.code, collection(server)) == (1, before)
        assert f"{disk} (archive.directories) is not there" in refused.err


@pytest.mark.parametrize(
    "url", ["ftp://h.test/x", "http://h.test/", "http://h.test", "h.test/x", "http://h.test/x?y=1"]
)
def test_a_url_that_is_no_collection_is_a_problem(url: str):
    with pytest.raises(ValueError, match="OutbackCDX"):
        WarcSettings(outbackcdx=url)
