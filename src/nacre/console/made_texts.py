"""Sentences with numbers and names that other parts of Nacre made in English, in another language.

Reports, queues, findings and refusals are worded where they arise. A text is looked up as it is,
else by the narrowest text of the catalogue with `{}` for values that it fits; what fits none stays
as it is. `tools.catalogues` collects such texts from the sources; those that it cannot find stand
here.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

Translate = Callable[[str], str]

_ = str  # marks a text for the catalogues; it is translated when it is shown

PATTERNS: Final = (
    # What a report is about
    _("{} to {} UTC ({})"), _("{} runs"), _("{} and {} more"),
    # Values of the reports of a run
    _("{} URIs, {}"), _("{} KB a second"), _("{} a second"), _("{} ({} HTML)"),
    _("{}, and {} of robots.txt or dns"), _("{}, of which {} are busy"), _("{} URIs"),
    _("{} more rows are in the file of the run."), _("Queues: {}"), _("{} chain"),
    _("HTTP status {}: the proxy asks for a name and a password (fetch.proxy)."),
    _("HTTP status {}."), _("HTTP status {}"), _("Unknown status {}."),
    # Studies
    _("{} ({}), score {}"), _("{} (90 % credible: {} to {})"),
    _("{} pages, of which {} had changed"),
    _("{} smaller sections are left out; all are in the sums."),
    _("Not counted, as their crawl.log is gone: runs {}."),
    _("visits it: {}"), _("leaves it out: {}"),
    _("it is under a schedule, and not due before {}"),
    _("it is {}, and the next look at it is not due yet"), _("it is {}"),
    _("{}; changes: {}, only noise: {}"), _("{} since {}"), _("even: {}"), _("planned: {}"),
    _("a calendar: {} of its URLs name days still to come"),
    _("the last {} pages of this kind had nothing new and led to {} more such URLs each"),
    _("{} pages have only {} different contents"),
    _("combinations of {} parameters, of which most were never visited"), _("{} pages"),
    # Rows that cannot be read
    _("schedule {} cannot be read, and does nothing: {}; `nacre console schedule remove {}` "
      "removes it"),
    _("webhook {} cannot be read, and does nothing: {}; `nacre console webhook remove {}` "
      "removes it"),
    # Who wrote settings
    _("{} via console ({})"), _("{} via console"),
)  # fmt: skip
"""Texts with `{}` for values, the narrower ones before the wider ones."""
WHOLE: Final = (
    _("one run"), _("now, not over yet"),
    _("Not Found"), _("Forbidden"), _("Method Not Allowed"), _("Unprocessable Entity"),
    _("Site"), _("Sites"),
    _("rule"), _("processor"),
    # States of queues and pages
    _("ready"), _("in-process"), _("snoozed"), _("inactive"), _("ineligible"), _("retired"),
    _("exhausted"), _("alive"), _("missing"), _("gone"),
    # States of jobs, and ends and kinds of runs
    _("NASCENT"), _("PREPARING"), _("RUNNING"), _("PAUSING"), _("PAUSED"), _("EMPTY"),
    _("STOPPING"), _("FINISHED"), _("ABORTED"), _("INTERRUPTED"), _("CRASHED"), _("ROUNDS"),
    _("READING"), _("UNREADABLE"), _("FINISHED_TIME_LIMIT"), _("FINISHED_DATA_LIMIT"),
    _("FINISHED_DOCUMENT_LIMIT"), _("FINISHED_WRITE_LIMIT"), _("FINISHED_QUEUE_BUDGET"),
    _("FINISHED_DISK_WAIT"), _("FINISHED_ABNORMAL"), _("full"), _("incremental"),
    # Opinions of the scope
    _("ACCEPT"), _("REJECT"), _("True"), _("False"),
    # Ways into the console, and codes of what came of a request
    _("link"), _("password"), _("session"), _("key"),
    _("viewer"), _("operator"), _("admin"),
    # Where a value comes from
    _("default"),
    # Pages by section
    _("A section is a directory with all that lies below it; its pages are HTML, and the rest are "
      "other files. Each URL counts once."),
    _("The size is that of all contents that were new or differ from those before."),
    _("Over all runs: changed at least once, or visited again and never changed; gone, redirected, "
      "refused or failed at the last visit."),
    _("No run has visited a page there."),
    # Traps
    _("No trap was found so far: each kind of URLs had something new lately."),
    _("The last pages of these kinds of URLs had no text and no link that was new."),
    _("They are fetched after all others. Where there is no end to them, each queue fetches "
      "`traps.budget` of them at the end of the run, and the rest is left out."),
    _("To be rid of a kind, exclude it; to fetch more of it: `nacre run JOB --traps`."),
    _("nothing new lately, and no new word in the address"),
    _("no end, and no new word in the address"),
    _("nothing new lately"), _("no end"), _("what it has"), _("fetched"), _("with something new"),
    # Studies of a page, and outcomes of what was asked for
    _("timeline"), _("diff"), _("decisions"), _("done"), _("refused"),
)  # fmt: skip
"""Texts without values that no other source has."""
STATES: Final = {
    "NASCENT": _("Never ran"),
    "PREPARING": _("Preparing"),
    "RUNNING": _("Running"),
    "PAUSING": _("Pausing"),
    "PAUSED": _("Paused"),
    "EMPTY": _("Nothing is queued"),
    "STOPPING": _("Stopping"),
    "FINISHED": _("Finished"),
    "ABORTED": _("Stopped by the operator"),
    "INTERRUPTED": _("Interrupted"),
    "CRASHED": _("Ended unexpectedly"),
    "ROUNDS": _("Batch rounds"),
    "READING": _("Being read"),
    "UNREADABLE": _("Cannot be read"),
    "FINISHED_TIME_LIMIT": _("Time limit reached"),
    "FINISHED_DATA_LIMIT": _("Data limit reached"),
    "FINISHED_DOCUMENT_LIMIT": _("Document limit reached"),
    "FINISHED_WRITE_LIMIT": _("WARC limit reached"),
    "FINISHED_QUEUE_BUDGET": _("Queue budgets used up"),
    "FINISHED_DISK_WAIT": _("Stopped for lack of disk space"),
    "FINISHED_ABNORMAL": _("Ended by an error"),
}
"""States of jobs, and ends of runs, in words of the pages; programs have Heritrix's names."""
SUFFIXES: Final = (_("{} (and {} more)"),)
"""What stands behind another text that was made: it is looked for first."""
NAMED: Final = (
    _("Heritrix: {}"),
    _("file {}"), _("profile {}"), _("{} is"), _("{} are"),
    _("there is no job {}"), _("there is no profile {}"), _("there is no clip {}"),
)  # fmt: skip
"""Texts whose values are names."""
_LONGEST: Final = 4000
"""Characters of a text that is compared with others: none that was made is longer."""
_DEEPEST: Final = 3
_MOST_PARTS: Final = 5
_MOST_PIECES: Final = 8
"""Texts behind each other in one that was made, at most."""
_PLACE: Final = re.compile(r"\{(\d?)\}")
_WORDED: Final = frozenset((*PATTERNS, *SUFFIXES))
"""Texts whose values can be words of Nacre; those of others are names, or sentences."""


class TextForms:
    """Texts with values, by which one that was made is known again.

    Args:
        texts: They, with `{}` for each value; others do not count.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        by_name = {"{} ({})"}
        forms = [
            (text, tuple(text.split("{}")))
            for text in texts
            if "{}" in text and text not in by_name
        ]
        known = {one: parts for one, parts in forms if one not in SUFFIXES}
        # The more of a text is said, the fewer texts fit it.
        ranked = sorted(known.items(), key=lambda one: (-sum(map(len, one[1])), one[0]))
        first = [(one, parts) for one, parts in forms if one in SUFFIXES]
        self._forms = [(one, parts, max(parts, key=len)) for one, parts in (*first, *ranked)]
        self.find = lru_cache(maxsize=8192)(self._find)
        """As `_find`; answers are kept."""

    def _find(self, text: str) -> tuple[str, tuple[str, ...]] | None:
        """The text that another one was made of, and its values; None for none."""
        for one, parts, longest in self._forms:
            if longest in text and (values := values_in(text, parts)) is not None:
                return one, values
        return None


def values_in(text: str, parts: Sequence[str]) -> tuple[str, ...] | None:
    """The values between the parts of a text; None where it has other parts (pure).

    Each is as short as it can be, in time that grows with the length of the text alone. The first
    one is not empty.

    Args:
        text: A text that was made.
        parts: What stands before, between and behind the values.
    """
    place, end = len(parts[0]), len(text) - len(parts[-1])
    if place >= end or not text.startswith(parts[0]) or not text.endswith(parts[-1]):
        return None
    values: list[str] = []
    for part in parts[1:-1]:
        found = text.find(part, place + (not values), end)
        if found < 0:
            return None
        values.append(text[place:found])
        place = found + len(part)
    return (*values, text[place:end]) if place <= end else None


class MadeTexts:
    """Says texts that were made in English in the language of a reader.

    Args:
        gettext: Gives the text of a language for an English one; the same where it has none.
        texts: The English texts of the catalogue.
    """

    def __init__(self, gettext: Translate, texts: Iterable[str]) -> None:
        self._gettext = gettext
        self._forms = TextForms(texts)

    def say(self, text: str, depth: int = 0) -> str:
        """A text in the language of the reader.

        Args:
            text: It; what it holds of the web is compared only, and given back as it is.
            depth: Texts that it is a value of.
        """
        if not text or len(text) > _LONGEST:
            return text
        if (known := self._known(text)) is not None:
            return known
        return self._with_values(text, depth) if depth <= _DEEPEST else text

    def _with_values(self, text: str, depth: int) -> str:
        """A text with values, or several texts; as it is where it is none."""
        found = self._forms.find(text)
        if found is None:
            return self._joined(text, depth)
        pattern, values = found
        is_worded = pattern in _WORDED
        said = [
            self.say(value, depth + 1) if is_worded or " " in value else value for value in values
        ]
        return filled(self._gettext(pattern), said)

    def _joined(self, text: str, depth: int) -> str:
        """Several texts behind each other, or one with another in brackets."""
        doc, lead, kind = text.removesuffix(")").rpartition(" (")
        if lead and text.endswith(")") and (said_doc := self.say(doc, depth + 1)) != doc:
            return self._gettext(_("{} ({})")).format(said_doc, self.say(kind, depth + 1))
        for between in (_(". "), _("; ")):
            parts = text.split(between)
            if len(parts) > _MOST_PIECES:  # none of ours; each piece would be looked for
                continue
            said = [self.say(part, depth + 1) for part in parts]
            if len(parts) > 1 and said != parts:
                return self._gettext(between).join(said)
        return text

    def lines(self, text: str) -> str:
        """An error of one line or several, each of which may begin with names and colons.

        Args:
            text: It.
        """
        return "\n".join(map(self._line, text.split("\n")))

    def _line(self, line: str) -> str:
        lead, text = line[: len(line) - len(line.lstrip())], line.strip()
        parts = text.split(": ", _MOST_PARTS)
        for number in range(len(parts)):
            rest = ": ".join(parts[number:])
            if (said := self.say(rest)) != rest:
                names = ": ".join(parts[:number])
                return f"{lead}{names}{self._gettext(_(': '))}{said}" if names else lead + said
        return line

    def _known(self, text: str) -> str | None:
        """The translation of a text; None for none.

        One that ends a sentence, or begins one, is known by what is said within others too.
        """
        plain = text.removesuffix(".")
        for source in dict.fromkeys((text, plain, plain[:1].lower() + plain[1:])):
            if (found := self._gettext(source)) != source:
                return found
        return None


def filled(text: str, values: Sequence[str]) -> str:
    """A text with its values; `{}` stands for the next one, `{1}` for that of a number, from 0."""
    following = iter(values)
    return _PLACE.sub(lambda found: values[int(found[1])] if found[1] else next(following), text)
