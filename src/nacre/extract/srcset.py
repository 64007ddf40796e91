"""Candidate lists of `srcset` and its kin."""

import re

_URL = re.compile(r"[,\s]*([^\s]+)")
# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_DESCRIPTORS = re.compile(r"(?:[^,(]++|\([^)]*+(?:\)|\Z)|(?!))*+,?")


def candidates(value: str) -> list[str]:
    """The URLs of a `srcset`, in order, of any length.

    A comma ends a URL only before white space, so that URLs may hold commas; a parenthesis hides
    the commas in it, up to the end when it is never closed.
    Source: HTML Standard, "parse a srcset attribute".
    """
    found: list[str] = []
    position = 0
    while match := _URL.match(value, position):
        url = match[1].lstrip(",")
        position = match.end()
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            position = _end_of_descriptors(value, position)
        if url:
            found.append(url)
    return found


def _end_of_descriptors(value: str, start: int) -> int:
    match = _DESCRIPTORS.match(value, start)
    return match.end() if match else len(value)
