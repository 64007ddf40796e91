"""Webhooks of the console, with servers on loopback that accept, fail, hang and redirect."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.console.quota_runner import QuotaRunner
from nacre.console.routes import API
from nacre.console.webhook_runner import SeenRun, WebhookRunner, ended_runs, events_of
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.snapshot import JobSnapshot
from nacre.fleet.webhook_book import KEPT, MOST_WAITING, HookDelivery, WebhookBook
from nacre.job.background import webhooks as sender
from nacre.job.background.webhooks import TRIES
from nacre.job.diagnosis import Diagnosis
from nacre.job.overview import JobOverview
from nacre.machine.layout import Layout
from nacre.messages import Message
from nacre.ops.operation import Role
from nacre.runs.runs import read_run
from nacre.store.store import Store
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play
from tests.console.results.given import job_with_changes

OK = b"HTTP/1.1 204 No Content\r\n\r\n"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
ELSEWHERE = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
HANGS = b""


class Receiver:
    """A server that answers as it is told, the last answer again and again."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.url = ""
        self.tasks: list[asyncio.Task[Any] | None] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.append(asyncio.current_task())
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        body = await reader.readexactly(int(fields["Content-Length"]))
        self.got.append(({"": first, **fields}, body))
        answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        if answer == HANGS:
            await reader.read()  # until the other side gives up
        writer.write(answer)
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def receiving(*answers: bytes) -> AsyncIterator[Receiver]:
    """A server, while the block runs."""
    made = Receiver(*answers)
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/hook?key=1"
    async with listening:
        yield made
    for task in made.tasks:
        if task is not None:
            await task


async def added(console: GivenConsole, url: str, **wish: object) -> str:
    """Keep a webhook; its path."""
    made = await console.client.post(
        f"{API}/webhooks", headers=console.as_key(Role.OPERATOR),
        json={"url": url, "private": True, "secret": "s3cret", **wish},
    )  # fmt: skip
    assert made.status_code == 201, made.text
    assert "s3cret" not in made.text
    return f"{API}/webhooks/{made.json()['id']}"


async def sent(console: GivenConsole) -> None:
    """Post once what is due, as if its time had come."""
    runner, book = WebhookRunner(console.parts.runners), console.parts.webhooks
    for hook in book.all():
        for one in book.deliveries(hook.id, "waits")[-1:]:
            await runner.attempt(hook, one)


async def last(console: GivenConsole, at: str) -> dict[str, Any]:
    """The newest message of a webhook."""
    got = await console.client.get(f"{at}/deliveries", headers=console.as_key(Role.OPERATOR))
    found: dict[str, Any] = got.json()["items"][0]
    return found


def test_a_message_is_signed_and_listed_with_its_answer(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        async with receiving(OK) as server:
            at = await added(console, server.url)
            tested = await console.client.post(f"{at}/test", headers=console.as_key(Role.OPERATOR))
            assert (tested.status_code, tested.json()["waiting"]) == (202, 1)
            await sent(console)
            fields, body = server.got[0]
            assert fields[""] == "POST /hook?key=1 HTTP/1.1"
            assert (fields["X-Nacre-Event"], json.loads(body)["event"]) == ("test", "test")
            assert fields["X-Nacre-Delivery"] == json.loads(body)["id"]
            signed = fields["X-Nacre-Timestamp"].encode() + b"." + body
            wanted = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
            assert fields["X-Nacre-Signature"] == f"sha256={wanted}"
            found = await last(console, at)
            assert (found["step"], found["tries"], found["answer"]) == ("delivered", 1, "204")
            listed = await console.client.get(at, headers=console.as_key(Role.OPERATOR))
            assert listed.json()["last"] == "delivered: 204"
        audit = console.parts.audit.path.read_text()
        assert "s3cret" not in audit
        assert "webhooks" in audit

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("answer", "said"),
    [(BUSY, "answered 503"), (ELSEWHERE, "answered 302"), (HANGS, "no answer within")],
)
def test_what_fails_hangs_or_redirects_is_tried_again_and_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes, said: str
):
    monkeypatch.setattr(sender, "TIMEOUT", 0.05)
    monkeypatch.setattr(sender.post, "__defaults__", (0.05, ""))

    async def scene(console: GivenConsole) -> None:
        async with receiving(answer) as server:
            at = await added(console, server.url)
            console.parts.webhooks.tell("finished", "crawls~图书馆", "RUNNING -> FINISHED")
            waits, found = list[int](), dict[str, Any]()
            for tries in range(1, TRIES + 1):
                now = console.parts.common.clock.now()
                await sent(console)
                found = await last(console, at)
                assert found["tries"] == tries
                assert said in found["answer"]
                assert "key=1" not in found["answer"]
                (one,) = console.parts.webhooks.deliveries(1)
                waits.append(round(one.due - now))
            assert found["step"] == "given-up"
            assert waits[:4] == [1, 2, 4, 8]
            assert max(waits) <= 61
            assert len(server.got) == TRIES
            assert not WebhookRunner(console.parts.runners).due()

    play(tmp_path, scene)


def test_asvs_1_3_a_private_address_is_refused_unless_it_was_allowed(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        async with receiving(OK) as server:
            at = await added(console, server.url, private=False)
            console.parts.webhooks.tell("finished", "", "x")
            await sent(console)
            assert not server.got
            assert "not public" in (await last(console, at))["answer"]

    play(tmp_path, scene)


def test_messages_and_answers_are_stored_with_their_codes(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        async with receiving(BUSY) as server:
            at = await added(console, server.url)
            book = console.parts.webhooks
            await console.client.post(f"{at}/test", headers=console.as_key(Role.OPERATOR))
            await sent(console)
            _, body = server.got[0]
            assert "messages" not in json.loads(body)
            (delivery,) = book.deliveries(1)
            assert isinstance(delivery.facts["message"], Message)
            assert isinstance(delivery.answer, Message)
            chinese = {**console.as_session(Role.OPERATOR), "accept-language": "zh-CN"}
            page = (await console.client.get("/webhooks?webhook=1", headers=chinese)).text
            origin = server.url.partition("/hook")[0]
            assert f"{origin} 的应答为 503" in page
            assert "要求的测试" in page
            # A row of an earlier version has the English text alone.
            book.keep(msgspec.structs.replace(delivery, answer="it answered 503"))
            (delivery,) = book.deliveries(1)
            assert (delivery.answer, type(delivery.answer)) == ("it answered 503", str)

    play(tmp_path, scene)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"job":null}', b"\xff\xfe", b'"x"'])
def test_a_damaged_message_does_not_hold_up_the_others(tmp_path: Path, body: bytes):
    async def scene(console: GivenConsole) -> None:
        async with receiving(OK) as receiver:
            at = await added(console, receiver.url, private=True)
            book = console.parts.webhooks
            book.tell("quota", "", "一")
            book._database.rows("UPDATE deliveries SET body = ?", body)
            book.tell("quota", "", "二")
            await sent(console)
            await sent(console)
            messages = [json.loads(data)["message"] for _, data in receiver.got]
            assert messages[0].startswith("the stored message is damaged")
            assert messages[1:] == ["二"]
            fields = console.as_key(Role.ADMIN)
            listed = (await console.client.get(f"{at}/deliveries", headers=fields)).json()["items"]
            assert [item["step"] for item in listed] == ["delivered"] * 2
            page = await console.client.get("/webhooks", headers=fields)
            assert "the stored message is damaged" in page.text

    play(tmp_path, scene)


def test_webhooks_are_changed_and_keep_their_secret(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_key(Role.OPERATOR), console.client
        at = await added(console, "https://ops.example/书")
        for path, wrong in (("url", "ftp://a/"), ("url", "http://a:b@c/"), ("on", [])):
            body: dict[str, object] = {"url": "https://ops.example/", path: wrong}
            refused = await client.post(f"{API}/webhooks", json=body, headers=fields)
            assert refused.status_code == 422
            assert refused.json()["problems"][0]["path"] == path
        body = {"url": "https://ops.example/", "on": ["quota"], "paused": True}
        changed = await client.put(at, json=body, headers=fields)
        assert changed.json()["signed"] is True
        console.parts.webhooks.tell("quota", "", "x")
        assert console.parts.webhooks.deliveries(1) == []  # it is paused
        assert (await client.post(f"{at}/test", headers=fields)).status_code == 409
        unsigned = await client.put(at, json={**body, "secret": ""}, headers=fields)
        assert unsigned.json()["signed"] is False
        viewer = console.as_key(Role.VIEWER)
        assert (await client.get(f"{API}/webhooks", headers=viewer)).status_code == 403
        assert (await client.delete(at, headers=fields)).status_code == 204
        assert (await client.get(at, headers=fields)).status_code == 404

    play(tmp_path, scene)


def test_a_quota_that_is_nearly_used_up_is_told_once(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    assert nacre("new", tmp_path / "crawls" / "图书馆", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        book = console.parts.webhooks
        await added(console, "https://ops.example/")
        (job,) = console.parts.common.fleet.jobs
        console.parts.books.quotas.set(str(job.layout.root), 1)
        runner = QuotaRunner(console.parts.runners)
        await runner.turn()
        await runner.turn()
        (one,) = book.deliveries(1)
        said = msgspec.json.decode(one.body)
        assert (said["event"], said["job"]) == ("quota", "crawls~图书馆")
        assert said["message"].startswith("full: ")

    play(tmp_path, scene)


RUNS = SeenRun("RUNNING", True, "a")
OVER = SeenRun("FINISHED", False, "a", 10.0)


@pytest.mark.parametrize(
    ("before", "now", "events"),
    [
        (SeenRun("NASCENT", False), RUNS, ("started",)),
        (RUNS, RUNS._replace(state="PAUSED"), ("paused",)),
        (RUNS._replace(state="PAUSED"), RUNS, ("resumed",)),
        (RUNS, OVER, ("finished",)),
        (RUNS, SeenRun("CRASHED", False, "a"), ("crashed",)),
        (RUNS, RUNS._replace(state="EMPTY"), ()),
        (RUNS, RUNS, ()),
        (OVER, OVER, ()),
        # A run that began and ended between two looks.
        (SeenRun("NASCENT", False), OVER, ("started", "finished")),
        (OVER, SeenRun("FINISHED", False, "b", 20.0), ("started", "finished")),
        (OVER._replace(state="PREPARING"), OVER._replace(run="b", ended=20.0),
         ("started", "finished")),
        (OVER._replace(state="ABORTED"), OVER._replace(ended=20.0), ("started", "finished")),
        (RUNS, RUNS._replace(run="b"), ("finished", "started")),
        (RUNS, OVER._replace(run="b"), ("finished", "started", "finished")),
        # What is no run: a start that failed, and an end for good.
        (OVER._replace(state="PREPARING"), OVER, ()),
        (OVER, OVER._replace(closed=True), ()),
        (SeenRun("CRASHED", False, "a"), SeenRun("ABORTED", False, "a", 10.0, True), ()),
        # A job that is crawled in rounds has no run.
        (SeenRun("ROUNDS", False), SeenRun("ROUNDS", True), ("started",)),
        (SeenRun("ROUNDS", True), SeenRun("ROUNDS", False), ("finished",)),
    ],
)  # fmt: skip
def test_changes_of_jobs_are_events(before: SeenRun, now: SeenRun, events: tuple[str, ...]):
    assert events_of(before, now) == events


def test_a_short_run_is_told_once_also_over_a_restart(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        await added(console, "https://ops.example/", on=["started", "finished"])
        poller, book = console.parts.common.poller, console.parts.webhooks

        def ended(run: str, at: float) -> None:
            seen = JobOverview("FINISHED", run=run, ended_at=at)
            sentence = Diagnosis("ready")
            poller._keep(
                JobSnapshot(
                    "crawls~demo", at, "FINISHED", running=False, sentence=sentence, overview=seen
                )
            )

        def told() -> list[str]:
            return [one.event for one in reversed(book.deliveries(1))]

        ended("a", 10.0)
        runner = WebhookRunner(console.parts.runners)
        runner.look()
        assert told() == []  # it ended long before this console
        ended("b", 20.0)
        runner.look()
        runner.look()
        assert told() == ["started", "finished"]
        again = WebhookRunner(console.parts.runners)  # as the next process makes it
        again.look()
        assert told() == ["started", "finished"]
        ended("c", 30.0)
        again.look()
        assert told() == ["started", "finished"] * 2

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("before", "now", "runs"),
    [
        (RUNS, OVER, ["a"]),
        (RUNS, OVER._replace(run="b"), ["a", "b"]),
        (RUNS, RUNS._replace(run="b"), ["a"]),
        (SeenRun("NASCENT", False), OVER, ["a"]),
        (SeenRun("ROUNDS", True), SeenRun("ROUNDS", False), []),
    ],
)
def test_the_runs_that_ended_between_two_looks(before: SeenRun, now: SeenRun, runs: list[str]):
    assert list(ended_runs(before, now)) == runs


def test_the_changes_of_a_run_are_posted_after_its_end(tmp_path: Path):
    job = job_with_changes(tmp_path)
    with Store.open(str(Layout(job).store)) as store:
        run = read_run(store)
    assert run is not None

    async def scene(console: GivenConsole) -> None:
        book, runner = console.parts.webhooks, WebhookRunner(console.parts.runners)
        overview = JobOverview("FINISHED", run=run.name, ended_at=run.ended)

        def end() -> None:
            runner._seen["crawls~demo"] = SeenRun("RUNNING", True, run.name)
            console.parts.common.poller._keep(
                JobSnapshot(
                    "crawls~demo", run.ended, "FINISHED", running=False,
                    sentence=Diagnosis("ready"), overview=overview,
                )
            )  # fmt: skip
            runner.look()

        async with receiving(OK) as server:
            await added(console, server.url, on=["quota"])
            end()
            await runner.post_changes()
            assert book.deliveries(1) == []
            at = await added(console, server.url, on=["finished", "changes"])
            end()
            runner = WebhookRunner(console.parts.runners)  # as the next process makes it
            await runner.post_changes()
            assert len(book.unread_runs()) == 1, "its job had no look yet"
            runner.look()
            await runner.post_changes()
            await runner.post_changes()
            await sent(console)
            await sent(console)
            finished, changes = (json.loads(body) for _, body in server.got)
            assert (finished["event"], changes["event"]) == ("finished", "changes")
            assert (changes["run"], changes["message"]) == (run.name, "1 changed, 1 gone")
            assert changes["changes"]["counts"] == {"changed": 1, "gone": 1}
            assert [entry["title"] for entry in changes["changes"]["entries"]] == ["", "新闻"]
            assert (await last(console, at))["message"]["changes"]["counts"]["gone"] == 1
            operator = console.as_session(Role.OPERATOR)
            page = await console.client.get("/webhooks?webhook=2", headers=operator)
            assert "1 changed, 1 gone" in page.text

    play(tmp_path, scene)


def test_a_run_that_ends_without_the_console_loses_no_changes(tmp_path: Path):
    job = job_with_changes(tmp_path)
    with Store.open(str(Layout(job).store)) as store:
        run = read_run(store)
    assert run is not None

    async def scene(console: GivenConsole) -> None:
        book = console.parts.webhooks
        await added(console, "https://ops.example/", on=["changes"])

        def look(runner: WebhookRunner, *, running: bool) -> None:
            ended = 0.0 if running else run.ended
            console.parts.common.poller._keep(
                JobSnapshot(
                    "crawls~demo", run.ended, "", running=running, sentence=Diagnosis("ready"),
                    overview=JobOverview("", run=run.name, ended_at=ended),
                )
            )  # fmt: skip
            runner.look()

        before = WebhookRunner(console.parts.runners)
        for _ in range(2):
            look(before, running=True)
            await before.post_changes()
        assert [unread.run for unread in book.unread_runs()] == [run.name]
        after = WebhookRunner(console.parts.runners)  # as the next process makes it
        look(after, running=False)
        await after.post_changes()
        (posted,) = book.deliveries(1)
        assert (posted.event, posted.facts["message"]) == ("changes", "1 changed, 1 gone")
        assert book.unread_runs() == []

    play(tmp_path, scene)


def test_changes_that_cannot_be_read_are_reported_after_some_tries(
    tmp_path: Path,
):
    async def scene(console: GivenConsole) -> None:
        book, runner = console.parts.webhooks, WebhookRunner(console.parts.runners)
        await added(console, "https://ops.example/", on=["changes"])
        book.add_unread("crawls~none", "run-2")
        for _ in range(TRIES - 1):
            await runner.post_changes()
            runner = WebhookRunner(console.parts.runners)  # as the next process makes it
        assert book.deliveries(1) == []
        await runner.post_changes()
        await runner.post_changes()
        (one,) = book.deliveries(1)
        assert (one.facts["run"], one.facts["job"]) == ("run-2", "crawls~none")
        assert "crawls~none" in one.facts["message"]

    play(tmp_path, scene)


def test_what_waits_and_what_is_kept_is_bounded(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        book: WebhookBook = console.parts.webhooks
        await added(console, "https://ops.example/")
        for number in range(MOST_WAITING + 7):
            book.tell("finished", "", str(number))
        waiting = book.deliveries(1, "waits")
        assert len(waiting) == MOST_WAITING
        assert book.tell("finished", "", "dropped") == 0
        at, key = f"{API}/webhooks/1/test", console.as_key(Role.OPERATOR)
        full = await console.client.post(at, headers=key)
        assert (full.status_code, full.json()["code"]) == (409, "full")
        assert book.deliveries(1, "waits") == waiting
        for one in waiting:
            book.keep(msgspec.structs.replace(one, step="delivered", tries=1))
        left: list[HookDelivery] = book.deliveries(1)
        assert len(left) == KEPT
        number = book.tell("finished", "", "last")
        last = book.delivery(1, number)
        assert last is not None
        assert last == book.deliveries(1)[0]
        assert msgspec.json.decode(last.body)["dropped_before"] == 8

    play(tmp_path, scene)


def test_the_page_adds_tests_and_removes(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        form = {"do": "add", "url": "https://ops.example/书", "secret": "s3cret", "on": "quota"}
        assert (await client.post("/webhooks", data=form, headers=fields)).status_code == 303
        page = await client.get("/webhooks", headers=fields)
        assert "The webhooks are changed." in page.text
        assert "s3cret" not in page.text
        for do in ("test", "pause", "resume", "remove", "burn"):
            answer = await client.post("/webhooks", data={"do": do, "webhook": "1"}, headers=fields)
            assert answer.status_code == 303
        page = await client.get("/webhooks", headers=fields)
        assert "There are no webhooks yet." in page.text
        assert "there is no action &#39;burn&#39;" in page.text  # why the last form was refused
        gone = {"do": "pause", "webhook": "1"}
        assert (await client.post("/webhooks", data=gone, headers=fields)).status_code == 303
        assert "there is no webhook 1" in (await client.get("/webhooks", headers=fields)).text

    play(tmp_path, scene)


def test_the_page_changes_a_webhook_and_keeps_its_key(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        form = {"do": "add", "url": "https://ops.example/", "secret": "s3cret", "on": "quota"}
        await client.post("/webhooks", data=form, headers=fields)
        page = (await client.get("/webhooks?edit=1", headers=fields)).text
        assert 'value="https://ops.example/"' in page
        assert "This one has a key" in page
        assert "s3cret" not in page
        edit = {"do": "edit", "webhook": "1", "url": "https://ops.example/b", "on": "crashed"}
        await client.post("/webhooks", data=edit, headers=fields)
        (hook,) = console.parts.webhooks.all()
        assert (hook.wish.url, hook.wish.on) == ("https://ops.example/b", ("crashed",))
        assert hook.secret == "s3cret"
        await client.post("/webhooks", data={**edit, "unsigned": "1"}, headers=fields)
        assert console.parts.webhooks.all()[0].secret == ""
        wrong = {**edit, "url": "ftp://ops.example/"}
        await client.post("/webhooks", data=wrong, headers=fields)
        page = (await client.get("/webhooks", headers=fields)).text
        assert "begins with http:// or https://" in page
        assert (await client.get("/webhooks?edit=7", headers=fields)).status_code == 404

    play(tmp_path, scene)


def test_asvs_8_2_2_who_sees_one_place_has_webhooks_of_its_jobs_only(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        client, book = console.client, console.parts.webhooks
        key = console.parts.access.keys.add("their key", Role.OPERATOR, ("crawls",))
        theirs = {"authorization": f"Bearer {key}"}
        async with receiving(OK) as server, receiving(OK) as other:
            all_jobs = await added(console, other.url)
            body = {"url": server.url, "private": True}
            made = await client.post(f"{API}/webhooks", json=body, headers=theirs)
            assert (made.status_code, made.json()["places"]) == (201, ["crawls"])
            at = f"{API}/webhooks/{made.json()['id']}"
            listed = (await client.get(f"{API}/webhooks", headers=theirs)).json()["items"]
            assert [one["id"] for one in listed] == [made.json()["id"]]
            for path in (all_jobs, f"{all_jobs}/deliveries"):
                assert (await client.get(path, headers=theirs)).status_code == 404
            assert (await client.delete(all_jobs, headers=theirs)).status_code == 404
            book.tell("finished", "secret~job", "RUNNING -> FINISHED")
            book.tell("quota", "", "all jobs together")
            book.tell("finished", "crawls~demo", "RUNNING -> FINISHED")
            for _ in range(3):
                await sent(console)
            assert [json.loads(body)["job"] for _, body in server.got] == ["crawls~demo"]
            assert len(other.got) == 3
            again = {**body, "on": ["crashed"]}
            changed = await client.put(at, json=again, headers=console.as_key(Role.ADMIN))
            assert changed.json()["places"] == ["crawls"]
        book.restrict("operator key", ("crawls",))
        assert not any(hook.is_about("secret~job") for hook in book.all())
        page = await client.get("/webhooks", headers=console.as_session(Role.OPERATOR))
        assert "that you see" in page.text

    play(tmp_path, scene)


def test_a_message_that_waits_is_tried_again_after_a_restart(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        async with receiving(BUSY, BUSY, OK) as server:
            at = await added(console, server.url)
            console.parts.webhooks.tell("finished", "crawls~图书馆", "RUNNING -> FINISHED")
            await sent(console)
            await sent(console)
            (one,) = console.parts.webhooks.deliveries(1, "waits")
            database = ConsoleDatabase(tmp_path / "console")  # as the next process opens it
            book = WebhookBook(database, console.parts.common.clock)
            parts = console.parts._replace(webhooks=book)
            (kept,) = book.deliveries(1, "waits")
            assert kept == one
            assert (kept.tries, round(kept.due - console.parts.common.clock.now())) == (2, 2)
            runner = WebhookRunner(parts.runners)
            assert not runner.due()  # its wait goes on
            book.keep(msgspec.structs.replace(kept, due=console.parts.common.clock.now()))
            ((hook, due),) = runner.due()
            await runner.attempt(hook, due)
            database.close()
            assert (await last(console, at))["step"] == "delivered"
            ids = {json.loads(body)["id"] for _, body in server.got}
            assert (len(server.got), len(ids)) == (3, 1)

    play(tmp_path, scene)
