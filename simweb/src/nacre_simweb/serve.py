"""A world on a port, for any crawler: virtual hosts by the Host header, or as an HTTP proxy.

Its clock stands still (epochs), or runs: `/.simweb/time?day=7` sets it, on any host.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

from nacre_simweb.answer import Heading, Sending, WorldServer, read_heading
from nacre_simweb.calendar import DAY
from nacre_simweb.world import World

CONTROL = "/.simweb/time"
_HEAD = 65_536


class Hands:
    """The time of a served world.

    Args:
        speed: Seconds of the world a second; 0 stands still.

    Attributes:
        speed: Likewise; may be set.
    """

    def __init__(self, speed: float = 0.0) -> None:
        self.speed = speed
        self._set = 0.0
        self._since = time.monotonic()

    def now(self) -> float:
        """Time of the world, seconds."""
        return self._set + self.speed * (time.monotonic() - self._since)

    def set(self, seconds: float) -> None:
        """Go to a time of the world."""
        self._set, self._since = seconds, time.monotonic()


class SimulatedServer:
    """An HTTP server of one world.

    Args:
        world: The world.
        hands: Its time.

    Attributes:
        answers: Holds the log.
    """

    def __init__(self, world: World, hands: Hands) -> None:
        self._hands = hands
        self.answers = WorldServer(world, hands.now, time.monotonic)
        self._open: set[asyncio.StreamWriter] = set()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        self._open.add(writer)
        try:
            while await self._turn(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._open.discard(writer)

    async def close(self) -> None:
        """End all connections."""
        while self._open:
            for writer in tuple(self._open):
                writer.transport.abort()
            await asyncio.sleep(0.001)

    async def _turn(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; False when the connection ends."""
        heading = read_heading(await reader.readuntil(b"\r\n\r\n"))
        if heading is None:
            return False
        sending = self._controlled(heading) or self.answers.answer(heading)
        for delay, data in sending.pieces:
            if delay:
                await asyncio.sleep(delay / max(self._hands.speed, 1.0))
            writer.write(data)
            await writer.drain()
        if sending.row is not None:
            self.answers.rows.append(sending.row)
        return not sending.close and heading.fields.get("connection", "").lower() != "close"

    def _controlled(self, heading: Heading) -> Sending | None:
        """Return a request to the clock; None for any other."""
        parts = urlsplit(heading.url)
        if parts.path != CONTROL:
            return None
        parameters = parse_qs(parts.query)
        try:
            if "day" in parameters:
                self._hands.set(float(parameters["day"][0]) * DAY)
            if "speed" in parameters:
                now = self._hands.now()
                self._hands.speed = float(parameters["speed"][0])
                self._hands.set(now)
        except ValueError:
            return _json({"error": "day and speed are numbers"}, 400)
        return _json({"day": self._hands.now() / DAY, "speed": self._hands.speed}, 200)


def _json(value: dict[str, object], status: int) -> Sending:
    body = json.dumps(value).encode() + b"\n"
    head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
    data = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    return Sending(((0.0, data),), close=False)


@asynccontextmanager
async def serving(
    world: World, hands: Hands, port: int = 0, address: str = "127.0.0.1"
) -> AsyncIterator[tuple[SimulatedServer, int]]:
    """Serve a world; gives the server and its port.

    Args:
        world: The world.
        hands: Its time.
        port: Port; 0 for a free one.
        address: Address to listen on.
    """
    server = SimulatedServer(world, hands)
    listener = await asyncio.start_server(server.talk, address, port, limit=_HEAD)
    async with listener:
        try:
            yield server, listener.sockets[0].getsockname()[1]
        finally:
            await server.close()
