import asyncio
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.console.admin.audit import AuditFilter, audit_page
from nacre.console.routes import API
from nacre.errors import StorageError
from nacre.fleet.audit import (
    LONGEST,
    MOST_OF_NOBODY,
    WINDOW,
    AuditEntry,
    AuditLog,
    line_of,
    without_secrets,
)
from nacre.machine.local_files import append_lines
from nacre.messages import message
from nacre.ops.operation import Role
from nacre.runs.runs import append_note, note_line
from tests.console.given import GivenConsole, play
from tests.console.test_app import add_job
from tests.fleet.test_keys import GivenClock


def entry(who: str = "anna", **more: Any) -> AuditEntry:
    return AuditEntry("", who, "session", "127.0.0.1", "POST /x", 200, "done", **more)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"password": "x"}, {"password": "(set, not shown)"}),
        ({"fetch.proxy": "http://u:p@h"}, {"fetch.proxy": "(set, not shown)"}),
        ({"login": {"password": {"env": "P"}}}, {"login": {"password": {"env": "P"}}}),
        ({"secret": {"env": "P", "more": 1}}, {"secret": "(set, not shown)"}),
        ({"secret": ""}, {"secret": ""}),
        (["http://anna:geheim@h.test/"], ["http://***@h.test/"]),
        ("x" * (LONGEST + 1), "x" * LONGEST + "… (2,001 characters)"),
        (list(range(101)), [*range(100), "… 101 in all"]),
        ((1, 2.5, None, True), [1, 2.5, None, True]),
        (Role.ADMIN, 3),
    ],
)
def test_asvs_16_2_5_secrets_are_references_or_not_there(value: object, shown: object):
    assert without_secrets(value) == shown


def test_what_is_deep_or_wide_is_cut():
    deep: Any = 1
    for _ in range(20):
        deep = {"a": deep}
    assert b"\xe2\x80\xa6" in line_of(entry(after=deep))
    wide = {f"n{n}": {f"m{m}": "v" * 100 for m in range(100)} for n in range(100)}
    line = line_of(entry(after=wide))
    assert len(line) < 500
    assert b"bytes)" in line


def test_asvs_16_4_only_the_owner_can_read_it_and_links_are_refused(tmp_path: Path):
    path = tmp_path / "audit.log"
    append_lines(path, b"{}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(OSError, match="symbolic links"):
        append_lines(link, b"{}\n")


def test_a_half_line_of_a_crash_spoils_no_other(tmp_path: Path):
    log = AuditLog(tmp_path, GivenClock())
    log.path.write_bytes(b'{"time": "20')
    asyncio.run(log.add(entry("berta")))
    page = audit_page(log.path, 0, 50, AuditFilter())
    assert [one.who for one in page.entries] == ["berta"]


def test_nobody_cannot_fill_the_disk(tmp_path: Path):
    clock = GivenClock()
    log = AuditLog(tmp_path, clock)

    async def scene() -> None:
        for _ in range(MOST_OF_NOBODY + 7):
            await log.add(entry(""))
        await log.add(entry("anna"))
        clock.time += WINDOW
        await log.add(entry(""))

    asyncio.run(scene())
    found = lines(log.path)
    assert len(found) == MOST_OF_NOBODY + 3
    assert (found[-2]["outcome"], found[-2]["after"]) == ("counted", 7)


def test_lines_wait_while_the_disk_is_full(tmp_path: Path):
    log = AuditLog(tmp_path, GivenClock())
    log.path.mkdir()

    async def scene() -> None:
        await log.add(entry("anna"))
        assert "cannot be written" in log.trouble
        log.path.rmdir()
        await log.add(entry("berta"))

    asyncio.run(scene())
    assert [line["who"] for line in lines(log.path)] == ["anna", "berta"]
    assert not log.trouble


def test_pages_go_back_to_the_first_line(tmp_path: Path):
    path = tmp_path / "audit.log"
    data = b"".join(line_of(entry(f"user {n}", after="图" * (n * 7 % 900))) for n in range(500))
    append_lines(path, data)
    found, end = list[str](), 0
    while True:
        page = audit_page(path, end, 33, AuditFilter())
        found += [one.who for one in page.entries]
        end = page.end
        if not end:
            break
    assert found == [f"user {n}" for n in reversed(range(500))]
    (one,) = audit_page(path, 0, 5, AuditFilter(who="user 17")).entries
    assert one.who == "user 17"
    assert audit_page(path, 10**9, 1, AuditFilter()).entries[0].who == "user 499"
    assert audit_page(tmp_path / "none", 0, 5, AuditFilter()).entries == ()
    with pytest.raises(StorageError, match="cannot be read"):
        audit_page(Path(os.devnull) / "x", 0, 5, AuditFilter())


def test_asvs_16_2_each_unsafe_request_has_its_line(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(), console.client
        await client.patch(f"{API}/session", json={"language": "zh_CN"}, headers=fields)
        await client.patch(f"{API}/session", json={"language": "tlh"}, headers=fields)
        forged = {**fields, "sec-fetch-site": "cross-site"}
        await client.delete(f"{API}/session", headers=forged)
        await client.post("/login", data={"key": "geheim"}, headers={"sec-fetch-site": "none"})
        await client.get(f"{API}/session", headers=fields)
        answer = await client.get(f"{API}/audit", headers=console.as_key(Role.ADMIN))
        page = answer.json()
        told = [(one["action"], one["who"], one["outcome"]) for one in page["items"]]
        assert told == [
            ("POST /login", "", "other-origin"),
            (f"DELETE {API}/session", "anna", "other-origin"),
            (f"PATCH {API}/session", "anna", "language"),
            (f"PATCH {API}/session", "anna", "done"),
        ]
        assert page["items"][-1]["after"] == {"language": "zh_CN"}
        assert page["next"] is None
        assert b"geheim" not in console.parts.audit.path.read_bytes()
        part = await client.get(
            f"{API}/audit?who=anna&outcome=done&limit=1", headers=console.as_key(Role.ADMIN)
        )
        assert [one["status"] for one in part.json()["items"]] == [200]
        wrong = await client.get(f"{API}/audit?after=x", headers=console.as_key(Role.ADMIN))
        assert (wrong.status_code, wrong.json()["code"]) == (422, "bad-query")

    play(tmp_path, scene)


def test_nothing_is_changed_that_cannot_be_logged(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        log = console.parts.audit
        log.path.mkdir()
        for _ in range(1000):
            log._lines.append(b"{}\n")
        answer = await console.client.delete(f"{API}/session", headers=console.as_session())
        await console.parts.audit.add(entry())
        again = await console.client.delete(f"{API}/session", headers=console.as_session())
        assert {answer.status_code, again.status_code} == {503}
        assert msgspec.json.decode(again.content)["code"] == "audit"

    play(tmp_path, scene)


def test_a_line_about_a_job_is_copied_to_its_log(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    for name in ("a", "b"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        steer, client = console.as_key(Role.OPERATOR), console.client
        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        await client.patch(f"{API}/jobs/crawls~a", json={"name": "A"}, headers=steer)
        await client.post(f"{API}/jobs/crawls~a/pause", headers=steer)
        await client.post(f"{API}/jobs/crawls~a/pause")
        both = {"action": "pause", "job": ["crawls~a", "crawls~b"]}
        await client.post("/act", data=both, headers=steer)
        lines = (tmp_path / "crawls/a/job.log").read_text("utf-8").splitlines()
        assert len(lines) == 3  # what nobody asked for is in the audit log alone
        assert lines[0].partition(" ")[2].startswith(f"INFO PATCH {API}/jobs/{{job}}, by operator")
        assert "INFO refused (" in lines[1]
        assert "INFO POST /act, by operator" in lines[2]
        assert "POST /act" in (tmp_path / "crawls/b/job.log").read_text("utf-8")
        assert (tmp_path / "crawls/a/job.log").stat().st_mode & 0o77 == 0

    play(tmp_path, scene)


def test_the_log_of_a_job_is_never_written_through_a_link(tmp_path: Path):
    job, other = tmp_path / "job", tmp_path / "other"
    job.mkdir()
    other.write_text("theirs")
    (job / "job.log").symlink_to(other)
    append_note(job, "a line")
    append_note(tmp_path / "none", "a line")
    assert other.read_text() == "theirs"
    assert note_line("T", "INFO", "a\nb") == "T INFO a b"


class _Reason(msgspec.Struct):
    why: str


def test_a_message_in_a_struct_is_its_text():
    reason = _Reason(message("a.b", "not so"))
    entry = AuditEntry("", "anna", "session", "", "x", 200, "done", after=reason)
    assert json.loads(line_of(entry))["after"] == {"why": "not so"}
