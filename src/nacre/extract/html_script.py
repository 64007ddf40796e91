"""Script elements: scripts, and the data blocks that go by their name."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from nacre.core.crawluri import Hop
from nacre.extract.html_page import Node
from nacre.extract.html_walk import Walk
from nacre.extract.json_links import CONTEXT, json_urls
from nacre.extract.likely import speculative_fixup

_MARKUP = ("html", "template", "handlebars", "mustache", "x-jsrender", "x-tmpl")
_SCRIPT = ("script", "module", "livescript", "mathjax-config")
_SCHEME = "javascript:"


def is_script(href: str) -> bool:
    """True for `javascript:` in any case, with white space before it."""
    return href.lstrip()[: len(_SCHEME)].lower() == _SCHEME


def script_of(href: str) -> str:
    """The script behind `javascript:`."""
    return unquote(href.lstrip()[len(_SCHEME) :])


def script(walk: Walk, node: Node, tag: str) -> None:
    """A script element, by its type."""
    for attribute in ("src", "href", "xlink:href"):
        source = node.attr(attribute)
        if source is not None:
            charset, path = node.attr("charset") or "", walk.path(node)
            walk.links.add(source, Hop.EMBED, f"{tag}/@{attribute}", path=path, charset=charset)
            break
    kind = (node.attr("type") or "").partition(";")[0].strip().lower()
    if not kind or kind.endswith(_SCRIPT):
        walk.script(walk.content(node))
    elif kind == "importmap":
        _import_map(walk, walk.content(node))
    elif "json" in kind or kind == "speculationrules":
        _data(walk, walk.content(node))
    elif kind.endswith(_MARKUP):
        walk.nested(walk.content(node))


def _import_map(walk: Walk, text: str) -> None:
    """The modules that an import map names; they are resolved against the page."""
    for value in json_strings(text):
        if value.startswith(("/", "./", "../", "https://", "http://")):
            walk.links.add(value, Hop.EMBED, "script[type='importmap']")


def _data(walk: Walk, text: str) -> None:
    """JSON-LD, speculation rules, state of an application: values that are very likely URIs."""
    if walk.settings.extract_json:
        for url in json_urls(text):
            walk.links.add(speculative_fixup(url, walk.links.base), Hop.SPECULATIVE, CONTEXT)


def json_strings(text: str) -> Iterator[str]:
    """All string values of a JSON text, in order, keys left out; none when it is not JSON."""
    try:
        value = msgspec.json.decode(text.strip().encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(reversed(item.values()))
        elif isinstance(item, list):
            stack.extend(reversed(item))
