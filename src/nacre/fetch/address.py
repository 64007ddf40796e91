"""What kind of network an IP address belongs to, as far as a crawler must know.

Source: the special-purpose address registries of IANA (RFC 6890 and its successors).
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

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

# The first network that holds an address says what it is, so exceptions precede the rule.
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
    """An IP address, with or without brackets and zone; None when it is none."""
    try:
        return ip_address(text.removeprefix("[").removesuffix("]").partition("%")[0])
    except ValueError:
        return None


def address_kind(address: Address) -> str:
    """What an address is: one of the constants above; "" for a public one.

    An IPv6 address that stands for an IPv4 one is what that is.
    """
    address = unmapped(address)
    table = _TABLE_4 if address.version == 4 else _TABLE_6
    number = int(address)
    for first, last, kind in table:
        if first <= number <= last:
            return kind
    return ""


def unmapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for; any other address as it is.

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
    """A network in CIDR notation, or one address.

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
