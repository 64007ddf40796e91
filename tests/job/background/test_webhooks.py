"""A webhook on 127.0.0.1 is told what happens, and nothing that it does hurts the job."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from nacre.core.changes import ChangeRow
from nacre.core.events import Alert, AlertLogged, Event, Events, StateChanged
from nacre.core.states import ExitStatus, JobState
from nacre.errors import JobError
from nacre.job.background import webhooks
from nacre.job.background.webhooks import MOST, TRIES, WebhookNotifier
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.recrawl.change_log import ChangeLog
from nacre.runs.runs import RunRow, take_notes, write_run
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

DOCUMENT = Path(__file__).parents[3] / "docs" / "running.md"
OK = b"HTTP/1.1 204 No Content\r\n\r\n"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
_S = JobState


class QuickClock(SystemClock):
    """Sleeping takes no time, and is remembered."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


class FakeJob:
    """What a teller needs of a job."""

    session: Session | None = None

    def __init__(self, root: Path, url: str, **alerts: object) -> None:
        self.layout = Layout(root)
        hook = {"url": url, "secret": "s3cret"}
        self.settings = JobSettings.model_validate({"alerts": {"webhook": hook, **alerts}})
        self.clock = QuickClock()
        self.events = Events()


class Server:
    """Answers as it is told, the last answer again and again; keeps what it got."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self._tasks: list[asyncio.Task[Any] | None] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.append(asyncio.current_task())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        body = await reader.readexactly(int(fields["Content-Length"]))
        self.got.append(({"": first, **fields}, body))
        answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        writer.write(answer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Never answer."""
        self._tasks.append(asyncio.current_task())
        await reader.read()
        writer.close()
        await writer.wait_closed()

    async def end(self) -> None:
        """Until all connections are closed."""
        for task in self._tasks:
            if task is not None:
                await task

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


def play(
    root: Path, server: Server, act: Callable[[FakeJob], Awaitable[None]], **alerts: object
) -> FakeJob:
    """Serve, and let a job live."""

    async def run() -> FakeJob:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        job = FakeJob(root, f"http://127.0.0.1:{port}/hook?key=1", **alerts)
        async with listening, WebhookNotifier(job).running():
            await act(job)
        await server.end()
        return job

    return asyncio.run(run())


def emits(*events: Event) -> Callable[[FakeJob], Awaitable[None]]:
    async def act(job: FakeJob) -> None:
        for event in events:
            job.events.emit(event)

    return act


def test_what_is_sent_is_genuine_as_the_document_says(tmp_path: Path):
    server = Server(OK)
    play(tmp_path, server, emits(Alert("the disk is nearly full")))
    (fields, body), *others = server.got
    assert not others
    assert fields[""] == "POST /hook?key=1 HTTP/1.1"
    assert fields["X-Nacre-Event"] == "alert"
    message = json.loads(body)
    assert message["message"] == "the disk is nearly full"
    assert fields["X-Nacre-Delivery"] == message["id"]
    code = DOCUMENT.read_text().split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["is_genuine"]("s3cret", fields, body)
    assert not names["is_genuine"]("other", fields, body)
    assert not names["is_genuine"]("s3cret", fields, body + b" ")


def test_changes_of_state_as_they_are_wanted(tmp_path: Path):
    server = Server(OK)
    changes = emits(
        StateChanged(_S.PREPARING, _S.RUNNING),
        StateChanged(_S.RUNNING, _S.PAUSING, "disk"),
        StateChanged(_S.PAUSING, _S.PAUSED, "disk"),
        StateChanged(_S.PAUSED, _S.RUNNING),
        StateChanged(_S.PAUSING, _S.PAUSED, "operator"),
        StateChanged(_S.STOPPING, _S.FINISHED, "FINISHED_TIME_LIMIT"),
        StateChanged(_S.STOPPING, _S.FINISHED, "FINISHED"),
    )
    play(tmp_path, server, changes, on=["started", "paused", "resumed", "finished", "limit"])
    assert [message["event"] for message in server.messages] == [
        "started", "paused", "resumed", "paused", "limit", "finished",
    ]  # fmt: skip
    quiet = Server(OK)
    play(tmp_path, quiet, changes, on=["disk"])
    assert [message["why"] for message in quiet.messages] == ["disk"]


def test_the_same_alert_by_two_ways_is_one(tmp_path: Path):
    server = Server(OK)
    play(tmp_path, server, emits(AlertLogged("x"), Alert("x"), Alert("y")))
    assert [message["message"] for message in server.messages] == ["x", "y"]


def test_it_is_tried_again_with_growing_waits(tmp_path: Path):
    server = Server(BUSY, BUSY, OK)
    job = play(tmp_path, server, emits(Alert("x")))
    assert len({message["id"] for message in server.messages}) == 1
    assert job.clock.slept == [1.0, 2.0]
    (note,) = take_notes(job.layout)
    assert note.startswith("webhook: alert was not delivered, it is tried again: http://127.0.0.1:")
    assert note.endswith("answered 503")


@pytest.mark.parametrize("answer", [BUSY, b"", b"220 mail.example ESMTP\r\n"])
def test_it_is_given_up_and_the_next_has_its_turn(tmp_path: Path, answer: bytes):
    server = Server(*[answer] * TRIES, OK)
    job = play(tmp_path, server, emits(Alert("x"), Alert("y")))
    assert [message["message"] for message in server.messages] == ["x"] * TRIES + ["y"]
    assert "it is given up" in take_notes(job.layout)[-1]


def test_nobody_listens_and_the_job_ends_all_the_same(tmp_path: Path):
    async def run() -> FakeJob:
        job = FakeJob(tmp_path, "http://127.0.0.1:9/")
        async with WebhookNotifier(job).running():
            job.events.emit(Alert("x"))
        return job

    job = asyncio.run(run())
    assert "it is given up" in take_notes(job.layout)[-1]


def test_one_that_never_answers_has_some_seconds_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(webhooks, "AT_THE_END", 0.01)
    monkeypatch.setattr(webhooks, "TIMEOUT", 60)

    async def run() -> FakeJob:
        listening = await asyncio.start_server(server.hold, "127.0.0.1", 0)
        async with listening:
            port = listening.sockets[0].getsockname()[1]
            job = FakeJob(tmp_path, f"http://127.0.0.1:{port}/")
            async with WebhookNotifier(job).running():
                job.events.emit(Alert("x"))
        await server.end()
        return job

    server = Server()
    assert take_notes(asyncio.run(run()).layout) == [
        "webhook: alert was not delivered before the job ended"
    ]


def test_a_full_queue_drops_and_counts(tmp_path: Path):
    async def act(job: FakeJob) -> None:
        for number in range(MOST + 7):
            job.events.emit(Alert(str(number)))
        while len(server.got) < MOST:  # noqa: ASYNC110 - the server is in this loop
            await asyncio.sleep(0)
        job.events.emit(Alert("last"))

    server = Server(OK)
    play(tmp_path, server, act)
    assert len(server.messages) == MOST + 1
    assert server.messages[-1]["dropped_before"] == 7


def test_the_end_by_an_error_is_told_and_raised(tmp_path: Path):
    async def act(_: FakeJob) -> None:
        raise JobError("no more")

    server = Server(OK)
    with pytest.raises(JobError, match="no more"):
        play(tmp_path, server, act)
    assert server.messages[0]["why"] == "no more"


def test_nothing_without_an_address(tmp_path: Path):
    server = Server(OK)

    async def act(job: FakeJob) -> None:
        job.settings = JobSettings()
        job.events.emit(Alert("x"))

    play(tmp_path, server, act)
    assert server.got == []


@pytest.mark.parametrize("url", ["ftp://a/", "https://", "//a/"])
def test_addresses_that_are_none(url: str):
    with pytest.raises(ValueError, match="webhook"):
        JobSettings.model_validate({"alerts": {"webhook": {"url": url}}})


@pytest.mark.parametrize(
    ("why", "names"),
    [
        ("quota", ["quota", "paused"]),
        ("operator, schedule", ["schedule", "paused"]),
        ("disk, quota", ["disk", "quota", "paused"]),
        ("operator", ["paused"]),
    ],
)
def test_a_pause_is_named_by_its_reason(why: str, names: list[str]):
    assert webhooks._names(StateChanged(_S.PAUSING, _S.PAUSED, why)) == names


def put_run(store: Store, kinds: tuple[str, ...]) -> RunRow:
    """Store two runs, of which the second found changes."""
    first = RunRow("20261120T100000Z", 1, 1_795_168_800.0, ExitStatus.FINISHED)
    run = RunRow("20261121T100000Z", 2, 1_795_255_200.0, ExitStatus.FINISHED, 1_795_255_290.0)
    store.put("meta", b"runs:\0\0\0\1", msgspec.msgpack.encode(first))
    write_run(store, run)
    for number, kind in enumerate(kinds):
        url, time = f"http://a.test/{number}", run.started + number / 10
        ChangeLog(store).add(ChangeRow(url, time, 2, kind, time, title="新闻"))
    return run


@pytest.mark.parametrize(
    ("kinds", "on", "sent"),
    [
        (("changed", "new"), ["finished", "changes"], ["finished", "changes"]),
        (("changed",) * 25, ["changes"], ["changes"]),
        ((), ["finished", "changes"], ["finished"]),
        (("changed",), ["finished"], ["finished"]),
    ],
)
def test_the_changes_of_a_run_are_sent_when_it_ends(
    tmp_path: Path, kinds: tuple[str, ...], on: list[str], sent: list[str]
):
    store = Store(MemoryEngine())
    run = put_run(store, kinds)
    counts = SimpleNamespace(finished=1, queued=0, failed=0)
    session = SimpleNamespace(
        storing=SimpleNamespace(store=store), run_row=run, state=_S.FINISHED,
        frontier=SimpleNamespace(totals=counts),
        logs=SimpleNamespace(alerts=SimpleNamespace(total=0)),
    )  # fmt: skip

    async def act(job: FakeJob) -> None:
        job.session = cast("Session", session)
        job.events.emit(StateChanged(_S.STOPPING, _S.FINISHED, "FINISHED"))

    server = Server(OK)
    play(tmp_path, server, act, on=on)
    assert [message["event"] for message in server.messages] == sent
    changes = [each["changes"] for each in server.messages if each["event"] == "changes"]
    for found in changes:
        assert sum(found["counts"].values()) == len(kinds)
        assert len(found["entries"]) == min(len(kinds), 20)
        assert found["entries"][0]["title"] == "新闻"
