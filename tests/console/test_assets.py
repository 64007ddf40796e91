"""The files that pages load are those that `make web` builds."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from nacre.console.assets import FOLDER

WEB = Path(__file__).parents[2] / "web"
needs_node = pytest.mark.skipif(not shutil.which("npm"), reason="Node is not installed")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
@needs_node
def test_two_builds_give_the_bytes_that_are_committed(tmp_path: Path):
    work = tmp_path / "web"
    shutil.copytree(WEB, work, ignore=shutil.ignore_patterns("node_modules"))
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"npm could not install the packages: {done.stderr[-200:]}")
    for name in ("first", "second"):
        subprocess.run(["node", "build.js", str(tmp_path / name)], cwd=work, check=True)
    assert files(tmp_path / "first") == files(tmp_path / "second") == files(FOLDER)


def test_the_lock_names_no_index_and_a_page_without_data_is_small():
    assert "resolved" not in (WEB / "package-lock.json").read_text()
    sizes = {name: len(gzip.compress(data)) for name, data in files(FOLDER).items()}
    # An editor is only on the pages of settings; the licences are only read when asked for.
    assert sizes.pop("editor.js") < 150_000
    sizes.pop("LICENSES.txt")
    assert sum(sizes.values()) < 90_000
