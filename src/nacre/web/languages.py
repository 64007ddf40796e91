"""The texts of the console in other languages, as gettext has them.

The catalogues are those of `nacre.languages`. The pseudo-locale makes English texts longer, adds
accents, and puts marks around each text. A page in it therefore shows the texts that are not
translated, which have no marks, and the texts that do not fit. Values, markup and placeholders in
a text do not change.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import msgspec

from nacre.core.clock import duration
from nacre.job.diagnosis import Diagnosis
from nacre.job.diagnosis_text import diagnosis_text, progress_text
from nacre.languages import CHINESE, read_texts
from nacre.languages.translations import compiled
from nacre.messages import Message, message
from nacre.web.problems import ProblemDetails

if TYPE_CHECKING:  # a face without an editor does not load it
    from nacre.editing.complete import CompletionItem, Completions
    from nacre.editing.findings import TextFinding, TextFindings
    from nacre.editing.hover import HoverCard

BEGIN, END = "\u27e6", "\u27e7"
"""The marks around a text."""
_ACCENTS: Final = str.maketrans(
    "AEIOUYCNSaeiouycnst",
    "\u00c5\u00c9\u00ce\u00d6\u00db\u00dd\u00c7\u00d1\u0160"
    "\u00e5\u00e9\u00ee\u00f6\u00fb\u00fd\u00e7\u00f1\u0161\u0163",
)
_UNTOUCHED: Final = re.compile(r"%\(\w+\)[sd]|%%|\{[^{}]*\}|<[^>]*>|&\w+;|`[^`]*`")
"""Placeholders, markup and literal text in backquotes."""
_LONGER: Final = 0.4
_FILLER: Final = " ~~~~~"
"""Text that is appended as separate words, so that the browser can break the line."""


def pseudo(text: str) -> str:
    """A text in the pseudo-locale, 40 % longer (pure).

    Args:
        text: The English text; "" stays.
    """
    if not text.strip():
        return text
    place, result = 0, []
    for stored in _UNTOUCHED.finditer(text):
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


ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, str]] = {ENGLISH: "English", "zh_CN": "简体中文"}
"""The languages, each with its name in that language."""
PSEUDO: Final = "en_XA"
"""The pseudo-locale: longer English with accents and marks, to find texts that are not translated
or do not fit. The console does not list it, but accepts it in a request."""
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


_ = str  # marks a text for the catalogues


_STATES: Final = {
    "NASCENT": message("state.nascent", "Never ran"),
    "PREPARING": message("state.preparing", "Preparing"),
    "RUNNING": message("state.running", "Running"),
    "PAUSING": message("state.pausing", "Pausing"),
    "PAUSED": message("state.paused", "Paused"),
    "EMPTY": message("state.empty", "Nothing is queued"),
    "STOPPING": message("state.stopping", "Stopping"),
    "FINISHED": message("state.finished", "Finished"),
    "ABORTED": message("state.aborted", "Stopped by the operator"),
    "INTERRUPTED": message("state.interrupted", "Interrupted"),
    "CRASHED": message("state.crashed", "Ended unexpectedly"),
    "ROUNDS": message("state.rounds", "Batch rounds"),
    "READING": message("state.reading", "Being read"),
    "UNREADABLE": message("state.unreadable", "Cannot be read"),
    "FINISHED_TIME_LIMIT": message("state.finished-time-limit", "Time limit reached"),
    "FINISHED_DATA_LIMIT": message("state.finished-data-limit", "Data limit reached"),
    "FINISHED_DOCUMENT_LIMIT": message("state.finished-document-limit", "Document limit reached"),
    "FINISHED_WRITE_LIMIT": message("state.finished-write-limit", "WARC limit reached"),
    "FINISHED_QUEUE_BUDGET": message("state.finished-queue-budget", "Queue budgets used up"),
    "FINISHED_DISK_WAIT": message("state.finished-disk-wait", "Stopped for lack of disk space"),
    "FINISHED_ABNORMAL": message("state.finished-abnormal", "Ended by an error"),
}
"""The texts of states of jobs and ends of runs; programs get Heritrix's names."""
TERMS: Final = (
    _("Not Found"), _("Forbidden"), _("Method Not Allowed"), _("Unprocessable Entity"),
    _("link"), _("password"), _("session"), _("key"),
    _("viewer"), _("operator"), _("admin"),
    _("ACCEPT"), _("REJECT"), _("done"), _("refused"), _("file"), _("default"), _("profile"),
)  # fmt: skip
"""Words of fixed sets, which `Language.text` translates."""


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

    def say(self, diagnosis: Diagnosis) -> str:
        """The text of a diagnosis."""
        return self.text(diagnosis_text(diagnosis))

    def progress(self, progress: Mapping[str, Any]) -> str:
        """The text of the progress of a step of rounds.

        Args:
            progress: Plain data of `rounds.rounds_mark.StepProgress`.
        """
        return self.text(progress_text(progress))

    def duration(self, seconds: float) -> str:
        """A number of seconds in words."""
        return self.text(duration(seconds))

    def text(self, text: str) -> str:
        """A text in this language.

        Args:
            text: A message, or a key of the catalogue; another text stays as it is.
        """
        if isinstance(text, Message):
            return str(text.write(self.template))
        return self.texts.gettext(text) if text else ""

    def template(self, text: Message) -> str:
        """The template of a message."""
        if self.name == PSEUDO:
            return pseudo(text.template)
        template = self.texts.gettext(text.code)
        return text.template if template == text.code else template

    def state(self, name: str) -> str:
        """The text of a state of a job, or of the end of a run.

        Args:
            name: Its name, such as `RUNNING`.
        """
        return self.text(_STATES[name]) if name in _STATES else self.text(name)


@cache
def language(name: str) -> Language:
    """The language of a name; English for one that there is not."""
    if name == PSEUDO:
        texts = read_texts(CHINESE)
        return Language(PSEUDO, PseudoTexts(texts))
    if name == ENGLISH or name not in LANGUAGES:
        return Language(ENGLISH, NullTranslations())
    texts = read_texts(name)
    return Language(name, GNUTranslations(BytesIO(compiled(texts))))


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
        languages = _TAGS.get(tag) or _TAGS.get(primary)
        if languages:
            return languages
    return ENGLISH


def _by_quality(field: str) -> Sequence[str]:
    """Return the tags of the field in lower case, by preference; at most 20 are read."""
    qualities = []
    for place, part in enumerate(field.split(",")[:20]):
        tag, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        if tag.strip() and weight > 0.0:
            qualities.append((-weight, place, tag.strip().lower()))
    return [tag for _, _, tag in sorted(qualities)]


def spoken_problem(problem: ProblemDetails, language: Language) -> ProblemDetails:
    """Return a refusal in a language."""
    return msgspec.structs.replace(
        problem,
        title=language.text(problem.title),
        detail=language.text(problem.detail),
        problems=tuple(_problem(item, language) for item in problem.problems),
    )


def _problem(item: Mapping[str, Any], language: Language) -> dict[str, Any]:
    texts = {
        "message": language.text(item.get("message", "")),
        "expected": language.text(item.get("expected", "")),
    }
    return {**item, **{name: text for name, text in texts.items() if text}}


def spoken_findings(findings: "TextFindings", language: Language) -> "TextFindings":
    """Return the findings of a text in a language."""
    return msgspec.structs.replace(
        findings,
        problems=tuple(_finding(problem, language) for problem in findings.problems),
        warnings=tuple(_finding(warning, language) for warning in findings.warnings),
    )


def _finding(finding: "TextFinding", language: Language) -> "TextFinding":
    fixes = [msgspec.structs.replace(fix, label=language.text(fix.label)) for fix in finding.fixes]
    return msgspec.structs.replace(
        finding,
        message=language.text(finding.message),
        expected=language.text(finding.expected),
        fixes=tuple(fixes),
    )


def spoken_card(card: "HoverCard", language: Language) -> "HoverCard":
    """Return the meaning of a word in a language."""
    return msgspec.structs.replace(card, doc=language.text(card.doc), type=language.text(card.type))


def spoken_completions(completions: "Completions", language: Language) -> "Completions":
    """Return completions in a language."""
    return msgspec.structs.replace(
        completions, items=tuple(_item(item, language) for item in completions.items)
    )


def _item(item: "CompletionItem", language: Language) -> "CompletionItem":
    return msgspec.structs.replace(
        item, detail=language.text(item.detail), doc=language.text(item.doc)
    )
