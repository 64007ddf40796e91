"""The certificate that a console is given: whether it can be used."""

import ssl
from pathlib import Path

from cryptography import x509

from nacre.core.clock import iso

_SOON = 14 * 86400.0


def certificate_problems(certificate: Path, key: Path, now: float) -> list[str]:
    """The reasons for which a certificate cannot be used; empty where it can.

    Args:
        certificate: The certificate and those that vouch for it, PEM.
        key: Its key, PEM, without a password.
        now: The time, seconds since the epoch.
    """
    for path in (certificate, key):
        try:
            path.open("rb").close()
        except OSError as error:
            return [f"--tls: {path} cannot be read: {error.strerror}"]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error)
        return [
            f"--tls: {certificate} and {key} are no certificate and its key without a password, "
            f"in PEM ({reason})"
        ]
    until = _until(certificate)
    if until < now:
        return [f"--tls: the certificate {certificate} was good until {iso(until)}; renew it"]
    return []


def certificate_warnings(certificate: Path, key: Path, now: float) -> list[str]:
    """Advice about a certificate that can be used.

    Args:
        certificate: See `certificate_problems`.
        key: Likewise.
        now: Likewise.
    """
    found = []
    until = _until(certificate)
    if until - now < _SOON:
        found.append(f"the certificate {certificate} is good until {iso(until)} only")
    if key.stat().st_mode & 0o077:
        found.append(f"others can read the key: `chmod 600 {key}`")
    return found


def _until(certificate: Path) -> float:
    first = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    return first.not_valid_after_utc.timestamp()
