"""A client of DNS servers: one name, one kind of address, within a time limit.

Servers are queried in turn, by UDP, and by TCP if the reply does not fit; aliases are followed.
Replies are read record by record and only as far as needed: one of 64 KB with thousands of
addresses costs no more than one with sixty-four. The names in them are read by dnspython, whose own
reader of messages would make an object of each record.
"""

import asyncio
import secrets
import struct
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple, cast

import dns.exception
import dns.name

from nacre.fetch.request import is_starvation
from nacre.messages import message

# ---- messages

MAX_RECORDS = 64
A, CNAME, AAAA = 1, 5, 28
NOERROR, NXDOMAIN = 0, 3

_KINDS = {A: "A", CNAME: "CNAME", AAAA: "AAAA"}
_RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
_INTERNET = 1
_RECURSE = 0x0100
_REPLY, _TRUNCATED, _RCODE = 0x8000, 0x0200, 0x000F

Name = dns.name.Name


class DnsRecord(NamedTuple):
    """One resource record of an answer.

    Attributes:
        owner: Whose record it is.
        ttl: Seconds that it holds.
        kind: `A`, `AAAA` or `CNAME`.
        text: The address, or the name pointed to, with its final dot.
        target: The name pointed to; None for an address.
    """

    owner: Name
    ttl: int
    kind: str
    text: str
    target: Name | None = None

    def line(self) -> str:
        """Return the record as in a zone file, with tabs, for a `dns:` record."""
        return f"{self.owner.to_text()}\t{self.ttl}\tIN\t{self.kind}\t{self.text}"


class DnsReply(NamedTuple):
    """The reply of a server.

    Attributes:
        rcode: Response code; 0 for success.
        truncated: Whether the complete reply is available only by TCP.
        records: The first 64 addresses and CNAMEs of the answer section.
    """

    rcode: int
    truncated: bool = False
    records: tuple[DnsRecord, ...] = ()


def parse_name(host: str) -> Name | None:
    """A host as a DNS name; None when it cannot be one (a label over 63 octets, an empty one)."""
    if "\\" in host or not host.isascii() or host in ("", "."):
        return None
    try:
        return dns.name.from_text(host)
    except dns.exception.DNSException:
        return None


def build_query(ident: bytes, name: Name, kind: int) -> bytes:
    """Make a recursive query without EDNS: replies over 512 octets use TCP."""
    head = ident + struct.pack("!HHHHH", _RECURSE, 1, 0, 0, 0)
    return head + name.to_digestable() + struct.pack("!HH", kind, _INTERNET)


def parse_reply(wire: bytes, query: bytes) -> DnsReply | None:
    """Read a reply; None when it is none to this query, or garbled: as if it had not come.

    The question must be repeated in it, but for the case of letters; a server that could not
    read the question may leave it out.
    """
    if len(wire) < 12 or wire[:2] != query[:2]:
        return None
    flags, questions, answers = struct.unpack_from("!HHH", wire, 2)
    rcode = flags & _RCODE
    end = len(query)
    repeated = questions == 1 and wire[12:end].lower() == query[12:].lower()
    if not flags & _REPLY or not (repeated or (questions == 0 and rcode)):
        return None
    if flags & _TRUNCATED or rcode:
        return DnsReply(rcode, truncated=bool(flags & _TRUNCATED))
    try:
        return DnsReply(rcode, records=_read_records(wire, end, answers))
    except (dns.exception.DNSException, struct.error, ValueError):
        return None


def _read_records(wire: bytes, start: int, count: int) -> tuple[DnsRecord, ...]:
    records: list[DnsRecord] = []
    for _ in range(min(count, 4 * MAX_RECORDS)):
        owner, size = dns.name.from_wire(wire, start)
        kind, group, ttl, length = struct.unpack_from("!HHIH", wire, start + size)
        start += size + 10
        if group == _INTERNET and kind in _KINDS:
            # RFC 2181 8: a TTL with the highest bit set means 0.
            ttl = ttl if ttl < 1 << 31 else 0
            records.append(
                _read_record(wire, start, length, DnsRecord(owner, ttl, _KINDS[kind], ""))
            )
        start += length
        if len(records) >= MAX_RECORDS:
            break
    return tuple(records)


def _read_record(wire: bytes, start: int, length: int, record: DnsRecord) -> DnsRecord:
    """Decode the data of a record; wrong lengths are a ValueError."""
    if record.kind == "CNAME":
        target, size = dns.name.from_wire(wire, start)
        if size != length:
            raise ValueError(message("fetch.name-of-another-length", "a name of another length"))
        return record._replace(text=target.to_text(), target=target)
    data = wire[start : start + length]
    address = IPv4Address(data) if record.kind == "A" else IPv6Address(data)
    return record._replace(text=str(address))


def rcode_text(rcode: int) -> str:
    """Return the name of a response code."""
    return _RCODES.get(rcode, f"RCODE {rcode}")


# ---- one question to one server


class DnsServer(NamedTuple):
    """A DNS server: its IP address (an IPv6 one perhaps with a zone) and its port."""

    address: str
    port: int = 53


def parse_server(text: str) -> DnsServer:
    """Read `IP` or `IP:PORT`, with an IPv6 address in brackets before a port.

    Raises:
        ValueError: The text is neither; the message contains the expected form.
    """
    host, port = text, ""
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        port = port.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        ip_address(host)
        server = DnsServer(host, int(port or 53))
    except ValueError:
        server = DnsServer(host, 0)
    if not 0 < server.port < 65536:
        raise ValueError(
            message(
                "fetch.is-not-dns-server",
                "{text!r} is not a DNS server; write IP, IP:PORT or [IPv6]:PORT",
                text=text,
            )
        )
    return server


class _Datagrams(asyncio.DatagramProtocol):
    """Waits for the reply to a query; other datagrams are ignored."""

    def __init__(self, query: bytes) -> None:
        self._query = query
        self._transport: asyncio.DatagramTransport | None = None
        self.reply: asyncio.Future[DnsReply] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport
        if self.reply.done():  # closed while uvloop made the endpoint, which it then leaves open
            transport.close()

    def datagram_received(self, data: bytes, addr: object) -> None:
        reply = parse_reply(data, self._query)
        if reply and not self.reply.done():
            self.reply.set_result(reply)

    def error_received(self, exc: Exception) -> None:
        if not self.reply.done():
            self.reply.set_exception(exc)

    def connection_lost(self, exc: Exception | None) -> None:
        self.error_received(exc or ConnectionResetError("closed"))

    def close(self) -> None:
        """Close the socket, also one that is still being made."""
        self.reply.cancel()
        if self._transport is not None:
            self._transport.close()


async def query_server(server: DnsServer, name: Name, kind: int) -> DnsReply:
    """Ask once, from a separate port and with an unguessable number.

    The caller limits the time.

    Raises:
        OSError: The server cannot be reached, or hung up.
    """
    query = build_query(secrets.token_bytes(2), name, kind)
    reply = await _by_udp(server, query)
    return await _by_tcp(server, query) if reply.truncated else reply


async def _by_udp(server: DnsServer, query: bytes) -> DnsReply:
    datagrams = _Datagrams(query)
    try:
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: datagrams, remote_addr=server
        )
        transport.sendto(query)
        return await datagrams.reply
    finally:
        datagrams.close()


async def _by_tcp(server: DnsServer, query: bytes) -> DnsReply:
    reader, writer = await asyncio.open_connection(*server)
    try:
        writer.write(len(query).to_bytes(2, "big") + query)
        length = int.from_bytes(await reader.readexactly(2), "big")
        reply = parse_reply(await reader.readexactly(length), query)
    except asyncio.IncompleteReadError as error:
        raise ConnectionResetError(
            message("fetch.dns-server-closed-connection", "the DNS server closed the connection")
        ) from error
    finally:
        cast("asyncio.Transport", writer.transport).abort()
    if reply is None:
        raise ConnectionResetError(
            message(
                "fetch.dns-server-sent-something",
                "the DNS server sent something that is not a reply",
            )
        )
    return reply


# ---- one name

_MAX_ALIASES = 16


class QueryPolicy(NamedTuple):
    """The policy of a query: servers, time-outs, tries.

    Attributes:
        servers: Servers to query in turn; at least one.
        patience: Wait for each reply, s.
        tries: Queries for a name, and for each alias whose target a server left out; the whole may
            take `tries` times `patience`.
    """

    servers: Sequence[DnsServer]
    patience: float
    tries: int

    def silence(self) -> str:
        """Return the message for a missing reply."""
        names = ", ".join(dict.fromkeys(server.address for server in self.servers))
        return f"no reply from DNS server {names}"


class FoundRecords(NamedTuple):
    """The records of one type in a reply.

    Attributes:
        records: Aliases followed, then addresses; empty when there is no address.
        server: Address of the server that answered last.
        error: Why there is no address; "" when there is one, or when the name just has none.
        certain: Whether a server answered that there is none; another query soon would change
            nothing.
        starved: Whether the crawler had no file handle left for a query.
    """

    records: tuple[DnsRecord, ...] = ()
    server: str = ""
    error: str = ""
    certain: bool = False
    starved: bool = False


class _Alias(NamedTuple):
    """How far a reply leads: the last name, and the addresses there."""

    name: Name
    addresses: list[DnsRecord]


async def find_addresses(name: Name, kind: int, asking: QueryPolicy) -> FoundRecords:
    """Find the addresses of a name; `kind` is `dns_message.A` or `AAAA`."""
    aliases: list[DnsRecord] = []
    try:
        async with asyncio.timeout(asking.patience * asking.tries):
            while True:
                server, reply, error = await _ask(name, kind, asking)
                if error or reply is None:
                    return FoundRecords(error=error, server=server, certain=reply is not None)
                last = _follow(name, reply.records, aliases)
                if last is None:
                    return FoundRecords(error="its aliases (CNAME) lead nowhere", server=server)
                if last.addresses:
                    return FoundRecords((*aliases, *last.addresses), server)
                if last.name == name:
                    return FoundRecords(server=server, certain=True)
                name = last.name
    except TimeoutError:
        return FoundRecords(error=asking.silence())
    except OSError as error:
        return FoundRecords(error=str(error.strerror or error), starved=is_starvation(error))


def _follow(name: Name, records: Sequence[DnsRecord], aliases: list[DnsRecord]) -> _Alias | None:
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


async def _ask(name: Name, kind: int, asking: QueryPolicy) -> tuple[str, DnsReply | None, str]:
    """Query servers until one answers; return its address, and its reply or the reason for none.

    A reply besides an error means that the name does not exist.

    Raises:
        OSError: The crawler itself has no file handle left.
    """
    error = ""
    server = asking.servers[0]
    for attempt in range(asking.tries):
        server = asking.servers[attempt % len(asking.servers)]
        try:
            async with asyncio.timeout(asking.patience):
                reply = await query_server(server, name, kind)
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
