"""DNS messages as bytes: a question, and what a reply says to it. No sockets here.

Replies are read record by record and only as far as needed: a reply of 64 KB with thousands of
addresses costs no more than one with sixty-four.
"""

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

import dns.exception
import dns.name

MAX_RECORDS = 64
A, CNAME, AAAA = 1, 5, 28
NOERROR, NXDOMAIN = 0, 3

_KINDS = {A: "A", CNAME: "CNAME", AAAA: "AAAA"}
_RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
_INTERNET = 1
_RECURSE = 0x0100
_REPLY, _TRUNCATED, _RCODE = 0x8000, 0x0200, 0x000F

Name = dns.name.Name


class Record(NamedTuple):
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
        """The record as in a zone file, with tabs: what a `dns:` record holds."""
        return f"{self.owner.to_text()}\t{self.ttl}\tIN\t{self.kind}\t{self.text}"


class Reply(NamedTuple):
    """What a server said.

    Attributes:
        rcode: Response code; 0 for success.
        truncated: The rest is to be had by TCP.
        records: The first 64 addresses and CNAMEs of the answer section.
    """

    rcode: int
    truncated: bool = False
    records: tuple[Record, ...] = ()


def parse_name(host: str) -> Name | None:
    """A host as a DNS name; None when it cannot be one (a label over 63 octets, an empty one)."""
    if "\\" in host or not host.isascii() or host in ("", "."):
        return None
    try:
        return dns.name.from_text(host)
    except dns.exception.DNSException:
        return None


def build_query(ident: bytes, name: Name, kind: int) -> bytes:
    """A recursive question, without EDNS: what does not fit 512 octets comes by TCP."""
    head = ident + struct.pack("!HHHHH", _RECURSE, 1, 0, 0, 0)
    return head + name.to_digestable() + struct.pack("!HH", kind, _INTERNET)


def parse_reply(wire: bytes, query: bytes) -> Reply | None:
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
        return Reply(rcode, truncated=bool(flags & _TRUNCATED))
    try:
        return Reply(rcode, records=_read_records(wire, end, answers))
    except (dns.exception.DNSException, struct.error, ValueError):
        return None


def _read_records(wire: bytes, start: int, count: int) -> tuple[Record, ...]:
    records: list[Record] = []
    for _ in range(min(count, 4 * MAX_RECORDS)):
        owner, size = dns.name.from_wire(wire, start)
        kind, group, ttl, length = struct.unpack_from("!HHIH", wire, start + size)
        start += size + 10
        if group == _INTERNET and kind in _KINDS:
            # RFC 2181 8: a TTL with the highest bit set means 0.
            ttl = ttl if ttl < 1 << 31 else 0
            records.append(_read_record(wire, start, length, Record(owner, ttl, _KINDS[kind], "")))
        start += length
        if len(records) >= MAX_RECORDS:
            break
    return tuple(records)


def _read_record(wire: bytes, start: int, length: int, record: Record) -> Record:
    """Fill in what a record says; wrong lengths are a ValueError."""
    if record.kind == "CNAME":
        target, size = dns.name.from_wire(wire, start)
        if size != length:
            raise ValueError("a name of another length")
        return record._replace(text=target.to_text(), target=target)
    data = wire[start : start + length]
    address = IPv4Address(data) if record.kind == "A" else IPv6Address(data)
    return record._replace(text=str(address))


def rcode_text(rcode: int) -> str:
    """The name of a response code."""
    return _RCODES.get(rcode, f"RCODE {rcode}")
