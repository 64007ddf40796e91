"""What becomes of a property."""

import re
from typing import NamedTuple

from nacre.migrate.nutch.conf import Property
from nacre.migrate.nutch.defaults import DEFAULTS
from nacre.migrate.report import Finding, Flag, Outcome

_SECRET = re.compile(r"passw|secret|licensekey|token|credential", re.IGNORECASE)
_LOGIN = re.compile(r"://[^/\s]*:[^/\s]*@")


class Fate(NamedTuple):
    """What becomes of a property; see `report.Finding`."""

    outcome: Outcome
    target: str = ""
    note: str = ""
    flag: Flag = Flag.NONE

    def of(self, prop: Property) -> Finding:
        """The finding for the report, which holds no secrets."""
        return Finding(
            prop.name, _shown(prop), prop.file, prop.line, self.outcome, self.target, self.note,
            self.flag,
        )  # fmt: skip


def _shown(prop: Property) -> str:
    if not prop.value or prop.value == DEFAULTS.get(prop.name):
        return prop.value
    secret = _SECRET.search(prop.name) or _LOGIN.search(prop.value)
    return "(not shown)" if secret else prop.value


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
