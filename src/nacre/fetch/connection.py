"""A connection: bytes out, bytes in to the conversation that is running on it."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

from nacre.core.capture import TlsFacts
from nacre.errors import NacreError


class Conversation(Protocol):
    """What runs on a connection: one request and what comes back."""

    @property
    def over(self) -> bool:
        """Whether the conversation is over: it wants no more bytes."""
        ...

    def begin(self, transport: asyncio.Transport) -> None:
        """The request is about to be written."""
        ...

    def received(self, data: bytes) -> None:
        """Bytes came."""
        ...

    def closed(self, error: BaseException | None, *, clean: bool) -> None:
        """The connection ended: by an error of the network, or not.

        Args:
            error: The error; None for none.
            clean: The peer said that it closes (EOF; in TLS, close_notify).
        """
        ...

    def fail(self, error: BaseException) -> None:
        """A fault of the crawler or of a disk ended it."""
        ...


class PoolKey(NamedTuple):
    """What connections have in common that may carry each other's requests.

    Attributes:
        scheme: `http` or `https`.
        address: Address connected to; through a proxy the host, or "" where any host will do.
        port: Port.
        sni: Host for TLS; "" for plain text.
        proxy: Proxy URL; "" for none.
        tls: TLS policy.
        bind: Local address; "" for any.
    """

    scheme: str
    address: str
    port: int
    sni: str = ""
    proxy: str = ""
    tls: str = "record"
    bind: str = ""


class Connection(asyncio.Protocol):
    """One connection. It ends with abort(), never by half-closing.

    Attributes:
        transport: Its transport; replaced when TLS begins.
        key: Which requests it may carry.
        address: Peer's address; "" through a proxy.
        port: Peer's port; 0 through a proxy.
        tls: TLS facts; None for plain text.
        uses: Conversations begun.
        idle_since: Time of the loop when it came to rest.
        alive: It may still be used.
        forget: Called when it ends while it rests; None while it works.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport = asyncio.Transport()
        self.key = PoolKey("", "", 0)
        self.address = ""
        self.port = 0
        self.tls: TlsFacts | None = None
        self.uses = 0
        self.idle_since = 0.0
        self.alive = False
        self.forget: Callable[[Connection], None] | None = None
        self._talk: Conversation | None = None
        self._said_close = False

    def start(self, talk: Conversation, data: bytes) -> None:
        """Send a request; the conversation takes what comes back."""
        self._talk = talk
        self.uses += 1
        if not self.alive:
            talk.closed(ConnectionResetError("closed before the request"), clean=False)
            return
        talk.begin(self.transport)
        self.transport.write(data)

    def release(self) -> None:
        """Note that the conversation is over: what comes now is unasked for."""
        self._talk = None

    def abort(self) -> None:
        """End it at once, without lingering."""
        self.alive = False
        self._talk = None
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self.transport = cast("asyncio.Transport", transport)
        self.alive = True

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        talk = self._talk
        if talk is None or talk.over:
            self.alive = False
            self.transport.abort()
            return
        try:
            talk.received(data)
        except NacreError as error:
            talk.fail(error)

    def eof_received(self) -> bool:
        """See `asyncio.Protocol`. In TLS it means that close_notify came."""
        self._said_close = True
        self.connection_lost(None)
        self.transport.abort()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.alive = False
        if self.forget is not None:
            self.forget(self)
        talk = self._talk
        if talk is None:
            return
        self._talk = None
        if exc is None or isinstance(exc, OSError):
            talk.closed(exc, clean=self._said_close)
        else:
            talk.fail(exc)
