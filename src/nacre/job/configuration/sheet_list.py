"""The sheets of a job and what they are associated with: checked, and read from their files."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from nacre.config.check import Loaded
from nacre.config.ordinary import read_ordinary
from nacre.config.sheet import Sheet, check_sheet
from nacre.errors import ConfigError, Problem, URIError
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheets import Association
from nacre.uri.surt import implied_prefix

STOCK: Mapping[str, Mapping[str, object]] = {
    "veryPolite": {
        "politeness.delay_factor": 10.0,
        "politeness.min_delay": 10.0,
        "politeness.max_delay": 1000.0,
        "politeness.respect_crawl_delay_up_to": 3600.0,
    },
    "smallBudget": {"frontier.balance_replenish": 20, "frontier.queue_total_budget": 100},
    "highPrecedence": {
        "frontier.queue_precedence.base": 1,
        "frontier.uri_precedence": {"policy": "base", "base": 0},
    },
    "forceRetire": {"frontier.force_retire": True},
}
"""Sheets that may be named without being written; one of the same name in the file replaces its.

Heritrix ships the same ones, but its highPrecedence sets a budget.
"""


class SheetList(NamedTuple):
    """The sheets of a job, those that come with Nacre included, and its associations."""

    sheets: Mapping[str, Sheet]
    associations: tuple[Association, ...]


def examine_sheets(settings: JobSettings, root: Path) -> tuple[SheetList, list[Problem]]:
    """The sheets and associations that are right, and a problem for all that is not.

    Args:
        settings: The job's.
        root: Its directory, for files of SURT prefixes.
    """
    problems: list[Problem] = []
    sheets: dict[str, Sheet] = {}
    used = {name for said in settings.sheet_associations for name in said.sheets}
    for name, tree in {**STOCK, **settings.sheets}.items():
        sheets[name], found = check_sheet(name, tree, settings)
        problems += found if name in settings.sheets or name in used else []
    associations: list[Association] = []
    for number, said in enumerate(settings.sheet_associations):
        path = f"sheet_associations.{number}"
        problems += _unknown(path, said.sheets, sheets)
        prefixes, found = _prefixes(said.surts_file, root, path)
        problems += found
        associations.append(Association((*said.surts, *prefixes), said))
    return SheetList(sheets, tuple(associations)), problems


def sheet_list(settings: JobSettings, root: Path) -> SheetList:
    """As `examine_sheets`, of settings that must be right.

    Raises:
        ConfigError: They are not.
    """
    found, problems = examine_sheets(settings, root)
    if problems:
        raise ConfigError(problems)
    return found


def sheet_problems(loaded: Loaded[JobSettings], root: Path) -> list[Problem]:
    """What is wrong with a job's sheets, each with its place."""
    found = []
    for problem in examine_sheets(loaded.settings, root)[1]:
        place = loaded.place(problem.path)
        placed = problem.file or not place.file
        found.append(problem if placed else problem._replace(file=place.file, line=place.line))
    return found


_LONGEST = 256_000_000
"""Bytes of a file of prefixes."""


def _unknown(path: str, names: tuple[str, ...], sheets: Mapping[str, Sheet]) -> Iterator[Problem]:
    for name in names:
        if name not in sheets:
            near = difflib.get_close_matches(name, sheets, n=1, cutoff=0.6)
            hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(sheets)}"
            yield Problem(f"{path}.sheets", f"there is no sheet {name!r}; {hint}")


def _prefixes(file: str, root: Path, path: str) -> tuple[list[str], list[Problem]]:
    """The prefixes of a file, and its lines that are none."""
    if not file:
        return [], []
    try:
        lines = read_ordinary(root / file, _LONGEST).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        wrong = Problem(f"{path}.surts_file", f"{file} cannot be read: {reason}", "SURT prefixes")
        return [], [wrong]
    prefixes: list[str] = []
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        text = line.partition(" #")[0].strip().removeprefix("\ufeff")
        if not text or text.startswith("#"):
            continue
        try:
            implied_prefix(text.lstrip("+"))
        except URIError as error:
            problems.append(Problem("", f"{text[:200]!r}: {error}", "", "", file, number))
        else:
            prefixes.append(text)
    return prefixes, problems
