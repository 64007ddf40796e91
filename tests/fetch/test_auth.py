"""Basic and Digest against servers that ask."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.fetch.auth import Challenge, DigestCall, basic, digest, parse_challenges
from nacre.fetch.request import FetchResult
from nacre.fetch.settings import Credential, FetchSettings
from tests.fetch.server import HELLO, Peer, ask, capture_of, fetching, run, serving, wire_bytes

ASK = b"HTTP/1.1 401 Who?\r\nContent-Length: 3\r\nWWW-Authenticate: %b\r\n\r\nwho"


class Door:
    """Asks for credentials, and counts."""

    def __init__(self, challenge: bytes, wanted: str) -> None:
        self.challenge = challenge
        self.wanted = re.compile(wanted.encode())
        self.requests: list[bytes] = []

    async def __call__(self, peer: Peer) -> None:
        while request := await peer.request():
            self.requests.append(request)
            good = self.wanted.search(request)
            await peer.send(HELLO if good else ASK % self.challenge)


def knock(
    door: Door, count: int = 1, credential: dict[str, str] | None = None
) -> list[FetchResult]:
    async def main() -> list[FetchResult]:
        async with serving(door) as server, fetching() as fetcher:
            values = {"origin": server.url(""), "username": "me", "password": "pw"}
            credential_ = Credential.model_validate(values | (credential or {}))
            settings = FetchSettings(credentials=(credential_,), timeout=5)
            return [await fetcher.fetch(ask(server.url("/")), settings) for _ in range(count)]

    return run(main())


def test_basic_is_tried_once_and_then_sent_unasked() -> None:
    door = Door(b'Basic realm="x"', f"Authorization: {basic('me', 'pw')}\r\n")
    one, two = knock(door, count=2)
    assert [wire_bytes(capture_of(result)) for result in (one, two)] == [HELLO, HELLO]
    assert b"Authorization: [not archived]" in capture_of(one).request
    assert ["Authorization" in request.decode() for request in door.requests] == [
        False, True, True,
    ]  # fmt: skip


def test_a_wrong_password_is_not_insisted_on() -> None:
    door = Door(b'Basic realm="x"', "never")
    one, two = knock(door, count=2)
    assert (one.status, two.status, len(door.requests)) == (401, 401, 4)
    assert wire_bytes(capture_of(one)).endswith(b"who")


def test_a_digest_answers_and_counts_its_nonce() -> None:
    door = Door(b'Digest realm="x", nonce="n1", qop="auth"', r'nonce="n1".*response="[0-9a-f]{32}"')
    one, two = knock(door, count=2)
    assert (one.status, two.status, len(door.requests)) == (200, 200, 3)
    counts = [match[1] for request in door.requests if (match := re.search(rb"nc=(\d+)", request))]
    assert counts == [b"00000001", b"00000002"]


@pytest.mark.parametrize(
    "credential",
    [{"realm": "other"}, {"origin": "http://127.0.0.1:1"}, {"origin": "https://a.test"}],
)
def test_credentials_go_nowhere_else(credential: dict[str, str]) -> None:
    door = Door(b'Basic realm="x"', "never")
    (result,) = knock(door, credential=credential)
    assert (result.status, len(door.requests)) == (401, 1)
    assert b"Authorization" not in door.requests[0]


@pytest.mark.parametrize(
    "values",
    [
        {"origin": "a.test", "username": "u", "password": "p"},
        {"origin": "http://u@a.test", "username": "u", "password": "p"},
        {"origin": "http://a.test", "username": "u:v", "password": "p"},
    ],
)
def test_what_is_no_credential(values: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Credential.model_validate(values)


def test_basic_of_rfc_7617() -> None:
    assert basic("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    assert basic("test", "123£") == "Basic dGVzdDoxMjPCow=="


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b'Basic realm="a, b"', [("basic", {"realm": "a, b"})]),
        (b"Basic", [("basic", {})]),
        (b'Basic realm="a \\"b\\"", charset="UTF-8"', [
            ("basic", {"realm": 'a "b"', "charset": "UTF-8"}),
        ]),
        (b'Basic realm=a, Digest realm="b", nonce=x, qop="auth,auth-int"', [
            ("digest", {"realm": "b", "nonce": "x", "qop": "auth,auth-int"}),
            ("basic", {"realm": "a"}),
        ]),
        (b'Negotiate abc==, Basic realm="x"', [("basic", {"realm": "x"})]),
        (b'Digest realm="b"', []),
        (b'Digest nonce="x", qop="auth-int"', []),
        (b'Digest nonce="x", algorithm=ROT13', []),
        (b"Bearer", []),
        (b"\xff=\0", []),
    ],
)  # fmt: skip
def test_challenges(value: bytes, found: list[tuple[str, dict[str, str]]]) -> None:
    assert parse_challenges([value]) == found


@given(st.lists(st.binary()))
def test_no_challenge_raises(values: list[bytes]) -> None:
    assert isinstance(parse_challenges(values), list)


RFC = {
    "realm": "http-auth@example.org",
    "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
    "qop": "auth, auth-int",
    "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
}
CALL = DigestCall("GET", "/dir/index.html", 1, "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")


@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_digest_of_rfc_7616(algorithm: str, response: str) -> None:
    challenge = Challenge("digest", RFC | {"algorithm": algorithm})
    value = digest(challenge, "Mufasa", "Circle of Life", CALL)
    assert f'response="{response}"' in value
    assert value.startswith('Digest username="Mufasa", realm="http-auth@example.org"')
    assert f"algorithm={algorithm}, qop=auth, nc=00000001" in value


def test_digest_without_qop_of_rfc_2069() -> None:
    parameters = {"realm": "r", "nonce": "n"}
    value = digest(Challenge("digest", parameters), "u", "p", DigestCall("GET", "/", 1, "c"))
    assert "cnonce" not in value
    assert 'response="' in value
