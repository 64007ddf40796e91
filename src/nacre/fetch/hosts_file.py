"""/etc/hosts and /etc/resolv.conf: read once, and again when they change."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from nacre.fetch.address import parse_address
from nacre.fetch.dns_exchange import Server, parse_server

_Value = TypeVar("_Value")


class WatchedFile(Generic[_Value]):
    """What a small local file says, as long as it does not change; a missing one is empty."""

    def __init__(self, path: Path, parse: Callable[[str], _Value]) -> None:
        self._path = path
        self._parse = parse
        self._stamp: tuple[int, int] | None = None
        self._value = parse("")

    @property
    def value(self) -> _Value:
        """What the file says now."""
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
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and parse_address(words[0]):
            for name in words[1:]:
                found.setdefault(name.lower().removesuffix("."), []).append(words[0])
    return {name: tuple(dict.fromkeys(addresses)) for name, addresses in found.items()}


def parse_resolv_conf(text: str) -> tuple[Server, ...]:
    """The name servers of a resolv.conf, in order."""
    servers: list[Server] = []
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver" and parse_address(words[1]):
            servers.append(parse_server(words[1] if ":" not in words[1] else f"[{words[1]}]"))
    return tuple(servers)
