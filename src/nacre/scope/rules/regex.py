"""DecideRules that match the URL with regular expressions."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, field_validator, model_validator

from nacre.config.component import Seconds, setting
from nacre.messages import message
from nacre.scope.patterns.matching import TIME_LIMIT, PatternList, examine
from nacre.scope.rules.rule import Predicated
from nacre.scope.scope import Predicate, UrlMatch, never
from nacre.scope.state import ScopeState


def usable_regex(pattern: str) -> str:
    """Return the expression itself.

    Raises:
        ValueError: It is none, with the reason.
    """
    note = examine(pattern)
    if note is not None and not note.usable:
        raise ValueError(f"{pattern!r} is {note.message}")
    return pattern


RegexText = Annotated[str, AfterValidator(usable_regex)]
"""A regular expression, in Java's syntax or Python's."""


def pattern_list(
    patterns: Sequence[str],
    state: ScopeState,
    *,
    search: bool = False,
    every: bool = False,
    timeout: float = 0.0,
) -> PatternList:
    """Return a list of expressions whose time-outs are counted with the scope's.

    Args:
        patterns: The expressions.
        state: Of the scope.
        search: Find anywhere; False: the whole text must match, as in Heritrix.
        every: All must match; False: one is enough.
        timeout: Longest match, seconds; 0 for the usual limit.
    """
    result = PatternList(patterns, search=search, every=every, timeout=timeout or TIME_LIMIT)
    if result.is_timed:
        state.counts.append(lambda: result.timeouts)
    return result


_NO_LIST = "An empty list never matches."


class MatchesListRegex(Predicated):
    """One of the expressions matches the URI (or all do)."""

    heritrix = "MatchesListRegexDecideRule"
    rule: Literal["matches-list-regex"] = "matches-list-regex"
    regexes: tuple[RegexText, ...] = setting((), f"Regular expressions. {_NO_LIST}")
    search: bool = setting(False, "Search anywhere in the URI; False: the whole URI must match.")
    all: bool = setting(False, "All must match; False: one is enough.")
    negate: bool = setting(False, "Match when no expression of the list matches.")
    spare: bool = setting(False, "Do not match seeds, prerequisites and embeds.")
    timeout: Seconds = setting(
        0.0,
        "Limit of time for an expression that needs backtracking; after it there is no match. "
        "0: 50 ms. Other expressions need no limit.",
        unit="s",
        le=60.0,
    )

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        if not self.regexes:
            return never
        patterns = pattern_list(
            self.regexes, state, search=self.search, every=self.all, timeout=self.timeout
        )
        return UrlMatch(patterns, negate=self.negate, spare=self.spare)


class MatchesRegex(Predicated):
    """The expression matches the whole URI."""

    heritrix = "MatchesRegexDecideRule"
    rule: Literal["matches-regex"] = "matches-regex"
    regex: RegexText = setting(".", "Regular expression. The default matches no URI.")

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return UrlMatch(pattern_list([self.regex], state))


class FilePreset(StrEnum):
    """Kinds of files, by the ends of their names."""

    ALL = "ALL"
    IMAGES = "IMAGES"
    AUDIO = "AUDIO"
    VIDEO = "VIDEO"
    MISC = "MISC"
    CUSTOM = "CUSTOM"


EXTENSIONS = {
    FilePreset.IMAGES: (
        "avif bmp gif heic heif ico jfif jpe jpeg jpg jxl png svg svgz tif tiff webp"
    ),
    FilePreset.AUDIO: (
        "aac aif aiff flac m3u m3u8 m4a mid midi mp2 mp3 mp4 mpa oga ogg opus ra ram wav weba wma"
    ),
    FilePreset.VIDEO: (
        "3gp asf asx avi flv m4v mkv mov mp4 mpeg mpg ogv qt ram rm smil ts webm wmv"
    ),
    FilePreset.MISC: "doc docx epub odp ods odt pdf ppt pptx rtf swf xls xlsx",
}
"""Heritrix's lists, with extensions that came into use later."""


class FilePattern(Predicated):
    """The URI ends like the file name of an image, a sound, a film or an office document."""

    heritrix = "MatchesFilePatternDecideRule"
    rule: Literal["file-pattern"] = "file-pattern"
    preset: FilePreset = setting(
        FilePreset.ALL, "Which names; `ALL` is all the others but `CUSTOM`, which is `regex`."
    )
    regex: RegexText = setting("", "For `CUSTOM`: the expression that matches the whole URI.")

    @field_validator("preset", mode="before")
    @classmethod
    def _upper_preset(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _custom_has_one(self) -> "FilePattern":
        if self.preset is FilePreset.CUSTOM and not self.regex:
            raise ValueError(
                message("scope.preset-custom-needs-regex", "`preset: CUSTOM` needs a `regex`")
            )
        return self

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        if self.preset is FilePreset.CUSTOM:
            return UrlMatch(pattern_list([self.regex], state))
        kinds = EXTENSIONS if self.preset is FilePreset.ALL else (self.preset,)
        return UrlMatch(pattern_list([_ending(EXTENSIONS[kind] for kind in kinds)], state))


def _ending(lists: Iterable[str]) -> str:
    names = sorted({name for name_list in lists for name in name_list.split()})
    return rf"(?i).*\.(?:{'|'.join(names)})"


class QueueMatchesRegex(Predicated):
    """The expression matches the whole queue key, such as `com,example,www,`."""

    heritrix = "ClassKeyMatchesRegexDecideRule"
    rule: Literal["queue-matches-regex"] = "queue-matches-regex"
    regex: RegexText = setting(".", "Regular expression. The default matches no queue.")

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        matches, queue_of = pattern_list([self.regex], state).matches, state.queue_of
        return lambda subject: matches(subject.facts.queue or queue_of(subject.url))
