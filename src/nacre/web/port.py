"""Ports beside the console: Heritrix's REST interface, which nacre-migrate adds, and replay."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from starlette.types import ASGIApp

from nacre.config.extension import MIGRATE, load_part, require_extension
from nacre.core.clock import Clock
from nacre.fleet.audit import AuditLog
from nacre.fleet.job_books import DiskQuotaBook
from nacre.fleet.keys import KeyBook
from nacre.fleet.places import Fleet, FoundJob
from nacre.fleet.reach import ConsoleReach, PortOptions
from nacre.fleet.requester import Requester
from nacre.fleet.sessions import SessionBook
from nacre.fleet.standing import ConsoleStanding
from nacre.fleet.users import HeritrixKeyBook
from nacre.web.live.poller import Poller
from nacre.web.supervision import Work
from nacre.web.workers.pool import ReaderPool


class PortParts(NamedTuple):
    """The parts of the console that the port uses.

    Attributes:
        clock: The time.
        fleet: The jobs.
        poller: The present state of the jobs.
        readers: The processes that read their stores.
        reach: Who can connect to the console.
        audit: The log of changes.
        standing: Whether this console may change things.
        quotas: Bytes that jobs may use.
        keys: The keys of the interface.
    """

    clock: Clock
    fleet: Fleet
    poller: Poller
    readers: ReaderPool
    reach: ConsoleReach
    audit: AuditLog
    standing: ConsoleStanding
    quotas: DiskQuotaBook
    keys: HeritrixKeyBook


class PortConsole(NamedTuple):
    """The console of the port.

    Attributes:
        folder: Folder of the console's own files.
        pages: URL of the console's own pages, with a slash at its end.
        on_exit: Ends the console.
    """

    folder: Path
    pages: str
    on_exit: Callable[[], None]


class PortApp(NamedTuple):
    """The application of the port.

    Attributes:
        app: The application.
        certificate: File of its TLS certificate.
        key: File of the key of the certificate.
    """

    app: ASGIApp
    certificate: Path
    key: Path


class PortMaker(Protocol):
    """The function of an extension that makes the application of the port."""

    def __call__(self, parts: PortParts, options: PortOptions, console: PortConsole) -> PortApp:
        """Make the application.

        Args:
            parts: The parts that it uses.
            options: The options of the port.
            console: The console of the port.

        Raises:
            StorageError: Its certificate cannot be written.
        """


def load_port_maker() -> PortMaker:
    """Load the function that makes the application of the port.

    Raises:
        MissingExtraError: nacre-migrate is not installed; the message has the command.
        NacreError: nacre-migrate cannot be loaded.
    """
    extension = require_extension(MIGRATE, "Heritrix's REST interface needs")
    maker: PortMaker = load_part(MIGRATE, extension.console_port)
    return maker


class ReplayPortParts(NamedTuple):
    """The parts of the console that replay uses.

    Attributes:
        clock: The time.
        fleet: The jobs.
        keys: The keys of programs, which are those of replay, too.
        sessions: The sessions of the console's users; replay ends with them.
        title_of: Returns the name that people gave to a job.
        pages: URL of the console's own pages, without a slash at its end.
    """

    clock: Clock
    fleet: Fleet
    keys: KeyBook
    sessions: SessionBook
    title_of: Callable[[FoundJob], str]
    pages: str


ReplayLink = Callable[[Requester, FoundJob, str, str], str]
"""Returns a link of a caller to a capture, by the job, the URL ("" for the first page), and the
time of up to 14 digits ("" for the newest). It has a ticket, and works once, for a minute."""


class ReplayPort(NamedTuple):
    """Replay beside a console.

    Attributes:
        url: URL of its viewer.
        link: Makes links to captures.
        work: Serves until it is cancelled.
    """

    url: str
    link: ReplayLink
    work: Work


ReplayPortMaker = Callable[[ReplayPortParts], ReplayPort]
"""Opens replay beside a console. Raises a JobError if the port is in use."""
