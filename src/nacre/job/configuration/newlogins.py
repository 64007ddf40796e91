"""Names and passwords in the seeds of a new job: into files of their own, for their owner only."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nacre.config.secret import Secret
from nacre.errors import Problem
from nacre.job.seeding.seeds import BadSeed, Seed, read_seeds, seed_as_line
from nacre.store.private import make_private
from nacre.uri.login import Login, hidden, redacted

LOGINS = "logins"
"""Directory of the files, in that of the job."""

_WEB = ("http://", "https://")


class NewLogins(NamedTuple):
    """What was taken out of a list of seeds.

    Attributes:
        lines: The list without names and passwords.
        credentials: For `fetch.credentials`, as the configuration has them.
    """

    lines: Sequence[str]
    credentials: Sequence[dict[str, Any]] = ()

    def warnings(self) -> list[Problem]:
        """What the operator should know."""
        return [
            Problem(
                "seeds",
                f"name and password of {one['origin']} are taken out of its seed, and are sent "
                f"when the server asks for them; the password is in {_place(one['password'])}",
                "passwords in fetch.credentials, as `password: {env: NAME}`: what is typed into a "
                "command stays in the shell's history",
            )
            for one in self.credentials
        ]

    def written(self) -> list[dict[str, Any]]:
        """The credentials as the file says them."""
        return [{name: _said(value) for name, value in one.items()} for one in self.credentials]

    def write(self, root: Path) -> None:
        """Write the passwords.

        Raises:
            OSError: They cannot be written.
        """
        for one in self.credentials:
            password = one["password"]
            if isinstance(password, Secret):
                path = root / password.source["file"]
                make_private(path.parent)
                path.touch(0o600)
                path.write_text(f"{password.text}\n", "utf-8")


def _said(value: Any) -> Any:  # noqa: ANN401 - as in YAML
    return value.said() if isinstance(value, Secret) else value


def _place(password: object) -> str:
    """What of it the operator is told."""
    return password.source["file"] if isinstance(password, Secret) else "crawl.yaml"


def apart(lines: Iterable[str]) -> NewLogins:
    """Take names and passwords out of the lines of a seed list, comments and bad lines included."""
    plain: list[str] = []
    credentials: dict[str, dict[str, Any]] = {}
    for line in lines:
        entry = next(read_seeds([line]), None) if "@" in line else None
        if not isinstance(entry, Seed) or entry.login is None:
            plain.append(_without_password(line) if "@" in line else line)
            continue
        plain.append(seed_as_line(entry))
        if entry.login.origin.startswith(_WEB):
            number = len(credentials)
            credentials[entry.login.origin] = _credential(entry.login, number)
    return NewLogins(plain, list(credentials.values()))


def _without_password(line: str) -> str:
    """A line that gives no login: a comment, a rule, or one that is no seed, such as a bad URL."""
    is_bad = isinstance(next(read_seeds([line]), None), BadSeed)
    return redacted(line) if is_bad and ":" in line.partition("@")[0] else hidden(line)


def _credential(login: Login, number: int) -> dict[str, Any]:
    name = re.sub(r"[^a-z0-9.-]+", "-", login.origin.partition("://")[2]).strip("-.") or "login"
    text = login.password
    # A file cannot say that it is empty, nor that it ends with a blank.
    is_plain = not text or text != text.strip()
    secret = text if is_plain else Secret(text, {"file": f"{LOGINS}/{name}-{number + 1}"})
    return {"origin": login.origin, "username": login.username, "password": secret}
