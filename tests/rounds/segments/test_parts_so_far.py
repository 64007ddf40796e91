"""The parts of fetches that did not end: what a damaged one hides, and what it does not."""

from pathlib import Path

import pytest

from nacre.errors import DamageError
from nacre.rounds.segments.parts import PartManifest, UnitPlace
from nacre.rounds.segments.parts_so_far import count_parts_so_far, with_parts_so_far
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.versions import CycleVersion, SegmentState


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
