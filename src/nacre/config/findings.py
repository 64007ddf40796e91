"""Errors of validation in words for operators: place, what is wrong, what belongs there.

Files, commands and sheets say it with the same words (`message_of`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from nacre.config.facts import FieldFacts, facts_at, required, suggestion
from nacre.config.layer import SettingOrigin, Tree
from nacre.config.registry import nearest
from nacre.errors import Problem

_SHOWN = 60


def shown(given: object, message: str) -> str:
    """The value that was given instead, for the end of a message; "" where it says so already."""
    if given is None:
        return "; nothing is given"
    if isinstance(given, dict | list | tuple):
        return ""
    text = repr(given) if isinstance(given, str) else str(given).lower()
    if text in message:
        return ""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return f" (it is {cut})"


def _plain(number: float) -> str:
    return f"{number:.15g}"


_Say = Callable[[Mapping[str, Any]], str]

_SAYINGS: dict[str, _Say] = {
    "greater_than_equal": lambda c: f"must be at least {_plain(c['ge'])}",
    "greater_than": lambda c: f"must be more than {_plain(c['gt'])}",
    "less_than_equal": lambda c: f"must be at most {_plain(c['le'])}",
    "less_than": lambda c: f"must be less than {_plain(c['lt'])}",
    "finite_number": lambda _: "must be a finite number",
    "int_from_float": lambda _: "must be a whole number",
    "string_type": lambda _: "must be text; put a number or true/false into quotation marks",
    "string_pattern_mismatch": lambda c: f"must match the pattern {c['pattern']}",
    "too_short": lambda c: f"must hold at least {c['min_length']}, and holds {c['actual_length']}",
    "too_long": lambda c: f"may hold at most {c['max_length']}",
    "missing": lambda _: "is missing",
    "none_required": lambda _: "must be none",
}

_KINDS = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "tuple": "must be a list: `[a, b]`, or lines that begin with `- `",
    "list": "must be a list: `[a, b]`, or lines that begin with `- `",
    "frozen": "must be a list: `[a, b]`, or lines that begin with `- `",
    "dict": "must be a section: indented `name: value` lines",
    "model": "must be a section: indented `name: value` lines",
}


def message_of(item: ErrorDetails, *, in_settings: bool = True) -> str:
    """The message of an error, in words for operators.

    Args:
        item: What validation found.
        in_settings: It is about a setting: the message follows its path, and so begins small.
    """
    kind = item["type"]
    context: Mapping[str, Any] = item.get("ctx", {})
    if kind in ("literal_error", "enum"):
        return _choice(item, str(context.get("expected", "")))
    if kind in _SAYINGS:
        return _SAYINGS[kind](context)
    word = kind.partition("_")[0]
    if word in _KINDS and kind != "value_error":
        return _KINDS[word]
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}" if in_settings and message else message


def _choice(item: ErrorDetails, expected: str) -> str:
    known = [name.strip(" '") for name in expected.replace(" or ", ",").split(",")]
    near = nearest(str(item.get("input")), known)
    names = " or ".join(f"`{name}`" for name in known)
    return f"must be {names}" + (f"; did you mean `{near}`?" if near else "")


_HINTED = 200
"""Problems up to which a name that does not exist gets a suggestion: looking for one is slow."""


class _Found(NamedTuple):
    """One error at its real path; `chosen` when it lies in one of several possible types."""

    parts: tuple[str, ...]
    item: ErrorDetails
    chosen: bool


def problems_of(
    model: type[BaseModel],
    items: Iterable[ErrorDetails],
    tree: Tree,
    origins: Mapping[str, SettingOrigin],
) -> list[tuple[tuple[str, ...], Problem]]:
    """The problems that a validation found, each with its path.

    Args:
        model: What was validated.
        items: The errors.
        tree: The values as given.
        origins: Where they come from.
    """
    found = [_found(item, tree) for item in items]
    found += [_Found(parts, _no_number(), chosen=False) for parts in _truths(model, tree)]
    same: dict[tuple[str, ...], list[ErrorDetails]] = {}
    for one in found:
        same.setdefault(one.parts, []).append(one.item)
    above = {path[:end] for path in same for end in range(len(path))}
    result: dict[tuple[str, ...], Problem] = {}
    for number, one in enumerate(found):
        if one.chosen and one.parts in above:
            continue
        problem = _problem(model, one, same[one.parts], tree, hints=number < _HINTED)
        place = place_of(problem.path, origins)
        file = place.file or ("--set" if place.source == "--set" else "")
        result.setdefault(one.parts, problem._replace(file=file, line=place.line))
    return list(result.items())


def place_of(path: str, origins: Mapping[str, SettingOrigin]) -> SettingOrigin:
    """The place of a path; else of what encloses it, or of the first thing in it."""
    known = path
    while known:
        if known in origins:
            break
        known = known.rpartition(".")[0]
    place = origins.get(known, SettingOrigin(""))
    below = (origin for name, origin in origins.items() if path and name.startswith(path + "."))
    return place if place.file else next((origin for origin in below if origin.file), place)


def _found(item: ErrorDetails, tree: Tree) -> _Found:
    """The path without the names of types that pydantic puts into it."""
    parts: list[str] = []
    node: object = tree
    chosen = False
    for index, piece in enumerate(item["loc"]):
        if isinstance(node, dict) and str(piece) in node:
            node = node[str(piece)]
        elif isinstance(node, list) and isinstance(piece, int) and piece < len(node):
            node = node[piece]
        elif item["type"] != "missing" or index < len(item["loc"]) - 1:
            chosen = True
            continue
        parts.append(str(piece))
    return _Found(tuple(parts), item, chosen)


def _truths(model: type[BaseModel], tree: object) -> Iterator[tuple[str, ...]]:
    """Paths of `true` and `false` where a number belongs; validation would read 1 and 0."""
    for parts, value in _leaves(tree, ()):
        if isinstance(value, bool):
            facts = facts_at(model, parts, tree)
            if facts and "number" in facts.type and "true" not in facts.type:
                yield parts


def _leaves(tree: object, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaves(value, (*above, str(key)))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _leaves(value, (*above, str(index)))
    else:
        yield above, tree


def _no_number() -> ErrorDetails:
    return {"type": "int_type", "loc": (), "msg": "", "input": None}


def _problem(
    model: type[BaseModel], one: _Found, same: Sequence[ErrorDetails], tree: Tree, *, hints: bool
) -> Problem:
    parts, item = one.parts, one.item
    path = ".".join(parts)
    if item["type"] == "extra_forbidden":
        hint = suggestion(model, parts, tree) if hints else ""
        return Problem(path, f"no such setting; {hint}".rstrip("; "))
    if item["type"].startswith("union_tag"):
        return _no_rule(parts, item)
    facts = facts_at(model, parts, tree)
    given = _given(tree, parts)
    kinds = {other["type"] for other in same}
    message = message_of(item, in_settings=facts is not None)
    if len(kinds) > 1 and facts:
        message = f"must be {facts.type}"
    if item["type"] != "missing" and not (facts and "secret" in facts.type):
        message += shown(given, message)
    if isinstance(given, list):
        bad = (i for i, value in enumerate(given) if repr(value) in message)
        path = ".".join([*parts, *(str(index) for index in list(bad)[:1])])
    if facts is None:
        return Problem(path, message)
    expected = f"{facts.doc} {_with_unit(facts)}".strip()
    return Problem(path, message, expected, sample_of(facts))


def _no_rule(parts: tuple[str, ...], item: ErrorDetails) -> Problem:
    """A list item that names no rule, or one that does not exist."""
    context: Mapping[str, Any] = item.get("ctx", {})
    known = [name.strip(" '") for name in str(context.get("expected_tags", "")).split(",")]
    names = [name for name in known if name and not name[0].isupper()]
    if item["type"] == "union_tag_not_found":
        message = "the rule has no name"
        return Problem(".".join(parts), message, "`rule: NAME` in it", "- rule: too-many-hops")
    tag = str(context.get("tag", ""))
    near = nearest(tag, filter(None, known))
    hint = f"did you mean `{near}`?" if near else "one of: " + ", ".join(names)
    return Problem(".".join([*parts, "rule"]), f"no such rule: `{tag}`; {hint}")


def _given(tree: object, parts: Sequence[str]) -> object:
    for part in parts:
        if isinstance(tree, dict):
            tree = tree.get(part)
        elif isinstance(tree, list) and part.isdigit() and int(part) < len(tree):
            tree = tree[int(part)]
    return tree


def _with_unit(facts: FieldFacts) -> str:
    return f"({facts.type}, {facts.unit})" if facts.unit else f"({facts.type})"


_BY_UNIT = {"s": "10m", "bytes": "500 MB"}


def sample_of(facts: FieldFacts) -> str:
    """A line to copy; "" where none helps."""
    name = facts.path.rpartition(".")[2]
    value: object = facts.sample or _BY_UNIT.get(facts.unit, "")
    if not value and not required(facts) and isinstance(facts.default, str | int | float):
        value = str(facts.default).lower() if isinstance(facts.default, bool) else facts.default
    return f"{name}: {value}" if value not in ("", None) else ""
