"""Segments: a list of them, their visits, and one that is given up."""

from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from nacre.errors import JobError
from nacre.rounds.segment_commands import drop_segment, segment_rows, visits_of
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.tables.versions import CycleChanges
from tests.rounds.steps.test_generate import NOW, opened, seeded
from tests.rounds.steps.test_update import fetched, visit

URLS = ("http://a.example/", "http://b.example/书")


@pytest.mark.slow
def test_a_segment_that_is_given_up_frees_its_urls(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *URLS)
    with opened(root) as context:
        [name] = generate(context, GenerateOptions()).segments
        [row] = segment_rows(context.cycle.newest())
        assert (row.name, row.state, row.urls, row.units) == (name, "generated", 2, 1)
        assert generate(context, GenerateOptions()).selected == 0
        drop_segment(context, name)
        assert context.cycle.newest().segments == {}
        assert generate(context, GenerateOptions()).selected == 2
        with pytest.raises(JobError, match="no segment 'x'"):
            drop_segment(context, "x")


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "unknown"])
@pytest.mark.slow
def test_a_segment_with_a_damaged_list_can_be_given_up(tmp_path: Path, damage: str):
    root = tmp_path / "j"
    seeded(root, *URLS, "http://h.example/\tnutch.score=0.5")  # in another bucket
    with opened(root) as context:
        first = generate(context, GenerateOptions(top=2, units=2))
        other = generate(context, GenerateOptions())
        [name] = first.segments
        assert (first.selected, other.selected) == (2, 1)
        [path, second] = sorted((root / f"cycle/segments/{name}/lists").iterdir())
        if damage == "cut":
            path.write_bytes(path.read_bytes()[:40])
        elif damage == "changed":
            path.write_bytes(second.read_bytes())
        else:
            path.unlink()
        if damage == "unknown":  # a Nacre made it that recorded no digests
            version = context.cycle.newest()
            old = msgspec.structs.replace(version.segments[name], files="")
            changes = CycleChanges(step="generate", clock=NOW, segments={name: old})
            context.cycle.commit(version, changes)
        drop_segment(context, name)
        assert list(context.cycle.newest().segments) == list(other.segments)
        again = generate(context, GenerateOptions())
        assert (again.selected, again.refused) == (2, {"lease": 1}), "the other lease stays"


@pytest.mark.slow
def test_visits_of_segments(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *URLS)
    with opened(root) as context:
        [name] = generate(context, GenerateOptions()).segments
        with context.place.open() as work, pytest.raises(JobError, match="no segment was fetched"):
            list(visits_of(work, context.cycle.newest(), ()))
    later = visit(URLS[0], 404, time=NOW * 1000 + 5)
    fetched(root, name, ([later], []), ([visit(URLS[1])], []))
    with opened(root) as context, context.place.open() as work:
        version = context.cycle.newest()
        rows = [row for batch in visits_of(work, version, ()) for row in batch.to_pylist()]
        assert [(row["key"], row["status"]) for row in rows] == [(URLS[1], 200), (URLS[0], 404)]
        assert {row["segment"] for row in rows} == {name}
        one = [row for b in visits_of(work, version, [name], URLS[0]) for row in b.to_pylist()]
        assert [row["status"] for row in one] == [404]


@pytest.mark.slow
def test_columns_that_older_files_lack_are_null(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *URLS)
    with opened(root) as context:
        [name] = generate(context, GenerateOptions()).segments
    fetched(root, name, ([visit(URLS[0], simhash=7)], []), ([visit(URLS[1], simhash=8)], []))
    [old] = (root / "cycle").glob(f"segments/{name}/parts/u0001/1-000/visits.parquet")
    pq.write_table(pq.read_table(old).drop(["simhash"]), old)
    with opened(root) as context, context.place.open() as work:
        batches = visits_of(work, context.cycle.newest(), ())
        rows = [row for batch in batches for row in batch.to_pylist()]
    assert {row["key"]: row["simhash"] for row in rows} == {URLS[0]: None, URLS[1]: 8}
