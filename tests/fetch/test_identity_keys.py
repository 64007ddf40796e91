"""The file of keys: written, read, keys of other programs, and what is refused."""

import re
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from nacre.fetch.identity_keys import format_keys, make_key, parse_keys, verify_ed25519
from tests.wire.signatures import KEY, KEYID, NOW, PEM, PUBLIC

ENCRYPTED = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
OTHER = generate_private_key(SECP256R1()).private_bytes(
    Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
)


def test_what_is_written_is_read_the_newest_first():
    keys = [make_key(), make_key(NOW)._replace(expires=NOW + 86_400), make_key(NOW - 5)]
    found = parse_keys(format_keys(keys))
    assert [key.public for key in found] == [keys[1].public, keys[2].public, keys[0].public]


def test_a_key_of_the_rfc():
    (key,) = parse_keys(f"a line of text\n{PEM}")
    assert (key.keyid, key.public.data, key.not_before, key.expires) == (KEYID, PUBLIC, 0, 0)


def test_a_key_of_openssl():
    made = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519"], capture_output=True, text=True, check=True
    )
    (key,) = parse_keys(made.stdout)
    assert verify_ed25519(key.public.data, key.private.sign(b"x"), b"x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no private key"),
        ("中文", "no private key"),
        (PEM.replace("PRIVATE", "PUBLIC"), "no private key"),
        (PEM.replace("MC4C", "MC5C"), "not an unencrypted private key of Ed25519"),
        (ENCRYPTED.decode(), "not an unencrypted private key of Ed25519"),
        (OTHER.decode(), "not an unencrypted private key of Ed25519"),
        (f"not-before: tomorrow\n{PEM}", "'tomorrow' is no time of a key"),
        (f"expires: 2026-13-01T00:00:00Z\n{PEM}", "is no time of a key"),
    ],
)
def test_what_is_refused(text: str, message: str):
    with pytest.raises(ValueError, match=message) as error:
        parse_keys(text)
    assert not re.search(r"MC[45]C|qTnF", str(error.value))


def test_a_wrong_signature_is_refused():
    assert not verify_ed25519(PUBLIC, b"x" * 64, b"x")
    assert not verify_ed25519(PUBLIC, b"", b"x")
    assert not verify_ed25519(b"short", KEY.sign(b"x"), b"x")
