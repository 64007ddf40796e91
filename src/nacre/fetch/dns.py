"""Names to addresses: local sources first, then DNS servers. Failures are values.

Addresses are not judged here; the guard judges each address before a connection.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import structs
from pydantic import BeforeValidator, WithJsonSchema, field_validator

from nacre.config.component import Component, NamedKind, Seconds, ServerAddress, setting
from nacre.core.clock import Clock, digits14
from nacre.core.status import FetchStatus
from nacre.errors import URIError
from nacre.fetch.dns_client import (
    AAAA,
    A,
    DnsRecord,
    DnsServer,
    FoundRecords,
    Name,
    QueryPolicy,
    find_addresses,
    parse_name,
    parse_server,
)
from nacre.fetch.guard import parse_address
from nacre.messages import message
from nacre.uri.domain import host_to_ascii

_Value = TypeVar("_Value")


class WatchedFile(Generic[_Value]):
    """The content of a small local file, cached until it changes; a missing one is empty."""

    def __init__(self, path: Path, parse: Callable[[str], _Value]) -> None:
        self._path = path
        self._parse = parse
        self._stamp: tuple[int, int] | None = None
        self._value = parse("")

    @property
    def value(self) -> _Value:
        """The current content of the file."""
        try:
            stat = self._path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            if stamp != self._stamp:
                self._value = self._parse(self._path.read_text("utf-8", "replace"))
                self._stamp = stamp
        except OSError:
            self._value = self._parse("")
            self._stamp = None
        return self._value


def parse_hosts(text: str) -> dict[str, tuple[str, ...]]:
    """Lower-case names of a hosts file, each with its addresses in the order of the file."""
    addresses_by_name: dict[str, list[str]] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and parse_address(words[0]):
            for name in words[1:]:
                addresses_by_name.setdefault(name.lower().removesuffix("."), []).append(words[0])
    return {name: tuple(dict.fromkeys(addresses)) for name, addresses in addresses_by_name.items()}


def parse_resolv_conf(text: str) -> tuple[DnsServer, ...]:
    """Return the name servers of a resolv.conf, in order."""
    servers: list[DnsServer] = []
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver" and parse_address(words[1]):
            servers.append(parse_server(words[1] if ":" not in words[1] else f"[{words[1]}]"))
    return tuple(servers)


MAX_ADDRESSES = 32
_MAX_TTL = 7 * 86400
# How long the family that answered waits for the other one, s.
_GRACE = 1.0


def _plain_name(name: str) -> str:
    """Return a name as in a URL: A-labels, lower case, without a final dot."""
    try:
        return host_to_ascii(name).removesuffix(".")
    except URIError as error:
        raise ValueError(str(error)) from error


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Addresses = Annotated[
    tuple[str, ...],
    BeforeValidator(_as_list),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class DnsSettings(Component):
    """Settings of how names are resolved."""

    hosts: Annotated[dict[str, _Addresses], NamedKind.NETWORK] = setting(
        dict,
        "Fixed addresses of names, which are used without a DNS query; one, or a list.",
        sheets=False,
    )
    servers: tuple[ServerAddress, ...] = setting(
        (),
        "DNS servers, `IP`, `IP:PORT` or `[IPv6]:PORT`. Empty: those of /etc/resolv.conf.",
        sheets=False,
    )
    timeout: Seconds = setting(5.0, "Wait for one reply.", unit="s", gt=0, sheets=False)
    tries: int = setting(
        3,
        "Questions asked before a name fails, the servers in turn; a lookup takes `tries` times "
        "`timeout` at most.",
        ge=1,
        sheets=False,
    )
    ipv6: bool = setting(True, "Use IPv6 addresses as well.", sheets=False)
    min_ttl: Seconds = setting(
        21600.0,
        "Shortest time that an answer is valid (Heritrix: ipValidityDurationSeconds), a week at "
        "most. 0: as the server says; an answer with a TTL of 0 is still used for the URLs that "
        "wait for it.",
        unit="s",
        sheets=False,
    )

    @field_validator("hosts")
    @classmethod
    def _check_hosts(cls, value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for name, addresses in value.items():
            for address in addresses:
                if parse_address(address) is None:
                    raise ValueError(
                        message(
                            "fetch.is-not-ip-address",
                            "{name}: {address!r} is not an IP address",
                            name=name,
                            address=address,
                        )
                    )
        return {_plain_name(name): addresses for name, addresses in value.items()}

    @field_validator("servers")
    @classmethod
    def _check_servers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            parse_server(text)
        return value


class DnsAnswer(msgspec.Struct, frozen=True):
    """The result of a look-up.

    Attributes:
        addresses: In the order to try them, IPv6 and IPv4 in turn; empty when there is none.
        ttl: Seconds that the answer holds; 0 for a failure.
        status: 1, or -1 for a failure.
        server: Address of the server that answered; "" without a query.
        text: Body of the `dns:` record: a line with the 14-digit time, then one line a record;
            "" for a failure.
        error: Why it failed, for the operator.
        certain: A failure that asking again soon would not change: the name does not exist, or has
            no address.
        starved: Whether the crawler had no file handle left for a query.
    """

    addresses: tuple[str, ...] = ()
    ttl: float = 0.0
    status: int = FetchStatus.DNS_OK
    server: str = ""
    text: str = ""
    error: str = ""
    certain: bool = False
    starved: bool = False


class DnsResolver:
    """Looks up names; keeps nothing, since the answers are kept with their hosts."""

    def __init__(
        self,
        settings: DnsSettings,
        clock: Clock,
        *,
        hosts_file: Path = Path("/etc/hosts"),
        resolv_conf: Path = Path("/etc/resolv.conf"),
    ) -> None:
        self._clock = clock
        self.configure(settings)
        self._hosts_file = WatchedFile(hosts_file, parse_hosts)
        self._resolv_conf = WatchedFile(resolv_conf, parse_resolv_conf)

    def configure(self, settings: DnsSettings) -> None:
        """Use these settings from now on."""
        self._settings = settings
        self._servers = tuple(parse_server(text) for text in settings.servers)

    async def lookup(self, host: str) -> DnsAnswer:
        """Find the addresses of a host.

        Args:
            host: Lower-case A-labels, perhaps with a final dot, or an IP address, an IPv6 one
                perhaps in brackets.
        """
        plain = host.removesuffix(".")
        local = self._local(plain)
        if local:
            return self._static_answer(plain, local)
        name = parse_name(plain)
        if name is None:
            return _failure(f"{host[:300]!r} is not a name for DNS")
        servers = self._servers or self._resolv_conf.value
        if not servers:
            return _failure(
                f"{host} cannot be looked up: /etc/resolv.conf names no server; "
                "set dns.servers, or its addresses in dns.hosts"
            )
        return await self._ask(name, servers)

    def _local(self, host: str) -> tuple[str, ...]:
        """Addresses that are known without asking a server."""
        if parse_address(host):
            return (host.removeprefix("[").removesuffix("]"),)
        if host == "localhost" or host.endswith(".localhost"):
            return self._usable(("127.0.0.1", "::1"))
        own, of_system = self._settings.hosts, self._hosts_file.value
        return self._usable(own.get(host) or of_system.get(host, ()))

    def _usable(self, addresses: Iterable[str]) -> tuple[str, ...]:
        usable = (a for a in addresses if self._settings.ipv6 or ":" not in a)
        return tuple(dict.fromkeys(usable))[:MAX_ADDRESSES]

    def _static_answer(self, host: str, addresses: Sequence[str]) -> DnsAnswer:
        ttl = min(self._settings.min_ttl, _MAX_TTL)
        lines = (
            f"{host}.\t{int(ttl)}\tIN\t{'AAAA' if ':' in address else 'A'}\t{address}"
            for address in addresses
        )
        return DnsAnswer(tuple(addresses), ttl, text=self._body(lines))

    async def _ask(self, name: Name, servers: Sequence[DnsServer]) -> DnsAnswer:
        replies = await self._families(name, servers)
        records = tuple(dict.fromkeys(chain.from_iterable(reply.records for reply in replies)))
        addresses = self._usable(_interleave(records))
        if not addresses:
            errors = dict.fromkeys(reply.error for reply in replies if reply.error)
            text = "; ".join(errors) or "it has no address"
            certain = all(reply.certain for reply in replies)
            failure = _failure(f"{name.to_text(omit_final_dot=True)}: {text}", certain=certain)
            return structs.replace(failure, starved=any(reply.starved for reply in replies))
        ttl = min(max(self._settings.min_ttl, min(r.ttl for r in records)), _MAX_TTL)
        server = next(reply.server for reply in replies if reply.records)
        return DnsAnswer(
            addresses, ttl, server=server, text=self._body(record.line() for record in records)
        )

    async def _families(self, name: Name, servers: Sequence[DnsServer]) -> list[FoundRecords]:
        """Ask for A and AAAA at once; when one is known, the other has little time left."""
        kinds = (A, AAAA) if self._settings.ipv6 else (A,)
        asking = QueryPolicy(servers, self._settings.timeout, self._settings.tries)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(find_addresses(name, kind, asking)) for kind in kinds]
            finished, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if waiting and any(task.result().records for task in finished):
                _, waiting = await asyncio.wait(waiting, timeout=_GRACE)
                for task in waiting:
                    task.cancel()
        return [task.result() for task in tasks if not task.cancelled()]

    def _body(self, lines: Iterable[str]) -> str:
        return "".join(f"{line}\n" for line in (digits14(self._clock.now()), *lines))


def _interleave(records: Sequence[DnsRecord]) -> Iterator[str]:
    """Addresses of both families in turn, IPv6 first."""
    v6 = (record.text for record in records if record.kind == "AAAA")
    v4 = (record.text for record in records if record.kind == "A")
    for pair in zip_longest(v6, v4):
        yield from (address for address in pair if address)


def _failure(error: str, *, certain: bool = False) -> DnsAnswer:
    return DnsAnswer(status=FetchStatus.DNS_FAILED, error=error, certain=certain)
