"""Completion: candidates at a position in `crawl.yaml`, even if the YAML is invalid."""

from typing import Any

import msgspec

from nacre.config.facts import SECRET, FieldFacts, required
from nacre.config.findings import sample_of, typed
from nacre.editing.clips import Clip, clips_at
from nacre.editing.outline import Cursor, cursor_at, loose_tree, outline
from nacre.editing.places import PlaceName, keys_at, values_at
from nacre.messages import SEMICOLON, find, join, message, static

_MOST = 200


class CompletionItem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that may be typed.

    Attributes:
        label: As it is listed.
        kind: `section`, `setting`, `value`, `rule`, `processor`, `sheet`, `entry`, `profile` or
            `clip`.
        insert: What takes the place of the word.
        detail: Type, unit and default of a setting, or Heritrix's name; "" for none.
        doc: Its meaning; "" for a plain value.
    """

    label: str
    kind: str
    insert: str
    detail: str = ""
    doc: str = ""


class Completions(msgspec.Struct, frozen=True, kw_only=True):
    """The completion candidates at an offset.

    Attributes:
        start: Start of the word that an item replaces, in characters.
        end: End of that word, which is the offset.
        path: The mapping, setting or item that the place belongs to, dotted; "" for the top.
        items: The candidates, best first.
    """

    start: int
    end: int
    path: str
    items: tuple[CompletionItem, ...]


def complete(text: str, offset: int) -> Completions:
    """Return the completion candidates at an offset.

    Args:
        text: The YAML text; it may be broken.
        offset: Characters before the cursor.
    """
    offset = max(0, min(offset, len(text)))
    cursor = cursor_at(text, offset)
    if cursor is None:
        return Completions(start=offset, end=offset, path="", items=())
    tree = loose_tree(outline(text))
    names = _names(cursor, tree)
    ranked = sorted(
        (rank, number, place_name)
        for number, place_name in enumerate(names)
        if (rank := _rank(place_name, cursor.word)) is not None
    )
    items = [_item(place_name, cursor) for _, _, place_name in ranked[:_MOST]]
    if cursor.role != "value":
        items += [
            CompletionItem(
                label=clip.name,
                kind="clip",
                insert=clip.text,
                detail=clip.place,
                doc=static(clip.title),
            )
            for clip in _clips(cursor, tree)
            if cursor.word.lower() in clip.name
        ]
    return Completions(
        start=cursor.start, end=offset, path=".".join(cursor.path), items=tuple(items)
    )


def _names(cursor: Cursor, tree: dict[str, Any]) -> list[PlaceName]:
    if cursor.role == "value":
        values = values_at(cursor.path, tree)
        own = _samples(cursor, tree) if not values else []
        return values or own
    if cursor.role == "key":
        node: Any = tree
        for part in cursor.path:
            if isinstance(node, list):
                node = node[int(part)] if part.isdigit() and int(part) < len(node) else None
            else:
                node = node.get(part) if isinstance(node, dict) else None
        existing = set(node) if isinstance(node, dict) else set()
        return [key for key in keys_at(cursor.path, tree) if key.name not in existing]
    keys = [] if cursor.column < 0 else keys_at(cursor.path, tree)
    return [*values_at(cursor.path, tree, item=True), *keys]


def _clips(cursor: Cursor, tree: dict[str, Any]) -> list[Clip]:
    if cursor.column < 0:
        return []
    is_item = cursor.role == "item"
    return clips_at(cursor.path, cursor.column, item=is_item, existing=frozenset(tree))


def _samples(cursor: Cursor, tree: dict[str, Any]) -> list[PlaceName]:
    """The default of a setting and a good value, where its type does not list any."""
    *above, last = cursor.path
    key = next(
        (candidate for candidate in keys_at(tuple(above), tree) if candidate.name == last), None
    )
    if key is None or key.facts is None or find(key.facts.type, SECRET):
        return []
    sample = sample_of(key.facts).partition(": ")[2]
    names = dict.fromkeys(filter(None, (sample, default_text(key.facts))))
    return [PlaceName(name, "value") for name in names]


def default_text(facts: FieldFacts) -> str:
    """The default of a setting as YAML; "" for none, or a long one."""
    value = facts.default
    if required(facts) or value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return ""


def _rank(place_name: PlaceName, word: str) -> int | None:
    """How well a name fits the typed word, 0 best; None if it does not."""
    typed_, name = word.lower(), place_name.name.lower()
    if name.startswith(typed_):
        return 0
    if name.rpartition(".")[2].startswith(typed_) or f"-{typed_}" in name or f"_{typed_}" in name:
        return 1
    if (
        any(typed_ in heritrix_name.lower() for heritrix_name in place_name.heritrix)
        and len(typed_) > 2
    ):
        return 2
    return 3 if len(typed_) > 1 and typed_ in name else None


def _item(name: PlaceName, cursor: Cursor) -> CompletionItem:
    return CompletionItem(
        label=name.name,
        kind=name.kind,
        insert=_inserted(name, cursor),
        detail=_detail(name),
        doc=static(name.doc),
    )


def _inserted(name: PlaceName, cursor: Cursor) -> str:
    if name.kind in {"setting", "section"} or (
        name.kind in {"sheet", "entry"} and cursor.role == "key"
    ):
        return f"{name.name}: " if name.kind == "setting" else f"{name.name}:"
    if cursor.role == "item" and cursor.column >= 0 and name.kind in {"rule", "processor"}:
        return f"{name.kind}: {name.name}"
    return name.name


def _detail(name: PlaceName) -> str:
    parts = []
    if name.facts is not None:
        parts.append(typed(name.facts))
        default = default_text(name.facts)
        if default:
            parts.append(message("editing.default", "default {value}", value=default))
    if name.heritrix:
        parts.append(f"Heritrix: {', '.join(name.heritrix)}")
    return join(parts, *SEMICOLON)
