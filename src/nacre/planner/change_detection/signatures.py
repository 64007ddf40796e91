"""One signature of a whole page, or of its text, in the place of blocks (pure).

Nutch's two signatures, its TextProfile made fit for Chinese, and the one of the National Library of
China's paper (`nacre_simweb.paper.published`).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from nacre.config.component import Component, setting
from nacre.core.javafloat import java_round, single
from nacre.core.pagerow import PageView

_WORD = re.compile(r"[^\W_]+")
_GRAM = 2
"""Characters of a run that count as a word in text without spaces: bigrams index Chinese as well
as words do (Nie, Gao, Zhang and Zhou 2000)."""


class ProfileSettings(Component):
    """The weights of words in a text profile; the defaults are Nutch's."""

    quant_rate: float = setting(
        0.01,
        "Counts are rounded down to this share of the largest count; 0: they count as they are.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    min_token_len: int = setting(
        2,
        "Words of at most this many characters are left out; 0: none.",
        unit="characters",
        ge=0,
        live=False,
        sheets=False,
    )
    sec_sort_lex: bool = setting(
        True,
        "Words of equal count are sorted; else in order of arrival.",
        live=False,
        sheets=False,
    )


class TextProfile(ProfileSettings):
    """Nutch's TextProfileSignature, or the one that works for Chinese."""

    unspaced: bool = setting(
        False,
        "Cut Chinese and Japanese text into pairs of characters. In Nutch a sentence without "
        "spaces is one word, which is too rare to count.",
    )


@cache
def _unspaced() -> re.Pattern[str]:
    """Text without spaces; made when it is first looked for, which takes 1 ms."""
    return re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿]+")


def md5_signature(payload: bytes) -> bytes:
    """Nutch's MD5Signature: of the payload."""
    return hashlib.md5(payload, usedforsecurity=False).digest()


def text_profile(text: str, payload: bytes, settings: TextProfile) -> bytes:
    """Return the MD5 of the words of a text with their rounded counts.

    Args:
        text: Text of the page.
        payload: Bytes of the page; if it has no text, their MD5 is the signature.
        settings: How words count.
    """
    if not text:
        return md5_signature(payload)
    counts = Counter(_tokens(text, settings))
    largest = max(counts.values(), default=0)
    # Nutch drops words that occur once if any word occurs twice: most of a Chinese page.
    least = 2 if largest > 1 and not settings.unspaced else 1
    quant = max(least, java_round(single(largest * single(settings.quant_rate))))
    frequent = [(word, count // quant * quant) for word, count in counts.items() if count >= quant]
    if settings.sec_sort_lex:
        frequent.sort(key=lambda pair: (-pair[1], pair[0]))
    else:
        frequent.sort(key=lambda pair: -pair[1])
    lines = "\n".join(f"{word} {count}" for word, count in frequent)
    return hashlib.md5(lines.encode("utf-8", "replace"), usedforsecurity=False).digest()


def _tokens(text: str, settings: TextProfile) -> Iterable[str]:
    for match in _WORD.finditer(text.lower() if text.isascii() else _lowered(text)):
        word = match[0]
        if settings.unspaced and _unspaced().search(word):
            yield from _grams(word, settings.min_token_len)
        elif len(word) > settings.min_token_len:
            yield word


def _lowered(text: str) -> str:
    """Lower case as Java has it: character by character, and no words beyond U+FFFF."""
    return "".join(
        char.lower()[0] if (char.isalpha() or char.isdecimal()) and char <= "\uffff" else " "
        for char in text
    )


def _grams(word: str, least: int) -> Iterable[str]:
    at = 0
    for run in _unspaced().finditer(word):
        if run.start() - at > least:
            yield word[at : run.start()]
        characters = run[0]
        for index in range(max(1, len(characters) - _GRAM + 1)):
            yield characters[index : index + _GRAM]
        at = run.end()
    if len(word) - at > least:
        yield word[at:]


def paper_changed(old: PageView, new: PageView, threshold: float = 0.0) -> bool:
    """The National Library of China's test, and the threshold that its paper promises.

    Args:
        old: The version before.
        new: The version now.
        threshold: Share of the text that must differ; 0: any difference of the digest.
    """
    if old.paper == new.paper:
        return False
    return threshold <= 0.0 or text_distance(old.text, new.text) > threshold


def text_distance(old: str, new: str) -> float:
    """Share of five-character runs that only one of two texts has: 0 the same, 1 nothing shared."""
    before, after = _shingles(old), _shingles(new)
    union = len(before | after)
    return len(before ^ after) / union if union else 0.0


def _shingles(text: str) -> set[str]:
    return {text[index : index + 5] for index in range(max(1, len(text) - 4))} if text else set()
