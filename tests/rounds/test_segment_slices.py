"""Slices of a segment: every URL once, the best first, leases by the new names."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec import structs

from nacre.errors import JobError
from nacre.rounds.journal import SITEMAPS
from nacre.rounds.segment_slices import SliceResult, slice_segments
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.given import GivenOptions, generate_given
from nacre.rounds.tables.readers import TableView, sql
from nacre.rounds.tables.versions import CycleChanges
from nacre.scope.seeds import SeedList
from tests.rounds.steps.test_generate import opened, seeded

HOSTS = ("a.example", "b.example", "国.example")
URLS = tuple(f"http://{host}/{n}\tnutch.score={9 - n}" for host in HOSTS for n in range(5))


def leases(context: StepContext) -> dict[str, str]:
    cycle = context.cycle
    view = TableView(cycle, cycle.newest(), context.engine, context.place, context.interval)
    with sql(view, "select key, leased from crawldb") as (_, batches):
        return {row["key"]: row["leased"] for batch in batches for row in batch.to_pylist()}


def listed(root: Path, name: str) -> dict[str, list[str]]:
    folder = root / "cycle/segments" / name / "lists"
    return {
        path.stem: pq.read_table(path, columns=["key"]).column("key").to_pylist()
        for path in sorted(folder.iterdir())
    }


@pytest.mark.slow
def test_a_long_segment_is_divided_before_its_fetch(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *URLS)
    with opened(root) as context:
        [whole] = generate(context, GenerateOptions(units=2)).segments
        assert slice_segments(context, 15).slices == {}, "it is not longer"
        before = {key: unit for unit, keys in listed(root, whole).items() for key in keys}
        [(name, slices)] = slice_segments(context, 6).slices.items()
        version = context.cycle.newest()
        assert (name, len(slices)) == (whole, 3)
        assert whole not in version.segments
        assert [version.segments[one].urls for one in slices] == [6, 6, 3]
        found = [listed(root, one) for one in slices]
        units = [unit for one in found for unit in one]
        assert len(units) == len(set(units)), "WARCs are named by units"
        assert [version.segments[one].units for one in slices] == [len(one) for one in found]
        keys = [[key for of in one.values() for key in of] for one in found]
        assert sorted(key for one in keys for key in one) == sorted(before)
        assert leases(context) == {
            key: name for name, of in zip(slices, keys, strict=True) for key in of
        }
        # The best URLs of each host come first, and hosts of a unit stay together.
        assert min(len({key.split("/")[2] for key in one}) for one in keys[:2]) == 3
        for one in found:
            for mine in one.values():
                assert len({before[key] for key in mine}) == 1
        assert generate(context, GenerateOptions()).selected == 0, "all are in lists"
        for slice_ in slices:
            assert context.cycle.storage.list(f"segments/{slice_}/conf")


def test_segments_that_cannot_be_divided(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *URLS)
    with opened(root) as context:
        with pytest.raises(JobError, match="at least one URL"):
            slice_segments(context, 0)
        [name] = generate(context, GenerateOptions()).segments
        context.cycle.storage.put(f"segments/{name}/units/u0001/attempt-1", b"{}")
        with pytest.raises(JobError, match=f"segment {name} is being fetched"):
            slice_segments(context, 2)


def test_urls_that_hold_no_lease_get_none(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/")
    with opened(root) as context:
        given = SeedList("", ["http://a.example/", "http://new.example/", "http://新.example/"])
        made = generate_given(context, [given], GivenOptions())
        sliced = slice_segments(context, 1)
        assert [len(names) for names in sliced.slices.values()] == [3]
        version = context.cycle.newest()
        assert all(made.segments[0] not in name for name in version.segments)
        assert leases(context) == {"http://a.example/": None}, "nothing became known"
        assert generate(context, GenerateOptions()).selected == 1


def test_segments_of_sitemaps_stay_whole(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/")
    with opened(root) as context:
        given = SeedList("", ["http://a.example/robots.txt", "http://b.example/robots.txt"])
        [name] = generate_given(context, [given], GivenOptions()).segments
        version = context.cycle.newest()
        state = version.segments[name]
        state = structs.replace(state, more={**state.more, SITEMAPS: 0})
        changes = CycleChanges(step="sitemaps", clock=1, segments={name: state})
        before = context.cycle.commit(version, changes)
        assert slice_segments(context, 1) == SliceResult({}, (name,))
        assert context.cycle.newest() == before


def test_slices_know_what_is_fetched_of_their_hosts(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *URLS)
    with opened(root) as context:
        [whole] = generate(context, GenerateOptions(units=1)).segments
        context.cycle.storage.put(f"segments/{whole}/fetched/u0001.parquet", b"keys")
        [slices] = slice_segments(context, 10).slices.values()
        fetched = [context.cycle.storage.walk(f"segments/{name}/fetched") for name in slices]
        units = [context.cycle.storage.walk(f"segments/{name}/lists") for name in slices]
    names = [[file.name.rpartition("/")[2] for file in files] for files in fetched]
    assert names == [[file.name.rpartition("/")[2] for file in files] for files in units]
