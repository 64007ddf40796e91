"""The state of a job is readable by its owner alone."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nacre.machine.local_files import make_private
from tests.cli.modes import modes_for_others
from tests.cli.site import nacre, site

PAGES = {"/": '<a href="in.html">in</a>', "/in.html": "<p>inside</p>"}


def test_the_state_of_a_job_is_for_its_owner_only(tmp_path: Path):
    with site(PAGES) as home:
        done = nacre("crawl", home, "--delay", 0, "--out", tmp_path / "job", "--quiet")
    assert done.code == 0, done.err
    assert modes_for_others(tmp_path / "job" / "state") == {}
    assert modes_for_others(tmp_path / "job" / "control") == {}
    assert modes_for_others(tmp_path / "job" / "latest").keys() != set(), (
        "what is published stays readable"
    )


def test_a_store_that_was_open_to_all_is_closed_at_the_next_start(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "--max-pages", 1).code == 4
        for path in ((job / "state"), *(job / "state").rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (job / "control").chmod(0o755)
        assert nacre("run", job, "--set", "limits.documents=0").code == 0
    assert modes_for_others(job / "state") == {}
    assert modes_for_others(job / "control") == {}


def test_new_files_of_a_private_directory_are_private(tmp_path: Path):
    """RocksDB makes its files in threads of its own, by the umask of the process."""
    make_private(tmp_path / "state")
    before = os.umask(0o022)
    try:
        (tmp_path / "state" / "sub").mkdir()
        (tmp_path / "state" / "sub" / "file").write_text("x")
    finally:
        os.umask(before)
    if not os.listxattr(tmp_path / "state"):
        pytest.skip("this file system knows no access lists; the directory alone protects")
    assert modes_for_others(tmp_path / "state") == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to look at the job")
def test_who_may_not_read_the_state_gets_a_sentence():
    with tempfile.TemporaryDirectory() as place, site(PAGES) as home:
        Path(place).chmod(0o755)
        job = Path(place, "job")
        assert nacre("crawl", home, "--delay", 0, "--out", job, "--quiet").code == 0
        done = as_nobody("status", str(job))
    assert done.returncode == 2, done.stderr
    assert "only its owner may read it" in done.stderr
    assert "Traceback" not in done.stderr


def as_nobody(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import os, sys; os.setgid(65534); os.setuid(65534); sys.argv[0] = 'nacre';"
        "from nacre.cli import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, env={**os.environ, "HOME": "/"}, check=False,
    )  # fmt: skip
