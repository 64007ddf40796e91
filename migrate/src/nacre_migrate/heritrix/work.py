"""A migration from Heritrix in progress, and how one property becomes settings."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from nacre.config.place import UnknownPropertyError, find
from nacre.settings.settings import JobSettings
from nacre_migrate.draft import Draft
from nacre_migrate.heritrix.beans import Bean, Beans, Ref, Setting
from nacre_migrate.heritrix.mappings import ClassMapping, PropertyMapping
from nacre_migrate.report import (
    Conversion,
    MigrationOutcome,
    MigrationReport,
    defaulted,
    mapped,
    missing,
    to_check,
)

OFF = "in no chain, so it does nothing"
WIRING = "which parts use each other is given"
_AS_IS = "as Nacre does"
_UNKNOWN = object()


@dataclass
class Migration:
    """A migration at work: the configuration that is read, and the draft that is made.

    Attributes:
        beans: The configuration.
        directory: The directory of its file.
        kinds: The mappings of classes, by name.
        contact: What the operator gave; "" for nothing.
        draft: The new job.
        report: The report; findings come last.
        entries: Where the processors are that were inserted into a chain, for sheets.
        rule_paths: Where the rules of the new scope are, for sheets.
    """

    beans: Beans
    directory: Path
    kinds: Mapping[str, ClassMapping]
    contact: str = ""
    draft: Draft = field(default_factory=Draft)
    report: MigrationReport = field(default_factory=lambda: MigrationReport("heritrix"))
    entries: dict[Bean, str] = field(default_factory=dict)
    rule_paths: dict[Bean, str] = field(default_factory=dict)
    _setters: dict[str, Setting] = field(default_factory=dict)

    def put(self, setting: Setting, path: str, value: object, note: str = "") -> None:
        """A property becomes one setting, in its own way."""
        if self.claim(setting, path, value):
            self.draft.put(path, value, setting.place)
            setting.decide(mapped(path, note))

    def claim(self, setting: Setting, path: str, value: object) -> bool:
        """Whether a property may set a setting: not if an earlier one has another value for it."""
        before = self._setters.setdefault(path, setting)
        if before is setting or self.draft.value(path) == value:
            return True
        setting.decide(
            to_check(
                f"not in effect: {before.place} says otherwise, and here it is one setting", path
            )
        )
        return False

    def advise(self, text: str) -> None:
        """Add a sentence to the report's advice for the operator."""
        self.report.advise(text)

    def kind(self, bean: Bean) -> ClassMapping | None:
        """The mapping of a bean's class; None when it is not known."""
        return self.kinds.get(bean.kind)

    def file(self, setting: Setting, name: str) -> str:
        """The name of a file in the new job, which it is copied to; as it is, if it is elsewhere.

        A file that is not there, or outside of the configuration's directory, is noted.
        """
        path = beside(self.directory, name)
        inside_it = path.resolve().is_relative_to(self.directory.resolve())
        if not path.is_file():
            self.report.add_file(name, f"named by {setting.place}; it is not there", check=True)
            return name
        if not inside_it:
            self.report.add_file(name, f"named by {setting.place}; used where it is", check=True)
            return str(path.absolute())
        short = str(path.relative_to(self.directory))
        self.draft.copy_file(short, path)
        self.report.add_file(short, "copied")
        return short


def beside(directory: Path, name: str) -> Path:
    """The place of a file: as it is named, or else beside the configuration.

    Args:
        directory: The directory of the configuration.
        name: The name, also one of Windows.
    """
    plain = name.replace("\\", "/")
    path = directory / plain
    moved = directory / plain.rpartition("/")[2]
    return moved if not path.is_file() and moved.is_file() else path


def becomes(
    rule: PropertyMapping, setting: Setting, *, always: bool = False
) -> tuple[Conversion, dict[str, Any]]:
    """The conversion of a property, and the settings that it becomes with their values.

    Args:
        rule: The rule for it.
        setting: The property.
        always: Values that are Nacre's defaults are set too, as in a sheet.
    """
    text = setting.text
    if not rule.paths:
        return _without_setting(rule, text), {}
    target = ", ".join(rule.paths.split())
    try:
        value = rule.convert(text)
    except (ValueError, KeyError) as error:
        return to_check(f"cannot be read: {error}", target), {}
    if value is None:
        return defaulted(rule.note or "as Nacre does", target), {}
    values = dict.fromkeys(rule.paths.split(), value)
    if not always and all(_is_default(path, value) for path in values):
        return defaulted(_AS_IS, target), {}
    return mapped(target, rule.note), values


def _without_setting(rule: PropertyMapping, text: str) -> Conversion:
    if not rule.flagged:
        return defaulted(rule.note)
    if _same(text, rule.stock):
        return defaulted("its stock value")
    return missing(rule.note) if rule.flagged == "missing" else to_check(rule.note)


def _same(text: str, stock: str) -> bool:
    if text.lower() == stock.lower():
        return True
    try:
        return float(text) == float(stock)
    except ValueError:
        return False


@cache
def _defaults() -> JobSettings:
    return JobSettings()


def _default(path: str) -> object:
    """Nacre's default of a setting; `_UNKNOWN` where it depends on others."""
    try:
        value = find(_defaults(), path).value
    except UnknownPropertyError:
        return _UNKNOWN
    return list(value) if isinstance(value, tuple) else value


def _is_default(path: str, value: object) -> bool:
    return bool(_default(path) == value)


def confirm(work: Migration) -> None:
    """Flag a property that a later part of the configuration overrides."""
    reasons = work.draft.reasons
    for item in work.beans.items:
        if not isinstance(item, Setting) or not _is_in_effect(item):
            continue
        kind = work.kind(item.bean)
        rule = kind.properties.get(item.name) if kind is not None else None
        if rule is None or not rule.paths or item.doubt:
            continue
        for path, value in becomes(rule, item, always=True)[1].items():
            now = work.draft.value(path, _default(path))
            if now is not _UNKNOWN and not _equal(now, value):
                reason = reasons.get(path) or "it is left out"
                item.decide(to_check(f"not in effect: {path} is {now}, because of {reason}", path))


def _is_in_effect(item: Setting) -> bool:
    """Whether it holds, takes part, and is reported as in effect."""
    bean, conversion = item.bean, item.conversion
    if (
        conversion is None
        or conversion.flag
        or not bean.active
        or bean.settings.get(item.name) is not item
    ):
        return False
    return conversion.outcome is MigrationOutcome.MAPPED or (
        bool(conversion.target) and conversion.note == _AS_IS
    )


def _equal(first: object, second: object) -> bool:
    return (
        [*first] == [*second]
        if isinstance(first, tuple) and isinstance(second, list)
        else first == second
    )


def unknown(bean: Bean, setting: Setting, names: Iterable[str]) -> Conversion:
    """The conversion of a property that no table knows."""
    if isinstance(setting.value, Ref):
        return defaulted(WIRING)
    near = difflib.get_close_matches(setting.name, list(names), n=1, cutoff=0.75)
    guess = f"; perhaps {near[0]}" if near else ""
    return to_check(f"not a known property of {bean.kind}{guess}")
