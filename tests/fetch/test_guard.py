"""The address guard.

Kinds of addresses.
"""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.fetch.guard import (
    AddressGuard,
    NetworkSettings,
    address_kind,
    guard_for_seeds,
    is_private_seed_name,
    parse_address,
    parse_network,
    seed_networks,
    unmap,
)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::808:808"])
def test_public_addresses_pass(address):
    assert AddressGuard().refusal(address) == ""


def test_the_refusal_says_what_and_how_to_allow_it():
    assert AddressGuard().refusal("169.254.169.254") == (
        "169.254.169.254 is refused: a cloud metadata address; "
        "to crawl it, use --allow-net 169.254.169.254/32 (network.allow)"
    )
    assert AddressGuard().refusal("::ffff:10.0.0.1") == (
        "::ffff:a00:1 is refused: it is a form of 10.0.0.1, a private address; "
        "to crawl it, use --allow-net 10.0.0.1/32 (network.allow)"
    )
    assert "an unspecified address" in AddressGuard().refusal("0.0.0.0")
    assert "a unique local address" in AddressGuard().refusal("fd00::1")
    assert "--allow-net fd00::1/128" in AddressGuard().refusal("fd00::1")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
     "2001:0:102:304::80ff:fffe", "fe80::1%eth0", "255.255.255.255", "224.0.0.1", "x", "", "1"],
)  # fmt: skip
def test_refused(address):
    guard = AddressGuard()
    assert guard.refusal(address)
    assert guard.refusal(address) == guard.refusal(address)


def test_allowed_networks_count_in_every_disguise():
    guard = AddressGuard(["10.9.0.0/16", "fd00::/8"])
    for address in ("10.9.1.1", "::ffff:10.9.1.1", "64:ff9b::a09:101", "fd12::1"):
        assert guard.refusal(address) == ""
        assert guard.is_listed(address)
    assert guard.refusal("10.8.1.1")
    assert not guard.is_listed("10.8.1.1")
    assert not guard.is_listed("8.8.8.8")
    assert not guard.is_listed("x")
    assert AddressGuard(["::ffff:0:0/96"]).refusal("::ffff:10.0.0.1") == ""


@given(st.text(max_size=50) | st.ip_addresses().map(str))
def test_it_never_raises(text):
    assert isinstance(AddressGuard(["10.0.0.0/8"]).refusal(text), str)


def test_the_cache_is_bounded():
    guard = AddressGuard()
    for number in range(10_000):
        guard.refusal(f"8.8.{number // 256}.{number % 256}")
    assert len(guard._known) <= 8192


def test_a_loopback_seed_opens_loopback():
    guard = guard_for_seeds([], ["127.0.0.11"])
    assert guard.refusal("127.0.0.12") == guard.refusal("::1") == ""
    assert guard.refusal("10.0.0.1")


def test_a_private_seed_opens_its_addresses_only():
    guard = guard_for_seeds(["192.168.0.0/24"], ["10.9.1.1", "fd00::9", "8.8.8.8"])
    assert guard.allow == ("192.168.0.0/24", "10.9.1.1/32", "fd00::9/128")
    assert guard.refusal("10.9.1.1") == guard.refusal("fd00::9") == ""
    assert guard.refusal("10.9.1.2")
    assert guard.refusal("127.0.0.1")


def test_other_allowed_networks_leave_those_of_the_seeds():
    guard = guard_for_seeds(["10.9.1.1/32", "192.168.0.0/24"], ["10.9.1.1"])
    guard.allow_networks(["172.16.0.0/12"])
    assert guard.allow == ("172.16.0.0/12", "10.9.1.1/32")
    assert guard.refusal("10.9.1.1") == guard.refusal("172.16.0.1") == ""
    assert guard.refusal("192.168.0.1")


def test_no_seed_opens_metadata_or_multicast():
    assert not list(seed_networks(["169.254.169.254", "224.0.0.1", "0.0.0.0", "8.8.8.8", "x"]))


@pytest.mark.parametrize(
    "host",
    ["localhost", "a.localhost", "site-a.test", "db.internal", "127.0.0.11", "10.1.2.3",
     "[::1]", "::1", "fd00::1", "localhost.", "x.test.", "nas.local", "wiki.home.arpa",
     "xn--fsqu00a.internal"],
)  # fmt: skip
def test_private_seed_names(host):
    assert is_private_seed_name(host)


@pytest.mark.parametrize(
    "host",
    ["example.org", "test", "mytest", "test.org", "8.8.8.8", "169.254.169.254", "", "arpa",
     "local.example.org", "a.internal.example", "mylocal"],
)  # fmt: skip
def test_other_seed_names(host):
    assert not is_private_seed_name(host)


def test_settings():
    assert NetworkSettings().allow == ()
    assert NetworkSettings(allow=("10.0.0.0/8", "::1")).allow == ("10.0.0.0/8", "::1")
    with pytest.raises(ValidationError, match="does not appear to be an IPv4 or IPv6 network"):
        NetworkSettings(allow=("10.0.0.0/99",))


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
    assert unmap(disguised) == ip_address(text)
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
