"""A connection: bytes out, bytes in to the conversation that is running on it."""

import asyncio
import select
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

from nacre.core.capture import TlsFacts, Trust
from nacre.errors import NacreError
from nacre.messages import message


class Conversation(Protocol):
    """A conversation on a connection: one request and its reply."""

    @property
    def over(self) -> bool:
        """Whether the conversation is over: it needs no more bytes."""
        ...

    def begin(self, transport: asyncio.Transport) -> None:
        """The request is about to be written."""
        ...

    def received(self, data: bytes) -> None:
        """Receive bytes."""
        ...

    def closed(self, error: BaseException | None, *, clean: bool) -> None:
        """The connection ended: by an error of the network, or not.

        Args:
            error: The error; None for none.
            clean: Whether the peer announced the close (EOF; in TLS, close_notify).
        """
        ...

    def fail(self, error: BaseException) -> None:
        """An error in the crawler or of a disk ended it."""
        ...


class PoolKey(NamedTuple):
    """The key of connections that may carry each other's requests.

    Attributes:
        scheme: `http` or `https`.
        address: Address connected to; through a proxy the host, or "" if any host will do.
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
    """One connection. It ends with abort(); it is half-closed only to read data that may follow.

    Unsolicited bytes end it at once, whether they arrive while it is idle or after a reply.

    Attributes:
        transport: Its transport; replaced when TLS begins.
        key: Which requests it may carry.
        address: Peer's address; "" through a proxy.
        port: Peer's port; 0 through a proxy.
        tls: TLS facts; None for plain text.
        uses: Conversations begun.
        idle_since: Time of the loop when it became idle.
        alive: It may still be used.
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
        self._forget: Callable[[Connection], None] | None = None
        self._surplus: Callable[[Connection, bytes], None] | None = None
        self.unproven: list[Trust] = []
        self.slowest = 0.0
        self._talk: Conversation | None = None
        self._said_close = False

    @property
    def quiet_time(self) -> float:
        """Seconds of rest after which no reply is outstanding, by all that is known of it."""
        return max(_SHORTEST_QUIET, _LATENCIES * self.slowest)

    def set_peer(self, address: str, port: int) -> None:
        """Note the peer that the connection leads to without a proxy."""
        self.address, self.port = address, port

    def start(self, talk: Conversation, data: bytes, trust: Trust | None = None) -> None:
        """Send a request; the conversation gets the reply, and `trust` is informed of it."""
        if trust is not None:
            self.unproven.append(trust)
        self._talk = talk
        self.uses += 1
        if not self.alive:
            talk.closed(
                ConnectionResetError(
                    message("fetch.closed-before-request", "closed before the request")
                ),
                clean=False,
            )
            return
        talk.begin(self.transport)
        self.transport.write(data)

    def listen(self, surplus: Callable[["Connection", bytes], None]) -> None:
        """Call `surplus` with unsolicited bytes."""
        self._surplus = surplus

    def serve(self, key: PoolKey) -> None:
        """Set which requests it may carry."""
        self.key = key

    def take_tls(self, facts: TlsFacts) -> None:
        """Store the parameters of the handshake."""
        self.tls = facts

    def note_wait(self, seconds: float) -> None:
        """Note how long the server took to reply."""
        self.slowest = max(self.slowest, seconds)

    def fall_idle(self, now: float) -> None:
        """Note when it became idle, time of the loop."""
        self.idle_since = now

    def go_idle(self, forget: Callable[["Connection"], None]) -> None:
        """Call `forget` when it ends, until it works again (`wake`)."""
        self._forget = forget

    def wake(self) -> None:
        """Mark it as no longer idle: its end calls no one."""
        self._forget = None

    def release(self) -> None:
        """End the conversation: data that arrives from now on is unsolicited."""
        self._talk = None

    def abort(self) -> None:
        """End it at once, without lingering."""
        self.alive = False
        self._talk = None
        self.transport.abort()

    def has_unread(self) -> bool:
        """Return whether bytes, or the end, have arrived that were not processed yet."""
        sock = self.transport.get_extra_info("socket")
        if sock is None:
            return False
        look = select.poll()
        look.register(sock.fileno(), select.POLLIN)
        return bool(look.poll(0))

    def say_goodbye(self) -> None:
        """Half-close: a server without an open reply closes; another sends its reply first."""
        if self.alive and not self.transport.is_closing() and self.transport.can_write_eof():
            with suppress(OSError):  # the peer is gone, and the end comes in a moment
                self.transport.write_eof()

    @property
    def has_socket(self) -> bool:
        """Whether there is a server at the other end, and no simulation."""
        return self.transport.get_extra_info("socket") is not None

    def accuse(self, *, by_reply: bool) -> bool:
        """Mark unproven replies as suspect after a surplus; return whether there were any.

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
            if self._surplus is not None:
                self._surplus(self, data)
            return
        try:
            talk.received(data)
        except NacreError as error:
            talk.fail(error)

    def eof_received(self) -> bool:
        """See `asyncio.Protocol`. In TLS it means that close_notify was received."""
        self._said_close = True
        self.connection_lost(None)
        self.transport.abort()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.alive = False
        if self._forget is not None:
            self._forget(self)
        talk = self._talk
        if talk is None:
            return
        self._talk = None
        if exc is None or isinstance(exc, OSError):
            talk.closed(exc, clean=self._said_close)
        else:
            talk.fail(exc)
