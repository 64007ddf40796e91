"""Lines of WARCs as they are packed: each index is read once, in bounded memory."""

from collections import Counter
from pathlib import Path

import pytest

from nacre.catalogue.holdings import Holding, open_holding
from nacre.catalogue.lookup import open_index
from nacre.machine.local_files import open_ordinary
from nacre.packing import sources
from nacre.packing.sources import OrderedLines, all_captures, group_by_index, read_lines
from nacre.packing.wacz import PackOptions, pack_wacz
from nacre.packing.warc_files import pack_warcs
from tests.catalogue.foreign_files import PAGES, wacz_with
from tests.packing.jobs import make_job


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each index is opened."""
    counts: Counter[str] = Counter()
    plain = open_ordinary

    def count(path: Path):
        counts[path.suffix] += 1
        return plain(path)

    monkeypatch.setattr(sources, "open_ordinary", count)
    return counts


@pytest.fixture
def foreign(tmp_path: Path) -> Holding:
    """A WACZ of two WARCs with one index."""
    return open_holding([wacz_with(tmp_path / "x.wacz", "plain")])


def test_one_index_of_several_warcs_is_read_once(tmp_path, foreign, reads):
    assert sorted(each.url for each in all_captures(foreign)) == sorted(PAGES)
    assert reads[".cdxj"] == 1
    options = PackOptions(created=0.0)
    made = pack_wacz(foreign, tmp_path / "y.wacz", None, options, lambda _d, _t: None)
    assert (made.captures, made.warcs, made.defects) == (4, 2, ())
    assert reads[".cdxj"] == 2


def test_a_selection_reads_one_index_of_several_warcs_once(tmp_path, foreign, reads):
    options = PackOptions(created=0.0)
    captures = open_index(foreign).prefix("")
    target = tmp_path / "y.warc.gz"
    made = pack_warcs(foreign, target, captures, options, lambda _d, _t: None)
    assert (made.selection.captures, made.selection.damaged) == (4, 0)
    assert reads[".cdxj"] == 1


def test_lines_of_each_warc_come_in_the_order_of_its_records(tmp_path, foreign):
    (places,) = group_by_index(foreign.members[0].warcs())
    with OrderedLines(tmp_path, places, 3) as lines:
        parts = [list(lines.of(number)) for number in range(len(places))]
        for number in (1, 0, 0, 1):
            assert list(lines.of(number)) == parts[number]
        assert lines.last == parts[-1][-1].capture
    for place, part in zip(places, parts, strict=True):
        offsets = [capture.offset for capture, _ in part]
        assert len(offsets) == 2
        assert offsets == sorted(offsets)
        assert {(capture.warc, capture.member) for capture, _ in part} == {(place.name, 3)}
        stored = {line.line.rstrip(b"\n") for line in read_lines(place, 3)}
        assert {line.line for line in part} == stored


def test_each_warc_of_a_job_has_its_own_index(tmp_path):
    holding = open_holding([make_job(tmp_path / "a"), make_job(tmp_path / "b")])
    places = [place for member in holding.members for place in member.warcs()]
    assert group_by_index(places) == [[place] for place in places]
