"""The directory of keys: thumbprints, its format, its signatures, and what is no directory."""

import json

import pytest

from nacre.fetch.identity_keys import verify_ed25519
from nacre.wire.key_directory import (
    LARGEST,
    PublicKey,
    content_digest,
    format_directory,
    parse_directory,
    sign_directory,
    thumbprint,
)
from nacre.wire.message_signatures import DIRECTORY_TAG, check_signatures
from nacre.wire.signature_base import HttpMessage
from tests.wire.signatures import KEY, KEYID, NOW, PUBLIC

URL = "https://crawler.test/.well-known/http-message-signatures-directory"
JWK = {"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}


def test_the_thumbprint_is_that_of_the_draft():
    assert thumbprint(PUBLIC) == KEYID


def test_what_is_written_is_read():
    keys = [PublicKey(PUBLIC), PublicKey(b"k" * 32, 5, 9)]
    data = format_directory(keys)
    assert parse_directory(data) == keys
    assert json.loads(data)["keys"][0] == {**JWK, "kid": KEYID, "use": "sig"}


def test_other_keys_are_passed_over():
    other = {"kty": "RSA", "n": "x", "e": "AQAB"}
    assert parse_directory(json.dumps({"keys": [other, JWK, 1]}).encode()) == [PublicKey(PUBLIC)]


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"{}", b'{"keys": 1}', b'{"keys": [' + b"1," * 200 + b"1]}", b"[" * 5000,
        b" " * (LARGEST + 1), b"\xff",
        json.dumps({"keys": [{**JWK, "kid": "other"}]}).encode(),
        json.dumps({"keys": [{**JWK, "kid": [["\x1b"] * 99] * 99}]}).encode(),
        json.dumps({"keys": [{**JWK, "x": "AAAA"}]}).encode(),
        json.dumps({"keys": [{**JWK, "x": 5}]}).encode(),
        json.dumps({"keys": [{**JWK, "exp": "soon"}]}).encode(),
        json.dumps({"keys": [{**JWK, "nbf": -1}]}).encode(),
    ],
)  # fmt: skip
def test_what_is_no_directory(data: bytes):
    with pytest.raises(ValueError, match=r"."):
        parse_directory(data)


@pytest.mark.parametrize(
    ("key", "is_valid"),
    [
        (PublicKey(PUBLIC), True),
        (PublicKey(PUBLIC, NOW, NOW + 1), True),
        (PublicKey(PUBLIC, NOW + 1), False),
        (PublicKey(PUBLIC, 0, NOW), False),
    ],
)
def test_a_key_has_its_time(key: PublicKey, is_valid: bool):
    assert key.is_valid(NOW) is is_valid


def test_a_directory_is_signed_by_its_keys():
    body = format_directory([PublicKey(PUBLIC)])
    fields = sign_directory(URL, body, [(KEYID, KEY.sign)], (NOW, NOW + 86_400))
    assert dict(fields)["Content-Digest"] == content_digest(body)
    request = HttpMessage([], "GET", "https", "crawler.test", "/")
    for authority, fault in (("crawler.test", ""), ("x.test", "the signature does not fit")):
        (check,) = check_signatures(
            HttpMessage(fields, status=200), {KEYID: PUBLIC}, verify_ed25519, now=NOW + 5,
            tag=DIRECTORY_TAG, request=request._replace(authority=authority),
        )  # fmt: skip
        assert check.fault.startswith(fault)
        assert bool(check.fault) is bool(fault)


def test_a_proof_covers_the_authority_that_was_asked():
    body = format_directory([PublicKey(PUBLIC)])
    fields = sign_directory(URL, body, [(KEYID, KEY.sign)], (NOW, NOW + 86_400))
    request = HttpMessage([], "GET", "https", "crawler.test", "/")
    for covered in ('"@authority" "content-digest"', '"content-digest"', '"@method";req', ""):
        changed = [
            (name, value.replace('"@authority";req "content-digest"', covered))
            for name, value in fields
        ]
        (check,) = check_signatures(
            HttpMessage(changed, status=200), {KEYID: PUBLIC}, verify_ed25519, now=NOW + 5,
            tag=DIRECTORY_TAG, request=request,
        )  # fmt: skip
        assert check.fault == "does not cover @authority of the request"
