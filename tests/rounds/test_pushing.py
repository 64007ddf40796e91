from pathlib import Path

import pytest

from tests.cli.site import nacre, site
from tests.job.background.test_outbackcdx import collection, outbackcdx

PAGES: dict[str, str | bytes] = {"/": '<a href="/a.html">a</a>', "/a.html": "a", "/robots.txt": ""}


def rounds(job: Path, url: str, *options: str) -> str:
    done = nacre("cycle", job, "-s", url, "--rounds", "1", "--units", "1", "--delay", "0",
                 "--set", "cycle.buckets=1", *options)  # fmt: skip
    assert done.code == 0, done.err
    return done.err


@pytest.mark.slow
def test_the_captures_of_rounds_are_posted_after_each_fetch(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as url, outbackcdx() as (server, at):
        rounds(job, url, "--set", f"archive.outbackcdx={at}")
        assert {row[2] for row in collection(server).values()} >= {f"{url}robots.txt", url}
        posts = server.posts
        assert nacre("cycle", job, "--rounds", "1", "--delay", "0").code == 0
        assert f"{url}a.html" in {row[2] for row in collection(server).values()}
        assert server.posts == posts + 1
        archived = {path.name for path in (job / "cycle" / "archive").glob("*.warc.gz")}
        assert {row[10] for row in collection(server).values()} <= archived
        assert "0 indexes with" in nacre("archive", job, "push").out


@pytest.mark.slow
def test_a_server_that_is_away_ends_no_round_and_gets_all_later(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as url, outbackcdx(503) as (server, at):
        told = rounds(job, url, "--set", f"archive.outbackcdx={at}")
        assert "the server has not taken all indexes, it is tried again: " in told
        assert not server.collections
        server.status = 200
        assert "1 index with" in nacre("archive", job, "push").out
        assert collection(server)


@pytest.mark.slow
def test_what_no_version_names_any_more_is_withdrawn(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as url, outbackcdx() as (server, at):
        rounds(job, url, "--set", f"archive.outbackcdx={at}")
        before = dict(collection(server))
        newest = max(int(path.stem) for path in (job / "cycle" / "versions").glob("*.json"))
        assert nacre("cycle", job, "--rounds", "1", "--delay", "0").code == 0
        assert len(collection(server)) > len(before)
        assert nacre("cycle", job, "versions", "restore", str(newest)).code == 0
        assert "1 index withdrawn" in nacre("archive", job, "push", "--withdraw").out
        assert collection(server) == before
