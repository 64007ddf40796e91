"""The configuration directory of Nutch: its properties, stock values, and where its files are."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from nacre.errors import ConfigError, Problem
from nacre.wire.xml import Element
from nacre_migrate.files import TO_FILL_IN, open_xml, read_table
from nacre_migrate.report import (
    Conversion,
    ReportedItem,
    shown,
)

STOCK: dict[str, str] = read_table(__package__, "stock.toml")
"""The stock values of Nutch 1.23, by property."""


def _days(text: str) -> str:
    """Seconds of a number of days; the text itself if it is no number."""
    try:
        return f"{float(text) * 86_400:.0f}"
    except (ValueError, OverflowError):
        return text


def _by_ip(text: str) -> str:
    return "byIP" if text.lower() == "true" else "byHost"


_TO_NOW: dict[str, Callable[[str], str]] = {"days": _days, "by_ip": _by_ip, "same": str}

RENAMED: dict[str, tuple[str, Callable[[str], str]]] = {
    old: (row["to"], _TO_NOW[row.get("as", "same")])
    for old, row in read_table(__package__, "properties.toml")["renamed"].items()
}
"""Properties of earlier releases: their names of now, and what makes the value of now."""

Conversions = dict[str, Conversion]
"""Conversions by name of the property."""

FILES = ("nutch-default.xml", "nutch-site.xml")
"""Files of properties; the later one wins."""

TEMPLATE = ".template"

_REFERENCE = re.compile(r"\$\{([^}$\s]+)\}")
_MAX_REFERENCES = 20
_OPEN = re.compile(rf"\$\{{[^}}]*\}}|{TO_FILL_IN.pattern}")


class NutchProperty(NamedTuple):
    """One `<property>`.

    Attributes:
        name: Its name; "" where it has none.
        value: Its value as written, without blanks around it.
        file: The file.
        line: Its line.
    """

    name: str
    value: str
    file: str
    line: int


class Conf:
    """A configuration directory.

    Args:
        directory: Where it is. `*.template` files count as the files that they become.
        environ: The environment, for `${env.NAME}` and `${env.NAME:-default}`.

    Attributes:
        directory: As given.
        properties: Every property of the input, in order.

    Raises:
        ConfigError: It is not a configuration directory, or its XML cannot be read.
    """

    def __init__(self, directory: Path, environ: Mapping[str, str] = MappingProxyType({})) -> None:
        self.directory = directory
        self._environ = environ
        self._answered: dict[str, NutchProperty] = {}
        paths = [path for path in map(self.path, FILES) if path is not None]
        if not paths:
            where = Problem("", "there is no nutch-site.xml", "Nutch's conf directory")
            raise ConfigError([where._replace(file=str(directory))])
        self.properties = [prop for path in paths for prop in _read(path)]
        self._effective = {prop.name: prop for prop in self.properties}
        self._open = {name: item for name, item in self._effective.items() if self._is_open(item)}
        for name in self._open:
            # As if nothing were said: an open reference would reach the wire.
            del self._effective[name]
        self._renamed = dict(self._of_old_names())
        self._effective |= self._renamed

    def _of_old_names(self) -> Iterator[tuple[str, NutchProperty]]:
        """The properties that stand under names of earlier releases, by their names of now."""
        for old, (new, convert) in RENAMED.items():
            prop, newer = self._effective.get(old), self._effective.get(new)
            is_stock = newer is not None and newer.file == FILES[0]
            if prop is not None and (newer is None or (is_stock and prop.file != FILES[0])):
                yield new, prop._replace(name=new, value=convert(prop.value))

    def current(self, prop: NutchProperty) -> NutchProperty | None:
        """A property of an earlier release under its name of now, if no other one has that.

        Args:
            prop: The property, as it is written.
        """
        new = RENAMED[prop.name][0] if prop.name in RENAMED else ""
        renamed = self._renamed.get(new)
        return renamed if renamed is not None and self._effective.get(prop.name) is prop else None

    def path(self, name: str) -> Path | None:
        """A file, or the template that it is made from; None when there is neither.

        A name that leads out of the directory has no file.
        """
        for candidate in (self.directory / name, self.directory / (name + TEMPLATE)):
            inside = candidate.resolve().is_relative_to(self.directory.resolve())
            if name and inside and candidate.is_file():
                return candidate
        return None

    def winner(self, name: str) -> NutchProperty | None:
        """The property that holds; None where only the stock value does."""
        return self._answered.get(name) or self._effective.get(name)

    def replace(self, name: str, value: str) -> None:
        """Replace the value of a property by the operator's answer; the report has the old one."""
        prop = self._effective[name]
        self._answered[name] = prop
        self._effective[name] = prop._replace(value=value)

    def answered(self, prop: NutchProperty) -> str:
        """The value that an operator's answer has put in place of a property; "" for none."""
        return self._effective[prop.name].value if prop.name in self._answered else ""

    def is_open(self, prop: NutchProperty) -> bool:
        """Whether a property holds a reference that nothing fills in, so that it is not used."""
        return self._open.get(prop.name) is prop

    def _is_open(self, prop: NutchProperty) -> bool:
        if prop.value == STOCK.get(prop.name):
            return False
        return bool(_OPEN.search(self._fill(prop.value)))

    def value(self, name: str) -> str:
        """The effective value, references to others filled in; "" when there is none."""
        prop = self._effective.get(name)
        return self._fill(prop.value if prop else STOCK.get(name, ""))

    def _fill(self, text: str) -> str:
        for _ in range(_MAX_REFERENCES):
            match = _REFERENCE.search(text)
            if match is None:
                break
            value = self._referred(match[1])
            if value is None:
                break
            text = text[: match.start()] + value + text[match.end() :]
        return text

    def _referred(self, name: str) -> str | None:
        """The value of a reference; None if there is none. Source: Hadoop, `Configuration`.

        `${env.NAME}` is of the environment; a default follows `-` or `:-`.
        """
        if name.startswith("env."):
            plain, _, default = name.removeprefix("env.").partition("-")
            has_other = "-" in name
            return self._environ.get(plain.removesuffix(":")) or (default if has_other else None)
        prop = self._effective.get(name)
        return prop.value if prop else STOCK.get(name)

    def is_true(self, name: str) -> bool:
        """The effective value is `true`."""
        return self.value(name).lower() == "true"

    def is_stock(self, name: str) -> bool:
        """The effective value is the one that Nutch comes with."""
        prop = self._effective.get(name)
        return prop is None or prop.value == STOCK.get(name)


def _read(path: Path) -> Iterator[NutchProperty]:
    root = open_xml(path)
    file = path.name.removesuffix(TEMPLATE)
    if root.tag not in {"configuration", "nutch-conf"}:
        message = f"<{root.tag}> is no <configuration>"
        raise ConfigError([Problem("", message, file=path.name, line=root.line)])
    for element in root.find_all("property"):
        yield NutchProperty(_part(element, "name"), _part(element, "value"), file, element.line)


def _part(element: Element, name: str) -> str:
    """A child's text, or the attribute that Hadoop takes for it."""
    text = element.text_of(name)
    return (element.attributes.get(name, "") if text is None else text).strip()


def finding(conversion: Conversion, prop: NutchProperty) -> ReportedItem:
    """The finding for the report, which holds no secrets."""
    stock = prop.value == STOCK.get(prop.name)
    value = prop.value if stock else shown(prop.name, prop.value)
    return ReportedItem(
        prop.name,
        value,
        prop.file,
        prop.line,
        conversion.outcome,
        conversion.target,
        conversion.note,
        conversion.flag,
    )
