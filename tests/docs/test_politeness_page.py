"""The settings and tests of docs/politeness.md exist, and each rule of the page has a test."""

import re
from pathlib import Path

import pytest

from nacre.wire.message_signatures import DRAFTS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/politeness.md").read_text("utf-8")
_NAMES = re.compile(r"^\| `([a-z_.]+)`", re.MULTILINE)
SETTINGS = set(_NAMES.findall((ROOT / "docs/reference/settings.md").read_text("utf-8")))
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| rule ")
]


def test_the_page_has_rows():
    assert len(ROWS) > 30
    assert {len(row) for row in ROWS} == {4}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_the_names_of_a_rule_exist(row: list[str]):
    settings = set(re.findall(r"`([a-z_]+\.[a-z_.]+)`", row[2]))
    assert settings <= SETTINGS, settings - SETTINGS
    (name,) = re.findall(r"^`(tests/\S+\.py::\w+)`$", row[3])
    file, _, function = name.partition("::")
    text = (ROOT / file).read_text("utf-8")
    assert re.search(rf"^(async )?def {function}\(", text, re.MULTILINE), name


def test_the_drafts_are_those_of_the_code():
    assert DRAFTS["practices"] in PAGE
    identity = (ROOT / "docs/identity.md").read_text("utf-8")
    assert {draft for draft in DRAFTS.values() if draft not in identity} == set()
