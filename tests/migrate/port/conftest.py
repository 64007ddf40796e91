from pathlib import Path

import pytest

from tests.cases.table import cases_folder


@pytest.fixture
def golden() -> Path:
    """What a real Heritrix 3.13.0 answered."""
    folder = cases_folder().parent / "samples" / "heritrix" / "rest"
    if not folder.is_dir():
        pytest.skip("the answers of a real Heritrix are not here")
    return folder
