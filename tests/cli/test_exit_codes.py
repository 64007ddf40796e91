"""Exit codes: one table says what each means, and a crawl ends with the one that fits.

What failed: a crawl whose only seed was a 404 ended with 0, as if it had got something.
"""

import re
from pathlib import Path

import pytest

from nacre.core.states import EXIT_TABLE
from tests.cli.site import nacre, site

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("pages", [{}, {"/robots.txt": "User-agent: *\nDisallow:\n"}])
def test_a_seed_that_is_404_is_no_success(tmp_path: Path, pages: dict[str, str]):
    with site(pages) as home:
        seeds = (f"{home}gone.html", f"{home}%CD%A8%D6%AA.html")
        done = nacre("crawl", *seeds, "--out", tmp_path / "job", "--delay", 0, "-q")
    assert done.code == 8, done.out
    assert done.out.startswith("Finished, but no seed was there")


def test_one_seed_of_two_is_enough(tmp_path: Path):
    with site() as home:
        done = nacre("crawl", f"{home}gone", f"{home}a.html", "--out", tmp_path / "j", "--delay", 0)
    assert done.code == 0, done.out


def test_the_table_is_shown_and_documented():
    shown = nacre("help", "exit-codes").out
    rows = [(int(line.split()[0]), " ".join(line.split()[1:])) for line in shown.splitlines()]
    assert rows == [(int(code), said) for code, said in EXIT_TABLE.items()]
    page = (ROOT / "docs/reference/commands.md").read_text("utf-8")
    assert re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE) == [
        (str(code), said) for code, said in rows
    ]
