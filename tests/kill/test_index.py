"""An index that is killed again and again has every page once in the end."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.site import many_pages, nacre, site

pytestmark = pytest.mark.kill

CHECKOUT = Path(__file__).parents[2]
PAGES = 120


def start(*words: str) -> subprocess.Popen[bytes]:
    path = f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}"
    return subprocess.Popen(
        [sys.executable, "-m", "nacre", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": path},
    )


LONGEST = (0.1, 2.5, 0.5, 1.0, 0.2, 2.5)
"""Seconds that a command has at most: some are short enough for any machine."""


def killed(root: Path, words: tuple[str, ...], pause: float) -> bool:
    """Whether the command was killed while it wrote; False when it came to its end."""
    folder = root / "index"
    before = folder.stat().st_mtime_ns if folder.exists() else 0
    process = start(*words)
    while process.poll() is None:
        if folder.exists() and folder.stat().st_mtime_ns >= before:
            time.sleep(pause)
            break
        time.sleep(0.01)
    process.kill()
    _, err = process.communicate()
    assert process.returncode in (0, -9), err.decode()
    return process.returncode == -9


@pytest.mark.parametrize("rounds", [pytest.param(True, marks=pytest.mark.slow), False])
def test_an_index_that_is_killed_has_every_page_once(tmp_path: Path, *, rounds: bool):
    root = tmp_path / "库"
    said = ["--delay", "0", "--set", "cycle.index.writers=[local, jsonl]"]
    with site(many_pages(PAGES)) as home:
        new = (
            ["cycle", root, "-s", home, "--rounds", "0"]
            if rounds
            else ["crawl", home, "--out", root]
        )
        done = nacre(*new, *said)
        assert done.code == 0, done.err
    words = ("cycle", str(root), "index") if rounds else ("index", str(root))
    draw = random.Random(17)
    kills = 0
    for number, longest in enumerate(LONGEST):
        more = ("--rebuild",) if number == 4 else ()
        kills += killed(root, (*words, *more), draw.random() * longest)
    assert kills > 0, "none was killed: the machine is faster than the test"
    assert nacre(*words).code == 0
    answer = json.loads(nacre("search", root, "page", "--json", "--limit", "1000").out)
    found = [hit["url"] for hit in answer["hits"]]
    assert answer["total"] == len(found) == len(set(found)) == PAGES
    ids: set[str] = set()
    for file in sorted((root / "index" / "jsonl").glob("documents-*.jsonl")):
        ids |= {json.loads(line)["id"] for line in file.read_text("utf-8").splitlines()}
    assert len(ids) == PAGES + 1
