"""What git keeps of the project: files that mean the same on every machine."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = "120000"  # how git writes the mode of a symbolic link


def test_no_symbolic_link_is_kept():
    """A link to an environment once stood in the place of the environment of each clone."""
    kept = subprocess.run(["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True)
    if kept.returncode:
        pytest.skip("no checkout of git")
    lines = kept.stdout.splitlines()
    assert len(lines) > 100
    assert [line for line in lines if line.startswith(LINK)] == []


@pytest.mark.parametrize("name", [".venv", ".venv-judges", ".venv-spark", "crawls"])
def test_a_link_to_an_environment_is_ignored_as_the_environment_is(name: str):
    rules = (ROOT / ".gitignore").read_text().splitlines()
    stem = name.partition("-")[0]
    assert f"/{name}" in rules or f"/{stem}-*" in rules
