import subprocess
import sys

import pytest

_PREPARE = """
import gc, sys
from nacre.cli import process
{}
async def main():
    print(gc.get_freeze_count() > 1000)
process.run(main())
"""

_CALLS = """
import resource
from nacre.cli import process

def leaf():
    return 1

def call():
    leaf()

def deep(depth):
    if depth:
        return deep(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(2000):
        call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

async def main():
    print(max(deep(depth) for depth in range(200)) < 1000)

process.run(main())
"""


def _output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(("first", "frozen"), [("process.collect_rarely()", True), ("", False)])
def test_what_a_start_made_is_kept_for_life_but_not_in_other_programs(first: str, frozen: bool):
    assert _output(_PREPARE.format(first)) == f"{frozen}\n"


def test_no_depth_of_calls_takes_and_gives_back_memory_each_time():
    assert _output(_CALLS) == "True\n"
