"""A client of the Chrome DevTools Protocol over two pipes: JSON messages that end with NUL.

A pipe and no port: a page cannot reach it. Sessions are flat: a message of a target has its
`sessionId`. https://chromedevtools.github.io/devtools-protocol/
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.errors import NacreError

Listener = Callable[[str, dict[str, Any]], None]

LARGEST_MESSAGE = 64 << 20
"""Bytes of the longest message that is read; a longer reply is an error of its call."""
_HEAD = 256
"""Bytes of a message that is too long which are kept: its number is in them."""
_UNUSED = tuple(
    f'{{"method":"{name}"'.encode()
    for name in (
        "Network.dataReceived",
        "Network.policyUpdated",
        "Network.requestWillBeSentExtraInfo",
        "Network.resourceChangedPriority",
        "Network.responseReceivedExtraInfo",
    )
)
"""Beginnings of events without a listener, half of all: they are not parsed."""
_NUMBER = re.compile(rb'^\{"id":(\d+)')


class CdpError(NacreError):
    """The browser refused a command, or a target ended; the message has the browser's reason."""


class CdpTimeoutError(CdpError):
    """The browser or its page did not answer a command in time."""


class BrowserGoneError(NacreError):
    """The browser ended: no command of it will ever be answered."""


Command = tuple[str, Mapping[str, object]]
"""Name of a command and its parameters."""


class _Call(NamedTuple):
    method: str
    session: str
    reply: asyncio.Future[dict[str, Any]]


class MessageReader:
    """Splits the bytes of a pipe into messages; those that are too long are passed over."""

    def __init__(self, largest: int = LARGEST_MESSAGE) -> None:
        """Begin with an empty pipe.

        Args:
            largest: Bytes of the longest message that is returned.
        """
        self._largest = largest
        self._buffer = bytearray()
        self._head = b""
        """Beginning of a message that is being passed over; b"" if there is none."""

    def feed(self, data: bytes) -> tuple[list[bytes], list[bytes]]:
        """Take bytes; return whole messages, and the first bytes of messages that were too long."""
        messages: list[bytes] = []
        too_long: list[bytes] = []
        first, *others = data.split(b"\0")
        self._extend(first)
        for part in others:
            if self._head:
                too_long.append(self._head)
            else:
                messages.append(bytes(self._buffer))
            self._buffer.clear()
            self._head = b""
            self._extend(part)
        return messages, too_long

    def _extend(self, part: bytes) -> None:
        if self._head:
            return
        self._buffer += part
        if len(self._buffer) > self._largest:
            self._head = bytes(self._buffer[:_HEAD])
            self._buffer.clear()


class CdpClient(asyncio.Protocol):
    """Calls commands of a browser and passes its events on.

    Attributes:
        closed: Set when the browser has gone.
        heard: Monotonic time when the browser last sent something.
    """

    def __init__(self) -> None:
        """Make a client that is connected to nothing; see `connect`."""
        self.closed = asyncio.Event()
        self.heard = 0.0
        self._reader = MessageReader()
        self._calls: dict[int, _Call] = {}
        self._listeners: dict[str, list[Listener]] = {}
        self._last = 0
        self._transports: list[asyncio.BaseTransport] = []
        self._commands: asyncio.WriteTransport | None = None

    async def connect(self, commands: int, replies: int) -> None:
        """Take over the crawler's ends of the pipes.

        Args:
            commands: Descriptor that is written to.
            replies: Descriptor that is read.
        """
        loop = asyncio.get_running_loop()
        files = os.fdopen(commands, "wb", buffering=0), os.fdopen(replies, "rb", buffering=0)
        self._commands, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, files[0])
        self._transports.append(self._commands)
        reader, _ = await loop.connect_read_pipe(lambda: self, files[1])
        self._transports.append(reader)

    async def call(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        session: str = "",
        timeout: float = 10.0,  # noqa: ASYNC109 - a command has its own limit
    ) -> dict[str, Any]:
        """Call a command and return its result.

        Args:
            method: Name of the command, such as `Page.navigate`.
            params: Its parameters.
            session: Session of a target; "" for the browser itself.
            timeout: Longest time until the reply, seconds.

        Raises:
            CdpTimeoutError: No reply in time.
            CdpError: The browser refused the command.
            BrowserGoneError: The browser has ended.
        """
        command = (method, params or {})
        (reply,) = await self.call_all((command,), session=session, timeout=timeout)
        return reply

    async def call_all(
        self,
        commands: Sequence[Command],
        *,
        session: str = "",
        timeout: float = 10.0,  # noqa: ASYNC109 - as above
    ) -> list[dict[str, Any]]:
        """Send commands at once, and return their results once all have come.

        The browser obeys them in their order, also if one of them fails.

        Args:
            commands: Names and parameters.
            session: See `call`.
            timeout: Longest time until the last reply, seconds.

        Raises:
            CdpError, BrowserGoneError: See `call`; that of the first command that failed.
        """
        if self.closed.is_set() or self._commands is None:
            raise BrowserGoneError("the browser has ended")
        loop = asyncio.get_running_loop()
        numbers = range(self._last + 1, self._last + 1 + len(commands))
        self._last += len(commands)
        replies: list[asyncio.Future[dict[str, Any]]] = []
        data = bytearray()
        for number, (method, params) in zip(numbers, commands, strict=True):
            command: dict[str, object] = {"id": number, "method": method, "params": params}
            if session:
                command["sessionId"] = session
            data += msgspec.json.encode(command) + b"\0"
            replies.append(loop.create_future())
            self._calls[number] = _Call(method, session, replies[-1])
        timer = loop.call_later(timeout, self._expire, numbers, timeout)
        try:
            self._commands.write(data)
            return [await reply for reply in replies]
        finally:
            timer.cancel()
            for number, reply in zip(numbers, replies, strict=True):
                self._calls.pop(number, None)
                if not reply.cancel() and not reply.cancelled():
                    reply.exception()  # else a reply that no task waits for any more is logged

    def _expire(self, numbers: range, seconds: float) -> None:
        for number in numbers:
            call = self._calls.get(number)
            if call is not None and not call.reply.done():
                text = f"{call.method}: no reply in {seconds:g} s"
                call.reply.set_exception(CdpTimeoutError(text))

    def listen(self, session: str, listener: Listener) -> None:
        """Have a listener called with each event of a session, its name and parameters.

        Args:
            session: Session of a target; "" for the events of the browser itself.
            listener: Must return at once.
        """
        self._listeners.setdefault(session, []).append(listener)

    def unlisten(self, session: str, listener: Listener | None = None) -> None:
        """Call a listener of a session no more; None: none of its listeners."""
        others = [other for other in self._listeners.get(session, ()) if other != listener]
        if listener is not None and others:
            self._listeners[session] = others
        else:
            self._listeners.pop(session, None)

    def close(self) -> None:
        """Close the pipes: the browser ends by that."""
        for transport in self._transports:
            transport.close()
        self._end()

    def data_received(self, data: bytes) -> None:
        """Take bytes of the browser; asyncio calls it."""
        self.heard = time.monotonic()
        messages, too_long = self._reader.feed(data)
        for head in too_long:
            if (number := _NUMBER.match(head)) is not None:
                self._fail(int(number[1]), f"its reply is longer than {LARGEST_MESSAGE >> 20} MB")
        for message in messages:
            if not message.startswith(_UNUSED):
                self._take(message)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the browser has gone; asyncio calls it."""
        del exc
        self._end()

    def _take(self, text: bytes) -> None:
        message = _parse(text)
        number: int = message.get("id", 0)
        if not message and (match := _NUMBER.match(text)) is not None:
            self._fail(int(match[1]), "its reply cannot be read")
        elif "method" in message:
            self._pass_on(message)
        elif "error" in message:
            self._fail(number, str(message["error"].get("message", "")))
        elif (call := self._calls.get(number)) is not None and not call.reply.done():
            call.reply.set_result(message.get("result", {}))

    def _pass_on(self, message: dict[str, Any]) -> None:
        method: str = message["method"]
        params: dict[str, Any] = message.get("params", {})
        for listener in tuple(self._listeners.get(message.get("sessionId", ""), ())):
            try:
                listener(method, params)
            except Exception as error:  # noqa: BLE001 - a listener must not end the client
                asyncio.get_running_loop().call_exception_handler(
                    {"message": f"a listener of {method} failed", "exception": error}
                )
        if method == "Target.detachedFromTarget":
            self._detach(params.get("sessionId", ""))

    def _detach(self, session: str) -> None:
        for number, call in tuple(self._calls.items()):
            if session and call.session == session:
                self._fail(number, "the target has ended")

    def _fail(self, number: int, reason: str) -> None:
        call = self._calls.get(number)
        if call is not None and not call.reply.done():
            call.reply.set_exception(CdpError(f"{call.method}: {reason}"))

    def _end(self) -> None:
        self.closed.set()
        for call in tuple(self._calls.values()):
            if not call.reply.done():
                call.reply.set_exception(BrowserGoneError("the browser has ended"))


def _parse(text: bytes) -> dict[str, Any]:
    """Parse a message; {} if it cannot be, such as one that is too deep.

    Halves of surrogate pairs, which pages can make, become U+FFFD.
    """
    message: object
    try:
        message = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        try:
            message = _repair(json.loads(text.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            message = {}
    return message if isinstance(message, dict) else {}


def _repair(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_repair(item) for item in value]
    if isinstance(value, dict):
        return {_repair(key): _repair(item) for key, item in value.items()}
    return value
