"""Mappings of the classes and properties of Heritrix, as tables have them.

`heritrix3.toml` and `heritrix1.toml` are lists of classes. Each has `names`, the `section` of
`crawl.yaml` that stands for it or a `note` why none does (`missing` or `check` in place of `note`
where that is a loss), and `properties`; with `like` it has those of other classes too. A property
is one of

- `{to = "SETTINGS", as = "CONVERTER", stock = "TEXT", note = "TEXT"}`: it becomes these settings.
  `stock` is Heritrix's own default; `values` is a table in place of a converter (`CONVERTERS`).
- `{needless = "WHY"}`: `crawl.yaml` needs nothing for it, whatever its value.
- `{missing = "WHY", stock = "TEXT"}`: there is no equivalent; its default means nothing.
- `{check = "WHY", stock = "TEXT"}`: the operator has to look, unless it is the default.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from nacre_migrate.files import read_table

Convert = Callable[[str], Any]
"""A function that makes the value of a setting; None where nothing need be said. ValueError."""


class PropertyMapping(NamedTuple):
    """The mapping of a property.

    Attributes:
        paths: Settings that it becomes, with blanks between them; "" for none.
        convert: Makes their value.
        stock: Heritrix's own default as text; a property with this value changes nothing.
        note: What differs; why there is no setting.
        flagged: `missing` or `check` when another value than the stock one is flagged; "" when a
            property without setting means nothing here.
    """

    paths: str = ""
    convert: Convert = str
    stock: str = ""
    note: str = ""
    flagged: str = ""


class ClassMapping(NamedTuple):
    """The mapping of the beans of a class.

    Attributes:
        section: Section of `crawl.yaml` that stands for them; "" for none.
        note: Why none.
        flagged: `missing` or `check` where that is a loss.
        properties: The mappings of their properties, by name.
    """

    section: str = ""
    note: str = ""
    flagged: str = ""
    properties: Mapping[str, PropertyMapping] = MappingProxyType({})


class InsertedProcessor(NamedTuple):
    """A processor that is inserted for the beans of a class.

    Attributes:
        chain: The chain.
        processor: Its name in Nacre.
        properties: Mappings of plain properties; their paths are names of the entry's settings.
    """

    chain: str
    processor: str
    properties: Mapping[str, PropertyMapping] = MappingProxyType({})


def whole(text: str) -> int:
    """A whole number."""
    return int(float(text)) if "." in text else int(text)


def flag(text: str) -> bool:
    """True or false."""
    if text.lower() not in {"true", "false", "yes", "no", "on", "off", "1", "0"}:
        raise ValueError("neither true nor false")
    return text.lower() in {"true", "yes", "on", "1"}


def seconds(text: str) -> float:
    """A number of seconds."""
    return float(text)


def not_negative(text: str) -> int:
    """A whole number; 0 for a negative one."""
    return max(whole(text), 0)


def positive(text: str) -> int | None:
    """A whole number; None for one that is not over 0."""
    return whole(text) if whole(text) > 0 else None


def kib_limit(text: str) -> int:
    """KiB as bytes; -1, which is no limit, for a negative number."""
    return whole(text) * 1024 if whole(text) >= 0 else -1


def delay(text: str) -> float | None:
    """Seconds; None for a negative number."""
    return seconds(text) if seconds(text) >= 0 else None


def tls(text: str) -> str:
    """The setting for a trust level of certificates: `strict`, or `record`."""
    strict = {"strict": True, "normal": True, "loose": False, "open": False}
    if text.lower() not in strict:
        raise ValueError("not OPEN, LOOSE, NORMAL or STRICT")
    return "strict" if strict[text.lower()] else "record"


def robots_policy(text: str) -> str:
    """The name of a robots policy that is not a separate bean."""
    names = {"obey": "obey", "classic": "obey", "robotstxtonly": "obey", "ignore": "ignore"}
    return names[text.lower()]


def split_lines(text: str) -> list[str]:
    """The elements of a list, as `Setting.text` writes it."""
    return [line.strip() for line in text.split(", ") if line.strip()]


CONVERTERS: dict[str, Convert] = {
    "text": str,
    "number": float,
    "whole": whole,
    "not_negative": not_negative,
    "positive": positive,
    "numbers": lambda text: [int(number) for number in text.split(",")],
    "flag": flag,
    "opposite": lambda text: not flag(text),
    "seconds": seconds,
    "ms": lambda text: float(text) / 1000,
    "minutes": lambda text: max(float(text), 0.0) * 60,
    "delay": delay,
    "kib": lambda text: whole(text) * 1024,
    "kib_limit": kib_limit,
    "kib_rate": lambda text: max(whole(text), 0) * 1024,
    "mib": lambda text: whole(text) << 20,
    "lines": split_lines,
    "tls": tls,
    "robots_policy": robots_policy,
    "accept_encoding": lambda text: None if flag(text) else "",
    "url_or_path": lambda text: "url" if flag(text) else "path",
    "seed_or_link": lambda text: "seed" if flag(text) else "link",
    "zero_or_one": lambda text: 1 if flag(text) else 0,
}
"""The converters of the tables by name: text of Heritrix to the value of a setting.

`ms`, `minutes` and `delay` give seconds, those with `kib` and `mib` bytes.
"""


def _property(row: Mapping[str, Any]) -> PropertyMapping:
    """A property as a table has it."""
    stock = row.get("stock", "")
    if "needless" in row:
        return PropertyMapping(stock=stock, note=row["needless"])
    for flagged in ("missing", "check"):
        if flagged in row:
            return PropertyMapping(stock=stock, note=row[flagged], flagged=flagged)
    return PropertyMapping(row["to"], _converter(row), stock, row.get("note", ""))


def _converter(row: Mapping[str, Any]) -> Convert:
    if "values" in row:
        values: dict[str, str] = row["values"]
        return values.__getitem__
    name = row.get("as", "text")
    return _policy_of(row["to"]) if name == "policy" else CONVERTERS[name]


def _policy_of(setting: str) -> Convert:
    """The converter of a policy that is named by its class."""
    path = setting.removesuffix(".policy")

    def named(text: str) -> str:
        owner, policy = POLICIES[text.strip().rpartition(".")[2]]
        if owner != path:
            raise ValueError("it is a policy for something else")
        return policy

    return named


def _properties(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, PropertyMapping]:
    return {name: _property(row) for name, row in rows.items()}


def _classes(
    rows: list[dict[str, Any]], base: Mapping[str, ClassMapping]
) -> dict[str, ClassMapping]:
    """The classes of a table.

    Args:
        rows: The table.
        base: Classes that those of the table may be like.
    """
    classes: dict[str, ClassMapping] = {}
    for row in rows:
        properties: dict[str, PropertyMapping] = {}
        for name in row.get("like", ()):
            properties |= {**base, **classes}[name].properties
        properties |= _properties(row.get("properties", {}))
        flagged = next((word for word in ("missing", "check") if word in row), "")
        note = row.get(flagged or "note", "")
        mapping = ClassMapping(row.get("section", ""), note, flagged, properties)
        classes |= dict.fromkeys(row["names"], mapping)
    return classes


_THREE = read_table(__package__, "heritrix3.toml")
_ONE = read_table(__package__, "heritrix1.toml")

POLICIES: dict[str, tuple[str, str]] = {
    name: (path, policy) for name, (path, policy) in _THREE["policies"].items()
}
"""Policies by class: the setting that each is, and its name there."""

COMMON = _properties(_THREE["common"])
"""Properties of any class."""

FETCH_CLASSES = _classes(_THREE["fetch"], {})
"""Classes of Heritrix 3 that fetch and extract, by name without package."""

CRAWL_CLASSES = _classes(_THREE["crawl"], FETCH_CLASSES)
"""Classes of Heritrix 3 that order, keep and report, by name without package."""


def heritrix_properties() -> Mapping[str, tuple[str, ...]]:
    """Heritrix's properties by the path of the setting that they become, `FetchHTTP.maxLength`."""
    properties: dict[str, dict[str, None]] = {}
    for name, mapping in (FETCH_CLASSES | CRAWL_CLASSES).items():
        for key, of in mapping.properties.items():
            for path in of.paths.split():
                properties.setdefault(path, {})[f"{name}.{key}"] = None
    return {path: tuple(names) for path, names in properties.items()}


INSERTED = {
    name: InsertedProcessor(row["chain"], row["processor"], _properties(row.get("properties", {})))
    for name, row in _THREE["inserted"].items()
}
"""Processors that are not in Nacre's stock chains, by class without package."""

_BEANS = {**FETCH_CLASSES, **CRAWL_CLASSES}
ORDER_CLASSES = {**_BEANS, **_classes(_ONE["order"], _BEANS)}
"""Modules of Heritrix 1, by the name of their class in Heritrix 3 where it has one."""

ORDER_CLASS_NAMES: dict[str, str] = _ONE["names"]
"""Names of classes of Heritrix 1, and those that Heritrix 3 has for them."""

ORDER_PROPERTY_NAMES: dict[str, str] = _ONE["properties"]
"""Names of properties of Heritrix 1 on any class, likewise."""

ORDER_PROPERTY_NAMES_OF: dict[str, dict[str, str]] = _ONE["properties_of"]
"""Names of properties of Heritrix 1 on one class, likewise."""
