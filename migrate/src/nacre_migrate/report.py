"""The conversion of each property of a configuration, and the report: text for people, and JSON."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class MigrationOutcome(StrEnum):
    """The outcome of a property. Each has exactly one."""

    MAPPED = "mapped"
    DEFAULTED = "defaulted"
    FLAGGED = "flagged"


class Flag(StrEnum):
    """The reason why a property is flagged."""

    NONE = ""
    NO_EQUIVALENT = "no equivalent"
    CHECK = "needs your eye"


_NAMES = {
    "property": ("property", "properties"),
    "bean": ("bean", "beans"),
    "override": ("override", "overrides"),
    "entry": ("entry of a sheet", "entries of sheets"),
    "element": ("other element", "other elements"),
}
"""The kinds of things in an input: one, and several."""


class ReportedItem(NamedTuple):
    """One property of the input.

    Attributes:
        name: As the input calls it.
        value: Its value as written.
        file: File that it is in.
        line: Its line, from 1.
        outcome: Its outcome.
        target: The setting of Nacre that it became, or that takes its place; "" for none.
        note: What the operator should know; required when it is flagged.
        flag: Why it is flagged.
        kind: What it is in the input: `property`, `bean`, `override`, ...
    """

    name: str
    value: str
    file: str
    line: int
    outcome: MigrationOutcome
    target: str = ""
    note: str = ""
    flag: Flag = Flag.NONE
    kind: str = "property"


class FileNote(NamedTuple):
    """One file of the input, or one that the input names.

    Attributes:
        name: The file.
        what: What was done with it.
        check: The operator should look at it.
    """

    name: str
    what: str
    check: bool = False


@dataclass
class MigrationReport:
    """Everything about one migration.

    Attributes:
        source: What was migrated, such as `nutch`.
        findings: The properties, in the order of the input.
        files: The files.
        advice: What the operator has to do before the job can run.
    """

    source: str
    findings: list[ReportedItem] = field(default_factory=list)
    files: list[FileNote] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    def add_file(self, name: str, note: str, *, check: bool = False) -> None:
        """Note the outcome of a file; `check` where the operator should look at it."""
        self.files.append(FileNote(name, note, check=check))

    def advise(self, text: str) -> None:
        """Add a sentence to the advice for the operator."""
        self.advice.append(text)

    def counts(self) -> dict[str, int]:
        """The number of properties by outcome; their sum is that of the input."""
        numbers = Counter(finding.outcome for finding in self.findings)
        return {outcome.value: numbers[outcome] for outcome in MigrationOutcome}

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "source": self.source,
            "counts": {**self.counts(), "input": len(self.findings)},
            "kinds": dict(Counter(finding.kind for finding in self.findings)),
            "properties": [finding._asdict() for finding in self.findings],
            "files": [note._asdict() for note in self.files],
            "advice": list(self.advice),
        }

    def json_text(self) -> str:
        """The report as JSON, indented."""
        return json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n"

    def summary(self) -> str:
        """One line: `324 properties: 40 mapped, 280 defaulted, 4 flagged`."""
        counts = ", ".join(f"{number} {name}" for name, number in self.counts().items())
        kinds = Counter(finding.kind for finding in self.findings)
        things = ", ".join(f"{number} {_NAMES[kind][number > 1]}" for kind, number in kinds.items())
        return f"{things or '0 properties'}: {counts}"

    def text(self) -> str:
        """The report for people: what to look at first, what needs nothing last."""
        by_flag = (Flag.CHECK, Flag.NO_EQUIVALENT)
        by_outcome = (MigrationOutcome.MAPPED, MigrationOutcome.DEFAULTED)
        parts = [
            f"Migration from {self.source}\n\n{self.summary()}",
            _section("To do before the first crawl", self.advice),
            *(_findings(flag, (f for f in self.findings if f.flag is flag)) for flag in by_flag),
            _section("Files", [f"{note.name}: {note.what}" for note in self.files]),
            *(
                _findings(outcome, (f for f in self.findings if f.outcome is outcome))
                for outcome in by_outcome
            ),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"{title[0].upper()}{title[1:]}\n{body}" if body else ""


def _findings(title: str, findings: Iterable[ReportedItem]) -> str:
    return _section(title, map(_line, findings))


def _line(finding: ReportedItem) -> str:
    value = " ".join(finding.value.split())
    shown = value if len(value) <= 60 else value[:57] + "..."
    text = f"{finding.file}:{finding.line}: {finding.name} = {shown}"
    if finding.target:
        text += f" -> {finding.target}"
    return f"{text}; {finding.note}" if finding.note else text


SECRET = re.compile(r"passw|secret|licensekey|token|credential", re.IGNORECASE)
"""Names of properties with values that no report shows."""

_LOGIN = re.compile(r"://[^/\s]*:[^/\s]*@")
NOT_SHOWN = "(not shown)"


class Conversion(NamedTuple):
    """The conversion of a property or bean, without its place; see `ReportedItem`."""

    outcome: MigrationOutcome
    target: str = ""
    note: str = ""
    flag: Flag = Flag.NONE


def mapped(target: str, note: str = "") -> Conversion:
    """A conversion: it is said in `crawl.yaml`."""
    return Conversion(MigrationOutcome.MAPPED, target, note)


def defaulted(note: str, target: str = "") -> Conversion:
    """Nothing need be said."""
    return Conversion(MigrationOutcome.DEFAULTED, target, note)


def to_check(note: str, target: str = "") -> Conversion:
    """The operator has to look."""
    return Conversion(MigrationOutcome.FLAGGED, target, note, Flag.CHECK)


def missing(note: str) -> Conversion:
    """There is nothing like it."""
    return Conversion(MigrationOutcome.FLAGGED, "", note, Flag.NO_EQUIVALENT)


def shown(name: str, value: str) -> str:
    """A value as a report may show it: no password."""
    secret = value and (SECRET.search(name) or _LOGIN.search(value))
    return NOT_SHOWN if secret else value
