"""The step `fetch`: units through an engine, and what the driver commits."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.cli.cycle.texts import fetch_text
from nacre.errors import DamageError, JobError
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.rounds.check import check_storage
from nacre.rounds.engine import TaskEngine
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.orphans import salvage_orphans
from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.segments.segment_files import FirstStart
from nacre.rounds.steps.fetch import (
    NAMED,
    FetchOptions,
    SegmentFetch,
    fetch,
    most_of,
    part_seconds,
)
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.tables.tables import TaskPlace
from nacre.rounds.tables.versions import ARCHIVE, Cycle, CycleChanges
from nacre.rounds.units.unit import UnitResult
from nacre.settings.settings import JobSettings
from tests.cli.site import many_pages, site
from tests.rounds.lists import CLOCK, SEGMENT, SETTINGS, Unit, segment, settings, spec
from tests.rounds.objects import bucket, object_server  # noqa: F401 - fixtures


@dataclass(frozen=True)
class Driver:
    """A `FetchContext`."""

    layout: Layout
    settings: JobSettings
    cycle: Cycle
    engine: TaskEngine
    clock: int
    tell: Callable[[str, Mapping[str, Any]], None]


def context(root: Path, cycle: Cycle, workers: int = 1, tell: Any = None) -> Driver:
    return Driver(
        layout=Layout(root),
        settings=settings(),
        cycle=cycle,
        engine=LocalEngine(workers),
        clock=CLOCK,
        tell=tell or (lambda *_: None),
    )


def urls_of(home: str, number: int, start: int = 0) -> list[str]:
    return [f"{home}p{n}.html" for n in range(start, start + number)]


@pytest.mark.parametrize(
    ("marks", "units", "expected"), [({"at_once": 3}, 0, 3), ({}, 0, 2), ({"at_once": 3}, 1, 1)]
)
def test_the_units_of_a_segment_are_fetched_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: Any, units: int, expected: int
):
    seen: list[int] = []

    def fetch_here(_specs: object, number: int, **_: object) -> list[UnitResult]:
        seen.append(number)
        names = ("u0000", "u0001", "u0002")
        return [UnitResult(unit=name, attempt=1, parts=[], done=False) for name in names]

    monkeypatch.setattr("nacre.rounds.steps.fetch.fetch_here", fetch_here)
    cycle = segment(tmp_path, [[f"http://h{n}.test/"] for n in range(3)])
    state = msgspec.structs.replace(cycle.newest().segments[SEGMENT], more=marks)
    changes = CycleChanges(step="generate", clock=CLOCK, segments={SEGMENT: state})
    cycle.commit(cycle.newest(), changes)
    assert fetch(context(tmp_path, cycle, 2), SEGMENT, FetchOptions(units=units)).interrupted
    assert seen == [expected]


def test_the_parts_of_all_units_are_committed(tmp_path: Path):
    with site(many_pages(40)) as home:
        cycle = segment(tmp_path, [urls_of(home, 20), urls_of(home, 20, 20)])
        found = fetch(context(tmp_path, cycle, 2), SEGMENT, FetchOptions())
    assert (found.pages, found.units, found.parts) == (40, 2, 2)
    # Both lists are of one host, which no list of `generate` would have in two units.
    assert (found.hosts, found.by_host) == (2, {"127.0.0.1": 40})
    version = cycle.newest()
    assert found.version == version
    state = version.segments[SEGMENT]
    assert state.state == "fetched"
    assert set(state.parts) == {"u0000", "u0001"}
    files = cycle.files(version, ARCHIVE)
    assert sorted(file.kind for file in files) == ["cdxj", "cdxj", "warc", "warc"]
    for file in files:
        path = cycle.storage.local_path(file.path)
        assert path is not None
        assert path.stat().st_size == file.size
    # Nothing is left of the units' work, and no record lies in two places.
    parts = [file.name for file in cycle.storage.walk(f"segments/{SEGMENT}/parts")]
    assert not [name for name in parts if name.endswith((".gz", ".cdxj"))]
    assert not cycle.storage.list("orphans")


def test_a_segment_is_fetched_once(tmp_path: Path):
    with site(many_pages(3)) as home:
        cycle = segment(tmp_path, [urls_of(home, 3)])
        first = fetch(context(tmp_path, cycle), SEGMENT, FetchOptions())
    again = fetch(context(tmp_path, cycle), SEGMENT, FetchOptions())
    assert again.done_before
    assert again.version == first.version


@pytest.mark.parametrize(
    ("engine", "remote", "said", "seconds"),
    [
        ("local", False, 0.0, 600.0),
        ("spark", False, 0.0, 60.0),
        ("local", True, 0.0, 60.0),
        ("spark", True, 25.0, 25.0),
    ],
)
def test_a_machine_that_can_be_lost_makes_parts_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, remote: bool, said: float,
    seconds: float,
):  # fmt: skip
    driver = context(tmp_path, segment(tmp_path, []))
    monkeypatch.setattr(driver.engine, "name", engine, raising=False)
    if remote:
        monkeypatch.setattr(type(driver.cycle.storage), "local_path", lambda *_: None)
    assert part_seconds(driver, FetchOptions(slice=said)) == seconds


def test_a_segment_that_is_not_there_is_told(tmp_path: Path):
    cycle = segment(tmp_path, [])
    with pytest.raises(JobError, match=f"no segment 'x'; there are: {SEGMENT}"):
        fetch(context(tmp_path, cycle), "x", FetchOptions())


def after(calls: int) -> Callable[[], bool]:
    left = iter(range(calls))
    return lambda: next(left, None) is None


def test_an_interrupted_fetch_commits_nothing_and_goes_on(tmp_path: Path):
    told: list[dict[str, Any]] = []
    with site(many_pages(60), slow=0.1) as home:
        cycle = segment(tmp_path, [urls_of(home, 60)])
        one = context(tmp_path, cycle, tell=lambda _, numbers: told.append(numbers))
        first = fetch(one, SEGMENT, FetchOptions(stopped=after(8)))
        assert (first.interrupted, first.pages < 60) == (True, True)
        assert cycle.newest().number == 1
        second = fetch(one, SEGMENT, FetchOptions())
    assert (second.pages, second.interrupted) == (60, False)
    assert second.parts > 1
    assert second.hosts == 1, "one that several parts asked counts once"
    assert any(numbers["visits"] for numbers in told)
    assert {numbers["of"] for numbers in told} == {60}, "also before the unit has said anything"
    assert {numbers["hosts"] for numbers in told} <= {0, 1}
    ends = [numbers for numbers in told if numbers["ready"]]
    assert ends == told[-1:], "the unit that was interrupted is not done"
    assert (told[-1]["visits"], told[-1]["ready"], told[-1]["units"]) == (60, 1, 1)


def test_parts_of_attempts_that_lost_are_orphans(tmp_path: Path):
    """An attempt that does not know of another makes a part that nobody builds on."""
    with site(many_pages(10)) as home:
        cycle = segment(tmp_path, [urls_of(home, 10)])
        place = UnitPlace(cycle.storage, SEGMENT, "u0000")
        lost = Unit(spec(tmp_path, scratch=str(tmp_path / "elsewhere"))).result()
        assert lost.done
        # Its last part is not seen by the next one.
        hidden = cycle.storage.read(f"{place.parts}/1-001.json")
        cycle.storage.delete(f"{place.parts}/1-001.json")
        unit = Unit(spec(tmp_path)).result()
        cycle.storage.put(f"{place.parts}/1-001.json", hidden)
        assert unit.parts == ["2-001"]
        # The driver's own attempt builds on the newest.
        found = fetch(context(tmp_path, cycle), SEGMENT, FetchOptions())
    state = cycle.newest().segments[SEGMENT]
    assert state.parts["u0000"] == [f"{place.parts}/2-001"]
    assert found.pages == 10
    names = [Path(name).name for name in cycle.storage.list("orphans")]
    assert len([name for name in names if "-0000-1-" in name]) == 2
    archived = [Path(file.path).name for file in cycle.files(cycle.newest(), ARCHIVE)]
    assert all("-0000-2-" in name for name in archived)
    # The requests were really made: salvaged, their records are in the archive.
    cycle.storage.put("orphans/torn-0000-9.warc.gz", b"\x1f\x8b torn")
    where = TaskPlace(cycle.storage.place)
    done = salvage_orphans(cycle, LocalEngine(1), where, CLOCK)
    assert (done.files, done.captures) == (1, 11), "ten pages and robots.txt"
    assert [(one.name, bool(one.defect)) for one in done.refused] == [
        ("orphans/torn-0000-9.warc.gz", True)
    ]
    now = cycle.files(cycle.newest(), ARCHIVE)
    lost_ones = [file for file in now if "-0000-1-" in file.path]
    assert sorted(file.kind for file in lost_ones) == ["cdxj", "warc"]
    assert {file.group for file in lost_ones} == {SEGMENT}
    assert check_storage(cycle, LocalEngine(1), where, CLOCK).whole
    assert cycle.storage.list("orphans") == ["orphans/torn-0000-9.warc.gz"]
    assert salvage_orphans(cycle, LocalEngine(1), where, CLOCK).version is None


def test_a_damaged_part_is_told_and_not_committed(tmp_path: Path):
    with site(many_pages(5)) as home:
        cycle = segment(tmp_path, [urls_of(home, 5)])
        Unit(spec(tmp_path)).result()
        folder = f"segments/{SEGMENT}/parts/u0000/1-001"
        cycle.storage.put(f"{folder}/visits.parquet", b"PAR1")
        with pytest.raises((DamageError, JobError), match=r"visits\.parquet"):
            fetch(context(tmp_path, cycle), SEGMENT, FetchOptions())
    assert cycle.newest().number == 1


def test_other_steps_may_commit_while_a_segment_is_fetched(tmp_path: Path):
    with site(many_pages(5)) as home:
        cycle = segment(tmp_path, [urls_of(home, 5)])

        def other(*_: object) -> None:
            if cycle.newest().number == 1:
                changes = CycleChanges(step="inject", clock=CLOCK)
                Cycle.open(tmp_path).commit(cycle.newest(), changes)

        one = context(tmp_path, cycle)
        other()
        found = fetch(one, SEGMENT, FetchOptions())
    assert found.version is not None
    assert (found.version.number, found.version.parent) == (3, 2)


def test_a_commit_lists_the_archive_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    listed: Counter[str] = Counter()
    of_storage = LocalStorage.list

    def counted(storage: LocalStorage, folder: str) -> Sequence[str]:
        listed[folder] += 1
        return of_storage(storage, folder)

    monkeypatch.setattr(LocalStorage, "list", counted)
    with site(many_pages(4)) as home:
        cycle = segment(tmp_path, [urls_of(home, 2), urls_of(home, 2, 2)])
        assert fetch(context(tmp_path, cycle, 2), SEGMENT, FetchOptions()).parts == 2
    assert len(cycle.files(cycle.newest(), ARCHIVE)) == 4
    assert listed["archive"] == 1, "it may have a million files"


def test_units_work_where_the_setting_says(tmp_path: Path):
    with site(many_pages(5)) as home:
        root = tmp_path / "j"
        cycle = segment(root, [urls_of(home, 5)])
        rounds = {**SETTINGS["cycle"], "scratch": str(tmp_path / "big")}
        driver = replace(context(root, cycle), settings=settings(cycle=rounds))
        assert fetch(driver, SEGMENT, FetchOptions()).pages == 5
    assert [path.name for path in (tmp_path / "big").glob(f"*/{SEGMENT}/*")] == ["u0000"]
    assert not (root / "state" / "units").exists()


def test_all_files_may_lie_on_an_object_storage(tmp_path: Path, bucket: str):  # noqa: F811 - as above
    with site(many_pages(12)) as home:
        cycle = segment(tmp_path, [urls_of(home, 6), urls_of(home, 6, 6)], bucket)
        driver = context(tmp_path, cycle)
        found = fetch(driver, SEGMENT, FetchOptions(scratch=str(tmp_path / "units")))
    assert (found.pages, found.parts) == (12, 2)
    files = cycle.files(cycle.newest(), ARCHIVE)
    assert sorted(file.kind for file in files) == ["cdxj", "cdxj", "warc", "warc"]
    for file in files:
        assert len(cycle.storage.read(file.path)) == file.size
    parts = [file.name for file in cycle.storage.walk(f"segments/{SEGMENT}/parts")]
    assert not [name for name in parts if name.endswith((".gz", ".cdxj"))]


def test_a_fetch_that_goes_on_after_its_time_asks_for_nothing(tmp_path: Path):
    with site(many_pages(4)) as home:
        cycle = segment(tmp_path, [urls_of(home, 4)])
        began = FirstStart(began=SystemClock().now() - 100.0)
        cycle.storage.put(f"segments/{SEGMENT}/fetch.json", msgspec.json.encode(began))
        found = fetch(context(tmp_path, cycle), SEGMENT, FetchOptions(time_limit=60.0))
    assert (found.late, found.pages, found.interrupted) == (True, 0, False)
    assert found.not_attempted == {"deadline": 4}
    assert "; 4 not attempted (deadline 4); its time was over" in fetch_text(found)


def test_hosts_with_the_most_visits_come_first():
    visits = {f"h{n:02d}.test": n // 2 for n in range(30)}
    assert most_of(visits, 3) == [("h28.test", 14), ("h29.test", 14), ("h26.test", 13)]
    assert len(most_of(visits)) == NAMED
    assert most_of({}) == []


def test_what_was_not_attempted_is_told_by_reason():
    left = Counter({"blocked": 1, "failures": 1, "deadline": 1_200})
    said = fetch_text(SegmentFetch(segment=SEGMENT, not_attempted=left))
    assert said.endswith("; 1,202 not attempted (deadline 1,200, blocked 1, failures 1)")
