"""The rules of a scope as beans of Heritrix: `scope.rules[2].maxHops` (pure)."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from nacre.scope.heritrix import CLASSES, short_form

_PATH: Final = re.compile(r"scope\.rules(?:\[(\d{1,4})\](?:\.([A-Za-z]\w{0,60}))?)?")
_HUMP: Final = re.compile(r"_([a-z])")


class RulePath(NamedTuple):
    """A path to the rules of the scope.

    Attributes:
        number: Number of the rule, from 0; None for the list of all.
        name: Name of its property in Heritrix; "" for the rule itself.
    """

    number: int | None
    name: str


def rule_path(path: str) -> RulePath | None:
    """The rule that a path of beans leads to; None for any other path."""
    match = _PATH.fullmatch(path)
    if match is None:
        return None
    return RulePath(None if match[1] is None else int(match[1]), match[2] or "")


def rule_class(rule: Mapping[str, Any]) -> str:
    """Heritrix's class of a rule; Nacre's name of it if there is no such class."""
    name = str(rule.get("rule", ""))
    kinds = (
        kind
        for kind, equivalent in CLASSES.items()
        if equivalent.rule == name and not equivalent.negated
    )
    return next(kinds, name)


def rule_properties(rule: Mapping[str, Any]) -> dict[str, str]:
    """The properties of a rule by their names in Heritrix, with their values as text."""
    equivalent = CLASSES.get(rule_class(rule))
    plain = equivalent.settings if equivalent is not None else {}
    names = {setting: name for name, setting in plain.items() if isinstance(setting, str)}
    return {
        names.get(key) or _HUMP.sub(lambda match: match[1].upper(), key): _text(value)
        for key, value in rule.items()
        if key != "rule"
    }


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "\n".join(map(_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def rule_assignments(rules: Sequence[Mapping[str, Any]], path: RulePath, text: str) -> list[str]:
    """The settings that a new value of a rule's property becomes, as `path=value`.

    Args:
        rules: The rules of the scope.
        path: The property.
        text: Its value in Heritrix's words; of a list, one element a line.

    Raises:
        ValueError: There is no such rule or property.
    """
    if path.number is None or path.number >= len(rules):
        raise ValueError(f"there are {len(rules)} rules, from scope.rules[0] on")
    rule = rules[path.number]
    before = rule_properties(rule)
    if path.name not in before:
        raise ValueError(f"{rule_class(rule)} has no such property, but {', '.join(before)}")
    kind = rule_class(rule)
    short = short_form({"rule": kind, path.name: text}) if kind in CLASSES else {}
    defaults = short_form({"rule": kind}) if kind in CLASSES else {}
    changed = {key: value for key, value in short.items() if key not in defaults or key in rule}
    for key in ("rule", *(key for key in defaults if short.get(key) == defaults[key])):
        changed.pop(key, None)
    if not changed:
        raise ValueError("it cannot be changed here")
    return [
        f"scope.{path.number}.{key}={_yaml(value, rule.get(key))}" for key, value in changed.items()
    ]


def _yaml(value: object, before: object) -> str:
    """A value for an assignment, which is read as YAML."""
    if isinstance(before, list | tuple) and isinstance(value, str):
        value = [line.strip() for line in value.splitlines() if line.strip()]
    is_word = isinstance(value, str) and not isinstance(before, str)
    return str(value) if is_word else json.dumps(value, ensure_ascii=False)
