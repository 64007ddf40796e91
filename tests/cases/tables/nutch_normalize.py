"""Nutch's URL normalizers, one at a time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nacre.errors import URIError
from nacre.scope.normalize.basic import BasicNormalizer
from nacre.scope.normalize.chain import (
    HostSettings,
    Normalizer,
    NormalizerSettings,
    PlainSettings,
    ProtocolSettings,
    SlashSettings,
)
from nacre.scope.normalize.rule_files import RegexNormalizer, Replacement
from tests.cases.table import Row, Table, json_lines

_BASIC = "urlnormalizer.basic.host."
_IDN = {"toAscii": "ascii", "toUnicode": "unicode", "": "keep"}
_BY_HOST: dict[str, Any] = {
    "host": HostSettings,
    "slash": SlashSettings,
    "protocol": ProtocolSettings,
}


def _load(folder: Path) -> Iterator[Row]:
    """The rows, with the rules that they refer to in them."""
    for row in json_lines("nutch_normalize.jsonl")(folder):
        file, _, name = row.get("rules_ref", "").partition("#")
        if file:
            row["replacements"] = json.loads((folder / file).read_text("utf-8"))[name]
        yield row


def normalizer(row: Row) -> Normalizer:
    """The normalizer of a row, with the configuration that it has there."""
    name, config = row["normalizer"], row.get("conf", {})
    if name == "basic":
        options: dict[str, Any] = {
            "idn": _IDN[config.get(f"{_BASIC}idn", "")],
            "idna2008": config.get(f"{_BASIC}idna2008") == "true",
            "trim_trailing_dot": config.get(f"{_BASIC}trim-trailing-dot") == "true",
        }
        return BasicNormalizer(**options)
    if name == "regex":
        rules = row["replacements"]
        return RegexNormalizer(Replacement(rule["pattern"], rule["substitution"]) for rule in rules)
    settings: NormalizerSettings = (
        _BY_HOST[name](rules=row.get("rules", ""))
        if name in _BY_HOST
        else PlainSettings(normalizer=name)
    )
    return settings.build(lambda _: [])


def _check(row: Row) -> str | None:
    try:
        answer = normalizer(row).normalize(row["input"], row.get("scope", "default"))
    except URIError as error:
        return None if "error" in row else f"{error}"
    return None if answer == row.get("expected") else answer


TABLE = Table("nutch_normalize", _load, _check)
