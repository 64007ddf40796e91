"""XHTML for a reader of HTML: empty elements that would hold text to the end of the page."""

import re

_HOLDERS = rb"iframe|noembed|noframes|noscript|plaintext|script|style|textarea|title|xmp"
# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_EMPTY = re.compile(
    rb"<(%b)(?=[\s/])((?:[^<>\"'/]++|/(?!>)|\"[^\"]*+\"|'[^']*+'|(?!))*+)/>" % _HOLDERS
)


def with_end_tags(body: bytes) -> bytes:
    """A page of an XML type with end tags where `<script src="a.js"/>` and its kin have none.

    A browser reads such a page as XML, where this is a whole element; in HTML it is a start tag,
    and all that follows would be text of the script.

    Args:
        body: The page, in an encoding that has ASCII in it.
    """
    return _EMPTY.sub(rb"<\1\2></\1>", body) if b"/>" in body else body
