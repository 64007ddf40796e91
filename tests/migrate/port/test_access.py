"""Digest authentication: vectors of RFC 7616 and RFC 2617, nonces, hostile fields."""

import pytest

from nacre.fleet.users import REALM, ha1
from nacre_migrate.port.access import (
    LIFE,
    DigestField,
    DigestGuard,
    Proof,
    digest_response,
    parse_field,
)

NOW = 1_795_000_000.0


def test_the_vector_of_rfc_7616():
    kept = ha1("Mufasa", "Circle of Life", "http-auth@example.org")
    values = {
        "uri": "/dir/index.html",
        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
        "nc": "00000001",
        "cnonce": "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
        "qop": "auth",
    }
    assert digest_response(kept, "GET", values) == "8ca523f5e9506fed4657c9700eebdbec"


def test_the_vector_of_rfc_2617():
    kept = ha1("Mufasa", "Circle Of Life", "testrealm@host.com")
    values = {
        "uri": "/dir/index.html", "nonce": "dcd98b7102dd2f0e8b11d0f600bfb0c093",
        "nc": "00000001", "cnonce": "0a4f113b", "qop": "auth",
    }  # fmt: skip
    assert digest_response(kept, "GET", values) == "6629fae49393a05397450978507c4ef1"


def signed(guard: DigestGuard, kept: str, at: float = NOW, **other: str) -> DigestField:
    values = {
        "username": "admin", "realm": REALM, "nonce": guard.nonce(at), "uri": "/engine",
        "qop": "auth", "nc": "00000001", "cnonce": "abc", **other,
    }  # fmt: skip
    response = digest_response(kept, "GET", values)
    text = ", ".join(f'{name}="{value}"' for name, value in values.items())
    field = parse_field(f'Digest {text}, response="{response}"')
    assert field is not None
    return field


def test_who_has_the_key_is_let_in():
    guard, kept = DigestGuard(), ha1("admin", "s3cret")
    assert guard.check(signed(guard, kept), "GET", "/engine", kept, NOW + 1) is Proof.GOOD


@pytest.mark.parametrize(
    ("verb", "target", "stored", "other"),
    [
        ("POST", "/engine", "right", {}),
        ("GET", "/engine/job/x", "right", {}),
        ("GET", "/engine", "wrong", {}),
        ("GET", "/engine", "", {}),
        ("GET", "/engine", "right", {"realm": "other"}),
        ("GET", "/engine", "right", {"qop": "auth-int"}),
        ("GET", "/engine", "right", {"algorithm": "SHA-256"}),
    ],
)
def test_who_has_it_not_is_refused(verb: str, target: str, stored: str, other: dict[str, str]):
    guard, kept = DigestGuard(), ha1("admin", "s3cret")
    known = {"right": kept, "wrong": ha1("admin", "other"), "": ""}[stored]
    field = signed(guard, kept, NOW, **other)
    assert guard.check(field, verb, target, known, NOW) is Proof.WRONG


def test_a_nonce_is_good_from_its_first_moment():
    guard, kept = DigestGuard(), ha1("admin", "s3cret")
    for at in (NOW + 0.0006, NOW + 0.0009999):
        assert guard.check(signed(guard, kept, at), "GET", "/engine", kept, at) is Proof.GOOD


def test_an_old_or_foreign_nonce_is_stale():
    guard, kept = DigestGuard(), ha1("admin", "s3cret")
    field = signed(guard, kept)
    assert guard.check(field, "GET", "/engine", kept, NOW + LIFE + 1) is Proof.STALE
    assert DigestGuard().check(field, "GET", "/engine", kept, NOW) is Proof.STALE
    assert "stale=true" in guard.challenge(NOW, stale=True)


@pytest.mark.parametrize(
    "value",
    ["", "Bearer x", "Digest", 'Digest a="1", a="2"', "Digest =", "Basic ?", "Basic YWJj",
     "Digest " + "a" * 9000],
)  # fmt: skip
def test_other_fields_are_none(value: str):
    found = parse_field(value)
    assert found is None or not found.username


def test_basic_gives_name_and_key():
    found = parse_field("Basic YWRtaW46YTpi")
    assert found == DigestField("basic", "admin", {"password": "a:b"})
