"""The pseudo-locale: English texts made longer and accented at run time, each between marks.

Who looks at pages in it sees what is not translated, because it has no marks, and what does not
fit. Values, markup and names of places in a text stay as they are.
"""

import re
from collections.abc import Iterable
from gettext import NullTranslations
from typing import Final

BEGIN, END = "\u27e6", "\u27e7"
"""The marks around a text."""
_ACCENTS: Final = str.maketrans(
    "AEIOUYCNSaeiouycnst",
    "\u00c5\u00c9\u00ce\u00d6\u00db\u00dd\u00c7\u00d1\u0160"
    "\u00e5\u00e9\u00ee\u00f6\u00fb\u00fd\u00e7\u00f1\u0161\u0163",
)
_KEPT: Final = re.compile(r"%\(\w+\)[sd]|%%|\{[^{}]*\}|<[^>]*>|&\w+;|`[^`]*`")
"""Places for values, markup, and what is written as it is typed."""
_LONGER: Final = 0.4
_FILLER: Final = " ~~~~~"
"""It makes a text longer by words, which may stand on lines of their own."""


def pseudo(text: str) -> str:
    """A text in the pseudo-locale, 40 % longer (pure).

    Args:
        text: The English text; "" stays.
    """
    if not text.strip():
        return text
    place, result = 0, []
    for stored in _KEPT.finditer(text):
        result += [text[place : stored.start()].translate(_ACCENTS), stored[0]]
        place = stored.end()
    result.append(text[place:].translate(_ACCENTS))
    words, tail = divmod(round(len(text) * _LONGER), len(_FILLER))
    return f"{BEGIN}{''.join(result)}{_FILLER * words}{_FILLER[:tail].rstrip()}{END}"


class PseudoTexts(NullTranslations):
    """The catalogue of the pseudo-locale.

    Args:
        texts: The English texts that a catalogue has, those of plurals with NUL between them.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__()
        self._texts = frozenset(part for text in texts for part in text.split("\0"))

    def gettext(self, message: str) -> str:
        """A text in the pseudo-locale; one that no catalogue has as it is."""
        return pseudo(message) if message in self._texts else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """One of two forms, by a number."""
        return self.gettext(super().ngettext(msgid1, msgid2, n))
