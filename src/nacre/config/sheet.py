"""Sheets: named overlays of property path -> value, checked when the job is built.

Several can apply to one URI: then they are a combination, which has a number. Where two of them say
something of the same property, the later one wins. Source: Heritrix 3, sheets.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from nacre.config.component import Component
from nacre.config.effective import Effective
from nacre.config.facts import no_such_setting, type_name
from nacre.config.findings import with_value
from nacre.config.place import (
    InvalidValuesError,
    UnknownPropertyError,
    find,
    properties,
    with_values,
)
from nacre.config.registry import did_you_mean, one_of
from nacre.errors import Problem
from nacre.messages import message

T = TypeVar("T", bound=BaseModel)

Values = Mapping[str, object]
"""Property path -> value, as the operator wrote it."""


class Sheet(NamedTuple):
    """A sheet that was checked.

    Attributes:
        name: Its name.
        values: Property path -> value.
    """

    name: str
    values: Values


def flat(tree: Mapping[str, object], settings: BaseModel, above: str = "") -> dict[str, object]:
    """Paths and values of a sheet: nested mappings and dotted paths mean the same.

    A mapping goes down only as far as components go, so that a property that is itself a mapping
    keeps its value whole. A mapping with its kind (`Component.kind_key`) replaces the whole
    component.
    """
    values: dict[str, object] = {}
    for key, value in tree.items():
        path = above + key
        if isinstance(value, Mapping) and _goes_below(settings, path, value):
            values.update(flat(value, settings, path + "."))
        else:
            values[path] = value
    return values


def _goes_below(settings: BaseModel, path: str, tree: Mapping[str, object]) -> bool:
    """Whether there are properties below the path; True for an unknown path, to report it."""
    try:
        value = find(settings, path).value
    except UnknownPropertyError:
        return True
    if isinstance(value, Component):
        return value.kind_key not in tree
    return isinstance(value, BaseModel) or (
        isinstance(value, tuple) and any(isinstance(item, BaseModel) for item in value)
    )


def check_sheet(name: str, tree: object, settings: BaseModel) -> tuple[Sheet, list[Problem]]:
    """Return a sheet of the valid values, and a problem for each invalid value."""
    above = f"sheets.{name}"
    if not isinstance(tree, Mapping):
        wrong = Problem(
            above,
            message("config.not-mapping-of-settings", "not a mapping of settings"),
            "",
            f"{name}: {{politeness.delay: 5}}",
        )
        return Sheet(name, {}), [wrong]
    problems: list[Problem] = []
    if "." in name:
        problems.append(
            Problem(
                above,
                message("config.sheet-name-with-dot", "the name of a sheet cannot hold a dot"),
            )
        )
    groups: dict[str, dict[str, object]] = {}
    for path, value in flat(tree, settings).items():
        wrong_here = _forbidden(settings, path)
        if wrong_here is None:
            groups.setdefault(_around(settings, path), {})[path] = value
        else:
            problems.append(wrong_here._replace(path=f"{above}.{path}"))
    values: dict[str, object] = {}
    for together in groups.values():
        # Values of one component may depend on each other, so they are checked together.
        problems_together = list(check_values(settings, together))
        problems += [
            problem._replace(path=f"{above}.{problem.path}") for problem in problems_together
        ]
        values |= {} if problems_together else together
    return Sheet(name, values), problems


def _around(settings: BaseModel, path: str) -> str:
    """What is checked as one: a component, or a list whose items need each other."""
    parts = path.split(".")
    for length in range(1, len(parts)):
        extra = find(settings, ".".join(parts[:length])).info.json_schema_extra
        if isinstance(extra, dict) and extra.get("items"):
            return ".".join(parts[:length])
    return path.rpartition(".")[0]


def _forbidden(settings: BaseModel, path: str) -> Problem | None:
    """Why a sheet cannot speak of a path; None when it can."""
    try:
        prop = find(settings, path)
    except UnknownPropertyError as error:
        return no_such_setting(path, suggestion(error, settings, path))
    if not prop.sheets:
        return Problem(
            path,
            message(
                "config.not-in-sheets", "a sheet cannot change this: it applies to the whole job"
            ),
        )
    return None


def check_values(settings: BaseModel, values: Values) -> Iterator[Problem]:
    """Yield the errors in values for settings."""
    try:
        with_values(settings, values)
    except InvalidValuesError as error:
        for where, text, value in error.items:
            wrong = text if _is_secret(settings, where) else with_value(text, value)
            yield Problem(where, wrong, _doc(settings, where))


def _is_secret(settings: BaseModel, path: str) -> bool:
    """Return whether a value is not to be shown; also where nothing is known of it."""
    try:
        return "secret" in type_name(find(settings, path).info.annotation)
    except UnknownPropertyError:
        return "password" in path or "secret" in path


def _doc(settings: BaseModel, path: str) -> str:
    try:
        return find(settings, path).info.description or ""
    except UnknownPropertyError:
        return ""


def suggestion(error: UnknownPropertyError, settings: BaseModel, path: str) -> str:
    """Return a suggestion of the name that the operator may have meant."""
    near = difflib.get_close_matches(error.path, error.known, n=1, cutoff=0.6)
    if near:
        return did_you_mean(f"{near[0]}{path[len(error.path) :]}")
    last = path.rpartition(".")[2]
    everywhere = {prop.path.rpartition(".")[2]: prop.path for prop in properties(settings)}
    near = difflib.get_close_matches(last, everywhere, n=1, cutoff=0.8)
    if near:
        return did_you_mean(everywhere[near[0]])
    return one_of(error.known) if error.known else ""


class Overlays(Generic[T]):
    """The combinations of sheets met so far, by their numbers; 0 is that of no sheet.

    A number keeps its meaning for the life of the job, also when sheets are added, changed and
    removed.

    Args:
        settings: What holds without sheets.
        sheets: All sheets by name.

    Attributes:
        settings: The settings under each combination.
        sheets: As given.
        conflicts: Sheets that were left out of a combination, because together with those before
            them they make settings that are not valid; a text each.
    """

    def __init__(self, settings: T, sheets: Mapping[str, Sheet]) -> None:
        self.sheets = dict(sheets)
        self.settings: Effective[T] = Effective((settings,))
        self.conflicts: list[str] = []
        self._names: list[tuple[str, ...]] = [()]
        self._numbers: dict[tuple[str, ...], int] = {(): 0}

    def number(self, names: Iterable[str]) -> int:
        """Return the number of a combination: names in the order in which they apply."""
        sheets = tuple(names)
        number = self._numbers.get(sheets)
        if number is None:
            number = self._numbers[sheets] = self._enter(_in_order(sheets))
        return number

    def names(self, number: int) -> tuple[str, ...]:
        """Return the sheets of a combination, those that apply last at the end."""
        return self._names[number]

    def replace(self, settings: T, sheets: Mapping[str, Sheet]) -> None:
        """Replace settings and sheets; followers of `settings` are notified."""
        self.sheets = dict(sheets)
        self.conflicts.clear()
        by_names: dict[tuple[str, ...], T] = {}
        for names in self._names:
            present = self._present(names)
            if present not in by_names:
                by_names[present] = self._under(settings, present)
        self.settings.replace([by_names[self._present(names)] for names in self._names])

    def _enter(self, names: tuple[str, ...]) -> int:
        number = self._numbers.get(names)
        if number is not None:
            return number
        self._names.append(names)
        self._numbers[names] = len(self._names) - 1
        return self.settings.add(self._under(self.settings[0], self._present(names)))

    def _present(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in self.sheets)

    def _under(self, settings: T, names: Sequence[str]) -> T:
        values: dict[str, object] = {}
        for name in names:
            more = _over(values, self.sheets[name].values)
            try:
                with_values(settings, more)
            except (InvalidValuesError, UnknownPropertyError) as error:
                self.conflicts.append(f"sheet {name} left out of {' + '.join(names)}: {error}")
            else:
                values = more
        return with_values(settings, values)


def _over(values: Values, stronger: Values) -> dict[str, object]:
    """Return values with stronger values over them; a mapping replaces the values below it."""
    weaker = {
        path: value
        for path, value in values.items()
        if not any(path == p or path.startswith(p + ".") for p in stronger)
    }
    return weaker | dict(stronger)


def _in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Return each once, at its last place."""
    last = dict.fromkeys(reversed(names))
    return tuple(reversed(last))
