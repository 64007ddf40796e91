"""A console that really serves, for tests of who reaches it: with TLS, and behind nginx."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import trustme

from nacre.console.server import OpenedConsole, serve
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.passwords import PasswordChecker
from nacre.fleet.places import places_of
from nacre.fleet.reach import ConsoleOptions, ConsoleReach
from nacre.fleet.users import UserBook
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role

NAME = "console.example.org"
WORD = "correct horse battery staple"


class GivenCertificate:
    """A certificate for `NAME`.

    Attributes:
        files: The certificate and its key.
        authority: File of the authority that vouches for it.
    """

    def __init__(self, folder: Path) -> None:
        authority = trustme.CA()
        made = authority.issue_cert(NAME, "localhost", "127.0.0.1")
        certificate, key = folder / "console.crt", folder / "console.key"
        certificate.write_bytes(b"".join(one.bytes() for one in made.cert_chain_pems))
        key.write_bytes(made.private_key_pem.bytes())
        key.chmod(0o600)
        self.files = (certificate, key)
        self.authority = folder / "authority.crt"
        authority.cert_pem.write_to_path(str(self.authority))


def with_user(state: Path) -> None:
    """Add the admin anna."""
    database = ConsoleDatabase(state)
    UserBook(database, SystemClock()).add("anna", PasswordChecker(1, 64).hash(WORD), Role.ADMIN)
    database.close()


def while_served(
    folder: Path, reach: ConsoleReach, scene: Callable[[OpenedConsole], Awaitable[None]]
) -> None:
    """Serve the jobs below `folder/crawls` in a real server while a scene is played."""
    (folder / "crawls").mkdir(exist_ok=True)
    options = ConsoleOptions(places_of([folder / "crawls"]), 0, folder / "state", reach)

    async def played() -> None:
        opened: asyncio.Future[OpenedConsole] = asyncio.get_running_loop().create_future()
        async with asyncio.TaskGroup() as group:
            group.create_task(serve(options, SystemClock(), opened.set_result))
            try:
                await scene(await opened)
            finally:
                os.kill(os.getpid(), signal.SIGINT)

    asyncio.run(played())
