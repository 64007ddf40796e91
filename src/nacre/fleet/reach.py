"""The options of a console, and its reach: who can connect to it, and what that needs (pure)."""

import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from nacre.fleet.places import JobPlace
from nacre.ops.operation import Role

_HELP: Final = "`Remote` in console.md of the documentation, nacre help docs"


class ConsoleReach(NamedTuple):
    """The ways by which a console is reached.

    Attributes:
        bind: Address of this machine on which it listens; "" for the loopback alone.
        tls: Files of its certificate and key, PEM; None for HTTP.
        proxy: Address of the proxy in front of it, which speaks HTTPS to others; "" for none.
        hosts: Names beside those of the loopback under which it answers, as given.
        local_link: Links of `nacre console link` work beside users, too.
    """

    bind: str = ""
    tls: tuple[Path, Path] | None = None
    proxy: str = ""
    hosts: tuple[str, ...] = ()
    local_link: bool = False

    @property
    def is_remote(self) -> bool:
        """Whether others than this machine can reach it."""
        return bool(self.proxy) or not is_loopback(self.bind)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the Host list, lower case: those given, and a certain address."""
        own = [] if is_loopback(self.bind) or _is_any(self.bind) else [_literal(self.bind)]
        return tuple(dict.fromkeys(name.lower() for name in (*self.hosts, *own)))

    @property
    def name(self) -> str:
        """The name by which its own URL has it."""
        return self.names[0] if self.is_remote and self.names else "localhost"


class PortOptions(NamedTuple):
    """The options of Heritrix's port.

    Attributes:
        port: The port; 0 for a free one.
        basic: Basic in place of Digest.
        runs_at_once: A launched job crawls; otherwise it waits for unpause, as theirs does.
        resumes: A launch resumes a run that was terminated; otherwise it begins a new one.
    """

    port: int
    basic: bool = False
    runs_at_once: bool = False
    resumes: bool = False


CORES: Final = len(os.sched_getaffinity(0))
"""Processors that this process may use."""


class ConsoleOptions(NamedTuple):
    """The options of a console.

    Attributes:
        places: The directories that are searched for jobs.
        port: The port; 0 for a free port.
        folder: The console's folder.
        reach: Who can connect to the console, and how.
        heritrix: The port with Heritrix's interface; None for none.
        max_running: Maximum number of concurrent jobs; further jobs are queued.
    """

    places: Sequence[JobPlace]
    port: int
    folder: Path
    reach: ConsoleReach = ConsoleReach()
    heritrix: PortOptions | None = None
    max_running: int = CORES


def is_loopback(address: str) -> bool:
    """Whether an address is of the loopback; "" is."""
    try:
        return not address or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def why_not(reach: ConsoleReach, *, has_users: bool) -> list[str]:
    """The reasons for which a console must not be opened in this way; empty where it may be.

    Args:
        reach: The way.
        has_users: Whether it has users.
    """
    reasons = [
        f"--{name} {value}: name an address, such as {sample}"
        for name, value, sample in (
            ("bind", reach.bind, "192.0.2.5"), ("behind-proxy", reach.proxy, "127.0.0.1"),
        )
        if value not in {"", "localhost"} and not _is_address(value)
    ]  # fmt: skip
    if reasons or not reach.is_remote:
        return reasons
    if not has_users:
        reasons.append(
            "others could reach this console, and it has no users: `nacre console user add NAME "
            f"--role admin` adds one ({_HELP})"
        )
    if not is_loopback(reach.bind) and reach.tls is None and not reach.proxy:
        reasons.append(
            "passwords would cross the network in the clear: give `--tls CERT KEY`, or "
            f"`--behind-proxy ADDR` for a proxy that speaks HTTPS ({_HELP})"
        )
    if not reach.names:
        reasons.append(
            "under which name do others reach it? Give `--host NAME`, such as console.example.org; "
            "requests under another name are refused"
        )
    return reasons


def may_name_files(role: Role, *, is_remote: bool, places: Sequence[str] = ()) -> bool:
    """Whether a user may change settings that name files, servers or networks, and try such texts.

    Args:
        role: The user's role; a viewer never may.
        is_remote: Whether others than this machine can reach the console.
        places: The places that the user is restricted to: files of others may not be named.
    """
    return role >= Role.ADMIN or (role >= Role.OPERATOR and not is_remote and not places)


def takes_links(*, has_users: bool, local_link: bool) -> bool:
    """Whether a link of `nacre console link` opens a session."""
    return local_link or not has_users


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_any(address: str) -> bool:
    return _is_address(address) and ipaddress.ip_address(address).is_unspecified


def _literal(address: str) -> str:
    """An address as a Host field has it."""
    return f"[{address}]" if ":" in address else address
