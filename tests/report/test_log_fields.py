import gzip
from pathlib import Path

import pytest

from nacre.report.log_fields import (
    crawl_log_lines,
    has_crawl_log,
    is_left_out,
    line_fields,
    number_of,
)

LINE = b"2026-11-20T10:00:00.000Z   200        12 http://a.test/ L - text/html #001 - - - -\n"


def test_the_parts_of_a_log_come_in_their_order_and_what_is_cut_off_as_far_as_it_goes(
    tmp_path: Path,
):
    assert not has_crawl_log(tmp_path / "none")
    assert list(crawl_log_lines(tmp_path / "none")) == []
    (tmp_path / "crawl.log").write_bytes(b"3\n4")
    packed = gzip.compress(b"2\n" * 5_000)
    (tmp_path / "crawl.log.cp00002-20261120100000.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "crawl.log.cp00001-20261119100000").write_bytes(b"1\n")
    lines = list(crawl_log_lines(tmp_path))
    assert has_crawl_log(tmp_path)
    assert (lines[0], lines[-2:]) == (b"1\n", [b"3\n", b"4"])
    assert set(lines[1:-2]) <= {b"2\n", b"2", b""}


def test_only_whole_lines_have_fields():
    fields = line_fields(LINE)
    assert fields is not None
    assert (number_of(fields[1]), fields[3], len(fields)) == (200, b"http://a.test/", 12)
    more = line_fields(LINE[:-1] + b' {"contentSize":1}\n')
    assert more is not None
    assert more[12] == b'{"contentSize":1}\n'
    assert line_fields(LINE[:-1]) is None, "it is being written"
    assert line_fields(b"two words\n") is None
    assert number_of(b"-") == 0


@pytest.mark.parametrize(("status", "left_out"), [(0, True), (-5000, True), (-9998, False),
                                                  (-2, False), (404, False)])  # fmt: skip
def test_what_the_settings_leave_out_is_no_failure_of_a_site(status: int, left_out: bool):
    assert is_left_out(status) is left_out
