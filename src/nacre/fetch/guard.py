"""The address guard decides which addresses may be connected to: pure, by address alone.

It judges each candidate address and again the address of the peer, so that no name, no redirect and
no rebinding leads to a network that the operator did not mean to crawl. Only what the operator
wrote opens one: `network.allow`, an address as a seed or as that of a seed in `dns.hosts`, a seed's
name of a private kind. What a public name resolves to opens nothing, for the owner of the name
decides that.

Source of the kinds of addresses: the special-purpose address registries of IANA (RFC 6890 and its
successors).
"""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Annotated

from pydantic import field_validator

from nacre.config.component import Component, NamedKind, NetworkName, setting

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOOPBACK = "loopback"
PRIVATE = "private"
LINK_LOCAL = "link-local"
SHARED = "carrier-grade NAT"
UNIQUE_LOCAL = "unique local"
METADATA = "cloud metadata"
MULTICAST = "multicast"
BROADCAST = "broadcast"
UNSPECIFIED = "unspecified"
DOCUMENTATION = "documentation"
RESERVED = "reserved"

# The first network that contains an address determines its kind, so exceptions come first.
_KINDS_4: tuple[tuple[str, str], ...] = (
    ("169.254.169.254/32", METADATA),
    ("169.254.170.2/32", METADATA),  # Amazon ECS
    ("100.100.100.200/32", METADATA),  # Alibaba
    ("168.63.129.16/32", METADATA),  # Azure, in a public range
    ("127.0.0.0/8", LOOPBACK),
    ("10.0.0.0/8", PRIVATE),
    ("172.16.0.0/12", PRIVATE),
    ("192.168.0.0/16", PRIVATE),
    ("169.254.0.0/16", LINK_LOCAL),
    ("100.64.0.0/10", SHARED),
    ("0.0.0.0/8", UNSPECIFIED),
    ("192.0.2.0/24", DOCUMENTATION),
    ("198.51.100.0/24", DOCUMENTATION),
    ("203.0.113.0/24", DOCUMENTATION),
    ("192.0.0.0/24", RESERVED),
    ("192.88.99.0/24", RESERVED),
    ("198.18.0.0/15", RESERVED),
    ("224.0.0.0/4", MULTICAST),
    ("255.255.255.255/32", BROADCAST),
    ("240.0.0.0/4", RESERVED),
)
_KINDS_6: tuple[tuple[str, str], ...] = (
    ("fd00:ec2::254/128", METADATA),  # Amazon
    ("fd20:ce::254/128", METADATA),  # Google
    ("::1/128", LOOPBACK),
    ("::/128", UNSPECIFIED),
    ("fe80::/10", LINK_LOCAL),
    ("fec0::/10", PRIVATE),
    ("fc00::/7", UNIQUE_LOCAL),
    ("ff00::/8", MULTICAST),
    ("64:ff9b:1::/48", PRIVATE),  # NAT64 of a network's own, RFC 8215
    ("2001:db8::/32", DOCUMENTATION),
    ("3fff::/20", DOCUMENTATION),
    ("2001::/23", RESERVED),
    ("2000::/3", ""),
    ("::/0", RESERVED),
)
# Where an IPv4 address hides in an IPv6 one: network, bits to its right, mask to undo.
_EMBEDDED: tuple[tuple[str, int, int], ...] = (
    ("::ffff:0:0/96", 0, 0),  # mapped
    ("::ffff:0:0:0/96", 0, 0),  # translated, RFC 2765
    ("64:ff9b::/96", 0, 0),  # NAT64, RFC 6052
    ("2002::/16", 80, 0),  # 6to4, RFC 3056
    ("2001::/32", 0, 0xFFFFFFFF),  # Teredo, RFC 4380: inverted
)


def parse_address(text: str) -> Address | None:
    """Return an IP address, with or without brackets and zone; None when it is none."""
    try:
        return ip_address(text.removeprefix("[").removesuffix("]").partition("%")[0])
    except ValueError:
        return None


def address_kind(address: Address) -> str:
    """Return the kind of an address: one of the constants above; "" for a public one.

    An IPv6 address that represents an IPv4 one is judged as the IPv4 address.
    """
    address = unmap(address)
    table = _TABLE_4 if address.version == 4 else _TABLE_6
    number = int(address)
    for first, last, kind in table:
        if first <= number <= last:
            return kind
    return ""


def unmap(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one represents; any other address unchanged.

    Mapped, compatible, translated, NAT64, 6to4 and Teredo forms.
    """
    if address.version == 4:
        return address
    number = int(address)
    if 1 < number <= 0xFFFFFFFF:  # compatible, RFC 4291 2.5.5.1
        return IPv4Address(number)
    for first, last, shift, mask in _FORMS:
        if first <= number <= last:
            return IPv4Address((number >> shift & 0xFFFFFFFF) ^ mask)
    return address


def parse_network(text: str) -> Network:
    """Return a network in CIDR notation, or one address.

    Raises:
        ValueError: It is neither, or has bits set to the right of its mask.
    """
    return ip_network(text.strip())


def _ranges(kinds: Iterable[tuple[str, str]]) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (int(network[0]), int(network[-1]), kind)
        for network, kind in ((ip_network(text), kind) for text, kind in kinds)
    )


_TABLE_4 = _ranges(_KINDS_4)
_TABLE_6 = _ranges(_KINDS_6)
_FORMS = tuple(
    (int(network[0]), int(network[-1]), shift, mask)
    for network, shift, mask in ((ip_network(text), s, m) for text, s, m in _EMBEDDED)
)


_CACHE = 8192
_LOOPBACK_NETWORKS = ("127.0.0.0/8", "::1/128")
# What a seed opens by itself. Metadata, multicast and the like need `network.allow`.
_SEED_KINDS = frozenset((LOOPBACK, PRIVATE, LINK_LOCAL, SHARED, UNIQUE_LOCAL))
_PRIVATE_SUFFIXES = (".localhost", ".test", ".internal", ".local", ".home.arpa")


class NetworkSettings(Component):
    """Settings of which networks may be crawled."""

    allow: tuple[NetworkName, ...] = setting(
        (),
        "Networks in CIDR notation that may be crawled although they are loopback, private, "
        "link-local and so on. A seed that is such an address, or whose name is of a private "
        "kind (`localhost`, `.localhost`, `.test`, `.internal`, `.local`, `.home.arpa`) or is in "
        "`dns.hosts`, allows its own addresses; other names allow none, whatever they resolve "
        "to.",
        sheets=False,
    )
    proxy_resolves: Annotated[bool, NamedKind.NETWORK] = setting(
        False,
        "With a proxy: let it resolve names, so that their addresses are not checked. Otherwise "
        "names are resolved here first, and refused if one of their addresses is.",
    )

    @field_validator("allow")
    @classmethod
    def _check_allow(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            parse_network(text)
        return value


class AddressGuard:
    """Determines which addresses may be connected to."""

    def __init__(self, allow: Sequence[str] = (), seeds: Iterable[str] = ()) -> None:
        """Allow public addresses and the networks given in CIDR notation.

        Args:
            allow: `network.allow`, which may change.
            seeds: Networks that the seeds open, for as long as the guard lives.

        Raises:
            ValueError: One of them is not a network.
        """
        self._known: dict[str, str] = {}
        self._seeds = tuple(seeds)
        self.allow_networks(allow)

    def allow_networks(self, allow: Sequence[str]) -> None:
        """Allow these networks and those of the seeds from now on, and no others.

        Raises:
            ValueError: One of them is not a network.
        """
        self.allow = tuple(dict.fromkeys((*allow, *self._seeds)))
        self._networks: tuple[Network, ...] = tuple(parse_network(text) for text in self.allow)
        self._known.clear()

    def refusal(self, address: str) -> str:
        """Return the reason why an IP address is refused, for the operator; "" when it is allowed.

        The text contains the address, its kind and the option that would allow it.
        """
        text = self._known.get(address)
        if text is None:
            if len(self._known) >= _CACHE:
                self._known.clear()
            text = self._known[address] = self._judge(address)
        return text

    def is_listed(self, address: str) -> bool:
        """Return whether an address is in the networks allowed by name, public or not."""
        parsed = parse_address(address)
        if parsed is None:
            return False
        plain = unmap(parsed)
        return any(parsed in network or plain in network for network in self._networks)

    def _judge(self, text: str) -> str:
        address = parse_address(text)
        if address is None:
            return f"{text[:100]!r} is not an IP address"
        kind = address_kind(address)
        if not kind or self.is_listed(text):
            return ""
        plain = unmap(address)
        form = "" if plain == address else f"it is a form of {plain}, "
        article = "an" if kind[0] in "aeiou" and kind != UNIQUE_LOCAL else "a"
        return (
            f"{address} is refused: {form}{article} {kind} address; to crawl it, use "
            f"--allow-net {plain}/{plain.max_prefixlen} (network.allow)"
        )


def guard_for_seeds(allow: Sequence[str], addresses: Iterable[str]) -> AddressGuard:
    """Return the guard of a job.

    Args:
        allow: `network.allow`.
        addresses: Addresses that the operator wrote as seeds, and those of the seeds' names that
            are of a private kind or are in `dns.hosts`.
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
            plain = unmap(address)
            yield f"{plain}/{plain.max_prefixlen}"


def is_public_host(host: str) -> bool:
    """Return whether a host may be public: no name of a private kind, and no special address.

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
    The names cannot be registered, so that no third party controls their addresses.

    Args:
        host: Lower-case A-labels, or an IP address, with or without brackets.
    """
    address = parse_address(host)
    if address is not None:
        return address_kind(address) in _SEED_KINDS
    name = host.removesuffix(".")
    return name == "localhost" or name.endswith(_PRIVATE_SUFFIXES)
