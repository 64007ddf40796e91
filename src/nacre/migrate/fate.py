"""What becomes of one thing that a configuration says, while a migration decides it."""

import re
from typing import NamedTuple

from nacre.migrate.report import Flag, Outcome

SECRET = re.compile(r"passw|secret|licensekey|token|credential", re.IGNORECASE)
"""Names of properties whose values no report shows."""

_LOGIN = re.compile(r"://[^/\s]*:[^/\s]*@")
NOT_SHOWN = "(not shown)"


class Fate(NamedTuple):
    """What becomes of a property; see `report.Finding`."""

    outcome: Outcome
    target: str = ""
    note: str = ""
    flag: Flag = Flag.NONE


def mapped(target: str, note: str = "") -> Fate:
    """A fate: it is said in `crawl.yaml`."""
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


def shown(name: str, value: str) -> str:
    """A value as a report may show it: no password."""
    secret = value and (SECRET.search(name) or _LOGIN.search(value))
    return NOT_SHOWN if secret else value
