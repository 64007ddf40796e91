"""The analysis of text: which terms stand for it in an index, and where they are in it.

Text is brought into NFKC and folded. A word is a run of letters and digits. Scripts that are
written without spaces (Chinese, Japanese, Thai and so on; Korean, whose endings stick to its words)
are taken as overlapping pairs of characters, with the last character of a run alone: so every
substring of a run is a phrase of pairs, and every character begins a term. Source: Unicode UAX 15.
"""

import re
import unicodedata
from collections.abc import Iterator
from operator import add
from typing import NamedTuple

LONGEST = 200
"""Characters of a word that count; longer ones are data, not words."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUNS = re.compile(rf"([{_UNSPACED}]+)|([^\W_{_UNSPACED}]+)")


class TermPlace(NamedTuple):
    """A term and its place.

    Attributes:
        term: The term, as the index has it.
        start: Where it begins in the text, in characters.
        end: Where it ends.
    """

    term: str
    start: int
    end: int


def normal_form(text: str) -> str:
    """Text in NFKC."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def folded(text: str) -> str:
    """Text as terms are made of it: in NFKC, without case."""
    return text.lower() if text.isascii() else normal_form(normal_form(text).casefold())


def index_terms(text: str) -> str:
    """The terms of a text in order, separated by blanks: what an index of words is given."""
    terms: list[str] = []
    take = terms.extend
    for run, word in _RUNS.findall(folded(text)):
        if word:
            terms.append(word[:LONGEST])
        else:
            take(map(add, run, run[1:]))
            terms.append(run[-1])
    return " ".join(terms)


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


def term_places(text: str) -> Iterator[TermPlace]:
    """The terms of a text in NFKC, with their places in it."""
    for match in _RUNS.finditer(text):
        start, end = match.span()
        if match[2]:
            yield TermPlace(folded(match[2])[:LONGEST], start, end)
            continue
        for at in range(start, end - 1):
            yield TermPlace(text[at : at + 2], at, at + 2)
        yield TermPlace(text[end - 1], end - 1, end)
