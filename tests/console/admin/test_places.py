import os
from pathlib import Path

import pytest

from nacre.console.routes import API
from nacre.errors import JobError
from nacre.fleet.place_book import checked_place
from nacre.fleet.places import JobPlace, places_of
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play


def test_places_are_added_and_taken_off(tmp_path: Path):
    other = tmp_path / "more" / "crawls"
    assert nacre("new", other / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        admin, client = console.as_key(Role.ADMIN), console.client
        body = {"directory": str(other)}
        made = await client.post(f"{API}/places", json=body, headers=admin)
        assert (made.status_code, made.json()["label"], made.json()["jobs"]) == (
            201, "crawls-2", 1,
        )  # fmt: skip
        shown = await client.get(f"{API}/jobs/crawls-2~demo", headers=admin)
        assert shown.status_code == 200
        assert console.parts.places.all() == [other]
        twice = await client.post(f"{API}/places", json=body, headers=admin)
        assert (twice.status_code, twice.json()["code"]) == (409, "refused")
        listed = (await client.get(f"{API}/places", headers=admin)).json()["items"]
        assert [(one["label"], one["added"]) for one in listed] == [
            ("crawls", False), ("crawls-2", True),
        ]  # fmt: skip
        assert listed[0]["free"] > 0
        for label, status in (("crawls-2", 204), ("crawls-2", 404), ("crawls", 409)):
            gone = await client.delete(f"{API}/places/{label}", headers=admin)
            assert gone.status_code == status
        assert (other / "demo" / "crawl.yaml").is_file()
        assert (await client.get(f"{API}/jobs/crawls-2~demo", headers=admin)).status_code == 404

    play(tmp_path, scene)


def test_asvs_5_3_2_a_place_is_a_directory_of_this_user_in_no_other(tmp_path: Path):
    known = (JobPlace("crawls", tmp_path / "crawls"),)
    (tmp_path / "crawls" / "in").mkdir(parents=True)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "crawls" / "in")
    for directory, reason in (
        ("crawls", "no absolute path"),
        (str(tmp_path / "none"), "cannot be used"),
        (str(tmp_path / "file"), "not a directory"),
        (str(tmp_path / "crawls" / "in"), "one in the other"),
        (str(tmp_path / "link"), "one in the other"),
        (str(tmp_path), "one in the other"),
    ):
        with pytest.raises(JobError, match=reason):
            checked_place(directory, known, os.getuid())
    (tmp_path / "fine").mkdir()
    with pytest.raises(JobError, match="another user"):
        checked_place(str(tmp_path / "fine"), known, os.getuid() + 1)
    assert checked_place(str(tmp_path / "fine"), known, os.getuid()).label == "fine"


def test_two_places_never_have_one_label(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name / "crawls").mkdir(parents=True)
    found = places_of([tmp_path / "a" / "crawls", tmp_path / "b" / "crawls"])
    assert [place.label for place in found] == ["crawls", "crawls-2"]
