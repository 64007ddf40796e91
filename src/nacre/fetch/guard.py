"""The address guard: which addresses may be connected to. A pure decision, by address alone.

It is asked for each candidate address and again for the address of the peer, so that no name, no
redirect and no rebinding leads to a network that the operator did not mean to crawl. Only what the
operator wrote opens one: `network.allow`, an address as a seed or as that of a seed in
`dns.hosts`, a seed's name of a private kind. What a public name resolves to opens nothing, for
whoever owns the name says that.
"""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import field_validator

from nacre.config.component import Component, setting
from nacre.fetch.address import (
    LINK_LOCAL,
    LOOPBACK,
    PRIVATE,
    SHARED,
    UNIQUE_LOCAL,
    Network,
    address_kind,
    parse_address,
    parse_network,
    unmapped,
)

_CACHE = 8192
_LOOPBACK_NETWORKS = ("127.0.0.0/8", "::1/128")
# What a seed opens by itself. Metadata, multicast and the like need `network.allow`.
_SEED_KINDS = frozenset((LOOPBACK, PRIVATE, LINK_LOCAL, SHARED, UNIQUE_LOCAL))
_PRIVATE_SUFFIXES = (".localhost", ".test", ".internal", ".local", ".home.arpa")


class NetworkSettings(Component):
    """Which networks may be crawled."""

    allow: tuple[str, ...] = setting(
        (),
        "Networks in CIDR notation that may be crawled although they are loopback, private, "
        "link-local and so on. A seed that is such an address, or whose name is of a private kind "
        "(`localhost`, `.localhost`, `.test`, `.internal`, `.local`, `.home.arpa`) or stands in "
        "`dns.hosts`, opens its own addresses; other names open nothing, whatever they resolve to.",
        sheets=False,
    )
    proxy_resolves: bool = setting(
        False,
        "With a proxy: let it resolve names, so that their addresses are not checked. Otherwise "
        "names are resolved here first, and refused if an address is.",
    )

    @field_validator("allow")
    @classmethod
    def _check_allow(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            parse_network(text)
        return value


class AddressGuard:
    """Says which addresses may be connected to."""

    def __init__(self, allow: Sequence[str] = (), seeds: Iterable[str] = ()) -> None:
        """Allow public addresses and the networks given in CIDR notation.

        Args:
            allow: `network.allow`, which may change.
            seeds: Networks that the seeds open, for as long as the guard lives.

        Raises:
            ValueError: One of them is no network.
        """
        self._known: dict[str, str] = {}
        self._seeds = tuple(seeds)
        self.allow_networks(allow)

    def allow_networks(self, allow: Sequence[str]) -> None:
        """Allow these networks and those of the seeds from now on, and no others.

        Raises:
            ValueError: One of them is no network.
        """
        self.allow = tuple(dict.fromkeys((*allow, *self._seeds)))
        self._networks: tuple[Network, ...] = tuple(parse_network(text) for text in self.allow)
        self._known.clear()

    def refusal(self, address: str) -> str:
        """Why an IP address is refused, for the operator; "" when it is allowed.

        The text names the address, its kind and the option that would allow it.
        """
        known = self._known.get(address)
        if known is None:
            if len(self._known) >= _CACHE:
                self._known.clear()
            known = self._known[address] = self._judge(address)
        return known

    def is_listed(self, address: str) -> bool:
        """Whether an address lies in the networks allowed by name, public or not."""
        parsed = parse_address(address)
        if parsed is None:
            return False
        plain = unmapped(parsed)
        return any(parsed in network or plain in network for network in self._networks)

    def _judge(self, text: str) -> str:
        address = parse_address(text)
        if address is None:
            return f"{text[:100]!r} is no IP address"
        kind = address_kind(address)
        if not kind or self.is_listed(text):
            return ""
        plain = unmapped(address)
        form = "" if plain == address else f"stands for {plain}, "
        article = "an" if kind[0] in "aeiou" and kind != UNIQUE_LOCAL else "a"
        return (
            f"{address} is refused: {form}{article} {kind} address; to crawl it, use "
            f"--allow-net {plain}/{plain.max_prefixlen} (network.allow)"
        )


def guard_for_seeds(allow: Sequence[str], addresses: Iterable[str]) -> AddressGuard:
    """The guard of a job.

    Args:
        allow: `network.allow`.
        addresses: Addresses that the operator wrote as seeds, and those of the seeds' names that
            are of a private kind or stand in `dns.hosts`.
    """
    return AddressGuard(allow, seed_networks(addresses))


def seed_networks(addresses: Iterable[str]) -> Iterator[str]:
    """The networks that seeds open: all of loopback for a loopback seed, else one address each.

    Public addresses need none; addresses for metadata, multicast and the like open nothing.
    """
    for text in addresses:
        address = parse_address(text)
        kind = address_kind(address) if address else ""
        if address is None or kind not in _SEED_KINDS:
            continue
        if kind == LOOPBACK:
            yield from _LOOPBACK_NETWORKS
        else:
            plain = unmapped(address)
            yield f"{plain}/{plain.max_prefixlen}"


def is_public_host(host: str) -> bool:
    """Whether a host may be somebody else's: no name of a private kind, and no special address.

    Addresses for metadata, documentation, multicast and the like are refused, but not public.

    Args:
        host: As in `is_private_seed_name`.
    """
    address = parse_address(host)
    if address is not None:
        return not address_kind(address)
    return not is_private_seed_name(host)


def is_private_seed_name(host: str) -> bool:
    """Whether a host is plainly the operator's own: it needs no contact, and opens its addresses.

    `localhost`, names under `.localhost`, `.test` (RFC 6761), `.internal` (reserved by ICANN for
    private use), `.local` (RFC 6762) and `.home.arpa` (RFC 8375), and addresses in private ranges.
    Nobody can register the names, so that no stranger says what they resolve to.

    Args:
        host: Lower-case A-labels, or an IP address, with or without brackets.
    """
    address = parse_address(host)
    if address is not None:
        return address_kind(address) in _SEED_KINDS
    name = host.removesuffix(".")
    return name == "localhost" or name.endswith(_PRIVATE_SUFFIXES)
