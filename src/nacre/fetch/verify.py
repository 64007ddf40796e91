"""The result of verifying a certificate chain. It is recorded, not enforced."""

import ssl
import warnings
from collections import OrderedDict
from datetime import UTC, datetime
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtensionOID
from cryptography.x509.verification import (
    Criticality,
    ExtensionPolicy,
    PolicyBuilder,
    Store,
    VerificationError,
)

CACHE = 10_000
"""Verdicts kept, by chain and host."""

DAY = 86_400

_PEM_END = b"-----END CERTIFICATE-----"
_UNREADABLE = (
    ValueError,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)

# As browsers and OpenSSL; the library's own profile of the web refuses more.
_LEAF = ExtensionPolicy.permit_all().require_present(
    x509.SubjectAlternativeName, Criticality.AGNOSTIC, None
)
_ISSUER = ExtensionPolicy.permit_all().require_present(
    x509.BasicConstraints, Criticality.AGNOSTIC, None
)


class Verifier:
    """Verifies chains against root certificates, once per chain, host and day."""

    def __init__(self, roots: Path | None = None) -> None:
        """Prepare; `roots` is a PEM file, None for the system's."""
        self._roots = roots
        self._verdicts: OrderedDict[tuple[bytes, str, int], str] = OrderedDict()

    @cached_property
    def _store(self) -> Store | None:
        """Trusted roots; None if there are none. Read when first needed."""
        roots = load_roots(self._roots)
        return Store(roots) if roots else None

    def verdict(self, chain: tuple[bytes, ...], host: str, now: float) -> str:
        """`ok`, or the reason against.

        Args:
            chain: Certificates as DER, the server's own first.
            host: Name or IP address that it ought to be for.
            now: Seconds since the epoch.
        """
        if not chain:
            return "no certificate"
        key = (_fingerprint(chain), host, int(now // DAY))
        verdict = self._verdicts.get(key)
        if verdict is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # on odd content of certificates
                verdict = self._verify(chain, host, datetime.fromtimestamp(now, UTC))
            self._verdicts[key] = verdict
            if len(self._verdicts) > CACHE:
                self._verdicts.popitem(last=False)
        return verdict

    def _verify(self, chain: tuple[bytes, ...], host: str, now: datetime) -> str:
        try:
            leaf, *issuers = [x509.load_der_x509_certificate(der) for der in chain]
            return _obvious(leaf, now) or self._judge(leaf, issuers, host, now)
        except Exception as error:  # noqa: BLE001 - hostile certificates raise nearly any exception
            return f"unreadable certificate: {' '.join(str(error).split())[:200]}"

    def _judge(
        self, leaf: x509.Certificate, issuers: list[x509.Certificate], host: str, now: datetime
    ) -> str:
        if self._store is None:
            return "no root certificates to verify with"
        try:
            policy = PolicyBuilder().store(self._store).time(now)
            policy = policy.extension_policies(ee_policy=_LEAF, ca_policy=_ISSUER)
            policy.build_server_verifier(_subject(host)).verify(leaf, issuers)
        except VerificationError as error:
            return _reason(leaf, host, str(error))
        except ValueError as error:
            return f"not a host name for certificates: {error}"
        return "ok"


def load_roots(path: Path | None = None) -> list[x509.Certificate]:
    """Return the certificates of a PEM file, those of the system if None; [] if it is not there.

    Certificates that the library cannot read are left out.

    Raises:
        OSError: The file cannot be read.
    """
    name = path or ssl.get_default_verify_paths().cafile
    text = Path(name).read_bytes() if name and Path(name).is_file() else b""
    blocks = [block + _PEM_END for block in text.split(_PEM_END)[:-1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on odd content of certificates
        return [root for block in blocks if (root := _load_root(block)) is not None]


def _load_root(block: bytes) -> x509.Certificate | None:
    """One root; None for those that the library cannot read."""
    try:
        return x509.load_pem_x509_certificate(block)
    except _UNREADABLE:
        return None


def _fingerprint(chain: tuple[bytes, ...]) -> bytes:
    digest = hashes.Hash(hashes.SHA256())
    for der in chain:
        digest.update(len(der).to_bytes(4, "big"))
        digest.update(der)
    return digest.finalize()


def _subject(host: str) -> x509.DNSName | x509.IPAddress:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host.rstrip("."))


def _obvious(leaf: x509.Certificate, now: datetime) -> str:
    """Return a reason that the certificate shows by itself; "" for none."""
    if now > leaf.not_valid_after_utc:
        return f"expired on {leaf.not_valid_after_utc:%Y-%m-%d}"
    if now < leaf.not_valid_before_utc:
        return f"not valid before {leaf.not_valid_before_utc:%Y-%m-%d}"
    return ""


def _reason(leaf: x509.Certificate, host: str, message: str) -> str:
    """Say in one line why a verification failed."""
    if leaf.issuer == leaf.subject:
        return "self-signed"
    if not _names(leaf, host):
        return "issued for another host"
    return f"not trusted: {' '.join(message.split())[:200]}"


def _names(leaf: x509.Certificate, host: str) -> bool:
    """Return whether the certificate is for the host, also by a wildcard of one label."""
    try:
        alternatives = leaf.extensions.get_extension_for_oid(
            ExtensionOID.SUBJECT_ALTERNATIVE_NAME
        ).value
    except (x509.ExtensionNotFound, ValueError):
        return False
    if not isinstance(alternatives, x509.SubjectAlternativeName):
        return False
    host = host.rstrip(".").lower()
    if any(str(address) == host for address in alternatives.get_values_for_type(x509.IPAddress)):
        return True
    names = {name.lower() for name in alternatives.get_values_for_type(x509.DNSName)}
    return host in names or f"*.{host.partition('.')[2]}" in names
