"""Certificates and TLS servers for tests."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """A certificate authority that the tests trust.

    Attributes:
        roots: PEM file with its root.
    """

    def __init__(self, folder: Path) -> None:
        self._ca = trustme.CA()
        self.roots = folder / "roots.pem"
        self._ca.cert_pem.write_to_path(self.roots)

    def context(self, *names: str, expired: bool = False) -> ssl.SSLContext:
        """A server context with a certificate for the names."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        until = datetime.now(UTC) - timedelta(days=1) if expired else None
        since = datetime.now(UTC) - timedelta(days=9) if expired else None
        certificate = self._ca.issue_cert(*names, not_before=since, not_after=until)
        certificate.configure_cert(context)
        return context

    def files(self, folder: Path, *names: str) -> tuple[Path, Path]:
        """Files with a certificate for the names, and with its key."""
        certificate, key = folder / "server.pem", folder / "server.key"
        made = self._ca.issue_cert(*names)
        certificate.write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
        made.private_key_pem.write_to_path(key)
        return certificate, key


def self_signed(folder: Path, name: str) -> ssl.SSLContext:
    """A server context with a certificate that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime(2020, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "self.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
