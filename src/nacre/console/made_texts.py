"""Sentences with numbers and names that other parts of Nacre made in English, in another language.

Reports, queues and refusals are worded where they arise. A text is looked up as it is, else by the
first pattern that it fits; what fits none stays as it is.
"""

import re
from collections.abc import Callable
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
    _("visits it: {}"), _("leaves it out: {}"),
    _("it is under a schedule, and not due before {}"),
    _("it is {}, and the next look at it is not due yet"), _("it is {}"),
    _("{}; changes: {}, only noise: {}"), _("{} since {}"), _("even: {}"), _("planned: {}"),
    _("a calendar: {} of its URLs name days still to come"),
    _("the last {} pages of this kind had nothing new and led to {} more such URLs each"),
    _("{} pages have only {} different contents"),
    _("combinations of {} parameters, of which most were never visited"), _("{} pages"),
    # Why a queue rests
    _("its precedence {} is not below the floor of {} (frontier.precedence_floor)"),
    _("it waits for its turn among the queues of precedence {}"),
    _("{} of its URIs wait for a retry"),
    _("{} URLs of endless places are left in it, and {} were visited ({} fetches more)"),
    _("a quota is reached ({})"),
    _("it has spent {} of its budget of {} (frontier.queue_total_budget)"),
    _("it waits for {} s more: its server asked for more time, or answers slowly"),
    _("it waits its politeness delay for {} s more"),
    _("{} s between fetches, {} at a time"),
    _("{} times the last fetch, {} to {} s, {} at a time"),
    # Types of settings
    _("whole number or none, {}"), _("whole number, {}"), _("number or none, {}"), _("number, {}"),
    # Who wrote settings
    _("{} via console ({})"), _("{} via console"),
    # What is not there
    _("there is no job {}"), _("there is no profile {}"), _("there is no clip {}"),
)  # fmt: skip
"""Texts with `{}` for values, the narrower ones before the wider ones."""
WHOLE: Final = (
    _("one run"), _("now, not over yet"), _("it is empty"), _("not tried yet"),
    _("it waits: its server asked for more time, or answers slowly"),
    _("it waits its politeness delay"), _("frontier.force_retire is set for it"),
    _("the operator retired it (`nacre frontier JOB unretire` brings it back)"),
    _("a robots.txt or dns: that it needs failed, and is tried again"),
    _("Not Found"), _("Forbidden"), _("Method Not Allowed"), _("Unprocessable Entity"),
    _("Site"), _("Sites"),
    _("number"), _("whole number"), _("text"), _("list of text"), _("true or false"),
    _("secret text"), _("number or none"), _("whole number or none"),
    # States of queues and pages
    _("ready"), _("in-process"), _("snoozed"), _("inactive"), _("ineligible"), _("retired"),
    _("exhausted"), _("alive"), _("missing"), _("gone"),
    # States of jobs, and ends and kinds of runs
    _("NASCENT"), _("PREPARING"), _("RUNNING"), _("PAUSING"), _("PAUSED"), _("EMPTY"),
    _("STOPPING"), _("FINISHED"), _("ABORTED"), _("INTERRUPTED"), _("CRASHED"), _("ROUNDS"),
    _("READING"), _("UNREADABLE"), _("FINISHED_TIME_LIMIT"), _("FINISHED_DATA_LIMIT"),
    _("FINISHED_DOCUMENT_LIMIT"), _("FINISHED_WRITE_LIMIT"), _("FINISHED_QUEUE_BUDGET"),
    _("FINISHED_DISK_WAIT"), _("FINISHED_ABNORMAL"), _("full"), _("incremental"),
    # Traps
    _("No trap was found so far: each kind of URLs had something new lately."),
    _("The last pages of these kinds of URLs had no text and no link that was new."),
    _("They are fetched after all others. Where there is no end to them, each queue fetches "
      "`traps.budget` of them at the end of the run, and the rest is left out."),
    _("To be rid of a kind, exclude it; to fetch more of it: `nacre run JOB --traps`."),
    _("nothing new lately"), _("no end"), _("what it has"), _("fetched"), _("with something new"),
    # Studies of a page, and outcomes of what was asked for
    _("timeline"), _("diff"), _("decisions"), _("done"), _("refused"),
)  # fmt: skip
"""Texts without values that no other source has."""
UNITS: Final = {
    "ms": _("{} ms"), "s": _("{} s"), "min": _("{} min"), "h": _("{} h"), "d": _("{} d"),
}  # fmt: skip
"""The units of durations, each with the text of a number of it."""
_DURATION: Final = re.compile(r"[0-9.]+ (?:ms|s|min|h|d)(?: [0-9]+ (?:s|min|h))?")
_LONGEST: Final = 400
"""Characters of a text that is compared with patterns: none that was made is longer."""
_DEEPEST: Final = 2


def made_text(text: str, gettext: Translate, depth: int = 0) -> str:
    """A text that was made in English, in the language of a reader.

    Args:
        text: It; what it holds of the web is compared only, and given back as it is.
        gettext: Gives the text of a language for an English one; the same where it has none.
        depth: Patterns that it is a value of.
    """
    if not text or len(text) > _LONGEST:
        return text
    for known in dict.fromkeys((text, text.removesuffix("."))):
        if (found := gettext(known)) != known:
            return found
    if _DURATION.fullmatch(text):
        return made_duration(text, gettext)
    found_pattern = _pattern_of(text)
    if found_pattern is None or depth > _DEEPEST:
        return text
    pattern, values = found_pattern
    said = gettext(pattern)
    if said == pattern:
        return text
    return said.format(*(made_text(value, gettext, depth + 1) for value in values))


def made_duration(text: str, gettext: Translate) -> str:
    """A duration that was made in English, such as `3 min 5 s`, in the language of a reader."""
    parts = text.split(" ")
    return " ".join(
        gettext(UNITS[unit]).format(number)
        for number, unit in zip(parts[::2], parts[1::2], strict=True)
    )


@lru_cache(maxsize=8192)
def _pattern_of(text: str) -> tuple[str, tuple[str, ...]] | None:
    for pattern, form in _FORMS:
        if found := form.fullmatch(text):
            return pattern, found.groups()
    return None


_FORMS: Final = [
    (one, re.compile("(.+?)".join(re.escape(part) for part in one.split("{}")))) for one in PATTERNS
]
