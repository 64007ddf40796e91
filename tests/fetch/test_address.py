"""Kinds of addresses."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.address import address_kind, parse_address, parse_network, unmapped

KINDS = {
    "loopback": ["127.0.0.1", "127.255.255.255", "::1"],
    "private": ["10.0.0.0", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fec0::1"],
    "link-local": ["169.254.0.1", "fe80::1", "febf::1"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
    "unique local": ["fc00::1", "fd12:3456::1"],
    "cloud metadata": ["169.254.169.254", "fd00:ec2::254", "168.63.129.16", "100.100.100.200"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1"],
    "broadcast": ["255.255.255.255"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "documentation": ["192.0.2.1", "198.51.100.9", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "reserved": ["240.0.0.1", "198.18.0.1", "192.0.0.1", "4000::1", "100::1", "5f00::1"],
    "": ["8.8.8.8", "172.32.0.1", "100.128.0.1", "11.0.0.1", "2606:4700::1111", "2a00:1450::1"],
}
CASES = [(text, kind) for kind, texts in KINDS.items() for text in texts]
FORMS = {
    "mapped": lambda n: n | 0xFFFF << 32,
    "translated": lambda n: n | 0xFFFF << 48,
    "NAT64": lambda n: n | 0x64FF9B << 96,
    "6to4": lambda n: 0x2002 << 112 | n << 80 | 1,
    "Teredo": lambda n: 0x20010000 << 96 | 0x01020304 << 64 | n ^ 0xFFFFFFFF,
}


@pytest.mark.parametrize(("text", "kind"), CASES)
def test_kinds(text, kind):
    assert address_kind(ip_address(text)) == kind


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("text", "kind"), [case for case in CASES if ":" not in case[0]])
def test_every_disguise(form, text, kind):
    disguised = ip_address(FORMS[form](int(ip_address(text))))
    assert unmapped(disguised) == ip_address(text)
    assert address_kind(disguised) == kind


def test_the_compatible_form():
    assert address_kind(ip_address("::127.0.0.1")) == "loopback"
    assert address_kind(ip_address("::10.0.0.1")) == "private"


@given(st.ip_addresses(v=4))
def test_python_calls_no_public_address_private(address):
    if not address_kind(address):
        assert not address.is_private
        assert not address.is_multicast
        assert not address.is_reserved


@given(st.ip_addresses(v=6))
def test_python_calls_no_public_ipv6_address_private(address):
    if not address_kind(address):
        # Python 3.11.2 calls all of 6to4 private.
        assert not address.is_private or address.sixtofour is not None
        assert not address.is_link_local
        assert not address.is_multicast


def test_parsing():
    assert parse_address("[fe80::1%eth0]") == ip_address("fe80::1")
    assert parse_address("0177.0.0.1") is None
    assert parse_address("localhost") is None
    assert parse_address("") is None
    assert str(parse_network(" 10.9.0.0/16 ")) == "10.9.0.0/16"
    with pytest.raises(ValueError, match="host bits set"):
        parse_network("10.9.1.0/16")
