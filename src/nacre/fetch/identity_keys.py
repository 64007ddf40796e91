"""The file of the keys that sign requests: private keys in PEM, with the time of each.

    made: 2026-11-30T02:00:00Z
    not-before: 2026-12-01T02:00:00Z
    -----BEGIN PRIVATE KEY-----
    …

A line `expires:` follows when the key is replaced. Keys without lines, as other programs make them,
are always valid. RFC 7468 allows text before each key.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from nacre.messages import message
from nacre.wire.key_directory import PublicKey, thumbprint

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_KEY: Final = re.compile(
    r"-----BEGIN ([A-Z ]*)PRIVATE KEY-----.*?-----END \1PRIVATE KEY-----", re.DOTALL
)
_LINE: Final = re.compile(r"^(not-before|expires):[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


class SigningKey(NamedTuple):
    """A private key of Ed25519.

    Attributes:
        private: The key.
        not_before: Seconds since the epoch when it is used first; 0 for at once.
        expires: Seconds since the epoch when it ends; 0 for never.
    """

    private: "Ed25519PrivateKey"
    not_before: int = 0
    expires: int = 0

    @property
    def public(self) -> PublicKey:
        """The key that verifies its signatures."""
        data = self.private.public_key().public_bytes_raw()
        return PublicKey(data, self.not_before, self.expires)

    @property
    def keyid(self) -> str:
        """Its thumbprint."""
        return thumbprint(self.private.public_key().public_bytes_raw())


def parse_keys(text: str) -> list[SigningKey]:
    """Return the keys of a file, the newest first.

    Raises:
        ValueError: It has none, or one that is no key of Ed25519, is encrypted, or has a time that
            cannot be read. The text shows nothing of the keys.
    """
    keys = list(_keys(text))
    if not keys:
        raise ValueError(message("identity.no-key", "no private key in PEM in it"))
    return sorted(keys, key=lambda key: key.not_before, reverse=True)


def _keys(text: str) -> Iterator[SigningKey]:
    behind = 0
    for match in _KEY.finditer(text):
        times = {
            name: _seconds(value) for name, value in _LINE.findall(text[behind : match.start()])
        }
        behind = match.end()
        yield SigningKey(_private(match[0]), times.get("not-before", 0), times.get("expires", 0))


def _private(pem: str) -> "Ed25519PrivateKey":
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - 20 ms, few jobs sign
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise ValueError(
        message(
            "identity.not-ed25519",
            "not an unencrypted private key of Ed25519; make one by `nacre identity new FILE`",
        )
    )


def _seconds(text: str) -> int:
    try:
        return int(datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise ValueError(
            message(
                "identity.time-of-key",
                "{text!r} is no time of a key; write 2026-11-30T02:00:00Z",
                text=text,
            )
        ) from None


def make_key(not_before: int = 0) -> SigningKey:
    """Make a new key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    return SigningKey(Ed25519PrivateKey.generate(), not_before)


def format_keys(keys: Sequence[SigningKey]) -> str:
    """Return the text of a file with keys."""
    return "\n".join(_format(key) for key in keys)


def _format(key: SigningKey) -> str:
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    lines = [f"keyid: {key.keyid}"]
    for name, seconds in (("not-before", key.not_before), ("expires", key.expires)):
        if seconds:
            lines.append(f"{name}: {datetime.fromtimestamp(seconds, UTC):{_TIME}}")
    pem = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return "\n".join(lines) + "\n" + pem.decode()


def verify_ed25519(public: bytes, signature: bytes, data: bytes) -> bool:
    """Return whether a signature is of a public key and data; see `message_signatures.Verify`."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True
