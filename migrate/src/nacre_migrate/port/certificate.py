"""The certificate of the port: self-signed, made at its first start, as Heritrix does."""

import datetime
import ipaddress
from pathlib import Path

from nacre.core.clock import Clock
from nacre.errors import StorageError
from nacre.store.local_files import replace_file

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
        made, secret = _made(clock.now())
        try:
            replace_file(key, secret, 0o600)
            replace_file(certificate, made, 0o644)
        except OSError as error:
            raise StorageError(f"{certificate} cannot be written: {error.strerror}") from error
    return certificate, key


def _made(now: float) -> tuple[bytes, bytes]:
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
