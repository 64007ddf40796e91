"""What a crawl.log says could not be got."""

import gzip
from pathlib import Path

from nacre.inspect.summary.run_summary import MOST, failures

LINE = "2026-11-20T10:00:00.000Z {:>5} {:>10} {} {} {} text/html #001 - - - -\n"


def log(*lines: tuple[int, str, str, str]) -> bytes:
    return "".join(LINE.format(s, "-", url, path, via) for s, url, path, via in lines).encode()


def test_a_log_that_was_rotated_and_packed_is_read_whole(tmp_path: Path):
    (tmp_path / "crawl.log.cp00001").write_bytes(
        log((404, "http://a.test/1", "L", "http://a.test/"))
    )
    packed = gzip.compress(log((-2, "http://b.test/", "-", "-")))
    (tmp_path / "crawl.log.cp00002.gz").write_bytes(packed)
    (tmp_path / "crawl.log").write_bytes(log((404, "http://a.test/2", "L", "http://a.test/")))
    found = failures(tmp_path)
    assert found.counts == {404: 2, -2: 1}
    assert {one.url for one in found.first} == {
        "http://a.test/1", "http://a.test/2", "http://b.test/",
    }  # fmt: skip
    assert next(one.via for one in found.first if one.status == -2) == ""


def test_all_are_counted_and_the_first_are_named(tmp_path: Path):
    lines = [(500, f"http://a.test/{n}", "L", "http://a.test/") for n in range(MOST + 7)]
    (tmp_path / "crawl.log").write_bytes(log(*lines))
    found = failures(tmp_path)
    assert (found.counts, len(found.first)) == ({500: MOST + 7}, MOST)


def test_a_guess_of_https_in_whose_place_http_is_tried_did_not_fail(tmp_path: Path):
    line = "2026-11-28T23:28:29.834Z   -61 - https://a.test/ - - unknown #000 - - - {}"
    lines = [line.format(word) for word in ("httpTried", "3t,httpTried", '3t {"x": 1}')]
    (tmp_path / "crawl.log").write_text("".join(f"{one}\n" for one in lines))
    assert failures(tmp_path).counts == {-61: 1}


def test_without_a_log_nothing_failed(tmp_path: Path):
    assert failures(tmp_path / "none") == ({}, [])


def test_a_packed_log_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path):
    whole = gzip.compress(log(*[(404, f"http://a.test/{n}", "L", "-") for n in range(5000)]))
    (tmp_path / "crawl.log.1.gz").write_bytes(whole[: len(whole) // 2])
    assert 0 < failures(tmp_path).counts[404] < 5000
