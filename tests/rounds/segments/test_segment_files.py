"""The record of the files of a segment: what it names, and what a check finds by it."""

import shutil
from pathlib import Path

import msgspec
import pytest

from nacre.errors import DamageError
from nacre.rounds.check import StorageCheck, check_storage, restore_whole
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segment_slices import slice_segments
from nacre.rounds.segments.named_files import MISSING
from nacre.rounds.segments.parts import PartFile
from nacre.rounds.segments.segment_files import (
    is_note,
    read_record,
    record_name,
    record_segment,
    record_segments,
)
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.versions import CycleChanges, SegmentState
from tests.rounds.steps.test_generate import NOW, opened, seeded

URLS = ("http://a.example/", "http://b.example/书")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job with a segment of two units."""
    root = tmp_path_factory.mktemp("listed") / "j"
    seeded(root, *URLS)
    with opened(root) as context:
        generate(context, GenerateOptions(units=2))
    return root


@pytest.fixture
def root(listed: Path, tmp_path: Path) -> Path:
    """A copy, which a test may damage."""
    return Path(shutil.copytree(listed, tmp_path / "j"))


def checked(context: StepContext, *, repair: bool = False, dry: bool = False) -> StorageCheck:
    return check_storage(context.cycle, context.engine, context.place, NOW, repair=repair, dry=dry)


def recorded_names(context: StepContext, segment: str) -> list[str]:
    """The names in the record of a segment, from its folder."""
    state = context.cycle.newest().segments[segment]
    folder = f"segments/{segment}/"
    return [
        one.name.removeprefix(folder) for one in read_record(context.cycle.storage, segment, state)
    ]


def only(context: StepContext) -> str:
    [name] = context.cycle.newest().segments
    return name


def spoil(context: StepContext, name: str) -> None:
    path = context.cycle.storage.local_path(name)
    assert path is not None
    path.write_bytes(path.read_bytes() + b" ")


def test_a_generate_records_all_that_a_fetch_reads(root: Path):
    with opened(root) as context:
        assert recorded_names(context, only(context)) == [
            "choice.json", "conf/regex-urlfilter.txt", "conf/seeds.txt", "conf/settings.json",
            "lists/u0001.parquet", "lists/u0002.parquet",
        ]  # fmt: skip
        assert checked(context).whole


def test_slices_have_records_of_their_own(root: Path):
    with opened(root) as context:
        slice_segments(context, 1)
        names = list(context.cycle.newest().segments)
        assert [
            [one for one in recorded_names(context, name) if "lists/" in one] for name in names
        ] == [["lists/u0001.parquet"], ["lists/u0002.parquet"]]
        assert checked(context).whole


@pytest.mark.parametrize(
    "name",
    ["lists/u0002.parquet", "conf/settings.json", "conf/seeds.txt", "conf/regex-urlfilter.txt"],
)
@pytest.mark.parametrize("lost", [False, True])
def test_what_a_fetch_needs_is_told_with_its_digests_and_left(root: Path, name: str, lost: bool):
    with opened(root) as context:
        segment = only(context)
        file = f"segments/{segment}/{name}"
        if lost:
            context.cycle.storage.delete(file)
        else:
            spoil(context, file)
        (damage,) = checked(context).damaged
        assert (damage.name, len(damage.expected)) == (file, 64)
        assert damage.found == MISSING if lost else len(damage.found) == 64
        before = context.cycle.newest().number
        found = checked(context, repair=True)
        assert (found.tables, found.left, found.restored) == ((), (damage,), 0)
        assert found.segments == {segment: (damage,)}
        assert context.cycle.newest().number == before
        with pytest.raises(DamageError, match=f"cannot be restored: {file}"):
            restore_whole(context.cycle, context.engine, context.place, before, NOW)


def test_a_damaged_choice_is_given_up_by_a_repair(root: Path):
    with opened(root) as context:
        segment = only(context)
        file = f"segments/{segment}/choice.json"
        spoil(context, file)
        (damage,) = checked(context).damaged
        assert (damage.name, is_note(damage.name)) == (file, True)
        planned = checked(context, repair=True, dry=True)
        assert (planned.forgotten, planned.left) == ((file,), (damage,))
        number = context.cycle.newest().number
        restored = restore_whole(context.cycle, context.engine, context.place, number, NOW)
        found = checked(context, repair=True)
        assert (found.forgotten, found.left) == ((file,), ())
        assert context.cycle.newest().number == found.now == restored.number + 1
        assert "choice.json" not in recorded_names(context, segment)
        assert checked(context).whole


def test_a_damaged_record_hides_nothing_of_others_and_is_made_again(root: Path):
    with opened(root) as context:
        segment = only(context)
        state = context.cycle.newest().segments[segment]
        file = record_name(segment, state.files)
        spoil(context, file)
        with pytest.raises(DamageError, match=state.files):
            read_record(context.cycle.storage, segment, state)
        table = context.cycle.files(context.cycle.newest(), "crawldb")[0]
        spoil(context, table.path)
        assert {one.name for one in checked(context).damaged} == {file, table.path}
        path = context.cycle.storage.local_path(table.path)
        assert path is not None
        path.write_bytes(path.read_bytes()[:-1])
        found = checked(context, repair=True)
        assert (found.forgotten, found.restored, found.left) == ((file,), 0, ())
        assert checked(context).whole
        spoil(context, f"segments/{segment}/lists/u0001.parquet")
        assert len(checked(context).damaged) == 1


def test_damaged_tables_and_notes_are_mended_together(root: Path):
    with opened(root) as context:
        segment = only(context)
        before = context.cycle.files(context.cycle.version(1), "crawldb")
        late = [
            one
            for one in context.cycle.files(context.cycle.newest(), "crawldb")
            if one not in before
        ]
        spoil(context, late[0].path)
        spoil(context, f"segments/{segment}/lists/u0001.parquet")
        found = checked(context, repair=True)
        assert (found.restored, found.left) == (1, ()), "the segment is not in the state any more"
        assert checked(context).whole


def test_a_segment_of_an_earlier_version_has_no_record(root: Path):
    with opened(root) as context:
        segment = only(context)
        version = context.cycle.newest()
        old = msgspec.structs.replace(version.segments[segment], files="")
        context.cycle.commit(
            version, CycleChanges(step="generate", clock=NOW, segments={segment: old})
        )
        assert recorded_names(context, segment) == []
        assert checked(context).whole
        context.cycle.storage.delete(f"segments/{segment}/lists/u0001.parquet")
        (damage,) = checked(context).damaged
        assert damage == (f"segments/{segment}/lists", "lists: 2", "lists: 1")


@pytest.mark.parametrize("data", [b"", b'{"began": "\xff"}'])
def test_the_start_of_a_fetch_that_cannot_be_read_is_told_and_given_up(root: Path, data: bytes):
    with opened(root) as context:
        file = f"segments/{only(context)}/fetch.json"
        context.cycle.storage.put(file, b'{"began": 1.5, "lease": 0}')
        assert checked(context).whole
        context.cycle.storage.put(file, data)
        (damage,) = checked(context).damaged
        assert (damage.name, damage.expected) == (file, "the time of the first start")
        assert checked(context, repair=True).forgotten == (file,)
        assert file not in [one.name for one in context.cycle.storage.walk("segments")]
        assert checked(context).whole


class CountedParts(list[str]):
    """The parts of a unit, which count how often they are gone through."""

    times = 0

    def __iter__(self):
        self.times += 1
        return super().__iter__()


def test_parts_that_count_stay_recorded_and_are_gone_through_once_for_all_files(tmp_path: Path):
    storage = open_storage(str(tmp_path))
    folders = [f"segments/s/parts/u0001/{number}-001" for number in range(50)]
    names = [f"{one}{kind}" for one in folders for kind in (".json", "/links.parquet")]
    known = [PartFile(name, 1, "0") for name in ("segments/s/conf/seeds.txt", *names)]
    parts = CountedParts(folders[1:])
    state = record_segment(
        LocalEngine(1), storage, "s", SegmentState(state="fetched", parts={"u0001": parts}), known
    )
    assert {one.name for one in read_record(storage, "s", state)} == {
        "segments/s/conf/seeds.txt", *names[2:]
    }  # fmt: skip
    assert parts.times < 5


class CountingEngine(LocalEngine):
    """Counts what it is asked to run."""

    calls = 0

    def map(self, function, specs, on_result=None):
        self.calls += 1
        return super().map(function, specs, on_result)


def test_the_files_of_many_segments_are_read_by_the_same_tasks(tmp_path: Path):
    storage = open_storage(str(tmp_path / "cycle"))
    states = {name: SegmentState(state="generated", units=1, urls=1) for name in ("s1", "s2", "s3")}
    for name in states:
        storage.put(f"segments/{name}/lists/u0001.parquet", name.encode())
    engine = CountingEngine(1)
    made = record_segments(engine, storage, states, {})
    assert engine.calls == 1
    for name, state in made.items():
        [file] = read_record(storage, name, state)
        assert (file.name, file.size) == (f"segments/{name}/lists/u0001.parquet", 2)
        assert record_segment(engine, storage, name, states[name]) == state
    engine.close()
