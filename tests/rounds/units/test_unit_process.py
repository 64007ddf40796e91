"""Processes of units: forked ones and those of their own, what they say, and how they end."""

import os
import signal
import threading
import time
from multiprocessing import forkserver
from pathlib import Path

import msgspec
import pytest

from nacre.errors import ConfigError, JobError, StorageError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.units.unit import UnitResult, UnitSpec
from nacre.rounds.units.unit_process import NAME, ForkedUnits, fetch_here, fetch_unit
from tests.cli.site import many_pages, site
from tests.rounds.lists import SEGMENT, facts_of, segment, spec


def named() -> set[int]:
    """The processes of forked units below this one, or below its fork server."""
    parents, units = {}, set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
            if (folder / "comm").read_text().strip() == NAME:
                units.add(int(folder.name))
        except OSError:
            continue
    own = os.getpid()
    return {one for one in units if own in {parents.get(one), parents.get(parents.get(one, 0))}}


@pytest.mark.slow
def test_a_forked_unit_and_one_of_its_own_find_the_same(tmp_path: Path):
    with site(many_pages(6)) as home:
        urls = [f"{home}p{number}.html" for number in range(6)]
        found = []
        for number, run in enumerate((fetch_unit, lambda one: fetch_here([one], 1)[0])):
            root = tmp_path / str(number)
            root.mkdir()
            cycle = segment(root, [urls])
            result = run(spec(root))
            rows = facts_of(cycle, result)
            found.append(
                (result.parts, [(row["key"], row["status"], row["digest"]) for row in rows])
            )
    assert found[0] == found[1]


def test_units_are_forked_side_by_side_and_results_keep_the_order(tmp_path: Path):
    with site(many_pages(12), slow=0.05) as home:
        urls = [f"{home}p{number}.html" for number in range(12)]
        segment(tmp_path, [urls[:6], urls[6:]])
        specs = [spec(tmp_path, unit=name) for name in ("u0001", "u0000")]
        results = fetch_here(specs, 2)
    assert [one.unit for one in results] == ["u0001", "u0000"]
    assert all(one.done for one in results)
    assert fetch_here([], 2) == []


def test_a_unit_that_is_killed_goes_on_where_it_was(tmp_path: Path):
    pages = many_pages(40)
    with site(pages, slow=0.05) as home:
        urls = [f"{home}p{number}.html" for number in range(40)]
        cycle = segment(tmp_path, [urls], politeness={"delay": 0.0, "in_flight": 2})
        place = UnitPlace(cycle.storage, SEGMENT, "u0000")
        results: list[UnitResult] = []
        wanted = spec(tmp_path, slice=0.3)
        thread = threading.Thread(
            target=lambda: results.extend(fetch_here([wanted], 1, pauses=(0.0,) * 3))
        )
        thread.start()
        while not place.manifests():
            thread.join(0.02)
            assert thread.is_alive()
        for one in named():
            os.kill(one, signal.SIGKILL)
        thread.join()
    (result,) = results
    assert result.done
    rows = facts_of(cycle, result)
    assert sorted(row["key"] for row in rows) == sorted(urls), "each once"


@pytest.mark.slow
def test_a_unit_that_cannot_run_says_why(tmp_path: Path, monkeypatch):
    segment(tmp_path, [["http://a.test/"]])
    wrong = spec(tmp_path, unit="u0009")
    for run in (fetch_unit, lambda one: fetch_here([one], 1, pauses=())):
        with pytest.raises(StorageError, match="u0009"):
            run(wrong)


def test_what_a_forked_unit_says_before_it_dies_is_told(tmp_path: Path, monkeypatch):
    segment(tmp_path, [["http://a.test/"]])
    monkeypatch.setenv("NACRE_TEST_OF_ENVIRONMENT", "1")
    broken = msgspec.structs.replace(spec(tmp_path), buckets="many")
    with pytest.raises(StorageError, match=r"u0000 ended by exit code 1: (?s:.*)Expected `int`"):
        fetch_here([broken], 1, pauses=())


def test_nothing_is_started_once_the_fetch_is_over(tmp_path: Path):
    units = ForkedUnits()
    units.close()
    with pytest.raises(JobError, match="the fetch has ended"):
        units.fetch(spec(tmp_path))
    units.pause(60.0)


def test_one_failure_ends_the_other_units(tmp_path: Path):
    with site(many_pages(40), slow=0.5) as home:
        urls = [f"{home}p{number}.html" for number in range(40)]
        segment(tmp_path, [urls], politeness={"delay": 0.0, "in_flight": 1})
        specs = [spec(tmp_path), UnitSpec(storage="nosuch://x", segment="s", unit="u1", scratch="")]
        with pytest.raises(ConfigError, match="nosuch"):
            fetch_here(specs, 2)
    assert not named()


class CountedPages(dict[str, str]):
    """Pages that take their time, and how many were asked for at the same time."""

    def __init__(self, pages: dict[str, str]) -> None:
        super().__init__(pages)
        self._lock = threading.Lock()
        self._now = self.most = 0

    def get(self, path: str, default: object = None) -> str | None:  # type: ignore[override]  # as the server calls it
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.03)
        with self._lock:
            self._now -= 1
        return super().get(path)


def test_units_of_one_machine_take_turns_at_a_host(tmp_path: Path):
    pages = CountedPages(many_pages(6))
    with site(pages) as home:
        urls = [f"{home}p{number}.html" for number in range(6)]
        wanted = {"delay": 0.001, "in_flight": 1}
        cycle = segment(tmp_path, [urls[:3], urls[3:]], politeness=wanted)
        results = fetch_here([spec(tmp_path, unit=name) for name in ("u0000", "u0001")], 2)
    assert pages.most == 1
    assert sorted(row["key"] for one in results for row in facts_of(cycle, one)) == sorted(urls)


def test_the_engine_begins_before_the_first_unit():
    engine = LocalEngine(1)
    engine.begin()
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    os.kill(server, 0)
    engine.begin()
    assert forkserver._forkserver._forkserver_pid == server  # type: ignore[attr-defined]
    engine.close()
