"""Samples of Heritrix, where they are."""

import pytest

from tests.cases.table import cases_folder


@pytest.fixture(scope="module")
def samples():
    folder = cases_folder().parent / "samples" / "heritrix"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    return folder
