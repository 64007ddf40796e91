"""The operation that packs captures."""

from pathlib import Path

import pytest

from nacre.errors import ConfigError, JobError
from nacre.ops.captures import CapturesQuery
from nacre.ops.packing import PackRequest, pack
from tests.packing.jobs import crawl_records, make_job


def test_a_wacz_of_two_jobs_reports_its_progress(tmp_path):
    one = make_job(tmp_path / "one")
    two = make_job(tmp_path / "two", crawl_records(1000))
    steps: list[tuple[int, int]] = []
    request = PackRequest(wacz=tmp_path / "a.wacz", also=(two,))
    result = pack([one], request, tell=lambda done, total: steps.append((done, total)))
    assert (result.captures, result.warcs, result.pages) == (16, 2, 2)  # the pages are the same
    assert result.files == (str(tmp_path / "a.wacz"),)
    assert result.digest.startswith("sha256:")
    assert steps[-1][0] == steps[-1][1] > 0


def test_warcs_of_all_captures(tmp_path):
    result = pack([make_job(tmp_path / "one")], PackRequest(warc=tmp_path / "folder"))
    assert (result.captures, result.resolved, result.left_out) == (8, 2, 0)
    assert [Path(each).name for each in result.files] == ["selection-00001.warc.gz"]


@pytest.mark.parametrize(
    ("request_of", "error"),
    [
        (lambda _: PackRequest(), "name the file"),
        (lambda path: PackRequest(wacz=path / "a.wacz", warc=path / "b"), "name only one"),
        (lambda path: PackRequest(wacz=path / "a.zip"), "end with .wacz"),
    ],
)
def test_a_target_is_needed(tmp_path, request_of, error):
    with pytest.raises(ConfigError, match=error):
        pack([make_job(tmp_path / "one")], request_of(tmp_path))


@pytest.mark.parametrize("name", ["wacz", "warc"])
def test_that_without_left_out_everything_is_said(tmp_path, name):
    target = tmp_path / ("a.wacz" if name == "wacz" else "a.warc.gz")
    request = PackRequest(**{name: target}, without=("train-ai=n",), unknown="drop")
    root = make_job(tmp_path / "one")
    with pytest.raises(JobError, match=r"of one is left .* --without left out all 8 captures"):
        pack([root], request)
    with pytest.raises(JobError, match="--without left out the only capture"):
        pack([root], request, CapturesQuery("http://example.test/zh/"))
    with pytest.raises(JobError, match=r"no captures to pack\. Check the filters"):
        pack([root], request, CapturesQuery("http://example.test/none"))
    assert not target.exists()


def test_a_folder_that_is_no_job(tmp_path):
    with pytest.raises(JobError):
        pack([tmp_path / "none"], PackRequest(wacz=tmp_path / "a.wacz"))


@pytest.mark.parametrize(
    ("select", "captures", "resolved"),
    [
        (CapturesQuery("http://example.test/zh/"), 1, 0),
        (CapturesQuery(mime="page", status="200"), 3, 0),
        (CapturesQuery(mime="revisit"), 2, 2),
        (CapturesQuery(prefix="http://example.test/s", method="POST"), 1, 0),
        (CapturesQuery(), 8, 2),
    ],
)
def test_the_filters_are_those_of_a_search(tmp_path, select, captures, resolved):
    root = make_job(tmp_path / "one")
    result = pack([root], PackRequest(warc=tmp_path / "a.warc.gz"), select)
    assert (result.captures, result.resolved) == (captures, resolved)
    result = pack([root], PackRequest(wacz=tmp_path / "a.wacz"), select)
    assert result.captures == captures
