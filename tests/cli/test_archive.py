import io
import json
import shutil
from pathlib import Path

import pytest

from nacre.archive.reader import WarcReader
from tests.cli.conftest import Crawled
from tests.cli.site import many_pages, nacre, site
from tests.cli.test_control import ended, finished, running, until


@pytest.fixture
def copy(crawled: Crawled, tmp_path: Path) -> Path:
    job = tmp_path / "copy"
    shutil.copytree(crawled.job, job, symlinks=True)
    return job


def warc(job: Path) -> Path:
    return next((job / "latest" / "archive").glob("*.warc.gz"))


def test_a_good_archive(crawled: Crawled):
    done = nacre("archive", crawled.job, "check")
    assert done.code == 0
    assert done.out.endswith("nothing damaged\n")
    assert "1 file" in done.out
    noted = nacre("archive", crawled.job, "check", "--notes")
    told = json.loads(nacre("archive", crawled.job, "check", "--json").out)
    assert (noted.code, len(noted.out.splitlines())) == (
        0, len(done.out.splitlines()) + len(told["findings"]),
    )  # fmt: skip
    assert told["damaged"] is False
    assert told["records"]["request"] == 7


def test_a_job_that_has_not_run_has_nothing_to_check(tmp_path: Path):
    assert nacre("new", tmp_path / "job", "http://127.0.0.1:1/").code == 0
    done = nacre("archive", tmp_path / "job", "check")
    assert done.code == 0
    assert done.out.endswith("nothing to check: there are no WARCs here yet\n")


def test_one_flipped_bit(copy: Path):
    path = warc(copy)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = nacre("archive", copy, "check")
    assert done.code == 7
    assert f"{path.name}:" in done.out
    assert "\ndamaged; see docs/howto.md" in done.out


def test_a_lost_index_is_made_again(copy: Path):
    index = warc(copy).with_suffix("").with_suffix(".cdxj")
    before = index.read_bytes()
    index.unlink()
    checked = nacre("archive", copy, "check")
    assert checked.code == 7
    assert f"{index.name}:0: error file-missing: it is gone; " in checked.out
    done = nacre("archive", copy, "index")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(" lines\n")
    assert index.read_bytes() == before
    assert nacre("archive", copy, "check").code == 0


def test_a_lost_warc_is_missed(copy: Path):
    path = warc(copy)
    data = path.read_bytes()
    path.unlink()
    done = nacre("archive", copy, "check")
    assert done.code == 7
    wanted = f"{path.name}:0: error file-missing: it is gone; {len(data):,} were committed"
    assert wanted in done.out
    # Cut between two members, it would be sound but for what the job knows of it.
    *_, last = [entry.offset for entry in WarcReader(io.BytesIO(data))]
    path.write_bytes(data[:last])
    assert f"{path.name}:{last}: error file-missing: " in nacre("archive", copy, "check").out
    shutil.rmtree(copy / "state" / "store")
    assert "file-missing" not in nacre("archive", copy, "check").out


@pytest.mark.slow
def test_a_crawl_at_work_is_not_damaged(tmp_path: Path):
    job = tmp_path / "job"
    with (
        site(many_pages(120), slow=0.05) as home,
        running(job, "crawl", home, "--delay", 0, "--parallel", 1, "--out", job) as process,
    ):
        # Of what is finished, the visits of 0.2 s or so are not committed yet.
        until(lambda: finished(job) > 15)
        checked = json.loads(nacre("archive", job, "check", "--json").out)
        assert checked["damaged"] is False, checked
        assert checked["records"]["response"] > 2
        assert nacre("stop", job).code == 0
        assert ended(process)[0] == 5


def test_archives_in_other_places_are_named(tmp_path: Path):
    job, big = tmp_path / "job", tmp_path / "big"
    wishes = [
        f"archive.directories=['{big}/${{job}}/${{launchId}}', more]",
        "archive.compress=false", "archive.max_file_size=2000", "politeness.delay=0",
    ]  # fmt: skip
    with site() as home:
        options = [word for wish in wishes for word in ("--set", wish)]
        done = nacre("crawl", home, "--out", job, "-q", *options)
    assert done.code == 0, done.err
    run = (job / "latest").resolve().name
    assert f" of WARC in {big}/job/{run}/ and {job}/latest/more/\n" in done.out
    assert list((big / "job" / run).glob("*.warc"))
    assert list((job / "latest" / "more").glob("*.warc"))
    assert nacre("archive", job, "check").code == 0


def test_captures_of_a_newer_archive_are_salvaged(tmp_path: Path):
    job, older = tmp_path / "job", tmp_path / "older"
    with site(many_pages(60), slow=0.02) as home:
        options = ("--delay", 0, "--parallel", 1, "--out", job, "-q")
        assert nacre("crawl", home, *options, "--max-pages", 5).code == 4
        shutil.copytree(job / "state" / "store", older)
        assert nacre("run", job, "--set", "limits.documents=12", "-q").code == 4
        shutil.rmtree(job / "state" / "store")
        shutil.copytree(older, job / "state" / "store")
        done = nacre("archive", job, "salvage")
        assert done.code == 0, done.err
        assert "in 1 file" in done.out
        assert "registered 0 " not in done.out
        assert nacre("archive", job, "check").code == 0
        assert nacre("run", job, "--set", "limits.documents=0", "-q").code == 0
    checked = json.loads(nacre("archive", job, "check", "--json").out)
    assert checked["damaged"] is False
    assert "revisit" not in checked["records"]  # nothing was fetched twice
