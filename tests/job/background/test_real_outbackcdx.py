"""The same against OutbackCDX itself: NACRE_OUTBACKCDX names its jar (`mvn package`), Java 17."""

import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.site import nacre, site
from tests.cli.test_control import until
from tests.job.background.test_outbackcdx import PAGES
from tools.nginx import free_port

JAR = os.environ.get("NACRE_OUTBACKCDX", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not JAR, reason="NACRE_OUTBACKCDX names no jar of OutbackCDX"),
]


@contextmanager
def real_outbackcdx(folder: Path) -> Iterator[str]:
    """A server; the URL of a collection of it."""
    folder.mkdir()
    port = free_port()
    command = [
        "java",
        "-Xmx200m",
        "-jar",
        JAR,
        "-b",
        "127.0.0.1",
        "-p",
        str(port),
        "-d",
        str(folder),
    ]
    log = (folder / "log").open("wb")
    with log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        at = f"http://127.0.0.1:{port}"
        try:
            until(lambda: answers(at))
            yield f"{at}/shelf"
        finally:
            server.kill()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def rows(at: str, url: str) -> list[list[str]]:
    """What the server says of a URL."""
    try:
        with urllib.request.urlopen(f"{at}?url={quote(url, safe='')}", timeout=10) as reply:
            return [line.split(" ") for line in reply.read().decode().splitlines()]
    except urllib.error.HTTPError as error:
        if error.code == 404:  # a collection that has never got anything
            return []
        raise


def test_captures_are_posted_deleted_and_posted_again(tmp_path: Path):
    with site(PAGES) as url, real_outbackcdx(tmp_path / "cdx") as at:
        job = tmp_path / "job"
        setting = f"archive.outbackcdx={at}"
        assert nacre("crawl", url, "--out", job, "-q", "--delay", "0", "--set", setting).code == 0
        book = f"{url}%E4%B9%A6.html"
        (row,) = rows(at, book)
        (index,) = (job / "latest" / "archive").resolve().glob("*.cdxj")
        assert (row[2], row[4], row[10]) == (book, "200", f"{index.stem}.warc.gz")
        assert nacre("recrawl", job, "--full", "-q").code == 0
        assert len(rows(at, book)) == 2
        kept = index.rename(tmp_path / index.name)
        assert "1 index withdrawn" in nacre("archive", job, "push", "--withdraw").out
        assert [one[10] for one in rows(at, book)] != [row[10]]
        assert len(rows(at, book)) == 1
        kept.rename(index)
        assert "1 index with" in nacre("archive", job, "push").out
        assert len(rows(at, book)) == 2


def test_captures_of_rounds_are_posted(tmp_path: Path):
    with site(PAGES) as url, real_outbackcdx(tmp_path / "cdx") as at:
        done = nacre("cycle", tmp_path / "job", "-s", url, "--rounds", "1", "--delay", "0",
                     "--set", f"archive.outbackcdx={at}")  # fmt: skip
        assert done.code == 0, done.err
        (row,) = rows(at, url)
        assert (tmp_path / "job" / "cycle" / "archive" / row[10]).is_file()
