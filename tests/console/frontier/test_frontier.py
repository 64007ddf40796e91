import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from nacre.console.frontier.changes import FrontierWish, is_as_seen
from nacre.console.frontier.queues import QueuesQuery, list_queues
from nacre.console.frontier.uris import UrisQuery, list_uris
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import LONG, GivenConsole, given_console
from tests.console.waiting import GBK, URLS, UTF_8, add_waiting_job

J = "/api/v1/jobs/crawls~demo"


def play(folder: Path, scene: Callable[[GivenConsole], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console)

    asyncio.run(played())


async def got(console: GivenConsole, path: str, /, **query: object) -> dict[str, Any]:
    params = {name: str(value) for name, value in query.items()}
    answer = await console.client.get(J + path, params=params, headers=console.as_key())
    if answer.status_code == 202:  # the machine is busy
        await console.parts.common.tasks.task(answer.json()["id"]).outcome(LONG)
        return await got(console, path, **query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def posted(
    console: GivenConsole, path: str, role: Role = Role.OPERATOR, **body: object
) -> tuple[int, dict[str, Any]]:
    """Status and answer of a request; of one that became a task, those of its end."""
    answer = await console.client.post(J + path, json=body, headers=console.as_key(role))
    if answer.status_code != 202:
        return answer.status_code, answer.json()
    task = console.parts.common.tasks.task(answer.json()["id"])
    await task.wait(LONG)
    if task.problem is not None:
        return task.problem.status, to_builtins(task.problem)
    return 200, task.result


def test_queues_are_sorted_filtered_and_paged(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        page = await got(console, "/queues")
        assert page["items"][0]["queue"] == "test,example,a,"
        assert page["items"][0]["waiting"] == 42
        assert (page["queues"], page["next"]) == (5, None)
        names: list[str] = []
        after: str | None = ""
        while after is not None:
            page = await got(console, "/queues", sort="name", limit=2, after=after)
            names += [item["queue"] for item in page["items"]]
            after = page["next"]
        assert names == [
            "127.0.0.1#9",
            "test,example,a,",
            "test,example,b,",
            "test,gbk,",
            "test,utf,",
        ]
        falling = await got(console, "/queues", sort="-name", limit=2)
        assert [one["queue"] for one in falling["items"]] == ["test,utf,", "test,gbk,"]
        found = await got(console, "/queues", re="gbk|utf")
        assert len(found["items"]) == 2
        assert (await got(console, "/queues", state="retired"))["items"] == []
        one = await got(console, "/queues/test,gbk,")
        assert (one["host"], one["waiting"]) == ("gbk.test", 1)
        missing = await console.client.get(f"{J}/queues/none,", headers=console.as_key())
        assert (missing.status_code, missing.json()["detail"]) == (404, "there is no queue none,")
        for query in ({"sort": "x"}, {"state": "x"}, {"after": "!"}, {"re": "("}, {"limit": "x"}):
            bad = await console.client.get(f"{J}/queues", params=query, headers=console.as_key())
            assert bad.status_code in {400, 422}, query

    play(tmp_path, scene)


def test_uris_are_paged_without_loss_and_found_by_their_beginning(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        urls: list[str] = []
        after: str | None = ""
        while after is not None:
            page = await got(console, "/uris", limit=7, after=after)
            urls += [item["url"] for item in page["items"]]
            after = page["next"]
        assert sorted(urls) == sorted([*URLS, "http://127.0.0.1:9/"])
        for prefix in ("http://gbk.test/中国/", "http://(test,gbk,", GBK):
            assert [u["url"] for u in (await got(console, "/uris", prefix=prefix))["items"]] == [
                GBK
            ]
        found = await got(console, "/uris", prefix="http://utf.test/中国/")
        assert [u["url"] for u in found["items"]] == [UTF_8]
        page = await got(console, "/uris", queue="test,example,a,", re="docs")
        assert len(page["items"]) == 2

    play(tmp_path, scene)


def test_the_tree_counts_domains_hosts_and_paths(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        top = {one["name"]: one["waiting"] for one in (await got(console, "/uris/tree"))["items"]}
        assert top == {"127.0.0.1#9": 1, "test,": 45}
        below = await got(console, "/uris/tree", prefix="test,", limit=2)
        assert [one["name"] for one in below["items"]] == ["test,example,", "test,gbk,"]
        rest = await got(console, "/uris/tree", prefix="test,", limit=2, after=below["next"])
        assert [one["queue"] for one in rest["items"]] == ["test,utf,"]
        paths = await got(console, "/uris/tree", queue="test,example,a,")
        assert paths["complete"]
        counted = {one["name"]: one["waiting"] for one in paths["items"]}
        assert counted == {"/calendar/": 40, "/docs/": 2}
        assert (paths["left_out"], paths["left_waiting"]) == (0, 0)
        most = await got(console, "/uris/tree", queue="test,example,a,", limit=1)
        assert [one["name"] for one in most["items"]] == ["/calendar/"]
        assert (most["left_out"], most["left_waiting"]) == (1, 2)
        days = await got(console, "/uris/tree", queue="test,example,a,", path="/calendar/", limit=9)
        assert [one["name"] for one in days["items"]] == sorted(
            f"/calendar/{day}" for day in range(40)
        )[:9]
        assert (days["left_out"], days["left_waiting"]) == (31, 31)

    play(tmp_path, scene)


def test_a_preview_has_samples_of_all_hosts_and_changes_nothing(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        _, found = await posted(console, "/frontier/count", Role.VIEWER, urls="test/")
        assert (found["count"], found["queues"], len(found["samples"])) == (45, 4, 20)
        assert {GBK, UTF_8, "http://b.example.test/"} <= set(found["samples"])
        assert found["hosts"][0] == {
            "queue": "test,example,a,", "host": "a.example.test", "number": 42
        }  # fmt: skip
        _, queues = await posted(console, "/frontier/count", action="retire", queues="gbk")
        assert queues["count"] == 1
        assert (await posted(console, "/frontier/count", action="burn"))[0] == 404

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("action", "expect", "number", "near"),
    [
        ("delete", 100, 105, True),
        ("delete", 100, 107, False),
        ("delete", 100, 90, False),
        ("exclude", 718, 603, True),
        ("exclude", 718, 0, True),
        ("exclude", 718, 1077, True),
        ("exclude", 718, 1078, False),
        ("exclude", 0, 50, True),
        ("exclude", 0, 51, False),
    ],
)
def test_what_is_excluded_may_shrink_and_grow_meanwhile(
    action: str, expect: int, number: int, near: bool
):
    assert is_as_seen(action, FrontierWish(expect=expect), number, 3) == near


def test_a_trap_may_grow_by_any_number_on_the_hosts_that_were_seen():
    seen = FrontierWish(urls="x", expect=10, expect_queues=2)
    assert is_as_seen("exclude", seen, 100_000, 2)
    assert not is_as_seen("exclude", seen, 100_000, 3)
    assert is_as_seen("exclude", seen, 30, 3)
    assert not is_as_seen("delete", seen, 100_000, 2)


def test_what_is_excluded_is_out_of_the_scope_and_waits_no_more(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        status, problem = await posted(console, "/frontier/exclude", queues="x", urls="y")
        assert (status, problem["code"]) == (422, "no-queues")
        _, done = await posted(console, "/frontier/exclude", urls="/calendar/", expect=12)
        rule = done.pop("rule")
        assert rule.startswith("scope.")
        assert done == {"action": "exclude", "changed": 40, "counted": 40, "over": False}
        urls = ["http://127.0.0.1:9/calendar/2027/01", "http://127.0.0.1:9/other"]
        tried = await console.client.post(
            f"{J}/dry-run", json={"urls": urls}, headers=console.as_key(Role.OPERATOR)
        )
        decisions = [one["now"]["decision"] for one in tried.json()["items"]]
        assert decisions == ["REJECT", "ACCEPT"]
        _, again = await posted(console, "/frontier/exclude", urls="/calendar/", expect=0)
        assert again["changed"] == 0
        status, problem = await posted(console, "/frontier/count", action="include", urls="x")
        assert (status, problem["code"]) == (422, "no-preview")
        _, back = await posted(console, "/frontier/include", urls="/calendar/")
        assert back == {
            "action": "include", "changed": 40, "counted": None, "rule": rule, "over": False,
        }  # fmt: skip
        _, twice = await posted(console, "/frontier/include", urls="/calendar/")
        assert (twice["changed"], twice["rule"]) == (0, "")

    play(tmp_path, scene)


def test_delete_needs_the_count_that_was_seen_and_is_in_job_log(tmp_path: Path):
    job = add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        status, problem = await posted(console, "/frontier/delete")
        assert (status, problem["code"]) == (422, "nothing-chosen")
        status, problem = await posted(console, "/frontier/delete", urls="/calendar/", expect=30)
        assert (status, problem["code"]) == (409, "count-differs")
        status, _ = await posted(console, "/frontier/delete", Role.VIEWER, urls="/calendar/")
        assert status == 403
        _, done = await posted(console, "/frontier/delete", urls="/calendar/", expect=39)
        assert (done["action"], done["changed"], done["counted"]) == ("delete", 40, 40)
        left = await got(console, "/queues", sort="-waiting")
        assert left["items"][0]["waiting"] == 2
        _, retired = await posted(console, "/frontier/retire", queues="gbk")
        assert retired["changed"] == 1
        page = await got(console, "/queues", state="retired")
        assert [one["queue"] for one in page["items"]] == ["test,gbk,"]

    play(tmp_path, scene)
    log = (job / "latest" / "logs" / "job.log").read_text()
    assert "frontier delete URLs /calendar/: 40, by operator key via console" in log
    assert "frontier retire queues gbk: 1, by operator key via console" in log


def test_a_job_that_never_ran_says_so(tmp_path: Path):
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        answer = await console.client.get(f"{J}/queues", headers=console.as_key())
        assert (answer.status_code, answer.json()["code"]) == (409, "refused")
        assert "has not run yet" in answer.json()["detail"]

    play(tmp_path, scene)


@pytest.mark.parametrize("cursor", ["!", "AAAA", "gqFhwA", "x" * 5000])
def test_a_cursor_that_is_none_is_refused(cursor: str, tmp_path: Path):
    with pytest.raises(RefusedRequestError, match="not a cursor"):
        list_queues.read(Layout(tmp_path), QueuesQuery(after=cursor))
    with pytest.raises(RefusedRequestError, match="not a cursor"):
        list_uris.read(Layout(tmp_path), UrisQuery(after=cursor))


def test_a_deletion_with_a_key_is_done_once(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        steer = {**console.as_key(Role.OPERATOR), "idempotency-key": "one"}
        wish = {"urls": "http://b[.]example.*", "expect": 1}
        sent = [
            await console.client.post(f"{J}/frontier/delete", json=wish, headers=steer)
            for _ in range(2)
        ]
        first, again = sent
        assert first.status_code in {200, 202}, first.text
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert again.headers["idempotency-replayed"] == "true"
        if first.status_code == 202:  # a task: the second one is the same
            assert (await console.parts.common.tasks.task(first.json()["id"]).outcome(LONG))[
                "changed"
            ]
        other = {**wish, "expect": 2}
        refused = await console.client.post(f"{J}/frontier/delete", json=other, headers=steer)
        assert (refused.status_code, refused.json()["code"]) == (422, "other-body")

    play(tmp_path, scene)
