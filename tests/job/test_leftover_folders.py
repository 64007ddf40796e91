"""The next start removes temporary folders that killed processes left."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nacre.machine.local_files import HeldFolder, remove_left_behind
from tests.cli.site import nacre, site

PAGES = {"/": '<a href="in.html">in</a>', "/in.html": "<p>inside</p>"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "t"  # short: the path of a socket has at most 107 bytes
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def killed(place: Path, code: str) -> None:
    """Run code in a process that ends by SIGKILL."""
    lines = f"{code}\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    env = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", lines], env=env, check=False)
    assert done.returncode == -signal.SIGKILL


def test_the_next_start_removes_what_no_process_holds(place: Path):
    code = (
        "from nacre.machine.local_files import HeldFolder\n"
        "kept = HeldFolder(), HeldFolder('reading-')"
    )
    killed(place, code)
    mine = HeldFolder()
    (mine.path / "control").touch()
    assert len(names(place)) == 3
    remove_left_behind(0.0)
    assert names(place) == [mine.path.name]
    mine.close()
    assert names(place) == []


def test_a_job_removes_what_killed_ones_of_any_version_left(place: Path, tmp_path: Path):
    killed(place, "from nacre.machine.local_files import HeldFolder\nkept = HeldFolder()")
    bind = "s = socket.socket(socket.AF_UNIX); s.bind(p + '/control'); s.listen()"
    old = "import socket, tempfile\np = tempfile.mkdtemp(prefix='nacre-')\n" + bind
    killed(place, old)
    listening = place / "nacre-listening"
    listening.mkdir()
    links = place / "nacre-reading-old"
    links.mkdir()
    (links / "CURRENT").symlink_to("/nonexistent")
    os.utime(links, (0, 0))
    (place / "nacre-frontier-mine").mkdir()
    (place / "nacre-frontier-mine" / "result.json").touch()
    with socket.socket(socket.AF_UNIX) as server, site(PAGES) as home:
        server.bind(str(listening / "control"))
        server.listen()
        done = nacre("crawl", home, "--delay", 0, "--out", tmp_path / "job", "--quiet")
    assert done.code == 0, done.err
    assert names(place) == ["nacre-frontier-mine", "nacre-listening"]
