"""What is imported before a unit is forked: all that it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.site import many_pages, site
from tests.rounds.lists import UnitProgram, segment, spec

BEFORE = """
import atexit, sys
import nacre.rounds.units.warm
known = set(sys.modules)
atexit.register(lambda: print("NEW", *sorted(set(sys.modules) - known), file=open({path!r}, "w")))
"""


@pytest.mark.slow
def test_a_unit_imports_next_to_nothing_more(tmp_path: Path):
    path = str(tmp_path / "new")
    with site(many_pages(4)) as home:
        segment(tmp_path, [[f"{home}p{number}.html" for number in range(4)]])
        last = UnitProgram(spec(tmp_path), before=BEFORE.format(path=path)).lines()[-1]
    assert last.result is not None
    assert last.result.done
    new = [name for name in Path(path).read_text().split()[1:] if not name.startswith("encodings")]
    assert len(new) < 5, " ".join(new)


def test_the_server_ends_without_a_word():
    """With the collector told to leave all alone, duckdb complained of leaks."""
    begin = "from nacre.rounds.engine.local import LocalEngine; LocalEngine(1).begin()"
    done = subprocess.run([sys.executable, "-c", begin], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_no_threads_of_numpy_wait_beside_a_unit():
    """They are as many as the machine has processors, and spin while they have nothing to do."""
    count = "import os, numpy; print(len(os.listdir('/proc/self/task')))"
    begin = (
        f"from nacre.rounds.units.libraries import set_up_libraries; set_up_libraries(); {count}"
    )
    done = subprocess.run([sys.executable, "-c", begin], capture_output=True, check=True)
    assert done.stdout.split() == [b"1"]
