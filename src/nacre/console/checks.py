"""The check of how a console would be opened: who could reach it, and with which access."""

from collections import Counter
from pathlib import Path

from nacre.console.access.certificates import certificate_problems, certificate_warnings
from nacre.console.access.database import ConsoleDatabase
from nacre.console.access.keys import KeyBook
from nacre.console.access.reach import ConsoleReach, is_loopback, takes_links, why_not
from nacre.console.access.users import UserBook
from nacre.core.clock import Clock
from nacre.errors import ConfigError


def reach_problems(reach: ConsoleReach, users: UserBook, now: float) -> list[str]:
    """The reasons for which a console must not be opened in this way; empty where it may be.

    Args:
        reach: Who could connect to it, and how.
        users: Its users.
        now: The time, seconds since the epoch.
    """
    found = why_not(reach, has_users=not users.is_empty)
    return found + (certificate_problems(*reach.tls, now) if reach.tls is not None else [])


def require_reach(reach: ConsoleReach, users: UserBook, now: float) -> None:
    """Refuse to open a console in a way that is not safe.

    Raises:
        ConfigError: It is not; the message has all reasons.
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
    """The words for who could connect to a console."""
    if reach.proxy:
        return f"others through the proxy {reach.proxy}, as {', '.join(reach.names) or 'nothing'}"
    if is_loopback(reach.bind):
        return "this machine alone"
    return f"all that reach {reach.bind}, as {', '.join(reach.names) or 'nothing'}"


def access_words(database: ConsoleDatabase, reach: ConsoleReach, clock: Clock) -> list[str]:
    """The words for who could log in to a console, a line each."""
    users, keys = UserBook(database, clock).all(), KeyBook(database, clock).all()
    takes = takes_links(has_users=bool(users), local_link=reach.local_link)
    found = [f"{_counted(len(users), 'user')}{_roles([user.role for user in users])}"]
    found.append(f"{_counted(len(keys), 'key')} of programs{_roles([key.role for key in keys])}")
    heritrix = database.rows("SELECT role FROM heritrix_keys")
    if heritrix:
        found.append(f"{_counted(len(heritrix), 'key')} for Heritrix's interface")
    found.append("links of `nacre console link`" if takes else "no links: there are users")
    return found


def heritrix_advice(database: ConsoleDatabase) -> list[str]:
    """Advice for a console that opens Heritrix's interface."""
    if database.row("SELECT 1 FROM heritrix_keys") is not None:
        return []
    return ["Heritrix's port takes nobody yet: `nacre console heritrix-key NAME` makes a key"]


def advice(reach: ConsoleReach, folder: Path, now: float) -> list[str]:
    """Advice: things to change, though they keep nothing from being opened.

    Args:
        reach: Who could connect to it, and how.
        folder: Folder of its own files.
        now: The time, seconds since the epoch.
    """
    found = []
    if folder.stat().st_mode & 0o077:
        found.append(f"others can look into the console's folder: `chmod 700 {folder}`")
    if reach.tls is not None:
        found += certificate_warnings(*reach.tls, now)
    if reach.is_remote and reach.local_link:
        found.append("--local-link: who can run commands as this user is admin, without a password")
    return found


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _roles(roles: list[str]) -> str:
    counted = Counter(roles)
    found = [f"{counted[role]} {role}" for role in ("admin", "operator", "viewer") if counted[role]]
    return f" ({', '.join(found)})" if found else ""
