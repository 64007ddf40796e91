"""The client of the DevTools protocol, with a browser that the test plays."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.browser.cdp import (
    BrowserGoneError,
    CdpClient,
    CdpError,
    CdpTimeoutError,
    Command,
    MessageReader,
)
from tests.browser.loop import in_loop, wait_until


class PlayedBrowser:
    """The browser's ends of the pipes."""

    def __init__(self, commands: int, replies: int) -> None:
        self._commands = commands
        self._replies = replies

    def read(self) -> dict[str, Any]:
        text = b""
        while not text.endswith(b"\0"):
            text += os.read(self._commands, 1)
        message: dict[str, Any] = json.loads(text[:-1])
        return message

    def send(self, *messages: object) -> None:
        os.write(self._replies, b"".join(json.dumps(each).encode() + b"\0" for each in messages))

    def send_raw(self, data: bytes) -> None:
        os.write(self._replies, data)

    def end(self) -> None:
        os.close(self._replies)
        self._replies = -1

    def close(self) -> None:
        os.close(self._commands)
        if self._replies >= 0:
            os.close(self._replies)


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[CdpClient, PlayedBrowser]]:
    commands, client_writes = os.pipe()
    client_reads, replies = os.pipe()
    browser = PlayedBrowser(commands, replies)
    client = CdpClient()
    await client.connect(client_writes, client_reads)
    try:
        yield client, browser
    finally:
        client.close()
        await asyncio.sleep(0)
        browser.close()


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"0"))), st.data())
def test_messages_survive_any_cut(messages: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(message + b"\0" for message in messages)
    reader = MessageReader(largest=20)
    whole: list[bytes] = []
    too_long: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        part, stream = stream[:size], stream[size:]
        read = reader.feed(part)
        whole += read[0]
        too_long += read[1]
    assert whole == [message for message in messages if len(message) <= 20]
    longer = [message for message in messages if len(message) > 20]
    assert len(too_long) == len(longer)
    assert all(message.startswith(head) for head, message in zip(too_long, longer, strict=True))


@in_loop
async def test_replies_find_their_calls_in_any_order() -> None:
    async with connected() as (client, browser), asyncio.TaskGroup() as group:
        first = group.create_task(client.call("A.first", {"x": 1}))
        second = group.create_task(client.call("A.second", session="S"))
        await asyncio.sleep(0)
        sent = [browser.read(), browser.read()]
        browser.send({"id": sent[1]["id"], "result": {"n": 2}, "sessionId": "S"})
        browser.send({"id": sent[0]["id"], "result": {"n": 1}})
    assert (first.result(), second.result()) == ({"n": 1}, {"n": 2})
    assert sent[0]["params"] == {"x": 1}
    assert sent[1]["sessionId"] == "S"


@in_loop
async def test_a_refused_command_and_a_late_reply() -> None:
    async with connected() as (client, browser):
        with pytest.raises(CdpTimeoutError, match=r"Page\.slow: no reply in 0\.01 s"):
            await client.call("Page.slow", timeout=0.01)
        late = browser.read()["id"]
        async with asyncio.TaskGroup() as group:
            task = group.create_task(refused(client))
            await asyncio.sleep(0)
            number = browser.read()["id"]
            browser.send({"id": late, "result": {}}, {"id": number, "error": {"message": "no"}})
        assert task.result() == "Page.navigate: no"


@in_loop
async def test_commands_are_sent_at_once() -> None:
    async with connected() as (client, browser), asyncio.TaskGroup() as group:
        commands: list[Command] = [("A.first", {}), ("A.second", {"x": 1})]
        task = group.create_task(client.call_all(commands, session="S"))
        await asyncio.sleep(0)
        sent = [browser.read(), browser.read()]
        assert [(each["method"], each["sessionId"]) for each in sent] == [
            ("A.first", "S"), ("A.second", "S"),
        ]  # fmt: skip
        browser.send(*({"id": each["id"], "result": {"of": each["method"]}} for each in sent[::-1]))
    assert task.result() == [{"of": "A.first"}, {"of": "A.second"}]


@in_loop
async def test_a_command_that_fails_does_not_stop_others() -> None:
    async with connected() as (client, browser):
        commands: list[Command] = [("A.first", {}), ("A.second", {}), ("A.third", {})]
        task = asyncio.create_task(client.call_all(commands))
        await asyncio.sleep(0)
        numbers = [browser.read()["id"] for _ in commands]
        browser.send(
            {"id": numbers[0], "result": {}}, {"id": numbers[1], "error": {"message": "no"}}
        )
        with pytest.raises(CdpError, match=r"A\.second: no"):
            await task
        with pytest.raises(CdpTimeoutError, match=r"A\.first: no reply"):
            await client.call_all(commands, timeout=0.01)


async def refused(client: CdpClient) -> str:
    with pytest.raises(CdpError) as error:
        await client.call("Page.navigate", session="S")
    return str(error.value)


@in_loop
async def test_events_go_to_the_listeners_of_their_session() -> None:
    async with connected() as (client, browser):
        events: list[tuple[str, str, object]] = []
        client.listen("S", lambda method, params: events.append(("S", method, params)))
        client.listen("", lambda method, params: events.append(("", method, params)))
        browser.send(
            {"method": "Page.loaded", "params": {"a": 1}, "sessionId": "S"},
            {"method": "Page.loaded", "params": {}, "sessionId": "T"},
            {"method": "Target.targetCreated", "params": {}},
            [],
            {"method": "Page.frame", "params": {}, "sessionId": "S"},
        )
        await wait_until(lambda: len(events) >= 3)
        client.unlisten("S")
        browser.send({"method": "Page.more", "params": {}, "sessionId": "S"})
        browser.send({"method": "Target.more", "params": {}})
        await wait_until(lambda: len(events) >= 4)
    assert events == [
        ("S", "Page.loaded", {"a": 1}),
        ("", "Target.targetCreated", {}),
        ("S", "Page.frame", {}),
        ("", "Target.more", {}),
    ]


@in_loop
async def test_a_listener_that_fails_ends_nothing() -> None:
    failures: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: failures.append(str(context["message"]))
    )
    async with connected() as (client, browser):
        client.listen("", lambda _method, params: params["missing"])
        browser.send({"method": "A.b", "params": {}})
        await wait_until(lambda: failures)
        async with asyncio.TaskGroup() as group:
            call = group.create_task(client.call("A.c"))
            await asyncio.sleep(0)
            browser.send({"id": browser.read()["id"], "result": {}})
        assert call.result() == {}
    assert failures == ["a listener of A.b failed"]


@in_loop
async def test_the_end_of_a_target_and_of_the_browser() -> None:
    async with connected() as (client, browser):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(refused(client))
            await asyncio.sleep(0)
            browser.send({"method": "Target.detachedFromTarget", "params": {"sessionId": "S"}})
        assert task.result() == "Page.navigate: the target has ended"
        browser.end()
        with pytest.raises(BrowserGoneError):
            await client.call("A.b")
        assert client.closed.is_set()
        with pytest.raises(BrowserGoneError):
            await client.call("A.b")


@in_loop
async def test_a_reply_that_is_too_long_fails_its_call_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with connected() as (client, browser):
        monkeypatch.setattr(client, "_reader", MessageReader(largest=300))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(refused(client))
            await asyncio.sleep(0)
            number = browser.read()["id"]
            browser.send_raw(b'{"id":%d,"result":"%s"}\0' % (number, b"x" * 5000))
        assert task.result() == "Page.navigate: its reply is longer than 64 MB"


@in_loop
async def test_a_reply_that_is_too_deep_fails_its_call_alone() -> None:
    async with connected() as (client, browser):
        deep = b"[" * 5000 + b"]" * 5000

        async def call() -> str:
            with pytest.raises(CdpError) as caught:
                await client.call("Runtime.callFunctionOn", timeout=100)
            return str(caught.value)

        task = asyncio.create_task(call())
        number = (await asyncio.to_thread(browser.read))["id"]
        browser.send_raw(b'{"method":"Page.windowOpen","params":{"a":%b}}\0' % deep)
        browser.send_raw(b'{"id":%d,"result":{"a":%b}}\0' % (number, deep))
        assert await task == "Runtime.callFunctionOn: its reply cannot be read"
        assert not client.closed.is_set()


@in_loop
async def test_half_surrogates_of_a_page_are_replaced() -> None:
    async with connected() as (client, browser), asyncio.TaskGroup() as group:
        call = group.create_task(client.call("Runtime.evaluate"))
        await asyncio.sleep(0)
        number = browser.read()["id"]
        browser.send_raw(
            b'{"id":%d,"result":{"\\ud800":["a\\udc00b","\\ud83d\\ude00",1]}}\0' % number
        )
    assert call.result() == {"�": ["a�b", "\U0001f600", 1]}


def test_one_listener_of_a_session_ends() -> None:
    client = CdpClient()
    heard: list[str] = []

    def first(method: str, _: object) -> None:
        heard.append(f"first {method}")

    def second(method: str, _: object) -> None:
        heard.append(f"second {method}")

    client.listen("", first)
    client.listen("", second)
    client.unlisten("", first)
    client.data_received(b'{"method":"A","params":{}}\0')
    client.unlisten("", second)
    client.unlisten("", second)
    client.data_received(b'{"method":"B","params":{}}\0')
    assert heard == ["second A"]
