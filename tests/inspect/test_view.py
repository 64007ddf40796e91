import subprocess
import sys
from pathlib import Path

import pytest

from nacre.inspect.view import stored_clock
from nacre.machine.clock import SystemClock
from nacre.runs.runs import RunRow, write_run
from nacre.store.store import Store

CRAWLING = ("nacre.assembly.parts", "nacre.extract.dispatch", "turbohtml", "uvloop")


@pytest.mark.parametrize(
    "module",
    ["nacre.settings.load", "nacre.inspect.view", "nacre.inspect.reports.run_reports"],
)
def test_who_looks_at_a_job_loads_nothing_that_crawls(module: str):
    code = f"import sys, {module}; print([name for name in {CRAWLING!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("moved", [-1e8, 0.0, 1e8])
def test_the_present_of_a_stored_job_is_never_before_its_last_run(tmp_path: Path, moved: float):
    now = SystemClock().now()
    with Store.open(str(tmp_path / "store")) as store:
        assert stored_clock(store).now() >= now
        write_run(store, RunRow("20260101T000000Z", 1, now + moved, ended=now + moved))
        latest = max(now, now + moved)
        assert latest <= stored_clock(store).now() < latest + 1_000
