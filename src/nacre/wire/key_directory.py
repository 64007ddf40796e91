"""The directory of public keys, from which other servers verify signatures. Pure.

Source: RFC 7517, RFC 7638 and RFC 8037 for keys; the draft of signatures in
`message_signatures.DRAFTS` for the directory.
"""

import json
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from nacre.wire.message_signatures import DIRECTORY_TAG, Sign
from nacre.wire.signature_base import HttpMessage, signature_base
from nacre.wire.structured_fields import FieldItem, InnerList, serialize_member

DIRECTORY_PATH: Final = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE: Final = "application/http-message-signatures-directory+json"
LARGEST: Final = 65_536
"""Bytes of a directory that are read."""
MOST_KEYS: Final = 100


class PublicKey(NamedTuple):
    """A public key of Ed25519 in a directory.

    Attributes:
        data: The key, 32 bytes.
        not_before: Seconds since the epoch when it becomes valid; 0 for always.
        expires: Seconds since the epoch when it ends; 0 for never.
    """

    data: bytes
    not_before: int = 0
    expires: int = 0

    @property
    def thumbprint(self) -> str:
        """The `keyid` of its signatures (RFC 8037, appendix A.3)."""
        return thumbprint(self.data)

    def is_valid(self, now: float) -> bool:
        """Its time has come, and has not ended."""
        return self.not_before <= now and (not self.expires or now < self.expires)


def thumbprint(key: bytes) -> str:
    """Return the SHA-256 thumbprint of a public key, base64url without padding."""
    members = f'{{"crv":"Ed25519","kty":"OKP","x":"{_encode(key)}"}}'
    return _encode(sha256(members.encode()).digest())


def format_directory(keys: Sequence[PublicKey]) -> bytes:
    """Return a directory as JSON."""
    return json.dumps({"keys": [_as_jwk(key) for key in keys]}, indent=1).encode() + b"\n"


def _as_jwk(key: PublicKey) -> dict[str, str | int]:
    jwk: dict[str, str | int] = {
        "kty": "OKP", "crv": "Ed25519", "kid": key.thumbprint, "x": _encode(key.data), "use": "sig",
    }  # fmt: skip
    if key.not_before:
        jwk["nbf"] = key.not_before
    if key.expires:
        jwk["exp"] = key.expires
    return jwk


def parse_directory(data: bytes) -> list[PublicKey]:
    """Return the keys of a directory; those of other kinds are passed over.

    Raises:
        ValueError: It is no directory, or a key contradicts its `kid`; the text says why.
    """
    if len(data) > LARGEST:
        raise ValueError(f"more than {LARGEST} bytes")
    try:
        entries = json.loads(data)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("no JSON object with keys") from None
    if not isinstance(entries, list) or len(entries) > MOST_KEYS:
        raise ValueError(f"no list of at most {MOST_KEYS} keys")
    return [key for entry in entries if (key := _parse_jwk(entry)) is not None]


def _parse_jwk(entry: object) -> PublicKey | None:
    if not isinstance(entry, dict) or (entry.get("kty"), entry.get("crv")) != ("OKP", "Ed25519"):
        return None
    try:
        data = urlsafe_b64decode(entry["x"] + "=" * (-len(entry["x"]) % 4))
    except (ValueError, KeyError, TypeError):
        data = b""
    if len(data) != 32:
        raise ValueError("a key of Ed25519 has no 32 bytes in x")
    times = [entry.get(name, 0) for name in ("nbf", "exp")]
    if not all(isinstance(time, int) and time >= 0 for time in times):
        raise ValueError("nbf and exp of a key are seconds since the epoch")
    key = PublicKey(data, *times)
    if entry.get("kid", key.thumbprint) != key.thumbprint:
        raise ValueError(f"the kid is not the thumbprint of its key, {key.thumbprint}")
    return key


def content_digest(body: bytes) -> str:
    """Return the Content-Digest of a body (RFC 9530)."""
    return f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"


def sign_directory(
    url: str, body: bytes, signers: Sequence[tuple[str, Sign]], times: tuple[int, int]
) -> list[tuple[str, str]]:
    """Return the header fields that prove that the directory is its keys' own.

    Args:
        url: URL of the directory.
        body: Its bytes.
        signers: Thumbprint and private key of each key.
        times: When the signatures are made, and when they end: seconds since the epoch.
    """
    digest = content_digest(body)
    response = HttpMessage([("Content-Digest", digest)], status=200)
    parts = urlsplit(url)
    request = HttpMessage([], "GET", parts.scheme, parts.netloc, parts.path)
    inputs, signatures = [], []
    for number, (keyid, sign) in enumerate(signers, 1):
        covered = InnerList(
            (FieldItem("@authority", {"req": True}), FieldItem("content-digest")),
            {
                "created": times[0],
                "expires": times[1],
                "keyid": keyid,
                "alg": "ed25519",
                "tag": DIRECTORY_TAG,
            },
        )
        inputs.append(f"key{number}={serialize_member(covered)}")
        base = signature_base(covered, response, request)
        signature = serialize_member(FieldItem(sign(base.encode())))
        signatures.append(f"key{number}={signature}")
    return [
        ("Content-Digest", digest),
        ("Signature-Input", ", ".join(inputs)),
        ("Signature", ", ".join(signatures)),
    ]


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
