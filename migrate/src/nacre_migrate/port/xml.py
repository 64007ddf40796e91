"""Documents as Heritrix's REST interface writes them: XML and JSON of the same tree (pure).

The tree is of mappings, lists and plain values. XML is only written, never read. Source:
Heritrix 3, `XmlMarshaller` and `JsonMarshaller`.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.sax.saxutils import escape

Tree = Mapping[str, Any]
"""Values by name: None, bool, int, float, str, lists and trees."""

DECLARATION: Final = "<?xml version=\"1.0\" standalone='yes'?>\n"
_STEP: Final = "  "
_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_document(root: str, tree: Tree) -> str:
    """A document of XML.

    Args:
        root: Name of the root element.
        tree: What is in it: an item of a list is an element `value`; None an empty element.
    """
    return f"{DECLARATION}{''.join(_element(root, tree, ''))}\n\n"


def _element(name: str, value: object, indent: str) -> Iterator[str]:
    if value is None:
        yield f"{indent}<{name}/>"
    elif isinstance(value, Mapping):
        yield from _parent(name, list(value.items()), indent)
    elif isinstance(value, list | tuple):
        yield from _parent(name, [("value", item) for item in value], indent)
    else:
        yield f"{indent}<{name}>{escape(_FORBIDDEN.sub('', _text(value)))}</{name}>"


def _parent(name: str, children: list[tuple[str, object]], indent: str) -> Iterator[str]:
    yield f"{indent}<{name}>"
    for child, value in children:
        yield "\n"
        yield from _element(child, value, indent + _STEP)
    yield f"\n{indent}</{name}>" if children else f"</{name}>"


def _text(value: object) -> str:
    """A plain value as Java's `toString` writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return str(value)


def json_document(tree: Tree) -> str:
    """A document of JSON; numbers that JSON does not know are null."""
    return json.dumps(_plain(tree), indent=2, ensure_ascii=False) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return _FORBIDDEN.sub("", value) if isinstance(value, str) else value
