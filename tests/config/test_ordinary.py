"""Paths that an operator names."""

from pathlib import Path

import pytest

from nacre.config.ordinary import home_path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("~/a.txt", "/home/me/a.txt"),
        ("~nobody-of-this-name/a.txt", "~nobody-of-this-name/a.txt"),
        ("图书/~a", "图书/~a"),
        ("/x", "/x"),
    ],
)
def test_a_home_of_nobody_is_a_name(monkeypatch: pytest.MonkeyPatch, name: str, path: str):
    monkeypatch.setenv("HOME", "/home/me")
    assert home_path(name) == Path(path)
