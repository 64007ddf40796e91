"""What became of each property of a migrated configuration: text for people, JSON for programs."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Outcome(StrEnum):
    """What became of a property. Each ends as exactly one of them."""

    MAPPED = "mapped"
    DEFAULTED = "defaulted"
    FLAGGED = "flagged"


class Flag(StrEnum):
    """Why a property is flagged."""

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


class Finding(NamedTuple):
    """One property of the input.

    Attributes:
        name: As the input calls it.
        value: Its value as written.
        file: File that it stands in.
        line: Its line, from 1.
        outcome: What became of it.
        target: The setting of Nacre that it became, or that takes its place; "" for none.
        note: What the operator should know; required when it is flagged.
        flag: Why it is flagged.
        kind: What it is in the input: `property`, `bean`, `override`, ...
    """

    name: str
    value: str
    file: str
    line: int
    outcome: Outcome
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
class Report:
    """Everything about one migration.

    Attributes:
        source: What was migrated, such as `nutch`.
        findings: The properties, in the order of the input.
        files: The files.
        advice: What the operator has to do before the job can run.
    """

    source: str
    findings: list[Finding] = field(default_factory=list)
    files: list[FileNote] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many properties ended how; their sum is that of the input."""
        found = Counter(finding.outcome for finding in self.findings)
        return {outcome.value: found[outcome] for outcome in Outcome}

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
        by_outcome = (Outcome.MAPPED, Outcome.DEFAULTED)
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


def _findings(title: str, findings: Iterable[Finding]) -> str:
    return _section(title, map(_line, findings))


def _line(finding: Finding) -> str:
    value = " ".join(finding.value.split())
    shown = value if len(value) <= 60 else value[:57] + "..."
    text = f"{finding.file}:{finding.line}: {finding.name} = {shown}"
    if finding.target:
        text += f" -> {finding.target}"
    return f"{text}; {finding.note}" if finding.note else text
