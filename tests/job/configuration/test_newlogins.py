"""Passwords of a seed list: none is left in the list of the job, whatever its line is."""

import pytest

from nacre.job.configuration.newlogins import apart


@pytest.mark.parametrize(
    "line",
    [
        "http://me:hush@a.example/x",
        "http://me:hush@bad host/",
        "me:hush@bad host/",
        "# http://me:hush@a.example/old",
        "http://图书馆:hush@新 闻.example/",
        "ftp://me:hush@a.example/",
        "htp:/me:hush@a.example/",
    ],
)
def test_no_password_stays_in_the_list(line: str) -> None:
    assert "hush" not in str(apart([line]).lines)


@pytest.mark.parametrize(
    "line",
    ["http://a.example/@me", "# mail me@x.example", "+http://(example,a,)/@x", "mail me@x y", ""],
)
def test_lines_without_a_password_stay_as_they_are(line: str) -> None:
    assert apart([line]).lines == [line]
