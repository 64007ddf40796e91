"""The findings of `nacre check` in a text, each with its lines, columns and fixes.

They are made by the same functions (`settings.load`, `job.checks`); this module adds their exact
places in a text that may not be saved yet. There are three levels: the text is well-formed, a job
can be built of it, and it is sound as a whole.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from nacre.config.document import read_yaml
from nacre.editing.outline import OutlineEntry, outline, places
from nacre.errors import Problem
from nacre.fetch.dns import DnsResolver
from nacre.job.checks import check
from nacre.job.start_survey import StartSurvey, survey_start
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.messages import find, message
from nacre.settings.contact import no_lookup, resolver_lookup
from nacre.settings.load import examine_text
from nacre.settings.settings import JobSettings

LONGEST: Final = 2_000_000
"""Characters of a text that is looked at."""
_NOWHERE: Final = Path("/dev/null/job")
"""The directory of a job that there is not yet: nothing can be in it."""
_MEANT: Final = ("config.did-you-mean",)
_NO_PART: Final = ("config.no-component", "settings.no-sheet-of-name")
"""Messages about a rule, a processor or a sheet that does not exist."""
_NO_SETTING: Final = ("config.no-such-setting", "config.no-such-setting-but")


class CheckLevel(StrEnum):
    """The level of a finding. `text`: it is not well-formed; `settings`; `whole`: the job."""

    TEXT = "text"
    SETTINGS = "settings"
    WHOLE = "whole"


class TextFix(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the text that fixes a finding.

    Attributes:
        label: Its effect, in a few words.
        start: Where the text begins that is replaced, in characters.
        end: Where it ends.
        insert: What takes its place.
    """

    label: str
    start: int
    end: int
    insert: str


class TextFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding at its place.

    Attributes:
        message: What is wrong.
        level: See `CheckLevel`.
        is_problem: It keeps the job from starting; else it is a warning.
        path: Dotted path of the setting; "" for the whole.
        expected: The expected value; "" if the message has it.
        sample: A correct line to copy; "" where none helps.
        file: File that it is in, where that is another one; "" for the text itself.
        line: From 1; 0 if it is not known.
        column: From 1; 0 if it is not known.
        start: Where the place begins in the text, in characters; -1 if it is in another file.
        end: Where it ends.
        fixes: Changes that fix it.
    """

    message: str
    level: CheckLevel
    is_problem: bool = True
    path: str = ""
    expected: str = ""
    sample: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    start: int = -1
    end: int = -1
    fixes: tuple[TextFix, ...] = ()


class TextFindings(msgspec.Struct, frozen=True, kw_only=True):
    """All findings of a text.

    Attributes:
        problems: Problems that keep the job from starting, in the order of the text.
        warnings: Findings that do not keep the job from starting.
        lights: Problems at each level, by its name; -1 for a level without findings whose check is
            incomplete, because earlier levels have problems.
        survey: The seeds, their hosts and the space; null if the network was not used, or a
            problem prevented the survey.
    """

    problems: tuple[TextFinding, ...]
    warnings: tuple[TextFinding, ...]
    lights: dict[str, int]
    survey: StartSurvey | None = None


def _first_red(lights: Mapping[str, int]) -> str:
    """The first level with problems, or that could not be looked at; "" where all are sound."""
    return next((str(level) for level in CheckLevel if lights.get(str(level), -1)), "")


def blocked_by(findings: TextFindings) -> str:
    """The name of what keeps a job from starting: a red light, else `space`; "" for nothing."""
    lacks = findings.survey is not None and findings.survey.missing_space
    return _first_red(findings.lights) or ("space" if lacks else "")


def find_in_text(
    text: str,
    layout: Layout | None,
    *,
    thorough: bool = False,
    environ: Mapping[str, str] | None = None,
) -> TextFindings:
    """All findings of a text.

    Args:
        text: The text of `crawl.yaml`.
        layout: The job that it is for; None: none yet, so that seeds and files are not looked at.
        thorough: Ask the network too, as `nacre check` does; otherwise only check this machine.
        environ: The environment; None: that of this process.
    """
    if len(text) > LONGEST:
        fault = message(
            "editing.text-is-longer-than-characters",
            "the text is longer than {longest:,} characters",
            longest=LONGEST,
        )
        finding = TextFinding(message=fault, level=CheckLevel.TEXT)
        lights = {"text": 1, "settings": -1, "whole": -1}
        return TextFindings(problems=(finding,), warnings=(), lights=lights)
    place = layout or Layout(_NOWHERE)
    loaded, problems = examine_text(place, text, environ)
    warnings: list[Problem] = []
    of_settings = frozenset(problems)
    if layout is not None:
        settings = loaded.settings if loaded else JobSettings()
        resolver = DnsResolver(settings.dns, SystemClock())
        lookup = resolver_lookup(resolver) if thorough else no_lookup()
        result = asyncio.run(check(layout, loaded, problems, lookup))
        problems, warnings = result.problems, result.warnings
    surveyed = None
    if thorough and layout is not None and loaded is not None and not problems:
        surveyed = asyncio.run(survey_start(layout, loaded))
    placing = _Placing(text, place.config.name)
    # Another reading takes as long as the first one, and a sound text needs none.
    again = read_yaml(text, place.config.name).problems if problems else ()
    malformed = {problem[:2] for problem in again}

    def level(problem: Problem) -> CheckLevel:
        if problem[:2] in malformed and problem.file in {place.config.name, ""}:
            return CheckLevel.TEXT
        return CheckLevel.SETTINGS if problem in of_settings else CheckLevel.WHOLE

    placed = tuple(
        placing.placed(finding_problem, level(finding_problem), is_problem=True)
        for finding_problem in problems
    )
    placed_warnings = tuple(
        placing.placed(warning, CheckLevel.WHOLE, is_problem=False) for warning in warnings
    )
    return TextFindings(
        problems=placed,
        warnings=placed_warnings,
        lights=_lights(placed, whole=layout is not None and loaded is not None),
        survey=surveyed,
    )


def _lights(problems: Iterable[TextFinding], *, whole: bool) -> dict[str, int]:
    counts = Counter(problem.level for problem in problems)
    lights: dict[str, int] = {}
    is_sound = True
    for level in CheckLevel:
        # Beside a problem of an earlier level, a level without findings is not known to be sound.
        is_known = is_sound and (whole or level is not CheckLevel.WHOLE)
        lights[str(level)] = counts[level] or (0 if is_known else -1)
        is_sound = is_sound and not counts[level]
    return lights


class _Placing:
    """Finds the places of findings in a text."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._places = places(outline(text))
        self._lines = text.split("\n")
        self._begins = [0]
        for line in self._lines:
            self._begins.append(self._begins[-1] + len(line) + 1)

    def placed(self, problem: Problem, level: CheckLevel, *, is_problem: bool) -> TextFinding:
        """A finding with its columns."""
        is_own = problem.file in {self._name, ""}
        entry = self._entry(problem) if is_own else None
        line = problem.line or (entry.line if entry else 0)
        finding = TextFinding(
            message=problem.message,
            level=level,
            is_problem=is_problem,
            path=problem.path,
            expected=problem.expected,
            sample=problem.sample,
            file="" if is_own else problem.file,
            line=line,
        )
        if not is_own or not 0 < line <= len(self._lines):
            return finding
        first, last = self._columns(entry, line)
        begin = self._begins[line - 1]
        return msgspec.structs.replace(
            finding,
            column=first + 1,
            start=begin + first,
            end=begin + last,
            fixes=tuple(self._fixes(problem, entry, line)),
        )

    def _entry(self, problem: Problem) -> OutlineEntry | None:
        """The key or item that a problem is about; the nearest that encloses it."""
        parts = tuple(problem.path.split(".")) if problem.path else ()
        named = self._entry_of_name(problem, parts)
        if named is not None:
            return named
        while parts:
            entry = self._places.get(parts) or self._dotted(parts)
            if entry is not None and (not problem.line or entry.line == problem.line):
                return entry
            parts = parts[:-1]
        return None

    def _entry_of_name(self, problem: Problem, parts: tuple[str, ...]) -> OutlineEntry | None:
        """The name of a rule or the like that there is not, in the mapping or item of a problem."""
        wrong = find(problem.message, _NO_PART)
        if wrong is None:
            return None
        return next(
            (
                entry
                for path, entry in self._places.items()
                if path[: len(parts)] == parts
                and len(path) <= len(parts) + 1
                and entry.value.strip("\"'") == wrong.params["name"]
            ),
            None,
        )

    def _dotted(self, parts: tuple[str, ...]) -> OutlineEntry | None:
        """A path of which some keys have dots in the text, as those of sheets."""
        whole = ".".join(parts)
        if parts[0] != "sheets":
            return None
        return next(
            (entry for path, entry in self._places.items() if ".".join(path) == whole), None
        )

    def _columns(self, entry: OutlineEntry | None, line: int) -> tuple[int, int]:
        text = self._lines[line - 1].rstrip()
        if entry is not None and entry.line == line:
            end = entry.value_column + len(entry.value) if entry.value else entry.end
            return entry.column, max(end, entry.column + 1)
        lead = len(text) - len(text.lstrip())
        return lead, max(len(text), lead + 1)

    def _fixes(self, problem: Problem, entry: OutlineEntry | None, line: int) -> Iterator[TextFix]:
        """Take the word that was meant, else the sample."""
        meant = find(problem.message, _MEANT)
        if entry is None or entry.line != line:
            return
        if meant:
            fix = self._meant(problem, entry, str(meant.params["name"]))
            if fix is not None:
                yield fix
                return
        name, colon, value = problem.sample.partition(": ")
        if colon and name == entry.path[-1] and entry.value and value != entry.value:
            yield self._value(entry, value)

    def _meant(self, problem: Problem, entry: OutlineEntry, meant: str) -> TextFix | None:
        """The word that was meant, in place of the key or the value that is wrong."""
        key = entry.path[-1]
        wrong = find(problem.message, _NO_PART)
        if wrong is not None and entry.value.strip("\"'") == wrong.params["name"]:
            return self._value(entry, meant)
        if find(problem.message, _NO_SETTING) is not None and problem.path.endswith(key):
            insert = meant if "." in key else meant.rpartition(".")[2]
            above = problem.path.removesuffix(key)
            if "." in key or above.endswith(meant.removesuffix(insert)):
                return self._fix(entry.line, entry.column, entry.end, insert)
            return None
        return self._value(entry, meant) if problem.path.endswith(key) and entry.value else None

    def _value(self, entry: OutlineEntry, insert: str) -> TextFix:
        end = entry.value_column + len(entry.value)
        return self._fix(entry.line, entry.value_column, end, insert)

    def _fix(self, line: int, first: int, last: int, insert: str) -> TextFix:
        begin = self._begins[line - 1]
        return TextFix(
            label=message("editing.write", "write {text}", text=insert),
            start=begin + first,
            end=begin + last,
            insert=insert,
        )
