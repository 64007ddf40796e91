"""License files in XML: Really Simple Licensing (RSL) 1.0, its usages only.

A file lists contents by URL or path, each with licenses that permit and prohibit usages. Prices,
users and places are not read: the line of a signal names the license, and the capture has the file.
"""

from collections.abc import Iterator

from nacre.errors import ConfigError
from nacre.rights.signals import RSL, PreferenceSignal, as_written
from nacre.rights.vocabulary import ALLOWED, DISALLOWED, MOST_STATED, preference
from nacre.wire.xml import Element, read_xml

NAMESPACE = "https://rslstandard.org/rsl"
_ANSWERS = {"permits": ALLOWED, "prohibits": DISALLOWED}


def is_rsl(text: bytes) -> bool:
    """Return whether a document seems to be a license file, by its beginning."""
    return NAMESPACE.encode() in text[:2000]


def rsl_signals(text: bytes) -> Iterator[PreferenceSignal]:
    """Yield the usages of a license file; none if it is no such file."""
    if not is_rsl(text):
        return
    try:
        root = read_xml(text, "license")
    except ConfigError:
        return
    for content in root.walk():
        if content.tag == "content":
            yield from _content(content)


def _content(content: Element) -> Iterator[PreferenceSignal]:
    place = content.attributes.get("url", "")
    path = "" if place in ("/", "*") else place
    for license_ in content.find_all("license"):
        for child in license_.children:
            if child.tag not in _ANSWERS or child.attributes.get("type", "usage") != "usage":
                continue
            words = child.text.lower().replace(",", " ").split()
            answer = _ANSWERS[child.tag]
            stated = tuple(preference(word, answer) for word in dict.fromkeys(words))[:MOST_STATED]
            line = as_written(f'<content url="{place}"> {child.tag}: {" ".join(words)}')
            if stated:
                yield PreferenceSignal(RSL, "content", line, stated, path)
