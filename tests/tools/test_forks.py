"""Tests in forks of one collection: all run once, and what goes wrong in a process is told."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOKS = """\
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def session(tmp_path_factory):
    yield
    assert not os.environ.get("BAD_SESSION"), "the session ends badly"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    yield folder
    Path("torn").open("a").write(f"{folder}\\n")


def pytest_fork_ends():
    return [f"left in {os.getpid()}"]


def pytest_fork_ended(said):
    Path("left").open("a").writelines(f"{line}\\n" for line in said)
"""
TESTS = """\
import os
import warnings
from pathlib import Path

import pytest

collected = os.getpid()
BAD = os.environ.get("BAD")


@pytest.mark.parametrize("number", range(20))
def test_passes(number, made, tmp_path):
    Path("ran").open("a").write(f"{os.getpid()} {made} {tmp_path}\\n")
    assert os.getppid() == collected


def test_fails():
    print("said before")
    assert not BAD


def test_dies():
    if BAD:
        os._exit(7)


def test_is_killed():
    if BAD:
        os.kill(os.getpid(), 9)


@pytest.mark.timeout(1 if BAD else 100)
def test_takes_too_long():
    while BAD:
        pass


def test_warns():
    if BAD:
        warnings.warn("of a fork", stacklevel=1)


@pytest.mark.skip(reason="not here")
def test_is_skipped():
    pass
"""
MODULES = ("one", "two", "three")
STUCK = """\
import os
import signal
import time
from pathlib import Path

import pytest

collected = os.getpid()


def wait_for_the_end():
    while Path(f"/proc/{collected}").exists():
        time.sleep(0.05)


@pytest.mark.timeout(1)
def test_hears_no_signal():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    wait_for_the_end()


@pytest.mark.timeout(1)
def test_hears_not_even_the_one_that_ends_it():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    signal.signal(signal.SIGABRT, signal.SIG_IGN)
    wait_for_the_end()


def test_dies_and_leaves_a_process():
    if not os.fork():
        # Pipes are those of the output: whoever reads it would wait for this process, too.
        for number in os.listdir("/proc/self/fd"):
            try:
                if os.readlink(f"/proc/self/fd/{number}").startswith("pipe:"):
                    os.close(int(number))
            except OSError:  # that of the list
                continue
        wait_for_the_end()
        os._exit(0)
    os._exit(7)


def test_passes():
    pass
"""
CUT = """\
import os
import socket

import pytest

from tools import forks


def test_dies_in_the_middle_of_a_message(request):
    (runner,) = (
        one for one in request.config.pluginmanager.get_plugins() if isinstance(one, forks._Runner)
    )
    os.write(runner._link.fileno(), bytes([0, 0, 1, 0]) + b"not all")
    os._exit(3)


def test_stops_in_its_process_alone(request):
    request.session.shouldstop = "here"


@pytest.mark.parametrize("number", range(5))
def test_passes(number):
    pass
"""


class ForkedTests:
    """What a run of three modules gave.

    Attributes:
        code: Its exit code.
        out: What it said.
        names: The outcome of each test.
        lines: Those of the files that its tests wrote.
    """

    def __init__(
        self, place: Path, bad: str, *more: str, tests: str = "", hooks: str = "", **variables: str
    ) -> None:
        (place / "conftest.py").write_text(HOOKS + hooks)
        for name in MODULES[:1] if tests else MODULES:
            (place / f"test_{name}.py").write_text(tests or TESTS)
        paths = os.pathsep.join([str(place), *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(place),
             "-p", "pytest_timeout", "-p", "no:cacheprovider", "-p", "tools.forks", "--forks", "3",
             "--basetemp", "temp", "--junitxml", "junit.xml", *more, str(place)],
            cwd=place, env={**os.environ, "BAD": bad, "PYTHONPATH": paths,
                 "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.code = done.returncode
        self.out = done.stdout + done.stderr
        cases = list(ET.parse(place / "junit.xml").iter("testcase"))
        self.names = {f"{one.get('classname')}.{one.get('name')}": _how(one) for one in cases}
        self.lines = {
            name: (place / name).read_text().splitlines() if (place / name).exists() else []
            for name in ("ran", "torn", "left")
        }


def _how(case: ET.Element) -> str:
    return next((one.tag for one in case if one.tag in {"failure", "error", "skipped"}), "passed")


def test_each_test_runs_once_in_forks_of_the_process_that_collected_it(tmp_path: Path):
    done = ForkedTests(tmp_path, "")
    assert done.code == 0, done.out
    assert "75 passed, 3 skipped in" in done.out
    assert len(done.names) == 78
    ran = [line.split() for line in done.lines["ran"]]
    assert len(ran) == 60
    assert len({folder for *_, folder in ran}) == 60
    assert len(done.lines["left"]) == 3, "each process told what it left"
    assert sorted(done.lines["torn"]) == sorted({made for _, made, _ in ran})
    assert len(done.lines["torn"]) < 60, "a fixture of a module is shared"


@pytest.mark.slow
def test_what_goes_wrong_in_a_process_is_told_and_the_others_go_on(tmp_path: Path):
    done = ForkedTests(tmp_path, "yes")
    assert done.code == 1, done.out
    assert "12 failed, 63 passed, 3 skipped, 3 warnings in" in done.out
    bad = {name for name, how in done.names.items() if how == "failure"}
    kinds = ("dies", "fails", "is_killed", "takes_too_long")
    assert bad == {f"test_{module}.test_{kind}" for module in MODULES for kind in kinds}
    assert done.out.count("- Captured stdout call -") == 3
    for test, how in (("dies", "exit code 7"), ("is_killed", "signal 9")):
        assert f"the process that ran test_one.py::test_{test} ended: {how}" in done.out
    assert "Timeout (>1.0s)" in done.out
    assert "UserWarning: of a fork" in done.out


def test_after_a_failure_no_more_are_handed_out_if_one_is_enough(tmp_path: Path):
    done = ForkedTests(tmp_path, "yes", "-x", "-k", "fails or passes")
    assert done.code == 1
    assert re.search(r"stopping after \d+ failures", done.out)
    assert len(done.names) < 63


def test_a_session_that_ends_badly_in_a_process_fails_the_run(tmp_path: Path):
    done = ForkedTests(tmp_path, "", "-k", "warns", BAD_SESSION="yes")
    assert done.code == 1
    assert "the session ends badly" in done.out


def test_processes_that_do_not_end_or_die_beside_their_own_are_failures(tmp_path: Path):
    hooks = "from tools import forks\nforks.GRACE, forks.ENDS = 0.5, 0.5\n"
    done = ForkedTests(tmp_path, "", tests=STUCK, hooks=hooks)
    assert done.code == 1, done.out
    assert "3 failed, 1 passed in" in done.out
    module = "the process that ran test_one.py::test_"
    killed = r"ended: it said nothing for \d s, and was killed \(signal"
    assert re.search(rf"{module}hears_no_signal {killed} 6\)", done.out)
    assert re.search(rf"{module}hears_not_even_the_one_that_ends_it {killed} 9\)", done.out)
    assert f"{module}dies_and_leaves_a_process ended: exit code 7" in done.out
    assert "in wait_for_the_end" in done.out, "the stack of what hung is shown"


def test_a_message_that_is_cut_off_and_a_process_that_stops_lose_no_test(tmp_path: Path):
    done = ForkedTests(tmp_path, "", tests=CUT)
    assert done.code == 1, done.out
    assert "1 failed, 6 passed in" in done.out
    assert "test_dies_in_the_middle_of_a_message ended: exit code 3" in done.out


def test_ctrl_c_ends_all_processes(tmp_path: Path):
    tests = (
        "import os, signal, time\nfrom pathlib import Path\ncollected = os.getpid()\n"
        "def test_is_interrupted():\n"
        "    os.kill(collected, signal.SIGINT)\n"
        "    while Path(f'/proc/{collected}').exists():\n        time.sleep(0.05)\n"
    )
    done = ForkedTests(tmp_path, "", tests=tests)
    assert done.code == 2, done.out
    assert "KeyboardInterrupt" in done.out
