"""Checks before a console opens: who could connect, and with which access."""

import ssl
from collections import Counter
from pathlib import Path

from cryptography import x509

from nacre.core.clock import Clock, iso
from nacre.errors import ConfigError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import KeyBook
from nacre.fleet.reach import ConsoleReach, is_loopback, takes_links, why_not
from nacre.fleet.users import UserBook


def reach_problems(reach: ConsoleReach, users: UserBook, now: float) -> list[str]:
    """The reasons for which a console must not be opened in this way; empty where it may be.

    Args:
        reach: Who could connect to it, and how.
        users: Its users.
        now: The time, seconds since the epoch.
    """
    problems = why_not(reach, has_users=not users.is_empty)
    return problems + (certificate_problems(*reach.tls, now) if reach.tls is not None else [])


def require_reach(reach: ConsoleReach, users: UserBook, now: float) -> None:
    """Refuse to open a console with unsafe options.

    Raises:
        ConfigError: The options are unsafe; the message has all reasons.
    """
    problems = reach_problems(reach, users, now)
    if problems:
        raise ConfigError("the console is not opened to others:\n  " + "\n  ".join(problems))


def own_url(reach: ConsoleReach, port: int) -> str:
    """The URL under which a console is reached, with a slash at its end.

    Args:
        reach: The way.
        port: Its port; a proxy has that of HTTPS.
    """
    if reach.proxy and reach.names:
        return f"https://{reach.name}/"
    return f"{'https' if reach.tls is not None else 'http'}://{reach.name}:{port}/"


def reach_words(reach: ConsoleReach) -> str:
    """Return a text that says who could connect to a console."""
    if reach.proxy:
        return f"others through the proxy {reach.proxy}, as {', '.join(reach.names) or 'nothing'}"
    if is_loopback(reach.bind):
        return "this machine alone"
    return f"all that reach {reach.bind}, as {', '.join(reach.names) or 'nothing'}"


def access_words(database: ConsoleDatabase, reach: ConsoleReach, clock: Clock) -> list[str]:
    """Return lines that say who could log in to a console."""
    users, keys = UserBook(database, clock).all(), KeyBook(database, clock).all()
    takes = takes_links(has_users=bool(users), local_link=reach.local_link)
    lines = [f"{_counted(len(users), 'user')}{_roles([user.role for user in users])}"]
    lines.append(f"{_counted(len(keys), 'key')} of programs{_roles([key.role for key in keys])}")
    heritrix = database.rows("SELECT role FROM heritrix_keys")
    if heritrix:
        lines.append(f"{_counted(len(heritrix), 'key')} for Heritrix's interface")
    lines.append("links of `nacre console link`" if takes else "no links: there are users")
    return lines


def heritrix_advice(database: ConsoleDatabase) -> list[str]:
    """Return recommendations for a console that opens Heritrix's interface."""
    if database.row("SELECT 1 FROM heritrix_keys") is not None:
        return []
    return ["Heritrix's port has no users yet: `nacre console heritrix-key NAME` makes a key"]


def advice(reach: ConsoleReach, folder: Path, now: float) -> list[str]:
    """Return recommendations that do not prevent the console from opening.

    Args:
        reach: Who could connect to the console, and how.
        folder: The console's folder.
        now: The time, seconds since the epoch.
    """
    lines = []
    if folder.stat().st_mode & 0o077:
        lines.append(f"others can look into the console's folder: `chmod 700 {folder}`")
    if reach.tls is not None:
        lines += certificate_warnings(*reach.tls, now)
    if reach.is_remote and reach.local_link:
        lines.append("--local-link: who can run commands as this user is admin, without a password")
    return lines


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _roles(roles: list[str]) -> str:
    counted = Counter(roles)
    counts = [
        f"{counted[role]} {role}" for role in ("admin", "operator", "viewer") if counted[role]
    ]
    return f" ({', '.join(counts)})" if counts else ""


_SOON = 14 * 86400.0


def certificate_problems(certificate: Path, key: Path, now: float) -> list[str]:
    """Return the reasons why a certificate cannot be used; empty if it can.

    Args:
        certificate: The certificate with its chain, PEM.
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
    """Return warnings about a certificate that can be used.

    Args:
        certificate: See `certificate_problems`.
        key: Likewise.
        now: Likewise.
    """
    warnings = []
    until = _until(certificate)
    if until - now < _SOON:
        warnings.append(f"the certificate {certificate} is good until {iso(until)} only")
    if key.stat().st_mode & 0o077:
        warnings.append(f"others can read the key: `chmod 600 {key}`")
    return warnings


def _until(certificate: Path) -> float:
    first = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    return first.not_valid_after_utc.timestamp()
