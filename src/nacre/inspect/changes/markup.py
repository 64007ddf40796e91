"""The content of an entry as HTML, for feeds and pages (pure).

All text comes from the web and is escaped: nothing of it becomes markup.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from nacre.core.changes import GONE, NEW
from nacre.inspect.changes.feed import ChangeEntry, DifferingText, DifferingWords
from nacre.inspect.changes.wording import entry_note, more_note, piece_words
from nacre.report.escape import element, text


class FeedLanguage(NamedTuple):
    """The language of a feed.

    Attributes:
        tag: Its tag, as in HTML: `en`, `zh-CN`.
        say: Returns a message in the language; other texts stay.
    """

    tag: str
    say: Callable[[str], str]


ENGLISH: Final = FeedLanguage("en", str)
_ELEMENTS: Final = {GONE: "del", NEW: "ins"}


def entry_markup(entry: ChangeEntry, language: FeedLanguage) -> str:
    """Return what an entry says, and its differences."""
    say = language.say
    parts = [element("p", text(say(line))) for line in (entry_note(entry), entry.lead) if line]
    if entry.texts:
        items = "".join(_text_markup(part, say) for part in entry.texts)
        parts.append(element("ul", items))
    if more := more_note(entry):
        parts.append(element("p", text(say(more))))
    return "".join(parts)


def _text_markup(changed: DifferingText, say: Callable[[str], str]) -> str:
    kind = element("small", text(say(piece_words(changed.kind))))
    return element("li", f"{kind} {''.join(map(_words_markup, changed.words))}")


def _words_markup(words: DifferingWords) -> str:
    name = _ELEMENTS.get(words.kind)
    return text(words.text) if name is None else element(name, text(words.text))
