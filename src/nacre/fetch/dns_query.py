"""One name, one kind of address: servers in turn, aliases followed, within a time limit."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from nacre.fetch.dns_exchange import Server, exchange
from nacre.fetch.dns_message import NOERROR, NXDOMAIN, Name, Record, Reply, rcode_text
from nacre.fetch.starvation import is_starvation

_MAX_ALIASES = 16


class Asking(NamedTuple):
    """How to ask.

    Attributes:
        servers: Servers to ask in turn; at least one.
        patience: Wait for each reply, s.
        tries: Questions asked for a name, and for each alias whose target a server left out;
            the whole may take `tries` times `patience`.
    """

    servers: Sequence[Server]
    patience: float
    tries: int

    def silence(self) -> str:
        """What to say when no reply came."""
        names = ", ".join(dict.fromkeys(server.address for server in self.servers))
        return f"no reply from DNS server {names}"


class Found(NamedTuple):
    """What was found of one kind.

    Attributes:
        records: Aliases followed, then addresses; empty when there is no address.
        server: Address of the server that answered last.
        error: Why there is no address; "" when there is one, or when the name just has none.
        certain: A server said that there is none; asking again soon would change nothing.
        starved: The crawler itself had no file handle left to ask with.
    """

    records: tuple[Record, ...] = ()
    server: str = ""
    error: str = ""
    certain: bool = False
    starved: bool = False


class _Alias(NamedTuple):
    """How far a reply leads: the last name, and the addresses there."""

    name: Name
    addresses: list[Record]


async def find_addresses(name: Name, kind: int, asking: Asking) -> Found:
    """Find the addresses of a name; `kind` is `dns_message.A` or `AAAA`."""
    aliases: list[Record] = []
    try:
        async with asyncio.timeout(asking.patience * asking.tries):
            while True:
                server, reply, error = await _ask(name, kind, asking)
                if error or reply is None:
                    return Found(error=error, server=server, certain=reply is not None)
                last = _follow(name, reply.records, aliases)
                if last is None:
                    return Found(error="its aliases (CNAME) lead nowhere", server=server)
                if last.addresses:
                    return Found((*aliases, *last.addresses), server)
                if last.name == name:
                    return Found(server=server, certain=True)
                name = last.name
    except TimeoutError:
        return Found(error=asking.silence())
    except OSError as error:
        return Found(error=str(error.strerror or error), starved=is_starvation(error))


def _follow(name: Name, records: Sequence[Record], aliases: list[Record]) -> _Alias | None:
    """Follow the aliases of a reply, adding to those known; None when they circle or are many."""
    by_owner = {record.owner: record for record in records if record.target is not None}
    while True:
        here = [r for r in records if r.target is None and r.owner == name]
        alias = by_owner.get(name)
        if here or alias is None or alias.target is None:
            return _Alias(name, here)
        if alias in aliases or len(aliases) >= _MAX_ALIASES:
            return None
        aliases.append(alias)
        name = alias.target


async def _ask(name: Name, kind: int, asking: Asking) -> tuple[str, Reply | None, str]:
    """Ask until a server knows: its address, its reply, or why there is none.

    A reply beside an error says that the name does not exist.

    Raises:
        OSError: The crawler itself has no file handle left.
    """
    error = ""
    server = asking.servers[0]
    for attempt in range(asking.tries):
        server = asking.servers[attempt % len(asking.servers)]
        try:
            async with asyncio.timeout(asking.patience):
                reply = await exchange(server, name, kind)
        except TimeoutError:
            error = asking.silence()
        except OSError as fault:
            if is_starvation(fault):
                raise
            error = f"DNS server {server.address} cannot be reached ({fault.strerror or fault})"
        else:
            if reply.rcode == NOERROR:
                return server.address, reply, ""
            error = f"DNS server {server.address} says {rcode_text(reply.rcode)}"
            if reply.rcode == NXDOMAIN:
                return server.address, reply, error
    return server.address, None, error
