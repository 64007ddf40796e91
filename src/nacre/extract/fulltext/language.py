"""The language of a text: the declared one, else a guess from its script and words.

Source: BCP 47 for the form of a tag; py3langid for the guess (Lui and Baldwin, "langid.py: an
off-the-shelf language identification tool", 2012).
"""

import re
from functools import cache
from typing import Any

_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_SAMPLE = 2_000
_LEAST = 24
_SURE = 0.7
"""Least probability of a guess. A guess itself: of short texts in other scripts it is near 1."""
_VARIETIES = frozenset(("wuu", "yue", "pcm"))
"""Varieties that the model can hardly distinguish from Chinese and English."""
_EAST = frozenset(("zh", "ja", "ko", "yue", "wuu", "nan", "hak", "gan", "lzh", "cmn"))
"""Languages whose texts have characters of Chinese, Japanese or Korean."""
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]+")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7a3]+")
_UNSPACED = re.compile(
    "[\u1100-\u11ff\u3041-\u30fa\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]"
)
_LATIN = re.compile("[A-Za-z]+")
_ENGLISH = frozenset(
    (
        *("the", "of", "and", "to", "is", "that", "this", "with", "for", "are", "be", "or"),
        *("from", "which", "not", "it", "as", "by", "if", "you", "can", "will"),
    )
)
_WORDS = 40
"""Number of words that suffices to detect English."""
_FEW = 8
"""Number of characters of a script that suffices to detect it."""
_ENOUGH = 200
"""Characters of a text in which one of a declared script is to be expected."""
_OLD = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv"}


def normalize_tag(tag: str) -> str:
    """Return a tag as the index has it, lower case; "" when it is none.

    Args:
        tag: Such as `zh_CN` or `en-US`.
    """
    name = tag.strip().lower().replace("_", "-")
    if not _TAG.fullmatch(name) or len(name) > 35:
        return ""
    main, dash, subtags = name.partition("-")
    return f"{_OLD.get(main, main)}{dash}{subtags}"


def language_of(declared: str, text: str) -> str:
    """Return the language of a text; "" when it is unknown.

    A declaration that contradicts the script of the text is ignored: templates declare `en` on
    pages in Chinese.

    Args:
        declared: The declared language, from `normalize_tag`; "" for none.
        text: The text.
    """
    sample = text[:_SAMPLE].strip()
    if declared:
        main = declared.partition("-")[0]
        if main not in _EAST:
            return script_language(sample) or declared
        if _UNSPACED.search(sample) or len(sample) < _ENOUGH:
            return declared
    return guess_language(sample)


def script_language(sample: str) -> str:
    """Chinese, Japanese or Korean, where the characters of a text leave no doubt; else "".

    Args:
        sample: The text, or its beginning.
    """
    if sample.isascii():
        return ""
    han = sum(map(len, _HAN.findall(sample)))
    kana = sum(map(len, _KANA.findall(sample)))
    hangul = sum(map(len, _HANGUL.findall(sample)))
    every = han + kana + hangul
    # A word of English has as many letters as three characters of Chinese or more.
    if every < _FEW or 3 * every < sum(map(len, _LATIN.findall(sample))):
        return ""
    if 2 * hangul >= every:
        return "ko"
    if 8 * kana >= every:
        return "ja"
    return "zh" if 50 * (kana + hangul) <= every else ""


def guess_language(text: str) -> str:
    """Return the language of a text by its first characters; "" if there are too few."""
    sample = text[:_SAMPLE].strip()
    if len(sample.encode("utf-8", "replace")) < _LEAST:
        return ""
    plain = script_language(sample) or ("en" if _is_english(sample) else "")
    if plain:
        return plain
    name, probability = _identifier().classify(sample)
    return str(name) if probability >= _SURE else ""


def _is_english(sample: str) -> bool:
    """Whether words that no other language has together are many; the model takes far longer."""
    words = _LATIN.findall(sample.lower())
    common = sum(map(_ENGLISH.__contains__, words))
    return len(words) >= _WORDS and 6 * common >= len(words) and 30 * words.count("the") >= common


@cache
def _identifier() -> Any:  # noqa: ANN401 - an extra
    """Return the model; reading it takes half a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - an extra

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([name for name in identifier.labels if name not in _VARIETIES])
    return identifier
