import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.challenge import Call, Challenge, basic, digest, parse_challenges


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
CALL = Call("GET", "/dir/index.html", 1, "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")


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
    value = digest(Challenge("digest", parameters), "u", "p", Call("GET", "/", 1, "c"))
    assert "cnonce" not in value
    assert 'response="' in value
