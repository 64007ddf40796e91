"""A segment whose units and driver are killed again and again: nothing lost, nothing twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nacre.archive.check import Checker
from nacre.archive.reader import WarcReader
from nacre.rounds.tables.versions import ARCHIVE, Cycle
from nacre.rounds.units.unit_process import NAME
from tests.cli.site import many_pages, site
from tests.rounds.lists import SEGMENT, segment

CHECKOUT = Path(__file__).parents[2]
PAGES = 250
PARALLEL = 4


class SlowPages(dict[str, str]):
    """Pages that take their time, and how often each was asked for."""

    def __init__(self, pages: dict[str, str]) -> None:
        super().__init__(pages)
        self.asked: Counter[str] = Counter()
        self.pause = 0.2

    def get(self, path: str, default: str | None = None) -> str | None:  # type: ignore[override]  # as the server calls it
        self.asked[path] += 1
        time.sleep(self.pause)
        return super().get(path, default)


def start(root: Path) -> subprocess.Popen[bytes]:
    path = f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}"
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kill.rounds", str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": path},
    )


def units_of(driver: int) -> list[int]:
    """The processes of units below a driver."""
    children: dict[int, list[int]] = {}
    units = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if (folder / "comm").read_text().strip() == NAME:
                units.add(int(folder.name))
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    todo, found = [driver], []
    while todo:
        below = children.get(todo.pop(), [])
        todo += below
        found += [one for one in below if one in units]
    return found


class Driver:
    """A run of the driver."""

    def __init__(self, root: Path, pages: SlowPages, draw: random.Random) -> None:
        self._pages = pages
        self._draw = draw
        self.process = start(root)

    def kill_a_unit(self) -> bool:
        """Kill one while pages are fetched; False when it was too late."""
        return self._wait() and self._kill(units_of(self.process.pid))

    def kill(self) -> bool:
        """Kill the driver while pages are fetched; False when it was too late."""
        units = units_of(self.process.pid)
        killed = self._wait() and self._kill([self.process.pid])
        out, err = self.process.communicate()
        wait_for_the_end([*units, *units_of(self.process.pid)])
        assert killed or b"done" in out, err.decode()
        return killed

    def _wait(self) -> bool:
        """Until something was asked for since, and a little longer."""
        before = sum(self._pages.asked.values())
        while sum(self._pages.asked.values()) < before + 4:
            if self.process.poll() is not None:
                return False
            time.sleep(0.01)
        time.sleep(self._draw.random() * 0.5)
        return self.process.poll() is None

    def _kill(self, processes: list[int]) -> bool:
        if not processes:
            return False
        os.kill(self._draw.choice(processes), signal.SIGKILL)
        return True


def wait_for_the_end(processes: list[int]) -> None:
    """Orphans end by themselves, with their parents."""
    limit = time.monotonic() + 100.0
    while any(Path(f"/proc/{one}").exists() for one in processes):
        assert time.monotonic() < limit
        time.sleep(0.02)


def archived(cycle: Cycle) -> list[str]:
    """The URL of each capture of a page in the archive, which has no damage."""
    checker, found = Checker(), []
    files = {Path(file.path).name: file.path for file in cycle.files(cycle.newest(), ARCHIVE)}
    for name, file in files.items():
        if not name.endswith(".warc.gz"):
            continue
        warc = cycle.storage.local_path(file)
        index = cycle.storage.local_path(files[name.replace(".warc.gz", ".cdxj")])
        assert warc is not None
        assert index is not None
        checker.file(warc, index)
        with warc.open("rb") as opened:
            for entry in WarcReader(opened):
                url = entry.get("WARC-Target-URI") or ""
                captured = entry.get("WARC-Type") in {"response", "revisit"}
                if captured and not url.endswith("robots.txt"):
                    found.append(url)
    checker.finish()
    assert not checker.damaged, [str(finding) for finding in checker.findings]
    return found


def assert_nothing_is_lost_or_twice(tmp_path: Path, kills: int) -> None:
    draw = random.Random(kills)
    pages = SlowPages(many_pages(PAGES))
    with site(pages) as home, site(pages) as second:
        names = [f"p{number}.html" for number in range(PAGES)]
        lists = [[home + name for name in names], [second + name for name in names]]
        cycle = segment(tmp_path, lists, politeness={"delay": 0.0, "in_flight": PARALLEL})
        done = 0
        while done < kills:
            # The engine tries a unit four times.
            driver = Driver(tmp_path, pages, draw)
            done += sum(driver.kill_a_unit() for _ in range(min(3, kills - done - 1)))
            if not driver.kill():
                break
            done += 1
        pages.pause = 0.0
        out, err = start(tmp_path).communicate(timeout=300)
        assert b"done" in out, err.decode()
    assert done == kills
    urls = sorted(url for one in lists for url in one)
    version = cycle.newest()
    state = version.segments[SEGMENT]
    visits = []
    for folders in state.parts.values():
        for folder in folders:
            path = cycle.storage.local_path(f"{folder}/visits.parquet")
            assert path is not None
            visits += pq.read_table(path, columns=["key", "status", "reason"]).to_pylist()
    assert sorted(row["key"] for row in visits) == urls
    assert {(row["status"], row["reason"]) for row in visits} == {(200, None)}
    assert sorted(archived(cycle)) == urls
    # What was in process at a kill is asked for again; a host is one queue.
    again = sum(pages.asked.values()) - 2 * PAGES
    assert again <= (done + 1) * 2 * (PARALLEL + 3), again


@pytest.mark.kill
@pytest.mark.timeout(600)
def test_nothing_is_lost_or_twice_after_20_kills(tmp_path: Path):
    assert_nothing_is_lost_or_twice(tmp_path, 20)


@pytest.mark.kill
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_nothing_is_lost_or_twice_after_200_kills(tmp_path: Path):
    for number in range(10):
        assert_nothing_is_lost_or_twice(tmp_path / str(number), 20 + number)
