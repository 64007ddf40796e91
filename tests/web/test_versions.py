"""ETags of what can be edited, and changes of an older version."""

from pathlib import Path

import pytest

from nacre.console.routes import API, ROUTES
from nacre.ops.operation import Role
from nacre.web.versions import EditedThing, edited
from tests.console.given import GivenConsole, play
from tests.console.test_app import add_job

JOB = f"{API}/jobs/crawls~demo"


@pytest.mark.parametrize(
    ("field", "fits"),
    [('"a"', True), ("a", True), ('W/"a"', True), ('"b", "a"', True), ("*", True), ('"b"', False)],
)
def test_a_field_names_versions(field: str, *, fits: bool):
    assert EditedThing("a", None).fits(field) is fits


def test_an_etag_is_of_the_content():
    assert edited({"a": 1, "b": "书"}) == edited({"b": "书", "a": 1})
    assert edited({"a": 1}).tag != edited({"a": 2}).tag


def test_what_has_a_version_can_be_looked_at():
    for row in ROUTES:
        if row.version_of is not None and row.verb in {"PUT", "PATCH"}:
            looks = [
                one for one in ROUTES if one.verb == "GET" and one.version_of == row.version_of
            ]
            assert looks or row.path.startswith(f"{API}/jobs/{{job}}/settings"), row.path


OWN_WAY = {
    "/session": "of oneself alone",
    "/session/password": "it needs the one of before",
    "/jobs/{job}/config": "it needs `If-Match`, and looks at it itself",
    "/jobs/{job}/parallel": "of a running process; the answer has the number of before",
}
"""What is set anew without `version_of`, and why."""


def test_what_is_set_anew_has_a_version():
    without = {
        row.path.removeprefix(API)
        for row in ROUTES
        if row.is_api and row.verb in {"PUT", "PATCH"} and row.version_of is None
    }
    assert without == OWN_WAY.keys()


def test_wanted_kinds_of_an_older_version_are_refused_with_both(tmp_path: Path):
    add_job(tmp_path, "demo")
    path = f"{JOB}/wanted-kinds"

    async def scene(console: GivenConsole) -> None:
        client, steer = console.client, console.as_key(Role.OPERATOR)
        old = (await client.get(path, headers=steer)).headers["etag"]
        first = {**steer, "if-match": old}
        one, two = {"prefixes": ["http://a.test/书/"]}, {"prefixes": ["http://b.test/"]}
        made = await client.put(path, json=one, headers=first)
        assert (made.status_code, made.json()) == (200, one)
        late = await client.put(path, json=two, headers=first)
        assert (late.status_code, late.json()["saved"], late.json()["yours"]) == (412, one, two)
        now = (await client.get(path, headers=steer)).headers["etag"]
        assert now == late.headers["etag"] == made.headers["etag"] != old
        again = await client.put(path, json=two, headers={**steer, "if-match": now})
        assert again.json() == two
        assert (await client.put(path, json=one, headers=steer)).status_code == 200

    play(tmp_path, scene)


def test_a_change_of_an_older_version_is_refused_with_both(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        client, steer = console.client, console.as_key(Role.OPERATOR)
        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        old = (await client.get(JOB, headers=steer)).headers["etag"]
        assert old == (await client.get(JOB, headers=steer)).headers["etag"]
        first = {**steer, "if-match": old}
        made = await client.patch(JOB, json={"name": "图书馆"}, headers=first)
        assert made.status_code == 200
        late = await client.patch(JOB, json={"name": "late"}, headers=first)
        assert late.status_code == 412
        assert late.headers["content-type"] == "application/problem+json"
        told = late.json()
        assert (told["code"], told["saved"]["name"], told["yours"]["name"]) == (
            "changed", "图书馆", "late"
        )  # fmt: skip
        assert late.headers["etag"] == made.headers["etag"] == f'"{told["etag"]}"'
        again = {**steer, "if-match": late.headers["etag"]}
        assert (await client.patch(JOB, json={"name": "late"}, headers=again)).status_code == 200
        free = await client.patch(JOB, json={"name": "free"}, headers=steer)
        assert free.status_code == 200  # without the field the last one wins

    play(tmp_path, scene)


def test_settings_and_sheets_have_the_version_of_the_file(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        client, steer = console.client, console.as_key(Role.OPERATOR)
        old = (await client.get(f"{JOB}/config", headers=steer)).headers["etag"]
        assert (await client.get(f"{JOB}/sheets", headers=steer)).headers["etag"] == old
        wish = {"assignments": ["politeness.min_delay=5"]}
        fields = {**steer, "if-match": old, "idempotency-key": "one"}
        done = await client.patch(f"{JOB}/settings", json=wish, headers=fields)
        assert done.status_code == 200, done.text
        assert done.headers["etag"] not in {"", old}
        sheet = {"name": "slow", "assignments": ["politeness.min_delay=9"]}
        late = await client.post(f"{JOB}/sheets", json=sheet, headers=fields)
        assert (late.status_code, late.json()["code"]) == (412, "changed")
        assert "min_delay: 5" in late.json()["saved"]
        fresh = {**fields, "if-match": done.headers["etag"]}
        kept = await client.post(f"{JOB}/sheets", json=sheet, headers=fresh)
        assert kept.status_code == 200, kept.text  # a refusal was not kept for the key
        assert "idempotency-replayed" not in kept.headers
        again = await client.post(f"{JOB}/sheets", json=sheet, headers=fresh)
        assert again.headers["idempotency-replayed"] == "true"

    play(tmp_path, scene)


def test_a_schedule_a_quota_and_a_user_have_versions(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        client, boss = console.client, console.as_key(Role.ADMIN)
        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        stale = {**boss, "if-match": '"other"'}
        wish = {"job": "crawls~demo", "at": "@daily"}
        made = (await client.post(f"{API}/schedules", json=wish, headers=boss)).json()
        path = f"{API}/schedules/{made['id']}"
        tag = (await client.get(path, headers=boss)).headers["etag"]
        paused = {**wish, "paused": True}
        assert (await client.put(path, json=paused, headers=stale)).status_code == 412
        put = await client.put(path, json=paused, headers={**boss, "if-match": tag})
        assert put.status_code == 200
        late = await client.delete(path, headers={**boss, "if-match": tag})
        assert (late.status_code, late.json()["saved"]["paused"]) == (412, True)
        gone = await client.delete(path, headers={**boss, "if-match": put.headers["etag"]})
        assert gone.status_code == 204
        quota = f"{API}/quota"
        assert (await client.put(quota, json={"limit": 9}, headers=stale)).status_code == 412
        tag = (await client.get(quota, headers=boss)).headers["etag"]
        set_now = await client.put(quota, json={"limit": 9}, headers={**boss, "if-match": tag})
        assert set_now.status_code == 200
        assert (await client.get(quota, headers=boss)).headers["etag"] == set_now.headers["etag"]
        word = "four words that are unlike"
        user = {"name": "anna", "password": word, "role": "admin"}
        assert (await client.post(f"{API}/users", json=user, headers=boss)).status_code == 201
        one = await client.get(f"{API}/users/anna", headers=boss)
        assert (one.json()["role"], "password" in one.json()) == ("admin", False)
        other = {"password": f"{word} more"}
        assert (await client.patch(one.url.path, json=other, headers=stale)).status_code == 412

    play(tmp_path, scene)


def test_the_secret_of_a_key_is_not_kept_for_a_repeat(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = {**console.as_key(Role.ADMIN), "idempotency-key": "one"}
        wish = {"name": "reader"}
        made = await console.client.post(f"{API}/keys", json=wish, headers=fields)
        assert made.status_code == 201
        kept = console.parts.repeats._database.rows("SELECT answer FROM repeats")
        assert not [row for row in kept if made.json()["key"].encode() in bytes(str(row), "utf8")]
        again = await console.client.post(f"{API}/keys", json=wish, headers=fields)
        assert again.status_code == 422

    play(tmp_path, scene)
