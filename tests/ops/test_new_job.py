from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.fetch.settings import FetchSettings
from nacre.ops.new_job import header_settings
from tests.cli.site import nacre


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


def test_an_empty_user_agent_is_refused(tmp_path: Path):
    done = nacre("new", tmp_path / "job", "http://a.test/", "-U", "")
    assert (done.code, (tmp_path / "job").exists()) == (2, False)
    assert "--user-agent is empty, but the owners of sites need it to know who crawls" in done.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ftp//x", "ftp://x"), ("http//a.test/b//c", "http://a.test/b//c")],
)
def test_a_scheme_without_its_colon_is_shown_as_it_should_be(
    tmp_path: Path, typed: str, meant: str
):
    done = nacre("crawl", typed, "--out", tmp_path / "job")
    assert (done.code, (tmp_path / "job").exists()) == (2, False)
    said = f"'{typed}' is not a seed: `://` is misspelt; did you mean '{meant}'?"
    assert said in done.err


def test_an_empty_seed_is_called_empty(tmp_path: Path):
    for command in ("crawl", "new"):
        done = nacre(command, *(("--out",) if command == "crawl" else ()), tmp_path / "job", "")
        assert (done.code, (tmp_path / "job").exists()) == (2, False)
        assert "nacre: a seed is empty\n" in done.err


def test_a_typed_seed_that_nothing_fetches_is_refused(tmp_path: Path):
    done = nacre("crawl", "ftp://127.0.0.1/", "http://127.0.0.1/", "--out", tmp_path / "job")
    assert (done.code, (tmp_path / "job").exists()) == (2, False)
    assert done.err == (
        "nacre: seeds.0: 'ftp://127.0.0.1/' is not a seed: no step of the fetch chain fetches ftp "
        "URLs\n"
    )
