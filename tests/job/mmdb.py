"""A country database in MaxMind's format, as small as can be. Source: MaxMind DB format 2.0."""

from ipaddress import ip_network
from typing import Any

_SHORT, _WIDE = 5, 6
_MARK = b"\xab\xcd\xefMaxMind.com"


def encoded(value: object) -> bytes:
    if isinstance(value, str):
        data = value.encode()
        return bytes([(2 << 5) | len(data)]) + data
    if isinstance(value, int):
        data = value.to_bytes((value.bit_length() + 7) // 8, "big")
        return bytes([(_WIDE << 5) | len(data)]) + data
    if isinstance(value, list):
        return bytes([len(value), 4]) + b"".join(map(encoded, value))
    assert isinstance(value, dict)
    pairs = (encoded(key) + _typed(key, inner) for key, inner in value.items())
    return bytes([(7 << 5) | len(value)]) + b"".join(pairs)


def _typed(key: str, value: object) -> bytes:
    """A value in the type that the format asks for under its key."""
    data = encoded(value)
    if key == "build_epoch":
        return bytes([data[0] & 31, 2]) + data[1:]
    if isinstance(value, int) and key != "node_count":
        return bytes([(_SHORT << 5) | data[0] & 31]) + data[1:]
    return data


def database(records: dict[str, Any]) -> bytes:
    """The bytes of a database of IPv4 networks and their records."""
    nodes: list[list[int | str | None]] = [[None, None]]
    for network in records:
        net = ip_network(network)
        bits = f"{int(net.network_address):032b}"[: net.prefixlen]
        at = 0
        for bit in bits[:-1]:
            below = nodes[at][int(bit)]
            if not isinstance(below, int):
                nodes.append([None, None])
                below = nodes[at][int(bit)] = len(nodes) - 1
            at = below
        nodes[at][int(bits[-1])] = network
    data, offsets = b"", {}
    for network, record in records.items():
        offsets[network] = len(data)
        data += encoded(record)
    count = len(nodes)

    def number(child: int | str | None) -> bytes:
        if child is None:
            return count.to_bytes(3, "big")
        value = child if isinstance(child, int) else count + 16 + offsets[child]
        return value.to_bytes(3, "big")

    tree = b"".join(number(child) for node in nodes for child in node)
    metadata = {
        "node_count": count,
        "record_size": 24,
        "ip_version": 4,
        "database_type": "Test",
        "languages": ["en"],
        "binary_format_major_version": 2,
        "binary_format_minor_version": 0,
        "build_epoch": 1,
        "description": {"en": "test"},
    }
    return tree + bytes(16) + data + _MARK + encoded(metadata)
