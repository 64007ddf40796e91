import sys

import pytest

from nacre.config.extras import wanting


def test_what_is_missing_is_installed_where_nacre_runs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/my env/bin/python")
    assert wanting("Parquet needs", "pyarrow") == (
        "Parquet needs pyarrow: '/my env/bin/python' -m pip install pyarrow"
    )
