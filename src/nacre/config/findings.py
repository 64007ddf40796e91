"""Errors of validation in words for operators: place, problem, and expected value.

Files, commands and sheets use the same words (`message_of`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from nacre.config.facts import (
    FLAG,
    NUMBER,
    SECRET,
    FieldFacts,
    facts_at,
    no_such_setting,
    required,
    suggestion,
)
from nacre.config.layer import SettingOrigin, Tree
from nacre.config.registry import did_you_mean, nearest, one_of
from nacre.errors import Problem
from nacre.messages import COMMA, OR, SEMICOLON, Message, find, join, message

_SHOWN = 60


def with_value(text: str, value: object) -> str:
    """Add the invalid value to the text of a problem, unless the text contains it already.

    Args:
        text: What is wrong.
        value: The value; None if none is set.
    """
    if value is None:
        return message("config.no-value", "{text}; nothing is given", text=text)
    if isinstance(value, dict | list | tuple):
        return text
    quoted = repr(value) if isinstance(value, str) else str(value).lower()
    if quoted in text:
        return text
    cut = quoted if len(quoted) <= _SHOWN else quoted[: _SHOWN - 1] + "…"
    return message("config.actual-value", "{text} (it is {value})", text=text, value=cut)


def _plain(number: float) -> str:
    return f"{number:.15g}"


_NUMBERS = {"ge", "gt", "le", "lt"}

_WHOLE = message("config.must-be-whole-number", "must be a whole number")
_SAYINGS: dict[str, Callable[..., Message]] = {
    "greater_than_equal": partial(message, "config.must-be-at-least", "must be at least {ge}"),
    "greater_than": partial(message, "config.must-be-more-than", "must be more than {gt}"),
    "less_than_equal": partial(message, "config.must-be-at-most", "must be at most {le}"),
    "less_than": partial(message, "config.must-be-less-than", "must be less than {lt}"),
    "finite_number": partial(message, "config.must-be-finite", "must be a finite number"),
    "int_from_float": lambda **_: _WHOLE,
    "string_type": partial(
        message,
        "config.must-be-text",
        "must be text; put a number or true/false into quotation marks",
    ),
    "string_pattern_mismatch": partial(
        message, "config.must-match-pattern", "must match the pattern {pattern}"
    ),
    "too_short": partial(
        message,
        "config.must-hold-at-least",
        "must hold at least {min_length}, and holds {actual_length}",
    ),
    "too_long": partial(message, "config.may-hold-at-most", "may hold at most {max_length}"),
    "missing": partial(message, "config.is-missing", "is missing"),
    "none_required": partial(message, "config.must-be-none", "must be none"),
}
"""The message of each type of error; its parameters are the context of the error."""

_LIST = message("config.must-be-list", "must be a list: `[a, b]`, or lines that begin with `- `")
SECTION: Final = message(
    "config.must-be-section", "must be a section: indented `name: value` lines"
)
_KINDS = {
    "int": _WHOLE,
    "float": message("config.must-be-number", "must be a number"),
    "bool": message("config.must-be-true-or-false", "must be true or false"),
    "tuple": _LIST,
    "list": _LIST,
    "frozen": _LIST,
    "dict": SECTION,
    "model": SECTION,
}


def message_of(item: ErrorDetails, *, in_settings: bool = True) -> str:
    """Return the message of an error, in words for operators.

    Args:
        item: What validation found.
        in_settings: It is about a setting: the message follows its path, and so begins small.
    """
    kind = item["type"]
    context: Mapping[str, Any] = item.get("ctx", {})
    if kind in ("literal_error", "enum"):
        return _choice(item, str(context.get("expected", "")))
    if kind in _SAYINGS:
        numbers = {name: _plain(context[name]) for name in _NUMBERS & context.keys()}
        return _SAYINGS[kind](**{**context, **numbers})
    word = kind.partition("_")[0]
    if word in _KINDS and kind != "value_error":
        return _KINDS[word]
    text = message_in(context) or str(item["msg"]).removeprefix("Value error, ")
    return f"{text[0].lower()}{text[1:]}" if in_settings and text[:1].isupper() else text


def message_in(context: Mapping[str, Any]) -> str:
    """The message of an error in the context that pydantic has of it; "" if there is none."""
    error = context.get("error")
    first = error.args[0] if isinstance(error, Exception) and error.args else error
    return first if isinstance(first, Message) else ""


def _choice(item: ErrorDetails, expected: str) -> str:
    names = [name.strip(" '") for name in expected.replace(" or ", ",").split(",")]
    near = nearest(str(item.get("input")), names)
    wrong = must_be(join((f"`{name}`" for name in names), *OR))
    return join((wrong, did_you_mean(near)), *SEMICOLON) if near else wrong


def must_be(kind: str) -> Message:
    """Return the problem of a value that is of another type, which is named."""
    return message("config.must-be", "must be {kind}", kind=kind)


_HINTED = 200
"""Problems up to which a name that does not exist gets a suggestion: looking for one is slow."""


class _Found(NamedTuple):
    """One error at its real path; `chosen` if it is in one of several possible types."""

    parts: tuple[str, ...]
    item: ErrorDetails
    chosen: bool


def problems_of(
    model: type[BaseModel],
    items: Iterable[ErrorDetails],
    tree: Tree,
    origins: Mapping[str, SettingOrigin],
) -> list[tuple[tuple[str, ...], Problem]]:
    """Return the problems that a validation found, each with its path.

    Args:
        model: What was validated.
        items: The errors.
        tree: The values as given.
        origins: Where they come from.
    """
    errors = [_locate_error(item, tree) for item in items]
    errors += [_Found(parts, _no_number(), chosen=False) for parts in _truths(model, tree)]
    same: dict[tuple[str, ...], list[ErrorDetails]] = {}
    for error in errors:
        same.setdefault(error.parts, []).append(error.item)
    above = {path[:end] for path in same for end in range(len(path))}
    result: dict[tuple[str, ...], Problem] = {}
    for number, error in enumerate(errors):
        if error.chosen and error.parts in above:
            continue
        problem = _problem(model, error, same[error.parts], tree, hints=number < _HINTED)
        place = place_of(problem.path, origins)
        file = place.file or ("--set" if place.source == "--set" else "")
        result.setdefault(error.parts, problem._replace(file=file, line=place.line))
    return list(result.items())


def place_of(path: str, origins: Mapping[str, SettingOrigin]) -> SettingOrigin:
    """Return the place of a path; else of its parent, or of the first item in it."""
    parent = path
    while parent:
        if parent in origins:
            break
        parent = parent.rpartition(".")[0]
    place = origins.get(parent, SettingOrigin(""))
    below = (origin for name, origin in origins.items() if path and name.startswith(path + "."))
    return place if place.file else next((origin for origin in below if origin.file), place)


def _locate_error(item: ErrorDetails, tree: Tree) -> _Found:
    """Return the path without the names of types that pydantic puts into it."""
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
            if facts and find(facts.type, NUMBER) and not find(facts.type, FLAG):
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
    model: type[BaseModel], error: _Found, same: Sequence[ErrorDetails], tree: Tree, *, hints: bool
) -> Problem:
    parts, item = error.parts, error.item
    path = ".".join(parts)
    if item["type"] == "extra_forbidden":
        hint = suggestion(model, parts, tree) if hints else ""
        return no_such_setting(path, hint)
    if item["type"].startswith("union_tag"):
        return _no_rule(parts, item)
    facts = facts_at(model, parts, tree)
    value_given = _value_at(tree, parts)
    kinds = {item_of_same["type"] for item_of_same in same}
    text = message_of(item, in_settings=facts is not None)
    if len(kinds) > 1 and facts:
        text = must_be(facts.type)
    if item["type"] != "missing" and not (facts and find(facts.type, SECRET)):
        text = with_value(text, value_given)
    if isinstance(value_given, list):
        bad = (i for i, value in enumerate(value_given) if repr(value) in text)
        path = ".".join([*parts, *(str(index) for index in list(bad)[:1])])
    if facts is None:
        return Problem(path, text)
    return Problem(path, text, _describe_expected(facts), sample_of(facts))


def _no_rule(parts: tuple[str, ...], item: ErrorDetails) -> Problem:
    """Return the problem of a list item without a rule, or with an unknown rule."""
    context: Mapping[str, Any] = item.get("ctx", {})
    tags = [name.strip(" '") for name in str(context.get("expected_tags", "")).split(",")]
    names = [name for name in tags if name and not name[0].isupper()]
    if item["type"] == "union_tag_not_found":
        return Problem(
            ".".join(parts),
            message("config.rule-has-no-name", "the rule has no name"),
            message("config.rule-name", "`rule: NAME` in it"),
            "- rule: too-many-hops",
        )
    tag = str(context.get("tag", ""))
    near = nearest(tag, filter(None, tags))
    hint = did_you_mean(near) if near else one_of(names)
    return Problem(
        ".".join([*parts, "rule"]),
        message("config.no-such-rule", "no such rule: `{tag}`; {hint}", tag=tag, hint=hint),
    )


def _value_at(tree: object, parts: Sequence[str]) -> object:
    for part in parts:
        if isinstance(tree, dict):
            tree = tree.get(part)
        elif isinstance(tree, list) and part.isdigit() and int(part) < len(tree):
            tree = tree[int(part)]
    return tree


def _describe_expected(facts: FieldFacts) -> str:
    kind = typed(facts)
    if not facts.doc:
        return message("config.kind", "({kind})", kind=kind)
    return message("config.meaning-and-kind", "{doc} ({kind})", doc=facts.doc, kind=kind)


def typed(facts: FieldFacts) -> str:
    """Return the type of a setting, with its unit."""
    return join((facts.type, facts.unit), *COMMA)


_BY_UNIT = {"s": "10m", "bytes": "500 MB"}


def sample_of(facts: FieldFacts) -> str:
    """Return a line to copy; "" if none helps."""
    name = facts.path.rpartition(".")[2]
    value: object = facts.sample or _BY_UNIT.get(facts.unit, "")
    if not value and not required(facts) and isinstance(facts.default, str | int | float):
        value = str(facts.default).lower() if isinstance(facts.default, bool) else facts.default
    return f"{name}: {value}" if value not in ("", None) else ""
