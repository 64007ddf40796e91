import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Crawled
from tests.cli.site import many_pages, nacre, site


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


def test_one_flipped_bit(copy: Path):
    path = warc(copy)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = nacre("archive", copy, "check")
    assert done.code == 7
    assert f"{path.name}:" in done.out
    assert "\ndamaged; what can be done stands in docs/howto.md" in done.out


def test_a_lost_index_is_made_again(copy: Path):
    index = warc(copy).with_suffix("").with_suffix(".cdxj")
    before = index.read_bytes()
    index.unlink()
    done = nacre("archive", copy, "index")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(" lines\n")
    assert index.read_bytes() == before
    assert nacre("archive", copy, "check").code == 0


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
