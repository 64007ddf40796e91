"""The texts of the console in other languages, as gettext has them.

The English text is the key. `make catalogues` collects the texts of the sources and templates into
`locale/LANGUAGE/LC_MESSAGES/nacre.po`; these files are read when a language is first used.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Final

from nacre.console.made_texts import made_text
from nacre.console.translations import compiled, po_texts
from nacre.core.clock import duration
from nacre.job.sentence import Sentence, Value, words, write_param

FOLDER: Final = Path(__file__).parent / "locale"
DOMAIN: Final = "nacre"
ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, str]] = {ENGLISH: "English", "zh_CN": "简体中文"}
"""The languages, each by its own name."""
_TAGS: Final = {
    "en": ENGLISH,
    "zh": "zh_CN",
    "zh-cn": "zh_CN",
    "zh-hans": "zh_CN",
    "zh-sg": "zh_CN",
}


class Language:
    """A language of the console.

    Args:
        name: A key of `LANGUAGES`.
        texts: Its catalogue.

    Attributes:
        name: As given.
        texts: As given.
    """

    def __init__(self, name: str, texts: NullTranslations) -> None:
        self.name = name
        self.texts = texts

    @property
    def tag(self) -> str:
        """Its tag in HTML: `zh-CN`."""
        return self.name.replace("_", "-")

    def say(self, sentence: Sentence) -> str:
        """The text of a sentence."""
        return words(sentence, self.texts.gettext, self._param)

    def duration(self, seconds: float) -> str:
        """A number of seconds in words."""
        return self.made(duration(seconds))

    def _param(self, name: str, value: Value) -> str:
        said = write_param(name, value)
        return said if isinstance(value, str) else self.made(said)

    def made(self, text: str) -> str:
        """A text that another part of Nacre made in English, as far as the catalogue has it."""
        return text if self.name == ENGLISH else made_text(text, self.texts.gettext)


@cache
def language(name: str) -> Language:
    """The language of a name; English for one that there is not."""
    path = FOLDER / name / "LC_MESSAGES" / f"{DOMAIN}.po"
    if name == ENGLISH or name not in LANGUAGES or not path.is_file():
        return Language(ENGLISH, NullTranslations())
    return Language(name, GNUTranslations(BytesIO(compiled(po_texts(path.read_text("utf-8"))))))


def preferred(field: str, chosen: str = "") -> str:
    """The name of the language of an answer.

    Args:
        field: The Accept-Language field; "" for none.
        chosen: The language that was chosen; "" for none.
    """
    if chosen in LANGUAGES:
        return chosen
    for tag in _by_quality(field):
        primary = tag.partition("-")[0]
        found = _TAGS.get(tag) or _TAGS.get(primary)
        if found:
            return found
    return ENGLISH


def _by_quality(field: str) -> Sequence[str]:
    """Tags of the field in lower case, the most wanted first; at most 20 are read."""
    found = []
    for place, part in enumerate(field.split(",")[:20]):
        tag, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        if tag.strip() and weight > 0.0:
            found.append((-weight, place, tag.strip().lower()))
    return [tag for _, _, tag in sorted(found)]
