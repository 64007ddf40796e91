"""Files in which a site states preferences: their URLs, and the parser of each kind."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from nacre.rights.ai_txt import ai_txt_signals
from nacre.rights.rsl import is_rsl, rsl_signals
from nacre.rights.signals import (
    AI_TXT,
    LLMS_TXT,
    ROBOTS,
    RSL,
    TDMREP,
    FileSignals,
    PreferenceSignal,
    first_signals,
)
from nacre.rights.tdmrep import tdmrep_signals
from nacre.rights.vocabulary import LONGEST_VALUE, Preference
from nacre.uri.parse import Resolver
from nacre.wire.robots_tag import RSL_MEDIA

PATHS: Final[Mapping[str, str]] = {
    "/.well-known/tdmrep.json": TDMREP,
    "/ai.txt": AI_TXT,
    "/llms.txt": LLMS_TXT,
}
"""The paths of policy files, and the kinds of these."""
STATING_NONE: Final = ("/.well-known/security.txt", "/humans.txt")
"""The paths of files that are collected with these, and state no preference."""
SITE_KINDS: Final = (ROBOTS, *PATHS.values())
"""Kinds of files of which a site has one."""

LARGEST: Final = 1_000_000
"""Bytes of a file that may be read."""
_XML: Final = frozenset(("application/xml", "text/xml"))
"""Media types that servers send for license files, too."""
_HEAD: Final = 2_000
"""Bytes at the beginning of a license file that have its namespace."""
_ENDS: Final = tuple(PATHS)
_MOST_LICENSES: Final = 5


def _llms_txt(text: bytes) -> Iterator[PreferenceSignal]:
    """That the file exists: it is an overview for language models, and states no preference."""
    if text.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"#"):
        yield PreferenceSignal(LLMS_TXT, LLMS_TXT, "/llms.txt", (Preference("llms.txt"),))


class _Reader(NamedTuple):
    """Reads the files of a kind.

    Attributes:
        read: Yields the signals of a file.
        largest: Bytes of a file that is read; a larger one is read in no part.
        most: Signals of a file that are kept.
    """

    read: Callable[[bytes], Iterator[PreferenceSignal]]
    largest: int = LARGEST
    most: int = 2_000


_READERS: Final[Mapping[str, _Reader]] = {
    TDMREP: _Reader(tdmrep_signals),
    AI_TXT: _Reader(ai_txt_signals),
    LLMS_TXT: _Reader(_llms_txt),
    RSL: _Reader(rsl_signals, 200_000, 500),
}


def policy_kind(url: str, mime: str, head: Callable[[int], bytes] | None = None) -> str:
    """Return the kind of policy file that a reply is; "" for none.

    Args:
        url: Its URL.
        mime: Its media type.
        head: Returns the beginning of its content, of a number of bytes; None if it is unknown.
    """
    if mime == RSL_MEDIA:
        return RSL
    if mime in _XML and head is not None and is_rsl(head(_HEAD)):
        return RSL
    if not url.endswith(_ENDS):
        return ""
    parts = urlsplit(url)
    return "" if parts.query else PATHS.get(parts.path, "")


def policy_signals(kind: str, text: bytes) -> FileSignals:
    """Return the signals of a policy file.

    Args:
        kind: Its kind, but for robots.txt: its signals depend on the crawler.
        text: Its content, decoded.
    """
    reader = _READERS[kind]
    if len(text) > reader.largest:
        return FileSignals((), is_whole=False)
    return first_signals(reader.read(text), reader.most)


def policy_urls(origin: str, signals: Iterable[PreferenceSignal]) -> list[str]:
    """Return the URLs of the policy files of a site, and of the first five licenses it names.

    Args:
        origin: Scheme, host and port.
        signals: The signals of its robots.txt.
    """
    resolve = Resolver(f"{origin}/robots.txt").resolve
    whole = (url for url in license_urls(signals) if len(url) < LONGEST_VALUE)
    licenses = dict.fromkeys(filter(None, map(resolve, whole)))
    paths = (origin + path for path in (*PATHS, *STATING_NONE))
    return [*paths, *islice(licenses, _MOST_LICENSES)]


def license_urls(signals: Iterable[PreferenceSignal]) -> list[str]:
    """Return the URLs of the licenses that signals name, each once."""
    stated = (preference for signal in signals for preference in signal.preferences)
    return list(dict.fromkeys(value for key, value in stated if key == "license"))
