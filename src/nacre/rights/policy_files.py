"""Files in which a site states preferences: their URLs, and the parser of each kind."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from nacre.rights.ai_txt import ai_txt_signals
from nacre.rights.rsl import is_rsl, rsl_signals
from nacre.rights.signals import AI_TXT, LLMS_TXT, ROBOTS, RSL, TDMREP, PreferenceSignal
from nacre.rights.tdmrep import tdmrep_signals
from nacre.rights.vocabulary import Preference
from nacre.wire.robots_tag import RSL_MEDIA

PATHS: Final[Mapping[str, str]] = {
    "/.well-known/tdmrep.json": TDMREP,
    "/ai.txt": AI_TXT,
    "/llms.txt": LLMS_TXT,
}
"""The paths of policy files, and the kinds of these."""
SITE_KINDS: Final = (ROBOTS, *PATHS.values())
"""Kinds of files of which a site has one."""

LARGEST: Final = 1_000_000
"""Bytes of a file that are read."""
_ENDS: Final = tuple(PATHS)
_MOST_LICENSES: Final = 5


def _llms_txt(text: bytes) -> tuple[PreferenceSignal, ...]:
    """That the file exists: it is an overview for language models, and states no preference."""
    first = text.lstrip(b"\xef\xbb\xbf \r\n")[:1]
    stated = (Preference("llms.txt"),)
    return (PreferenceSignal(LLMS_TXT, LLMS_TXT, "/llms.txt", stated),) if first == b"#" else ()


_PARSERS: Final[Mapping[str, Callable[[bytes], tuple[PreferenceSignal, ...]]]] = {
    TDMREP: tdmrep_signals,
    AI_TXT: ai_txt_signals,
    LLMS_TXT: _llms_txt,
    RSL: rsl_signals,
}


def policy_kind(url: str, mime: str) -> str:
    """Return the kind of policy file that a URL or its media type shows; "" for none."""
    if mime == RSL_MEDIA:
        return RSL
    if not url.endswith(_ENDS):
        return ""
    parts = urlsplit(url)
    return "" if parts.query else PATHS.get(parts.path, "")


def policy_signals(kind: str, text: bytes) -> tuple[PreferenceSignal, ...]:
    """Return the signals of a policy file.

    Args:
        kind: Its kind, but for robots.txt: its signals depend on the crawler.
        text: Its content, decoded.
    """
    if kind == RSL and not is_rsl(text):
        return ()
    return _PARSERS[kind](text)


def policy_urls(origin: str, signals: Iterable[PreferenceSignal]) -> list[str]:
    """Return the URLs of the policy files of a site, and of the first five licenses it names.

    Args:
        origin: Scheme, host and port.
        signals: The signals of its robots.txt.
    """
    return [*(origin + path for path in PATHS), *license_urls(signals)[:_MOST_LICENSES]]


def license_urls(signals: Iterable[PreferenceSignal]) -> list[str]:
    """Return the URLs of the licenses that signals name, each once."""
    stated = (preference for signal in signals for preference in signal.preferences)
    return list(dict.fromkeys(value for key, value in stated if key == "license"))
