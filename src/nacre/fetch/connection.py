"""A connection: bytes out, bytes in to the conversation that is running on it."""

import asyncio
import select
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

from nacre.core.capture import TlsFacts
from nacre.core.trust import Trust
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


_SHORTEST_QUIET, _LATENCIES = 2.0, 4.0


class Connection(asyncio.Protocol):
    """One connection. It ends with abort(); it is half-closed only to hear what is still to come.

    Bytes that nobody asked for end it at once, whether they come while it rests or behind a reply.

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
        surplus: Called with bytes that nobody asked for.
        unproven: Replies since it was last quiet, which a surplus would make suspect.
        slowest: Longest wait for a reply so far, seconds.
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
        self.surplus: Callable[[Connection, bytes], None] | None = None
        self.unproven: list[Trust] = []
        self.slowest = 0.0
        self._talk: Conversation | None = None
        self._said_close = False

    @property
    def quiet_time(self) -> float:
        """Seconds of rest after which no reply is outstanding, by all that is known of it."""
        return max(_SHORTEST_QUIET, _LATENCIES * self.slowest)

    def start(self, talk: Conversation, data: bytes, trust: Trust | None = None) -> None:
        """Send a request; the conversation takes what comes back, of which `trust` is told."""
        if trust is not None:
            self.unproven.append(trust)
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

    def has_unread(self) -> bool:
        """Whether bytes, or the end, have arrived that nobody has looked at yet."""
        sock = self.transport.get_extra_info("socket")
        if sock is None:
            return False
        look = select.poll()
        look.register(sock.fileno(), select.POLLIN)
        return bool(look.poll(0))

    def say_goodbye(self) -> None:
        """No request follows: a server that owes nothing closes, one that does sends it first."""
        if self.alive and not self.transport.is_closing() and self.transport.can_write_eof():
            with suppress(OSError):  # the peer is gone, and the end comes in a moment
                self.transport.write_eof()

    @property
    def has_socket(self) -> bool:
        """Whether there is a server at the other end, and no simulation."""
        return self.transport.get_extra_info("socket") is not None

    def accuse(self, *, by_reply: bool) -> bool:
        """A surplus came: the unproven replies cannot be trusted. Whether there were any.

        Args:
            by_reply: The surplus is a reply, so that even the first one may be another's.
        """
        trusts, self.unproven = self.unproven, []
        accused = [trust for trust in trusts if by_reply or not trust.first]
        for trust in accused:
            trust.accuse()
        return bool(accused)

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
            if self.surplus is not None:
                self.surplus(self, data)
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
