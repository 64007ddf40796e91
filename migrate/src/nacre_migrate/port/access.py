"""Digest authentication on the server's side (RFC 7616: MD5, `qop=auth`), and Basic.

It is what Heritrix's clients speak. Digest needs the hash of name, realm and secret, which is as
good as the secret itself; so it has its own keys, and no login password works with it. Nonces
carry their time and a signature, so that nothing is kept of them. The certificate of the port is
self-signed, and made at its first start, as Heritrix does.
"""

import base64
import binascii
import datetime
import hashlib
import hmac
import ipaddress
import math
import re
import secrets
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final

import msgspec

from nacre.core.clock import Clock
from nacre.errors import StorageError
from nacre.fleet.users import REALM
from nacre.machine.local_files import replace_file

LIFE: Final = 300.0
"""Seconds that a nonce is good for; a client then gets another, without asking its user."""
_LONGEST: Final = 8_000
"""Characters of a field that is read; a good one has some 300."""
_PAIR: Final = re.compile(
    r'\s*([A-Za-z0-9*_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)'
)
_ESCAPED: Final = re.compile(r"\\(.)")


class Proof(Enum):
    """The result of the check of a field of Authorization."""

    GOOD = "good"
    STALE = "stale"
    WRONG = "wrong"
    NONE = "none"


class DigestField(msgspec.Struct, frozen=True):
    """A field of Authorization, taken apart.

    Attributes:
        scheme: `digest` or `basic`.
        username: The user name of the request.
        values: The parameters of Digest, names in lower case; of Basic, `password`.
    """

    scheme: str
    username: str
    values: Mapping[str, str]


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def parse_field(value: str) -> DigestField | None:
    """Take a field of Authorization apart; None for one of another scheme, or that is none.

    Args:
        value: The field; hostile, of any length.
    """
    scheme, _, tail = value.strip().partition(" ")
    if len(value) > _LONGEST:
        return None
    if scheme.lower() == "basic":
        return _basic(tail)
    if scheme.lower() != "digest":
        return None
    values, position = dict[str, str](), 0
    while position < len(tail):
        match = _PAIR.match(tail, position)
        name = match[1].lower() if match is not None else ""
        if match is None or name in values:
            return None
        values[name] = match[3] if match[2] is None else _ESCAPED.sub(r"\1", match[2])
        position = match.end()
    return DigestField("digest", values.get("username", ""), values)


def _basic(text: str) -> DigestField | None:
    try:
        name, colon, secret = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return DigestField("basic", name, {"password": secret}) if colon else None


class DigestGuard:
    """The challenges of one server, and the check of what answers them.

    Args:
        key: It signs the nonces; random by default, so that a restart makes all of them stale.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    def nonce(self, now: float) -> str:
        """A nonce of this moment, seconds since the epoch."""
        # Rounded up it would be of the future for a moment, and so not be good.
        stamp = f"{math.floor(now * 1000) / 1000:.3f}:{secrets.token_hex(8)}"
        return base64.b64encode(f"{stamp}:{self._sign(stamp)}".encode()).decode()

    def challenge(self, now: float, *, stale: bool = False) -> str:
        """The value of WWW-Authenticate.

        Args:
            now: Seconds since the epoch.
            stale: The secret was right and only the nonce too old.
        """
        again = ", stale=true" if stale else ""
        return (
            f'Digest realm="{REALM}", domain="/", nonce="{self.nonce(now)}", '
            f'algorithm=MD5, qop="auth"{again}'
        )

    def check(self, field: DigestField, verb: str, target: str, stored: str, now: float) -> Proof:
        """Check a field of Digest.

        Args:
            field: The field.
            verb: Verb of the request.
            target: Its path and query, as they came.
            stored: `ha1` of the user of the field; "" for an unknown user.
            now: Seconds since the epoch.
        """
        values = field.values
        answer = digest_response(stored or secrets.token_hex(16), verb, values)
        good = hmac.compare_digest(answer.encode(), values.get("response", "").lower().encode())
        if not (good and stored and values.get("uri") == target and _is_ours(values)):
            return Proof.WRONG
        return self._age(values.get("nonce", ""), now)

    def _age(self, nonce: str, now: float) -> Proof:
        """Whether a nonce is ours and young; another is stale: it may be of before a restart."""
        try:
            stamp, _, signature = base64.b64decode(nonce, validate=True).decode().rpartition(":")
            age = now - float(stamp.partition(":")[0])
        except (binascii.Error, ValueError):
            return Proof.STALE
        if not hmac.compare_digest(self._sign(stamp).encode(), signature.encode()):
            return Proof.STALE
        return Proof.GOOD if 0.0 <= age <= LIFE else Proof.STALE

    def _sign(self, stamp: str) -> str:
        return hmac.new(self._key, stamp.encode(), "sha256").hexdigest()[:32]


def _is_ours(values: Mapping[str, str]) -> bool:
    """Whether realm, algorithm and quality are those of the challenge."""
    return (
        values.get("realm") == REALM
        and values.get("algorithm", "MD5").upper() == "MD5"
        and values.get("qop", "") == "auth"
        and values.get("nc", "") != ""
        and values.get("cnonce", "") != ""
    )


def digest_response(stored: str, verb: str, values: Mapping[str, str]) -> str:
    """The response that is expected (RFC 7616, 3.4.1; RFC 2069 without `qop`).

    Args:
        stored: `ha1`.
        verb: Verb of the request.
        values: The parameters of the field.
    """
    ha2 = _md5(f"{verb}:{values.get('uri', '')}")
    nonce, quality = values.get("nonce", ""), values.get("qop", "")
    if not quality:
        return _md5(f"{stored}:{nonce}:{ha2}")
    count, client = values.get("nc", ""), values.get("cnonce", "")
    return _md5(f"{stored}:{nonce}:{count}:{client}:{quality}:{ha2}")


# ---- the certificate

_LIFE = datetime.timedelta(days=3650)


def certificate_files(folder: Path, clock: Clock) -> tuple[Path, Path]:
    """The files of certificate and key, in the console's own folder; made where they are missing.

    Args:
        folder: The folder.
        clock: The time.

    Raises:
        StorageError: They cannot be written.
    """
    certificate, key = folder / "heritrix.crt", folder / "heritrix.key"
    if not (certificate.is_file() and key.is_file()):
        pem, secret = _make_certificate(clock.now())
        try:
            replace_file(key, secret, 0o600)
            replace_file(certificate, pem, 0o644)
        except OSError as error:
            raise StorageError(f"{certificate} cannot be written: {error.strerror}") from error
    return certificate, key


def _make_certificate(now: float) -> tuple[bytes, bytes]:
    """A certificate for the names of the loopback, and its key, as PEM."""
    from cryptography import x509  # noqa: PLC0415 - needed once
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.x509.oid import NameOID  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName(
        [
            x509.DNSName("localhost"),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            x509.IPAddress(ipaddress.ip_address("::1")),
        ]
    )
    begins = datetime.datetime.fromtimestamp(now, datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins - datetime.timedelta(days=1))
        .not_valid_after(begins + _LIFE)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return certificate.public_bytes(serialization.Encoding.PEM), secret
