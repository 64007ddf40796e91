"""Names and passwords that stood in seeds: kept in the store alone, sent where they belong."""

from collections.abc import Iterable

import msgspec

from nacre.config.secret import Secret
from nacre.fetch.credential import Credential
from nacre.job.seeding.seeds import Seed
from nacre.store.store import Store
from nacre.uri.login import Login

_FAMILY = "scope"
_LOGIN = b"login:"
_WEB = ("http://", "https://")

ADVICE = (
    "it is taken out of the URL and sent when the server asks for it; others may read where it "
    "stands, so rather write it into fetch.credentials, as `password: {env: NAME}`"
)


class LoginBook:
    """The logins of a job, one for each origin: the one that was typed last.

    Attributes:
        known: For the fetcher; it grows while the job runs.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.known: list[Credential] = []
        for key, row in store.scan(_FAMILY, _LOGIN, b"login;"):
            name, password = msgspec.msgpack.decode(row, type=tuple[str, str])
            self.known.append(_credential(Login(key.removeprefix(_LOGIN).decode(), name, password)))

    def take(self, seeds: Iterable[Seed]) -> list[str]:
        """Keep what stood in seeds, in the open commit group; what the operator should know."""
        said: list[str] = []
        for seed in seeds:
            if seed.login is not None:
                said += self.add(seed.login)
        return said

    def add(self, login: Login) -> list[str]:
        """Keep one; what the operator should know of it."""
        if not login.origin.startswith(_WEB):
            return [f"{login.origin}: a name and a password can be sent to http and https only"]
        fresh = _credential(login)
        before = [one for one in self.known if one.origin == login.origin]
        if fresh in before:
            return []
        self.known[:] = [one for one in self.known if one.origin != login.origin]
        self.known.append(fresh)
        row = msgspec.msgpack.encode((login.username, login.password))
        self._store.put(_FAMILY, _LOGIN + login.origin.encode(), row)
        if before:
            return [f"{login.origin}: another seed has another name or password; this one holds"]
        return [f"{login.origin}: a seed has a name or a password in it: {ADVICE}"]


def _credential(login: Login) -> Credential:
    return Credential(origin=login.origin, username=login.username, password=Secret(login.password))
