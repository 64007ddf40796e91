"""`nacre compare` and `nacre cite`."""

import json
from pathlib import Path

import pytest

from tests.cli.site import nacre
from tests.ops.test_compare import DAYS, page
from tests.replay.archives import URL, Archive

URN = "urn:uuid:00000000-0000-4000-8000-000000000001"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    archive = Archive(tmp_path / "job")
    archive.add(
        page("<a href=/a>A</a> 旧版本", DAYS[0], Record_ID=f"<{URN}>"),
        page("<a href=/b>A</a> 新版本\x1b[2J", DAYS[1]),
    )
    return archive.root


def test_two_captures_are_compared(job: Path, tmp_path: Path):
    done = nacre("compare", job, URL)
    assert done.code == 0, done.err
    assert "- [text] 旧版本" in done.out or "旧版本" in done.out
    assert "\x1b" not in done.out
    assert "http://h.test/b" in done.out
    data = json.loads(nacre("compare", job, URL, "--what", "links", "--json").out)
    assert [link["url"] for link in data["links"]["links"]] == [
        "http://h.test/a",
        "http://h.test/b",
    ]
    assert data["text"] is None
    file = tmp_path / "compare.html"
    assert nacre("compare", job, URL, "--html", file).out == ""
    assert "新版本" in file.read_text()


def test_mistakes_have_a_remedy(job: Path):
    done = nacre("compare", job, "http://none.test/")
    assert (done.code, done.out) == (2, "")
    assert "no capture of http://none.test/" in done.err
    assert f"`nacre captures {job}`" in done.err
    done = nacre("compare", job, URL, "--old", "soon")
    assert (done.code, "soon is no time" in done.err) == (2, True)
    done = nacre("cite", job)
    assert (done.code, "--urn" in done.err) == (2, True)


def test_a_capture_is_cited_and_found_again(job: Path):
    done = nacre("cite", job, URL, "--at", "2026-11-20")
    assert done.code == 0, done.err
    assert done.out.startswith(f"T. {URL}. Captured {DAYS[0]}. In: job. urn:pwid:job:")
    data = json.loads(nacre("cite", job, URL, "--at", "2026-11-20", "--json").out)
    assert data["urn"] == URN
    for urn in (data["urn"], data["pwid"]):
        assert nacre("cite", job, "--urn", urn).out == done.out
        assert nacre("cite", job, urn).out == done.out
    for form, start in (("bibtex", "@misc{"), ("ris", "TY  - ELEC"), ("csl", "[")):
        assert nacre("cite", job, URL, "--format", form).out.startswith(start)
