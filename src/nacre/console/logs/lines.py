"""The lines of logs: what their statuses mean, and filters on them (pure)."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

import msgspec

from nacre.annotations import ANNOTATIONS
from nacre.core.crawluri import Hop
from nacre.core.status import STATUS_TABLE, FetchStatus, cause
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message
from nacre.ops.fields import LineText, LogLines, ShortText, Whole
from nacre.report.log_fields import CrawlLogFields, crawl_log_fields, kind_of
from nacre.scope.patterns.matching import Matcher, PatternList, any_text, examine
from nacre.uri.parse import host as host_of

CRAWL: Final = "crawl"
"""Name of crawl.log."""


def status_words(text: Callable[[str], str], status: int, detail: str = "") -> str:
    """The meaning of a status, in the language of a reader.

    Args:
        text: Gives the text of a language for an English one.
        status: A fetch status.
        detail: What the crawler says of it, in English; "" for what the status says by itself.
    """
    _, english = text, cause(status)
    if status > 1:
        pattern = "the server answered {status}"
        translated = _("the server answered {status}")
        phrase = english.partition(" (")[2]
        translated = (
            translated
            if translated == pattern
            else translated.format(status=status) + f" ({phrase}" * bool(phrase)
        )
    else:
        facts = STATUS_TABLE.get(FetchStatus(status)) if status in set(FetchStatus) else None
        pattern = facts.meaning.rstrip(".") if facts else english
        translated = _(pattern)
    if translated == pattern:
        return detail or english
    return f"{translated} ({detail})" if detail and detail != english else translated


class LogsQuery(msgspec.Struct, frozen=True):
    """The run whose logs are listed.

    Attributes:
        run: Its name; "" for the last one.
    """

    run: ShortText = ""


class LogQuery(LogsQuery, frozen=True, kw_only=True):
    """Some lines of a log. All filters but `match` are for logs in the form of crawl.log.

    Attributes:
        after: Byte behind which they begin; the oldest of these come first.
        before: Byte before which they end; without it and `after` the end of the file.
        at: Moment at which they begin, if no byte is given: the beginning of a time in UTC, such
            as `2026-11-24T02:12`.
        limit: Number of lines, 1 to 1000.
        match: A regular expression (RE2) that is found in the line.
        status: Statuses with commas between, such as `404,5xx,-2,failed,refused`.
        host: The host of the URL, or one above it.
        mime: The beginning of the media type.
        annotation: An annotation, or the beginning of one.
    """

    after: Whole | None = None
    before: Whole | None = None
    at: ShortText = ""
    limit: LogLines = 100
    match: LineText = ""
    status: LineText = ""
    host: LineText = ""
    mime: ShortText = ""
    annotation: LineText = ""

    @property
    def has_filter(self) -> bool:
        """Whether some lines may not pass."""
        return any((self.match, self.status, self.host, self.mime, self.annotation))


class LogPageQuery(LogQuery, frozen=True, kw_only=True):
    """Some lines of a named log, such as the page of logs shows them.

    Attributes:
        name: Name of the log.
    """

    name: ShortText = CRAWL


def wanted_lines(query: LogQuery) -> Matcher:
    """Return the test of the filters of a query.

    Raises:
        RefusedRequestError: The expression or a status is none (400).
    """
    match = _expression(query.match)
    tests: list[Callable[[CrawlLogFields], bool]] = []
    if query.status:
        is_status = _statuses(query.status)
        tests.append(lambda fields: is_status(fields.status))
    if query.host:
        host = query.host.strip().lower().strip(".")
        tests.append(lambda fields: f".{host_of(fields.url)}".endswith(f".{host}"))
    if query.mime:
        mime = query.mime.strip().lower()
        tests.append(lambda fields: fields.mime.lower().startswith(mime))
    if query.annotation:
        token = query.annotation.strip()
        tests.append(
            lambda fields: any(annotation.startswith(token) for annotation in _annotations(fields))
        )
    if not tests:
        return match

    def wants(text: str) -> bool:
        if not match(text):
            return False
        fields = crawl_log_fields(text)
        return fields is not None and all(test(fields) for test in tests)

    return wants


def _annotations(fields: CrawlLogFields) -> list[str]:
    return fields.annotations.split(",")


def _expression(pattern: str) -> Matcher:
    """A search that takes linear time.

    Raises:
        RefusedRequestError: RE2 does not take it (400).
    """
    if not pattern:
        return any_text
    note = examine(pattern)
    if note is not None:
        reason = "it needs backtracking, which a search in a log does not do"
        raise RefusedRequestError(
            400, "expression", f"{pattern!r}: {reason if note.usable else note.message}"
        )
    return PatternList([pattern], search=True).matches


def _of_class(digit: int) -> Callable[[int], bool]:
    return lambda status: status // 100 == digit


_CLASSES: Final[Mapping[str, Callable[[int], bool]]] = {
    **{f"{digit}xx": _of_class(digit) for digit in range(1, 6)},
    "failed": lambda status: status <= 0 and kind_of(status) == "0",
    "refused": lambda status: status < 0 and kind_of(status) == "r",
}


def _statuses(text: str) -> Callable[[int], bool]:
    tests: list[Callable[[int], bool]] = []
    exact: set[int] = set()
    for word in filter(None, (part.strip().lower() for part in text.split(","))):
        if word in _CLASSES:
            tests.append(_CLASSES[word])
            continue
        try:
            exact.add(int(word))
        except ValueError:
            raise RefusedRequestError(
                400,
                "status",
                message(
                    "console.status-format",
                    "{word!r} is no status; name some as 404,5xx,-2,failed,refused",
                    word=word,
                ),
            ) from None
    return lambda status: status in exact or any(test(status) for test in tests)


Translate = Callable[[str], str]

_VALUES: Final = re.compile(r"NAME|KEY|CLASS|SCORE|N(?=t$|ms$|$)")
"""The placeholders for values in the token of an annotation."""
_LONGEST: Final = 60
"""Hops that are shown; of a longer path, the last ones."""


def in_words(text: Translate, line: CrawlLogFields) -> str:
    """Describe a line in words for the user.

    Args:
        text: Translates an English text.
        line: The fields of the line.
    """
    _ = text
    parts = [f"{line.status}{_(': ')}{status_words(text, line.status)}"]
    if line.path:
        way = " → ".join(_hops(text, line.path))
        parts.append(_("way from the seed: {way}").format(way=way))
    if not line.path:
        parts.append(_("a seed"))
    parts += [
        f"{annotation}{_(': ')}{meaning}"
        for annotation in line.annotations.split(",")
        if annotation and (meaning := annotation_words(text, annotation))
    ]
    stop = _(". ")
    return stop.join(part.rstrip(".。") for part in parts) + stop.rstrip()


def _hops(text: Translate, path: str) -> list[str]:
    """Return the hops of a path in words; a long path begins with a count: `12+LL`."""
    _ = text
    names = {
        Hop.LINK: _("link"), Hop.EMBED: _("embedded"), Hop.SPECULATIVE: _("guessed from a script"),
        Hop.REDIRECT: _("redirect"), Hop.PREREQUISITE: _("needed first"),
        Hop.INFERRED: _("inferred"), Hop.MANIFEST: _("from a sitemap or manifest"),
        Hop.SUBMIT: _("form"),
    }  # fmt: skip
    count, plus, last = path.rpartition("+")
    hops = [names[Hop(hop)] if hop in set(Hop) else hop for hop in last[-_LONGEST:]]
    return [f"… ({count}+)", *hops] if plus else hops


def annotation_words(text: Translate, annotation: str) -> str:
    """The meaning of an annotation as it is written; "" for one that is not known."""
    meaning = next(
        (text_of_token for token, text_of_token in _meanings() if token.fullmatch(annotation)), ""
    )
    return text(meaning) if meaning else ""


@cache
def _meanings() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(_pattern(annotation.token)), annotation.meaning)
        for annotation in ANNOTATIONS.values()
    )


def _pattern(token: str) -> str:
    """The expression of a token: its values are anything, a count is digits."""
    parts = _VALUES.split(token)
    values = [r"\d+" if value == "N" else ".+" for value in _VALUES.findall(token)]
    return "".join(
        re.escape(part) + value for part, value in zip(parts, [*values, ""], strict=True)
    )
