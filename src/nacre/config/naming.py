"""Types of settings that name something outside the crawl; rights of the console follow them.

A setting that is a path, a server, a network or a port declares that in its annotation, such as
`ca: FileName`. `config.named_values` finds their values.
"""

from enum import Enum
from typing import Annotated


class NamedKind(Enum):
    """The kind of thing that a setting names.

    `FILE`: a file or directory that is read or written; `PROGRAM`: a program that is executed;
        `VARIABLE`: a
    variable of the environment; `SERVER`: a server that the crawler contacts itself, beside the
    sites that it crawls; `NETWORK`: networks and addresses that it may connect to; `LISTENER`: a
    port that others can connect to.
    """

    FILE = "file"
    PROGRAM = "program"
    VARIABLE = "variable"
    SERVER = "server"
    NETWORK = "network"
    LISTENER = "listener"


FileName = Annotated[str, NamedKind.FILE]
"""A path of a file or directory."""

ServerAddress = Annotated[str, NamedKind.SERVER]
"""The URL of a server that the crawler contacts itself."""

NetworkName = Annotated[str, NamedKind.NETWORK]
"""An address or a network that connections may lead to, or begin at."""

ListenAddress = Annotated[str, NamedKind.LISTENER]
"""An address and port that others can connect to."""
