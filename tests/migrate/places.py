"""Which settings there are, by the JSON Schema of a job."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from nacre.engine.chain.entry import PROCESSORS
from nacre.settings.schema import schema


@cache
def _schema() -> dict[str, Any]:
    return schema()


def _forms(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node with its references followed, in all its forms."""
    if "$ref" in node:
        yield from _forms(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    yield node
    for word in ("anyOf", "oneOf", "allOf"):
        for one in node.get(word, ()):
            yield from _forms(one)


def _found(path: str) -> list[dict[str, Any]]:
    nodes = [_schema()]
    for name in path.split("."):
        forms = (form for node in nodes for form in _forms(node))
        nodes = [form["properties"][name] for form in forms if name in form.get("properties", {})]
    return [form for node in nodes for form in _forms(node)]


def is_section(name: str) -> bool:
    """Whether a path is a section, an entry of a chain, or a setting."""
    return bool(_found(name))


def is_setting(path: str, choice: str | None = None) -> bool:
    """Whether a setting exists, and may be this choice or have a policy of this name."""
    if path.startswith("chains."):
        _, _, entry, *name = path.split(".")
        return set(name) <= set(PROCESSORS.get(entry).model_fields)
    found = _found(path)
    if choice is None:
        return bool(found)
    policies = [*found, *_found(f"{path}.policy")]
    said = {value for one in policies for value in (*one.get("enum", ()), one.get("const"))}
    return choice in said
