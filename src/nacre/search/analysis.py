"""The analysis of text: which terms stand for it in an index, and where they are in it.

Text is brought into NFKC and folded. A word is a run of letters and digits. Scripts that are
written without spaces (Chinese, Japanese, Thai and so on; Korean, whose endings stick to its words)
are taken as overlapping pairs of characters, with the last character of a run alone: so every
substring of a run is a phrase of pairs, and every character begins a term. Source: Unicode UAX 15.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from operator import add
from typing import NamedTuple

LONGEST = 200
"""Characters of a word that count; longer ones are data, not words."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = rf"[^\W_{_UNSPACED}]"
_RUNS = re.compile(rf"([{_UNSPACED}]+)|({_WORD}+)")
_FAR = re.compile(r"[^\x00-\x7f]+")
_WORD_FIRST = re.compile(_WORD)
_FAR_PARTS = re.compile(rf"([{_UNSPACED}]+)|[\W_]")
_FOLDED = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256)).lower()
"""Bytes of UTF-8: letters of ASCII in lower case, its other signs as blanks."""
_JOINED = re.compile("[\u0300-\u036f]")
_SHORT = 32


def normal_form(text: str) -> str:
    """Text in NFKC."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def folded(text: str) -> str:
    """Text as terms are made of it: in NFKC, without case."""
    return text.lower() if text.isascii() else normal_form(normal_form(text).casefold())


def index_terms(text: str) -> str:
    """The terms of a text in order, separated by blanks: what an index of words is given."""
    # Signs of ASCII become blanks all at once, and what is beyond ASCII is looked at run by run:
    # texts are long, and most of their characters are of ASCII or of one unspaced script.
    if not text.isascii() and _JOINED.search(text):
        text = normal_form(text)  # a mark that stands behind a letter of ASCII changes it
    spaced = text.encode("utf-8", "replace").translate(_FOLDED).decode()
    if not spaced.isascii():
        spaced = _FAR.sub(_far_terms, spaced)
    words = spaced.split()
    if len(spaced) > LONGEST and len(max(words, key=len, default="")) > LONGEST:
        words = [word[:LONGEST] for word in words]
    return " ".join(words)


def _far_terms(match: re.Match[str]) -> str:
    run = match[0]
    return _terms_of_short(run) if len(run) < _SHORT else _terms_of_run(run)


def _terms_of_run(run: str) -> str:
    """A run of characters beyond ASCII: pairs of unspaced ones, blanks in place of signs."""
    return _FAR_PARTS.sub(_pairs_or_blank, folded(run))


_terms_of_short = lru_cache(maxsize=16_384)(_terms_of_run)
"""Signs such as quotation marks, and words, come again and again."""


def _pairs_or_blank(match: re.Match[str]) -> str:
    run = match[1]
    return f" {' '.join(map(add, run, run[1:]))} {run[-1]} " if run else " "


class QueryPhrase(NamedTuple):
    """The terms that stand one after another where a text has what was asked for.

    Attributes:
        terms: The terms; () when there is nothing to look for.
        prefix: The last one is the beginning of a term.
    """

    terms: tuple[str, ...]
    prefix: bool = False


def query_phrase(text: str) -> QueryPhrase:
    """The phrase that finds a text wherever it stands, also within a longer run."""
    terms: list[str] = []
    prefix = False
    for run, word in _RUNS.findall(folded(text)):
        if prefix:  # the run before was the last character of its run
            prefix = False
        if word:
            terms.append(word[:LONGEST])
            continue
        terms.extend(map(add, run, run[1:]))
        terms.append(run[-1])
        prefix = True
    if prefix and len(terms) > 1 and len(terms[-2]) > 1 and terms[-2][-1] == terms[-1]:
        # The run may go on in the text: its last pair says all.
        return QueryPhrase(tuple(terms[:-1]))
    return QueryPhrase(tuple(terms), prefix)


class PhraseFinder:
    """Finds the places of a phrase in a folded text.

    Args:
        phrase: The phrase.
    """

    def __init__(self, phrase: QueryPhrase) -> None:
        pattern, before = "", ""
        for term in phrase.terms:
            unspaced = _RUNS.fullmatch(term)
            if unspaced is None or unspaced[1] is None:
                gap = r"[\W_]+" if before == "word" else r"[\W_]*" if before else ""
                rest = r"[^\W_]*" if len(term) == LONGEST else ""
                pattern += f"{gap}{re.escape(term)}{rest}"
                before = "word"
            elif before == "pair":  # its first character is the last one of the pair before
                pattern += term[1:]
                before = "pair" if len(term) > 1 else "run"
            else:
                gap = r"[\W_]+" if before == "run" else r"[\W_]*" if before else ""
                pattern += f"{gap}{term}"
                before = "pair" if len(term) > 1 else "run"
        # The ends of words are looked at beside the pattern: sets of characters compile slowly.
        self._pattern = re.compile(pattern) if pattern else None
        self._begins = bool(phrase.terms) and _is_word(phrase.terms[0])
        self._ends = before == "word"

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each place in a folded text, in order."""
        at = 0
        while self._pattern is not None:
            match = self._pattern.search(text, at)
            if match is None:
                return
            start, at = match.span()
            inside = self._begins and start and _is_word(text[start - 1])
            if inside or (self._ends and at < len(text) and _is_word(text[at])):
                at = start + 1
                continue
            yield start, at


def _is_word(text: str) -> bool:
    """Whether a text begins with a letter of a script with blanks, or a digit."""
    return _WORD_FIRST.match(text) is not None
