import pytest

from nacre.cli.header_option import header_settings
from nacre.errors import ConfigError
from nacre.fetch.settings import FetchSettings


def test_lines_as_settings():
    assert header_settings([]) == {}
    found = header_settings(["X-Project: 2026", "User-Agent: a/1", "From: a@b.test"])
    assert found == {
        "accept": [*FetchSettings().accept, "X-Project: 2026"],
        "user_agent": "a/1",
        "mail_from": "a@b.test",
    }


def test_a_line_takes_the_place_of_the_default():
    assert header_settings(["ACCEPT: text/html"]) == {"accept": ["ACCEPT: text/html"]}


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(ConfigError) as caught:
        header_settings(["Cookie: a=b", "nothing", ": x", "Host: a.test"])
    assert len(caught.value.problems) == 4
