import subprocess
import sys

import pytest

CRAWLING = ("nacre.assembly.parts", "nacre.extract.dispatch", "turbohtml", "uvloop")


@pytest.mark.parametrize(
    "module",
    ["nacre.settings.load", "nacre.inspect.view", "nacre.inspect.reports.run_reports"],
)
def test_who_looks_at_a_job_loads_nothing_that_crawls(module: str):
    code = f"import sys, {module}; print([name for name in {CRAWLING!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
