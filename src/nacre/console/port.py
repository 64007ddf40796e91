"""The port with Heritrix's REST interface, which the package nacre-migrate adds."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from starlette.types import ASGIApp

from nacre.config.extension import MIGRATE, load_part, require_extension
from nacre.console.services import ConsoleServices
from nacre.fleet.heritrix_keys import HeritrixKeyBook


class PortOptions(NamedTuple):
    """The options of Heritrix's port.

    Attributes:
        port: The port; 0 for a free one.
        basic: Basic in place of Digest.
        runs_at_once: A launched job crawls; otherwise it waits for unpause, as theirs does.
        resumes: A launch resumes a run that was terminated; otherwise it begins a new one.
    """

    port: int
    basic: bool = False
    runs_at_once: bool = False
    resumes: bool = False


class PortParts(NamedTuple):
    """The parts of the console that the port uses.

    Attributes:
        services: The services of the console.
        keys: The keys of the interface.
        options: The options of the port.
        folder: Folder of the console's own files.
        hosts: Names beside those of the loopback under which the console is reached.
        pages: URL of the console's own pages, with a slash at its end.
        on_exit: Ends the console.
    """

    services: ConsoleServices
    keys: HeritrixKeyBook
    options: PortOptions
    folder: Path
    hosts: tuple[str, ...]
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

    def __call__(self, parts: PortParts) -> PortApp:
        """Make the application.

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
