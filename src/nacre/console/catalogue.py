"""The texts of the console in other languages, as gettext has them.

The catalogues are those of `nacre.languages`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from typing import Any, Final

from nacre.console.made_texts import STATES, MadeTexts
from nacre.console.pseudo import PseudoTexts, pseudo
from nacre.core.clock import duration
from nacre.job.sentence import Sentence, Value
from nacre.job.sentence_words import progress_words, words, write_param
from nacre.languages import CHINESE, read_texts
from nacre.languages.translations import compiled
from nacre.messages import Message, Param

ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, str]] = {ENGLISH: "English", "zh_CN": "简体中文"}
"""The languages, each by its own name."""
PSEUDO: Final = "en_XA"
"""English with accents and marks, longer than it is: it shows what is not translated, and what
does not fit. It is not offered; who asks for it gets it."""
KNOWN: Final = frozenset((*LANGUAGES, PSEUDO))
"""The languages that a request can name."""
_TAGS: Final = {
    "en": ENGLISH,
    "zh": "zh_CN",
    "zh-cn": "zh_CN",
    "zh-hans": "zh_CN",
    "zh-sg": "zh_CN",
    "en-xa": PSEUDO,
}


class Language:
    """A language of the console.

    Args:
        name: A key of `LANGUAGES`.
        texts: Its catalogue.
        ids: The English texts of the catalogue; none for English.

    Attributes:
        name: As given.
        texts: As given.
    """

    def __init__(self, name: str, texts: NullTranslations, ids: Iterable[str] = ()) -> None:
        self.name = name
        self.texts = texts
        self._made = MadeTexts(texts.gettext, ids)

    @property
    def tag(self) -> str:
        """Its tag in HTML: `zh-CN`."""
        return self.name.replace("_", "-")

    def say(self, sentence: Sentence) -> str:
        """The text of a sentence."""
        return words(sentence, self.texts.gettext, self._param)

    def progress(self, progress: Mapping[str, Any]) -> str:
        """The progress of a step of rounds in words.

        Args:
            progress: It, as plain data of `rounds.rounds_mark.StepProgress`.
        """
        return progress_words(progress, self.texts.gettext, self._param)

    def duration(self, seconds: float) -> str:
        """A number of seconds in words."""
        return self.text(duration(seconds))

    def _param(self, name: str, value: Value) -> str:
        said = write_param(name, value)
        return said if isinstance(value, str) else self.made(said)

    def text(self, text: str) -> str:
        """A text of another part of Nacre: a message in this language; any other as it is."""
        if not isinstance(text, Message):
            return text
        if text.code == text:  # it has no places for values, and may have braces
            return self.texts.gettext(text.code)
        values = {name: self._value(value) for name, value in text.params.items()}
        return self._template(text).format_map(values)

    def _value(self, value: Param) -> Param:
        if isinstance(value, Message):
            return self.text(value)
        return self.error(value) if isinstance(value, str) and " " in value else value

    def _template(self, text: Message) -> str:
        if self.name == PSEUDO:
            return pseudo(text.template)
        found = self.texts.gettext(text.code)
        return text.template if found == text.code else found

    def made(self, text: str) -> str:
        """A text that another part of Nacre made in English, as far as the catalogue has it."""
        if isinstance(text, Message):
            return self.text(text)
        return text if self.name == ENGLISH else self._made.say(text)

    def state(self, name: str) -> str:
        """The state of a job, or the end of a run, in words.

        Args:
            name: It, such as `RUNNING`; a name that is none stays as it is.
        """
        return self.texts.gettext(STATES[name]) if name in STATES else self.made(name)

    def error(self, text: str) -> str:
        """The text of an error, of several lines and with names before it, likewise."""
        if isinstance(text, Message):
            return self.text(text)
        return text if self.name == ENGLISH else self._made.lines(text)


@cache
def language(name: str) -> Language:
    """The language of a name; English for one that there is not."""
    if name == PSEUDO:
        texts = read_texts(CHINESE)
        return Language(PSEUDO, PseudoTexts(texts), texts)
    if name == ENGLISH or name not in LANGUAGES:
        return Language(ENGLISH, NullTranslations())
    texts = read_texts(name)
    return Language(name, GNUTranslations(BytesIO(compiled(texts))), texts)


def named_language(text: str) -> str:
    """The name of the language of a tag or a name: `zh-CN`, `zh_CN`; "" for none."""
    return text if text in KNOWN else _TAGS.get(text[:20].lower(), "")


def preferred(field: str, chosen: str = "") -> str:
    """The name of the language of an answer.

    Args:
        field: The Accept-Language field; "" for none.
        chosen: The language that was chosen; "" for none.
    """
    if chosen in KNOWN:
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
