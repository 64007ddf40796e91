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


def _output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(("first", "frozen"), [("process.collect_rarely()", True), ("", False)])
def test_what_a_start_made_is_kept_for_life_but_not_in_other_programs(first: str, frozen: bool):
    assert _output(_PREPARE.format(first)) == f"{frozen}\n"
