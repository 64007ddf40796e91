"""What validation found, in words for operators: place, what is wrong, what belongs there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from nacre.config.facts import FieldFacts, facts_at, required, suggestion
from nacre.config.layer import Origin, Tree
from nacre.config.spelling import nearest
from nacre.config.wording import message_of, shown
from nacre.errors import Problem


class _Found(NamedTuple):
    """One error at its real path; `chosen` when it lies in one of several possible types."""

    parts: tuple[str, ...]
    item: ErrorDetails
    chosen: bool


def problems_of(
    model: type[BaseModel],
    items: Iterable[ErrorDetails],
    tree: Tree,
    origins: Mapping[str, Origin],
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
    paths = {one.parts for one in found}
    result: dict[tuple[str, ...], Problem] = {}
    for one in found:
        deeper = one.chosen and any(_below(path, one.parts) for path in paths)
        if deeper:
            continue
        same = [other.item for other in found if other.parts == one.parts]
        problem = _problem(model, one, same, tree)
        place = place_of(problem.path, origins)
        file = place.file or ("--set" if place.source == "--set" else "")
        result.setdefault(one.parts, problem._replace(file=file, line=place.line))
    return list(result.items())


def _below(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return len(path) > len(other) and path[: len(other)] == other


def place_of(path: str, origins: Mapping[str, Origin]) -> Origin:
    """Where a path stands; else what encloses it, or the first thing in it."""
    known = path
    while known:
        if known in origins:
            break
        known = known.rpartition(".")[0]
    place = origins.get(known, Origin(""))
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
    model: type[BaseModel], one: _Found, same: Sequence[ErrorDetails], tree: Tree
) -> Problem:
    parts, item = one.parts, one.item
    path = ".".join(parts)
    if item["type"] == "extra_forbidden":
        hint = suggestion(model, parts, tree)
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
