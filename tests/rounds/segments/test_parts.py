"""Parts, the chains that they make, and attempts."""

from pathlib import Path

import pytest

from nacre.errors import DamageError
from nacre.rounds.segments.parts import (
    PartManifest,
    UnitPlace,
    chain_of,
    check_files,
    count_parts_so_far,
    newest_chain,
    upload_files,
    with_parts_so_far,
)
from nacre.rounds.storage import AlreadyThereError, open_storage
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.tables.versions import CycleVersion, SegmentState


@pytest.fixture
def place(tmp_path: Path) -> UnitPlace:
    return UnitPlace(LocalStorage(tmp_path), "s", "u0007")


def part(attempt: int, number: int, before: int = 0, builds_on: int = 0) -> PartManifest:
    return PartManifest(
        unit="u0007", attempt=attempt, number=number, predecessor=before, builds_on=builds_on
    )


def names(place: UnitPlace, before: int) -> list[str]:
    return [one.name for one in newest_chain(place, before)]


def test_attempts_are_claimed_one_after_the_other(place: UnitPlace):
    assert place.latest_attempt() == 0
    assert [place.claim() for _ in range(11)] == list(range(1, 12))
    assert place.latest_attempt() == 11


def test_a_chain_goes_on_from_the_last_attempt_that_has_parts(place: UnitPlace):
    assert names(place, 9) == []
    for one in (part(1, 1), part(1, 2), part(3, 1, 1, 2), part(3, 2, 1, 2)):
        place.create(one)
    assert names(place, 1) == []
    assert names(place, 2) == ["1-001", "1-002"]
    assert names(place, 4) == ["1-001", "1-002", "3-001", "3-002"]
    # What the first attempt made after the third had looked does not count.
    place.create(part(1, 3))
    assert names(place, 4) == ["1-001", "1-002", "3-001", "3-002"]
    place.create(part(5, 1, 3, 1))
    assert names(place, 6) == ["1-001", "1-002", "3-001", "5-001"]


def test_a_part_is_made_once(place: UnitPlace):
    place.create(part(1, 1))
    with pytest.raises(AlreadyThereError):
        place.create(part(1, 1))


def test_a_missing_part_is_told(place: UnitPlace):
    place.create(part(1, 2))
    with pytest.raises(DamageError, match=r"part 1-001 of the unit u0007 is missing, .* 1-002"):
        newest_chain(place, 2)


def test_a_chain_that_leads_to_itself_is_told(place: UnitPlace):
    parts = {(2, 1): part(2, 1, 2, 1)}
    with pytest.raises(DamageError, match="2-001"):
        chain_of(parts, parts[2, 1])


def test_a_manifest_that_is_none_is_told(place: UnitPlace):
    place.storage.put(f"{place.parts}/1-001.json", b"{")
    with pytest.raises(DamageError, match=r"1-001\.json: it is no manifest"):
        place.manifests()


def test_files_are_sent_and_compared(place: UnitPlace, tmp_path: Path):
    file = tmp_path / "中文.warc.gz"
    file.write_bytes(b"abc")
    sent = tuple(upload_files(place.storage, [file], f"{place.parts}/1-001"))
    assert [(one.name, one.size) for one in sent] == [(f"{place.parts}/1-001/中文.warc.gz", 3)]
    whole = PartManifest(unit="u0007", attempt=1, number=1, files=sent)
    check_files(place.storage, whole)
    place.storage.put(sent[0].name, b"abd")
    with pytest.raises(DamageError, match="3 bytes with the sha256"):
        check_files(place.storage, whole)


def test_a_wish_to_stop_is_seen(place: UnitPlace):
    assert not place.stops()
    place.storage.put(place.stop, b"")
    assert place.stops()


def test_a_damaged_part_hides_those_of_no_other_segment(tmp_path: Path):
    storage = open_storage(str(tmp_path / "cycle"))
    states = {name: SegmentState(state="generated", units=1, urls=1) for name in ("s1", "s2")}
    for name in states:
        storage.put(f"segments/{name}/lists/u0001.parquet", b"")
    place = UnitPlace(storage, "s1", "u0001")
    made = PartManifest(unit="u0001", attempt=place.claim(), number=1, files=(), rows={}, last=True)
    place.create(made)
    storage.put("segments/s2/parts/u0001/1-001.json", b"x")
    version = CycleVersion(number=3, segments=states)
    found = with_parts_so_far(storage, version).segments
    assert found["s1"].parts == {"u0001": [f"{place.parts}/{made.name}"]}
    assert found["s2"].parts == {}
    assert with_parts_so_far(storage, version, ["s1"]).segments["s1"] == found["s1"]
    with pytest.raises(DamageError, match="1-001"):
        with_parts_so_far(storage, version, ["s2"])
    with pytest.raises(DamageError):
        count_parts_so_far(storage, "s2")
