"""The analysis of text: which terms stand for it in an index, and where they are in it.

Text is brought into NFKC and folded. A word is a run of letters, digits and their marks. What
Unicode says of a word's inside is obeyed (UAX 29, rule WB4): soft hyphens, joiners, marks of
direction and other format characters do not part it. They are removed, as is what a writer may add
or leave out: points and vowels of Arabic, Hebrew and Syriac, the Arabic tatweel, and marks that no
letter of Latin, Greek or Cyrillic has with it (the stress of Russian). Vowel signs of Indic scripts
and all other marks stay in the word. Signs within a word (`can't`, `3.14`, `example.org`) part it,
other than in UAX 29: each part is found, and the whole as a phrase.

Scripts that are written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese and so on;
Korean, whose endings stick to its words) are taken as overlapping pairs of characters, with the
last character of a run alone: so every substring of a run is a phrase of pairs, and every character
begins a term. A zero width space in such a run is none. Sources: Unicode UAX 15, 24, 29.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from operator import add
from typing import NamedTuple

import regex

VERSION = 2
"""Version of the analysis: an index of another one is to be built again. 1: up to 0.1.0, without
UAX 29."""
LONGEST = 200
"""Characters of a word that count; longer words are data."""

_SCRIPTS = ("Han", "Hiragana", "Katakana", "Bopomofo", "Hangul")
_LETTER = r"\p{L}\p{M}\p{N}"
_UNSPACED = (
    "[[" + "".join(rf"\p{{scx={name}}}" for name in _SCRIPTS) + r"[\p{LB=SA}--\p{Nd}]]"
    rf"&&[{_LETTER}]--[\u0000-\u0dff\p{{sc=Inherited}}]]"
)
_WORD = rf"[[{_LETTER}]--{_UNSPACED}]"
_RUN = rf"({_UNSPACED}++(?:\u200b++{_UNSPACED}++|(?!))*+)"
_NO_LETTER = rf"[^{_LETTER}]"


def _compile(pattern: str) -> "regex.Pattern[str]":
    return regex.compile(pattern, regex.VERSION1)


_RUNS = _compile(rf"{_RUN}|({_WORD}++)")
_FAR = re.compile(r"[^\x00-\x7f]+")
_WORD_FIRST = _compile(_WORD)
_FAR_PARTS = _compile(rf"{_RUN}|{_NO_LETTER}")
_FOLDED = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256)).lower()
"""Bytes of UTF-8: letters of ASCII in lower case, its other signs as blanks."""
_JOINED = re.compile("[\u0300-\u036f]")
_POINTED = ("Inherited", "Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Syriac")
_IGNORED = _compile(
    r"[[\p{Default_Ignorable_Code_Point}\p{WB=Format}--\u200b]\u0640"
    "[[" + "".join(rf"\p{{sc={name}}}" for name in _POINTED) + r"]&&\p{M}]]++"
)
"""Characters that are never part of a word."""
_SHORT = 32


_MARKS = _compile(r"(\p{M}{30})\p{M}++")
"""More consecutive marks than any language has: sorting them takes quadratic time."""


def normal_form(text: str) -> str:
    """Return text in NFKC, with the first 30 of consecutive marks (UAX #15, stream-safe text)."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", str(_MARKS.sub(r"\1", text)))


def fold(text: str) -> str:
    """Return text in the form of terms: NFKC, without case and without characters outside words."""
    if text.isascii():
        return text.lower()
    return str(_IGNORED.sub("", normal_form(normal_form(text).casefold())))


def index_terms(text: str) -> str:
    """Return the terms of a text in order, separated by blanks, for an index of words."""
    # ASCII signs become blanks all at once, and non-ASCII characters are processed run by run:
    # texts are long, and most of their characters are ASCII or of one unspaced script.
    if not text.isascii() and _JOINED.search(text):
        text = normal_form(text)  # a mark after an ASCII letter changes the letter
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
    """Return a non-ASCII run as terms: pairs of unspaced characters, blanks in place of signs."""
    return str(_FAR_PARTS.sub(_pairs_or_blank, fold(run)))


_terms_of_short = lru_cache(maxsize=16_384)(_terms_of_run)
"""Signs such as quotation marks, and words, come again and again."""


def _pairs_or_blank(match: "regex.Match[str]") -> str:
    if not match[1]:
        return " "
    run = match[1].replace("\u200b", "")
    return f" {' '.join(map(add, run, run[1:]))} {run[-1]} "


class QueryPhrase(NamedTuple):
    """The consecutive terms of a phrase in a text.

    Attributes:
        terms: The terms; () if there is nothing to search.
        prefix: The last one is the beginning of a term.
    """

    terms: tuple[str, ...]
    prefix: bool = False


def query_phrase(text: str) -> QueryPhrase:
    """Return the phrase that finds a text anywhere, also within a longer run."""
    terms: list[str] = []
    prefix = False
    for run, word in _RUNS.findall(fold(text)):
        if prefix:  # the run before was the last character of its run
            prefix = False
        if word:
            terms.append(word[:LONGEST])
            continue
        run = run.replace("\u200b", "")  # noqa: PLW2901 - the same run
        terms.extend(map(add, run, run[1:]))
        terms.append(run[-1])
        prefix = True
    if prefix and len(terms) > 1 and len(terms[-2]) > 1 and terms[-2][-1] == terms[-1]:
        # The run may continue in the text: its last pair suffices.
        return QueryPhrase(tuple(terms[:-1]))
    return QueryPhrase(tuple(terms), prefix)


class PhraseFinder:
    """Finds the places of a phrase in a folded text.

    Args:
        phrase: The phrase.
    """

    def __init__(self, phrase: QueryPhrase) -> None:
        pattern, plain, before = "", "", ""
        for term in phrase.terms:
            unspaced = _RUNS.fullmatch(term)
            if unspaced is None or unspaced[1] is None:
                gap = r"[\W_]+" if before == "word" else r"[\W_]*" if before else ""
                suffix = r"[^\W_]*" if len(term) == LONGEST else ""
                pattern += f"{gap}{re.escape(term)}{suffix}"
                plain += term
                before = "word"
            elif before == "pair":  # its first character is the last one of the pair before
                pattern += f"\u200b*{term[1:]}" if term[1:] else ""
                plain += term[1:]
                before = "pair" if len(term) > 1 else "run"
            else:
                gap = r"[\W_]+" if before == "run" else r"[\W_]*" if before else ""
                pattern += gap + "\u200b*".join(term)
                plain += term
                before = "pair" if len(term) > 1 else "run"
        # The ends of words are checked besides the pattern, as are marks, which may be within a
        # word: sets of characters are slow.
        self._pattern = re.compile(pattern) if pattern else None
        self._begins = bool(phrase.terms) and _is_word(phrase.terms[0])
        self._ends = before == "word"
        self._marks = _marks(plain)

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each place in a folded text, in order."""
        at = 0
        while self._pattern is not None:
            match = self._pattern.search(text, at)
            if match is None:
                return
            start, at = match.span()
            inside = self._begins and start and _is_word(text[start - 1])
            inside = inside or (self._ends and at < len(text) and _is_word(text[at]))
            if inside or _marks(match[0]) != self._marks:
                at = start + 1
                continue
            yield start, at


def _marks(text: str) -> int:
    """Return the number of marks in a text."""
    if text.isalnum() or text.isascii():
        return 0
    return sum(unicodedata.category(char)[0] == "M" for char in text)


def _is_word(text: str) -> bool:
    """Return whether a text begins with a letter of a script with blanks, or a digit."""
    return _WORD_FIRST.match(text) is not None
