"""What fetches: made of the settings, told of changed ones, with its cookies."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.assembly.browsing import open_renderer
from nacre.assembly.fetching import Fetching, make_fetching
from nacre.assembly.rules import open_rules
from nacre.errors import ConfigError
from nacre.fetch.guard import AddressGuard
from nacre.fetch.spool import Spool
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

COOKIES = "# Netscape HTTP Cookie File\n.a.test\tTRUE\t/\tFALSE\t4102444800\tname\tvalue\n"


def settings(**sections: Any) -> JobSettings:
    return JobSettings.model_validate(sections)


def made(root: Path, store: Store | None = None, **sections: Any) -> Fetching:
    rules = open_rules(settings(**sections), root)
    spool = Spool(root / "spool")
    store = store or Store(MemoryEngine())

    async def make() -> Fetching:
        renderer = open_renderer(rules.settings.browser, Layout(root))
        return make_fetching(
            rules, store, AddressGuard(), spool, [], SystemClock(), renderer=renderer
        )

    return asyncio.run(make())


def test_changed_settings_of_the_whole_job_reach_the_jar_and_the_guard(tmp_path: Path):
    fetching, before = made(tmp_path), settings()
    address = "10.1.2.3"
    assert fetching.guard.refusal(address)
    after = settings(cookies={"enabled": False}, network={"allow": ["10.0.0.0/8"]})
    fetching.configure(before, after)
    assert fetching.jar.settings is after.cookies
    assert fetching.guard.refusal(address) == ""
    fetching.configure(after, after)
    assert fetching.guard.refusal(address) == ""
    fetching.configure(after, before)
    assert fetching.guard.refusal(address)


def test_cookies_of_a_file_are_kept_for_the_next_session_and_saved(tmp_path: Path):
    store, named = Store(MemoryEngine()), {"load_file": "in.txt", "save_file": "out.txt"}
    (tmp_path / "in.txt").write_text(COOKIES + "no cookie\n")
    fetching = made(tmp_path, store, cookies=named)
    (problem,) = fetching.load_cookies(tmp_path, 1e9)
    assert problem.startswith("in.txt: ")
    assert fetching.save_cookies(tmp_path) == ""
    assert "name\tvalue" in (tmp_path / "out.txt").read_text()

    (tmp_path / "out.txt").unlink()
    later = made(tmp_path, store, cookies=named)
    assert later.save_cookies(tmp_path) == ""
    assert "name\tvalue" in (tmp_path / "out.txt").read_text()


def test_without_files_of_cookies_nothing_is_read_or_written(tmp_path: Path):
    fetching = made(tmp_path)
    assert fetching.load_cookies(tmp_path, 1e9) == []
    assert fetching.save_cookies(tmp_path) == ""
    assert [*tmp_path.iterdir()] == []


def test_files_of_cookies_that_cannot_be_used_are_named(tmp_path: Path):
    fetching = made(tmp_path, cookies={"load_file": "in.txt", "save_file": "no/out.txt"})
    with pytest.raises(ConfigError, match=r"in\.txt"):
        fetching.load_cookies(tmp_path, 1e9)
    assert "out.txt" in fetching.save_cookies(tmp_path)
