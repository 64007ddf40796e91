"""`/health`: whether the console answers."""

import msgspec

from nacre import __version__
from nacre.console.call import Call


class Health(msgspec.Struct, frozen=True):
    """The console answers.

    Attributes:
        status: `ok`.
        version: Version of Nacre; "" for who is not logged in.
    """

    status: str = "ok"
    version: str = ""


async def health(call: Call) -> Health:
    """Say that it answers."""
    return Health(version=__version__ if call.identity.role else "")
