"""Expressions as people type them, with letters that URLs have as escapes (pure)."""

import re
from typing import Final
from urllib.parse import quote

_LETTERS: Final = re.compile(r"[^\x00-\x7f]+")
_BARE: Final = re.compile(r"(?<!\\)[\w/-]\?(?![?+])")
_CODECS: Final = ("utf-8", "gb18030", "big5")


def with_escapes(expression: str) -> str:
    """An expression whose letters outside ASCII also mean their escapes in a URL.

    Each run of such letters becomes a group of what a site may have made of it: UTF-8, GB18030 and
    Big5, in small or large hexadecimal digits. An expression with classes of characters in brackets
    stays as it is: there a group would mean something else.
    """
    if "[" in expression:
        return expression
    return _LETTERS.sub(lambda found: _group(found[0]), expression)


def containing(text: str) -> str:
    """The expression for URLs that have a text in them as it is; letters mean their escapes too."""
    return _LETTERS.sub(lambda found: _group(found[0]), re.escape(text))


def has_bare_mark(expression: str) -> bool:
    """Whether a question mark stands where somebody may have meant that of a URL.

    Behind a letter, a digit, a slash or a dash it makes that character optional, which hardly any
    expression for URLs means: `/rili?` is found in `/ril` too.
    """
    return _BARE.search(expression.replace("https?:", "")) is not None


def _group(letters: str) -> str:
    forms = [letters]
    for codec in _CODECS:
        try:
            forms.append(quote(letters.encode(codec), safe=""))
        except UnicodeEncodeError:
            continue
    return f"(?i:{'|'.join(dict.fromkeys(forms))})"
