"""The address guard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.fetch.guard import (
    AddressGuard,
    NetworkSettings,
    guard_for_seeds,
    is_private_seed_name,
    seed_networks,
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
        "::ffff:a00:1 is refused: stands for 10.0.0.1, a private address; "
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
