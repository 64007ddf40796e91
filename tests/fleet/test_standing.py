import errno
import os
from pathlib import Path

import pytest

from nacre.console.routes import API
from nacre.fleet.places import JobPlace, new_place, places_of
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.standing import (
    OF_PLACE,
    ConsoleLocks,
    ConsoleStanding,
    held_elsewhere,
    holder_in,
    lock_of,
)
from nacre.machine.clock import SystemClock
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play


class GivenLocks:
    """A console's locks and standing, with its own folder and some places."""

    def __init__(self, folder: Path, *places: JobPlace) -> None:
        folder.mkdir(exist_ok=True)
        self.standing = ConsoleStanding()
        self.places = list(places)
        self.locks = ConsoleLocks(
            self.standing, folder, lambda: self.places, f"http://{folder.name}/", SystemClock()
        )


def crawls(folder: Path, name: str) -> JobPlace:
    (folder / name).mkdir(parents=True, exist_ok=True)
    return places_of([folder / name])[0]


def test_the_second_console_shows_only_until_the_first_one_ends(tmp_path: Path):
    place = crawls(tmp_path, "crawls")
    first, second = GivenLocks(tmp_path / "a", place), GivenLocks(tmp_path / "b", place)
    assert first.locks.take()
    first.standing.require()
    assert not second.locks.take()
    words = r"the console http://a/ \(process \d+ on"
    with pytest.raises(RefusedRequestError, match=words) as told:
        second.standing.require()
    assert (told.value.status, told.value.code) == (409, "read-only")
    assert second.standing.elsewhere is not None
    assert second.standing.elsewhere.path == place.root
    assert first.locks.take()
    first.locks.free()
    assert second.locks.take()
    second.standing.require()
    assert not first.locks.take()
    second.locks.free()


def test_a_console_has_all_its_places_or_none(tmp_path: Path):
    one, two = crawls(tmp_path, "one"), crawls(tmp_path, "two")
    first, second = GivenLocks(tmp_path / "a", two), GivenLocks(tmp_path / "b", one, two)
    assert first.locks.take()
    assert not second.locks.take()
    assert held_elsewhere(one) is None
    found = held_elsewhere(two)
    assert found is not None
    assert found.holder == holder_in(two.root / OF_PLACE)
    first.places = []
    assert first.locks.take()  # it gives back what it has no more
    assert second.locks.take()
    second.locks.free()
    first.locks.free()


def test_a_place_that_another_console_has_takes_no_lock_from_this_one(tmp_path: Path):
    one, two, three = (crawls(tmp_path, name) for name in ("one", "two", "three"))
    first, second = GivenLocks(tmp_path / "a", one), GivenLocks(tmp_path / "b", two)
    assert first.locks.take()
    assert second.locks.take()
    first.places = [one, three, two]
    assert not first.locks.take()
    assert first.standing.elsewhere is not None
    assert first.standing.elsewhere.path == two.root
    assert held_elsewhere(one) is not None
    assert held_elsewhere(three) is None  # it was taken with the one that failed
    first.places = [one]
    assert first.locks.take()
    first.standing.require()
    first.locks.free()
    second.locks.free()


def test_the_folder_of_its_own_files_is_one_consoles_too(tmp_path: Path):
    first = GivenLocks(tmp_path / "a", crawls(tmp_path, "one"))
    second = GivenLocks(tmp_path / "a", crawls(tmp_path, "two"))
    assert first.locks.take()
    assert not second.locks.take()
    assert second.standing.elsewhere is not None
    assert second.standing.elsewhere.path == tmp_path / "a"
    first.locks.free()


def test_a_job_in_a_place_of_another_console_is_that_ones(tmp_path: Path):
    place = crawls(tmp_path, "crawls")
    job = place.root / "group" / "demo"
    job.mkdir(parents=True)
    (job / "crawl.yaml").write_text("")
    own = new_place(job, ())
    first, second = GivenLocks(tmp_path / "a", place), GivenLocks(tmp_path / "b", own)
    assert first.locks.take()
    assert not second.locks.take()
    first.locks.free()
    (job / "state").mkdir()
    assert second.locks.take()
    assert held_elsewhere(own) is not None
    second.locks.free()


def job_in(folder: Path, name: str) -> JobPlace:
    """A job that is a place by itself."""
    (folder / name / "state").mkdir(parents=True)
    (folder / name / "crawl.yaml").write_text("")
    return new_place(folder / name, ())


@pytest.mark.parametrize("way", ["sub", "a/b/sub", "demo", "a/b/demo"])
def test_a_console_around_a_place_of_another_one_only_shows_it(tmp_path: Path, way: str):
    inner = (job_in if way.endswith("demo") else crawls)(tmp_path / "crawls", way)
    outer = crawls(tmp_path, "crawls")
    first, second = GivenLocks(tmp_path / "a", inner), GivenLocks(tmp_path / "b", outer)
    assert first.locks.take()
    assert not second.locks.take()
    assert not second.locks.take()
    with pytest.raises(RefusedRequestError, match="the console http://a/"):
        second.standing.require()
    found = held_elsewhere(outer)
    assert found is not None
    assert found.path == outer.root
    assert first.locks.take()  # nothing is locked that the other one looked at
    first.locks.free()
    assert second.locks.take()
    assert held_elsewhere(inner) is not None
    assert not first.locks.take()
    second.locks.free()
    assert held_elsewhere(inner) is held_elsewhere(outer) is None


def test_places_of_one_console_may_lie_in_each_other(tmp_path: Path):
    outer, inner = crawls(tmp_path, "crawls"), crawls(tmp_path, "crawls/sub")
    only = GivenLocks(tmp_path / "a", inner, outer, job_in(tmp_path / "crawls", "demo"))
    for _ in range(2):
        assert only.locks.take()
    only.locks.free()


@pytest.mark.parametrize("text", [b"", b"{", b'{"pid": "x"}', b"\xff" * 9000])
def test_a_holder_that_says_nothing_is_another_console(tmp_path: Path, text: bytes):
    place = crawls(tmp_path, "crawls")
    first, second = GivenLocks(tmp_path / "a", place), GivenLocks(tmp_path / "b", place)
    assert first.locks.take()
    lock_of(place).write_bytes(text)
    assert not second.locks.take()
    with pytest.raises(RefusedRequestError, match=f"another console has {place.root}:"):
        second.standing.require()
    first.locks.free()


@pytest.mark.parametrize("call", ["ftruncate", "pwrite"])
def test_a_lock_holds_on_a_full_disk_and_names_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place = crawls(tmp_path, "crawls")
    first, second = GivenLocks(tmp_path / "a", place), GivenLocks(tmp_path / "b", place)
    monkeypatch.setattr(os, call, full)
    assert first.locks.take()
    assert first.locks.take()
    assert holder_in(lock_of(place)) is None
    assert not second.locks.take()
    first.locks.free()
    assert held_elsewhere(place) is None
    assert second.locks.take()
    second.locks.free()


def test_a_place_that_nobody_can_write_to_needs_no_lock(tmp_path: Path):
    gone = JobPlace("gone", tmp_path / "gone")
    only = GivenLocks(tmp_path / "a", gone)
    assert only.locks.take()
    gone.root.mkdir()
    assert held_elsewhere(gone) is None
    assert only.locks.take()
    assert held_elsewhere(gone) is not None
    only.locks.free()


def test_a_console_without_its_places_shows_them_and_refuses_changes(tmp_path: Path):
    place = crawls(tmp_path, "crawls")
    assert nacre("new", place.root / "demo", "http://127.0.0.1:9/").code == 0
    first = GivenLocks(tmp_path / "a", place)
    assert first.locks.take()

    async def scene(console: GivenConsole) -> None:
        second = ConsoleLocks(
            console.parts.standing, tmp_path / "console", lambda: [place], "x", SystemClock()
        )
        fields = console.as_session()
        assert not second.take()
        page = await console.client.get("/j/crawls~demo", headers=fields)
        assert 'id="elsewhere"' in page.text
        assert '<time datetime="' in page.text[page.text.index('id="elsewhere"') :][:900]
        assert "/j/crawls~demo/labels" not in page.text
        form = {"name": "x"}
        refused = await console.client.post("/j/crawls~demo/labels", data=form, headers=fields)
        assert refused.status_code == 409
        assert "http://a/" in refused.text
        look = await console.client.post(
            f"{API}/config/hover", json={"text": "", "place": 0}, headers=fields
        )
        assert look.status_code != 409
        chosen = {"language": "zh_CN"}
        spoken = await console.client.patch(f"{API}/session", json=chosen, headers=fields)
        assert spoken.status_code == 200
        first.locks.free()
        assert second.take()
        page = await console.client.get("/j/crawls~demo", headers=fields)
        assert 'id="elsewhere"' not in page.text
        taken = await console.client.post("/j/crawls~demo/labels", data=form, headers=fields)
        assert taken.status_code == 303
        second.free()

    play(tmp_path, scene)
