"""What becomes of a property."""

from typing import NamedTuple

from nacre.migrate.nutch.conf import Property
from nacre.migrate.report import Finding, Flag, Outcome


class Fate(NamedTuple):
    """What becomes of a property; see `report.Finding`."""

    outcome: Outcome
    target: str = ""
    note: str = ""
    flag: Flag = Flag.NONE

    def of(self, prop: Property) -> Finding:
        """The finding for the report."""
        return Finding(
            prop.name, prop.value, prop.file, prop.line, self.outcome, self.target, self.note,
            self.flag,
        )  # fmt: skip


def mapped(target: str, note: str = "") -> Fate:
    """It is said in `crawl.yaml`."""
    return Fate(Outcome.MAPPED, target, note)


def defaulted(note: str, target: str = "") -> Fate:
    """Nothing need be said."""
    return Fate(Outcome.DEFAULTED, target, note)


def to_check(note: str, target: str = "") -> Fate:
    """The operator has to look."""
    return Fate(Outcome.FLAGGED, target, note, Flag.CHECK)


def missing(note: str) -> Fate:
    """There is nothing like it."""
    return Fate(Outcome.FLAGGED, "", note, Flag.NO_EQUIVALENT)


Fates = dict[str, Fate]
"""By name of the property."""
