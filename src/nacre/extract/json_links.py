"""JSON: strings that are URIs, those in arrays included.

A scan of the string literals, not a parse: cut-off documents, JSONP, several documents in one,
comments and any depth of nesting make no difference. Keys are passed over. Source: Heritrix's
ExtractorJson (which misses arrays) and ExtractorJS.
"""

import re

from nacre.core.crawluri import Hop
from nacre.extract.absolute import absolute_urls
from nacre.extract.document import Document
from nacre.extract.likely import speculative_fixup
from nacre.extract.links import LinkCollector
from nacre.extract.script import likely_strings, unescape_js
from nacre.extract.text import read_text

CONTEXT = "=JSON_MISC"

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_STRING = re.compile(r'"([^"\\]*+(?:\\[\s\S][^"\\]*+|(?!))*+)(?:"(\s*+:)?)?')
_MAX_TEXT = 1_000_000
"""Characters of the longest string that is searched for URLs within."""


def json_urls(text: str) -> list[str]:
    """Strings that are very likely URIs, and absolute URLs within longer strings; each once.

    For JSON, JSON-LD, import maps, web app manifests and speculation rules. Give bare host names to
    `speculative_fixup` before they are resolved.
    """
    found: dict[str, None] = {}
    for raw, is_key in _STRING.findall(text):
        if is_key or ("/" not in raw and "." not in raw) or len(raw) > _MAX_TEXT:
            continue
        value = unescape_js(raw) if "\\" in raw else raw
        if not likely_strings(value, found) and "://" in value:
            found.update(dict.fromkeys(absolute_urls(value)))
    return list(found)


def extract_json(document: Document, links: LinkCollector) -> None:
    """Add the likely URIs of a JSON document: hop X, context `=JSON_MISC`."""
    for url in json_urls(read_text(document)):
        links.add(speculative_fixup(url, links.base), Hop.SPECULATIVE, CONTEXT)
