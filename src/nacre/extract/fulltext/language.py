"""The language of a text: what it declares, else what its words look like.

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
"""Varieties that the model tells apart by almost nothing from Chinese and English."""
_OLD = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv"}


def declared_language(tag: str) -> str:
    """A tag as the index has it, lower case; "" when it is none.

    Args:
        tag: Such as `zh_CN` or `en-US`.
    """
    name = tag.strip().lower().replace("_", "-")
    if not _TAG.fullmatch(name) or len(name) > 35:
        return ""
    main, dash, rest = name.partition("-")
    return f"{_OLD.get(main, main)}{dash}{rest}"


def guessed_language(text: str) -> str:
    """The language of a text by its first characters; "" when there are too few of them to say."""
    sample = text[:_SAMPLE].strip()
    if len(sample.encode("utf-8", "replace")) < _LEAST:
        return ""
    name, probability = _identifier().classify(sample)
    return str(name) if probability >= _SURE else ""


@cache
def _identifier() -> Any:  # noqa: ANN401 - an extra
    """The model; reading it takes half a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - an extra

    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    found.set_languages([name for name in found.labels if name not in _VARIETIES])
    return found
