"""Libraries that few need, and what installs one where it is missed."""

import shlex
import sys


def wanting(what: str, library: str) -> str:
    """The message, with the command for the Python that runs now.

    The extras of the project have the same libraries, but pip knows a checkout by its folder only.
    """
    return f"{what} {library}: {shlex.quote(sys.executable)} -m pip install {library}"
