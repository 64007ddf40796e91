"""The page on Nutch has a place for each of its classes; the list is that of release 1.22.

Names are those below `org.apache.nutch`, and whole ones of plug-ins that are not.
"""

import re
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CLASSES = (Path(__file__).parent / "nutch-classes.txt").read_text("utf-8").split()


def test_each_class_of_nutch_has_its_place():
    page = (
        (ROOT / "docs" / "nutch.md").read_text("utf-8").partition("## The place of each class")[2]
    )
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    patterns = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert len(CLASSES) > 350
    assert [one for one in CLASSES if not any(fnmatchcase(one, name) for name in patterns)] == []
    assert [name for name in patterns if not any(fnmatchcase(one, name) for one in CLASSES)] == []
