"""`make test` fails for what our code does, not for tools at their exit, nor for other runs."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import has_room
from tools import cache
from tools.nginx import free_port

ROOT = Path(__file__).parents[2]
HOW = [
    ("-p", "tools.forks", "--forks", "1"),
    pytest.param(("-n", "1"), marks=pytest.mark.slow),
    pytest.param((), marks=pytest.mark.slow),
]

TEST = """\
import os


class Leak:
    def __init__(self):
        self.itself = self

    def __del__(self):
        raise ValueError("left open by a test")


def test_one(tmp_path):
    (tmp_path / "file").touch()
    if os.environ.get("LEAK") == "test":
        Leak()
    if os.environ.get("LEAK") == "file":
        held = [open(tmp_path / "file")]
        held.append(held)
    assert os.environ.get("LEAK") != "assertion"
"""
PLUGIN = """\
import os

import pytest


class Leak:
    def __init__(self):
        self.itself = self

    def __del__(self):
        raise ValueError("left open by a tool")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    if os.environ.get("LEAK") == "tool":
        Leak()
    if os.environ.get("LEAK") == "iterator":
        held = [os.scandir("/")]
        next(held[0])
        held.append(held)
"""


def run(place: Path, leak: str, *more: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest with our settings and hooks, over one test; its temporary folder is `tmp`."""
    shutil.copy(ROOT / "tests" / "conftest.py", place)
    (place / "test_one.py").write_text(TEST)
    (place / "plugin.py").write_text(PLUGIN)
    (place / "tmp").mkdir(exist_ok=True)
    paths = os.pathsep.join([str(place), *filter(None, sys.path)])
    env = {**os.environ, "LEAK": leak, "TMPDIR": str(place / "tmp"), "PYTHONPATH": paths}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | variables
    options = ["-q", "-p", "no:cacheprovider", "-p", "plugin", "--rootdir", str(place)]
    options += ["-p", "pytest_timeout", "-p", "xdist"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *options, *more,
         str(place / "test_one.py")],
        cwd=place, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("leak", ["", "tool", "iterator"])
@pytest.mark.parametrize("more", HOW)
@pytest.mark.slow
def test_what_a_tool_leaves_open_at_its_exit_is_no_failure(
    tmp_path: Path, leak: str, more: tuple[str, ...]
):
    done = run(tmp_path, leak, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("leak", ["test", "file", "assertion"])
@pytest.mark.parametrize("more", HOW)
@pytest.mark.slow
def test_what_a_test_leaves_open_is_one(tmp_path: Path, leak: str, more: tuple[str, ...]):
    done = run(tmp_path, leak, *more)
    assert done.returncode == 1, done.stdout + done.stderr
    kept = list((tmp_path / "tmp").iterdir())
    assert len(kept) == 1, "what failed can be looked at"


def test_the_settings_of_whoever_runs_the_tests_lie_elsewhere(tmp_path: Path):
    own = tmp_path / "own"
    (tmp_path / "seen.py").write_text(
        "import os\n\n\ndef pytest_sessionstart():\n"
        "    print('SEEN', os.environ['XDG_CONFIG_HOME'])\n"
    )
    done = run(tmp_path, "", "-p", "seen", "-s", XDG_CONFIG_HOME=str(own))
    assert done.returncode == 0, done.stdout + done.stderr
    (seen,) = re.findall("SEEN (.+)", done.stdout)
    assert Path(seen).is_relative_to(tmp_path / "tmp")


def test_a_run_depends_on_nothing_in_the_temporary_folder(tmp_path: Path):
    """Folders of other runs, broken links and files of their names: none is read or removed."""
    other = tmp_path / "tmp" / "pytest-of-root" / "pytest-0" / "closed"
    other.mkdir(parents=True)
    (other / "file").touch()
    (other.parent / ".lock").touch()
    (other.parents[1] / "pytest-current").symlink_to("/nonexistent")
    (tmp_path / "tmp" / "pytest-of-nacre-x").touch()
    before = sorted(path.name for path in (tmp_path / "tmp").rglob("*"))
    done = run(tmp_path, "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "tmp").rglob("*")) == before


def test_folders_of_runs_that_are_over_are_removed(tmp_path: Path):
    """A run that was killed leaves its folder; a hundred of them once filled the disk of CI."""
    parent = tmp_path / "tmp"
    names = ("killed", "working", "failed")
    for age, name in enumerate(names):
        folder = parent / f"pytest-of-nacre-{name}" / "t"
        folder.mkdir(parents=True)
        (folder / "file").touch()
        os.utime(folder.parent, (time.time() - 1000 + age,) * 2)
    held = os.open(parent / "pytest-of-nacre-working", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_SH)
    try:
        done = run(tmp_path, "")
    finally:
        os.close(held)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = sorted(place.name for place in parent.iterdir())
    assert kept == ["pytest-of-nacre-failed", "pytest-of-nacre-working"]


def test_what_a_test_wrote_goes_with_it_when_it_passed(tmp_path: Path):
    (tmp_path / "after.py").write_text(
        "import pytest\n\n\n@pytest.hookimpl(trylast=True)\n"
        "def pytest_runtest_logfinish(nodeid):\n"
        "    from pathlib import Path\n"
        f"    print('LEFT', len(list(Path({str(tmp_path / 'tmp')!r}).rglob('file'))))\n"
    )
    done = run(tmp_path, "", "-p", "after", "-s")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "LEFT 0" in done.stdout


def test_a_file_system_in_memory_is_used_where_it_has_room(tmp_path: Path):
    much, little = "MemTotal: 9 kB\nMemAvailable: 9000000 kB\n", "MemAvailable: 900000 kB\n"
    enough = shutil.disk_usage(tmp_path).free >= 6 << 30
    assert has_room(tmp_path, much) == enough
    assert not has_room(tmp_path, little)
    assert not has_room(tmp_path / "absent", much)
    assert not has_room(tmp_path, "")


def test_two_runs_are_given_different_ports():
    code = "from tools.nginx import free_port; print(*(free_port(first=21000) for _ in range(5)))"
    lines = f"{code}; import sys; sys.stdout.flush(); sys.stdin.read()"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", lines], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    mine = [free_port(first=21000) for _ in range(5)]
    told = [each.stdout.readline().split() for each in runs if each.stdout is not None]
    ports = [*mine, *(int(port) for line in told for port in line)]
    for each in runs:
        each.communicate()
    assert len(ports) == len(set(ports)) == 20
    begin = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert free_port() < max(begin, 31_000), "the system gives it to no connection"


def test_downloads_lie_outside_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder("webs") == tmp_path / "nacre" / "webs"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert cache.folder("webs") == tmp_path / "me" / ".cache" / "nacre" / "webs"
    for tool in ("debs", "releases", "judges", "nginx"):
        text = (ROOT / "tools" / f"{tool}.py").read_text()
        assert '".cache"' not in text
        assert "cache.folder(" in text
    assert "checkout/.cache" not in (ROOT / "tools" / "system.sh").read_text()


PARTS = {
    "set-up": "environment system",
    "lint, types and imports": "lint types imports",
    "unit tests": "unit",
    "tables": "cases-tests",
    "crawls": "crawls",
    "judges and sites": "judges webs",
    "pages in a browser": "browser-tests",
    "batch rounds on Spark": "spark",
    "kills": "kills",
    "pages of the console": "console-stories",
}


@pytest.mark.parametrize(
    "bad", ["", "system", "types", "unit", "kills", "console-stories", "crawls"]
)
def test_make_test_tells_the_time_of_each_part(tmp_path: Path, bad: str):
    make = tmp_path / "make"
    make.write_text(
        f'#!/bin/sh\necho "ran $*"\ncase " $* " in *" {bad or "-"} "*) exit 3 ;; esac\n'
    )
    make.chmod(0o755)
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "parts.sh"), str(make)],
        env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == (3 if bad else 0)
    summary = done.stdout.partition("make test took")[2].splitlines()[1:]
    words = {line.split("  ")[1]: line.split()[-1] for line in summary}
    failed = [name for name, targets in PARTS.items() if bad in targets.split()]
    assert [name for name, word in words.items() if word == "FAILED"] == failed
    assert set(words) == set(PARTS) if not bad else set(words) <= set(PARTS)
    assert all(" min " in line for line in summary)
    ran = [
        line.removeprefix("ran --no-print-directory ")
        for line in done.stdout.splitlines()
        if line[:4] == "ran "
    ]
    assert sorted(ran) == sorted(PARTS[name] for name in words)
    after = {"system": {"unit", "spark"}, "unit": {"crawls"}, "kills": {"console-stories"}}
    assert not after.get(bad, set()) & set(ran)
    assert [path.name for path in tmp_path.iterdir()] == ["make"]


def test_an_interrupted_run_leaves_no_part_behind(tmp_path: Path):
    make, began = tmp_path / "make", tmp_path / "began"
    make.write_text(
        f'#!/bin/sh\ncase " $* " in *" judges "*) echo $$ >{began}; exec sleep 600 ;; esac\n'
    )
    make.chmod(0o755)
    process = subprocess.Popen(
        ["sh", str(ROOT / "tools" / "parts.sh"), str(make)],
        env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    while b"crawls" not in process.stdout.readline():  # only the other lane is left
        assert process.poll() is None
    while not (began.exists() and began.read_text()):
        time.sleep(0.01)
    number = int(began.read_text())
    process.terminate()
    process.communicate()
    assert process.returncode == 143
    while Path(f"/proc/{number}").exists():
        time.sleep(0.01)


def test_no_target_runs_a_module_of_the_tools_by_its_path():
    """Started by its path, a module does not find the others of its package."""
    recipes = (ROOT / "Makefile").read_text()
    assert re.findall(r"\$\(PY\) (?:tools|bench|tests)/\S+", recipes) == []
    named = set(re.findall(r"\$\(PY\) -m ((?:tools|bench|tests)\.[\w.]+)", recipes))
    assert len(named) > 5
    assert [name for name in sorted(named) if find_spec(name) is None] == []
