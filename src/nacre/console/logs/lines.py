"""The lines of logs: what their statuses mean, and filters on them (pure)."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from nacre.console.problems import RefusedRequestError
from nacre.core.status import STATUS_TABLE, FetchStatus, cause
from nacre.frontier.pending import Matcher, any_text
from nacre.messages import message
from nacre.report.log_fields import CrawlLogFields, crawl_log_fields, kind_of
from nacre.scope.patterns.matching import PatternList, examine
from nacre.uri.parse import host as host_of


def status_words(text: Callable[[str], str], status: int, told: str = "") -> str:
    """The meaning of a status, in the language of a reader.

    Args:
        text: Gives the text of a language for an English one.
        status: A fetch status.
        told: What the crawler says of it, in English; "" for what the status says by itself.
    """
    _, english = text, cause(status)
    if status > 1:
        pattern = "the server answered {status}"
        said = _("the server answered {status}")
        phrase = english.partition(" (")[2]
        said = (
            said if said == pattern else said.format(status=status) + f" ({phrase}" * bool(phrase)
        )
    else:
        facts = STATUS_TABLE.get(FetchStatus(status)) if status in set(FetchStatus) else None
        pattern = facts.meaning.rstrip(".") if facts else english
        said = _(pattern)
    if said == pattern:
        return told or english
    return f"{said} ({told})" if told and told != english else said


class LogFilter(msgspec.Struct, frozen=True):
    """The filters of a log; "" for none. All but `match` are for logs in the form of crawl.log.

    Attributes:
        match: A regular expression that is found in the line.
        status: Statuses with commas between, such as `404,5xx,-2`; `failed` for those below 0.
        host: The host of the URL, or one above it.
        mime: The beginning of the media type.
        annotation: An annotation, or the beginning of one.
    """

    match: str = ""
    status: str = ""
    host: str = ""
    mime: str = ""
    annotation: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether all lines pass."""
        return not any((self.match, self.status, self.host, self.mime, self.annotation))


def wanted_lines(wanted: LogFilter) -> Matcher:
    """The test of a filter.

    Raises:
        RefusedRequestError: The expression or a status is none (400).
    """
    match = _expression(wanted.match)
    tests: list[Callable[[CrawlLogFields], bool]] = []
    if wanted.status:
        is_status = _statuses(wanted.status)
        tests.append(lambda fields: is_status(fields.status))
    if wanted.host:
        host = wanted.host.strip().lower().strip(".")
        tests.append(lambda fields: f".{host_of(fields.url)}".endswith(f".{host}"))
    if wanted.mime:
        mime = wanted.mime.strip().lower()
        tests.append(lambda fields: fields.mime.lower().startswith(mime))
    if wanted.annotation:
        token = wanted.annotation.strip()
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
        why = "it needs backtracking, which a search in a log does not do"
        raise RefusedRequestError(
            400, "expression", f"{pattern!r}: {why if note.usable else note.message}"
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
