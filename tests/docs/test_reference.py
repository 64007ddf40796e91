from pathlib import Path

import pytest

from tools.reference import files

FILES = files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_reference_is_current(path: Path):
    assert path.read_text("utf-8") == FILES[path], "stale: make reference"
