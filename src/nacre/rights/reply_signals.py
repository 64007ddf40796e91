"""The signals of one reply: its headers, and the elements of its HTML.

`Link` and `link` with `rel=license` name a license, which RSL uses too. `X-Robots-Tag` may address
one crawler. Source of TDM fields: TDM Reservation Protocol, sections on HTTP and HTML.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from nacre.rights.signals import HEADER, HTML, PreferenceSignal, as_written
from nacre.rights.usage import signal_preferences, usage_preferences
from nacre.rights.vocabulary import (
    ALLOWED,
    DISALLOWED,
    MOST_STATED,
    Preference,
    directive_preferences,
    preference,
)
from nacre.wire.robots_tag import LICENSE_LINK, RSL_LINK, RSL_MEDIA, directives, tag_value

_RESERVED = {"1": DISALLOWED, "0": ALLOWED}
_MOST = 100
_NAMES = {
    b"x-robots-tag": "X-Robots-Tag",
    b"content-usage": "Content-Usage",
    b"content-signal": "Content-Signal",
    b"tdm-reservation": "TDM-Reservation",
    b"tdm-policy": "TDM-Policy",
    b"link": "Link",
}
_SIZES = frozenset(map(len, _NAMES))
_RELATION = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([\w-]+))', re.IGNORECASE)


def reply_signals(
    headers: Sequence[tuple[bytes, bytes]], metas: Iterable[tuple[str, str]], agent: str
) -> tuple[PreferenceSignal, ...]:
    """Return the signals of a reply, at most 100.

    Args:
        headers: Names and values of its head.
        metas: Names in lower case, and contents, of the elements of its page that state
            preferences (`wire.robots_tag`).
        agent: Product token of the crawler.
    """
    signals: list[PreferenceSignal] = []
    usage: list[str] = []
    for raw_name, raw in headers:
        if len(raw_name) in _SIZES and (name := _NAMES.get(raw_name.lower())):
            value = raw.decode("latin-1")
            if name == "Content-Usage":
                usage.append(value)
            else:
                signals.append(_header(name, value, agent))
    if usage:
        # A field on several lines is one field (RFC 9651 4.2).
        value = ", ".join(usage)
        line = as_written(f"Content-Usage: {value}")
        signals.append(PreferenceSignal(HEADER, "Content-Usage", line, usage_preferences(value)))
    signals += [_element(name, content) for name, content in metas]
    return tuple(signal for signal in signals if signal.preferences)[:_MOST]


def _header(name: str, value: str, agent: str) -> PreferenceSignal:
    line = as_written(f"{name}: {value}")
    if name == "Link" and RSL_MEDIA in value.lower():
        return PreferenceSignal(HEADER, RSL_LINK, line, _header_preferences(name, value, agent))
    return PreferenceSignal(HEADER, name, line, _header_preferences(name, value, agent))


def _header_preferences(name: str, value: str, agent: str) -> tuple[Preference, ...]:
    if name == "X-Robots-Tag":
        part = tag_value(value, agent)
        return directive_preferences(directives(part)) if part is not None else ()
    if name == "Content-Signal":
        return signal_preferences(value)
    if name == "Link":
        return tuple(preference("license", url) for url in _linked_licenses(value))[:MOST_STATED]
    return _tdm(name.lower(), value)


def _linked_licenses(value: str) -> Iterator[str]:
    """Yield the targets of links with `rel=license`; only the first `rel` of a link counts.

    Each character is read a constant number of times, for any value (RFC 8288, section 3).
    """
    for link in value.split("<")[1:]:
        url, _, parameters = link.partition(">")
        relation = _RELATION.search(parameters)
        if relation and "license" in (relation[1] or relation[2] or "").lower().split():
            yield url


def _tdm(name: str, value: str) -> tuple[Preference, ...]:
    value = value.strip()
    if name == "tdm-policy":
        return (preference("tdm-policy", value),) if value else ()
    return (Preference("tdm", _RESERVED[value]),) if value in _RESERVED else ()


def _element(name: str, content: str) -> PreferenceSignal:
    if name in (LICENSE_LINK, RSL_LINK):
        media = f' type="{RSL_MEDIA}"' if name == RSL_LINK else ""
        line = as_written(f'<link rel="license"{media} href="{content}">')
        return PreferenceSignal(HTML, name, line, (preference("license", content),))
    line = as_written(f'<meta name="{name}" content="{content}">')
    if name.startswith("tdm-"):
        stated = _tdm(name, content)
    elif name in ("noai", "noimageai"):
        stated = directive_preferences((name,))
    else:
        stated = directive_preferences(directives(content))
    return PreferenceSignal(HTML, f"meta {name}", line, stated)
