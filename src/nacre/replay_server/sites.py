"""The origins of replay, and the parts of its paths (pure).

The viewer and each job have separate origins, which are of another *site* than the console:
`localhost` is a public suffix, so that no cookie crosses from `replay.localhost` to `localhost`.
"""

import re
from typing import Final, NamedTuple
from urllib.parse import quote

VIEWER, CONTENT, PROGRAMS = "viewer", "content", "programs"
"""Parts of a site: the pages of Nacre, the pages of a job, and the paths for programs."""
LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "[::1]"))
"""Names under which programs reach replay in any case."""
OWN: Final = "/-/"
"""Beginning of Nacre's own paths on each origin."""
SINGLE: Final = "/-/c/"
"""Beginning of the paths of captures on a site without an origin for each job."""
_LABEL: Final = re.compile(r"[0-9a-f]{12}")
_SAFE: Final = "/:@!$&'()+*,;=-._~%[]?"


class HostPart(NamedTuple):
    """The part of a site that a Host header names.

    Attributes:
        part: `VIEWER`, `CONTENT` or `PROGRAMS`.
        label: Label of the job of a content origin; else "".
    """

    part: str
    label: str = ""


class ReplaySite(NamedTuple):
    """The names of a replay server.

    Attributes:
        name: Host name of the viewer.
        port: Port in its URLs; 0 for that of the scheme.
        scheme: `http` or `https`.
        is_single: There are no names for the jobs (no wildcard in DNS or the certificate): pages
            are shown below the viewer's origin, without script.
    """

    name: str = "replay.localhost"
    port: int = 0
    scheme: str = "http"
    is_single: bool = False

    @property
    def viewer(self) -> str:
        """The origin of the viewer."""
        return f"{self.scheme}://{self.name}{self._port}"

    @property
    def _port(self) -> str:
        usual = {"http": 80, "https": 443}[self.scheme]
        return f":{self.port}" if self.port and self.port != usual else ""

    def content(self, label: str) -> str:
        """Return the origin of the pages of a job.

        Args:
            label: Label of the job.
        """
        return (
            self.viewer if self.is_single else f"{self.scheme}://j{label}.{self.name}{self._port}"
        )

    def part_of(self, host: str) -> HostPart | None:
        """Return the part that a Host header names; None if it names no part of this site.

        Args:
            host: The header, with or without a port; hostile.
        """
        name, _, port = host.rpartition(":")
        if not name or port.endswith("]") or (port and not port.isdigit()):
            name = host
        name = name.lower()
        if name == self.name:
            return HostPart(VIEWER)
        if name in LOOPBACK:
            return HostPart(PROGRAMS)
        first, dot, parent = name.partition(".")
        label = first.removeprefix("j")
        is_content = first.startswith("j") and is_label(label)
        if is_content and dot and parent == self.name and not self.is_single:
            return HostPart(CONTENT, label)
        return None


def is_label(text: str) -> bool:
    """Whether a text has the form of the label of a job; hostile."""
    return _LABEL.fullmatch(text) is not None


def quote_url(url: str) -> str:
    """Return a URL for the path of a link: characters that end a path or a header are escaped."""
    return quote(url, safe=_SAFE)


def viewer_path(label: str, timestamp: str, url: str) -> str:
    """Return the path of the viewer's page of a capture.

    Args:
        label: Label of the job.
        timestamp: 14 digits, or `*` for the list of captures.
        url: URL of the capture.
    """
    return f"/view/{label}/{timestamp}/{quote_url(url)}"


def content_path(timestamp: str, url: str, modifier: str = "mp_") -> str:
    """Return the path of a capture on the origin of its job.

    Args:
        timestamp: Up to 14 digits.
        url: URL of the capture.
        modifier: As in `memento.MODIFIERS`.
    """
    return f"/{timestamp}{modifier}/{quote_url(url)}"
