"""Lists of rules as cards: what is in each list of the settings, and the text that a change makes.

A list is that of the scope, one of rules elsewhere, a chain of processors, or the gate of one of
these. A card can be moved, disabled, negated, said anew and removed, and another one added.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from nacre.config.check import Loaded
from nacre.config.document import read_yaml, yaml_text
from nacre.config.facts import facts_of, value_at
from nacre.config.secret import masked
from nacre.editing.places import PlaceName, processors, rules, typed
from nacre.engine.chain.entry import ChainName, Entry
from nacre.errors import ConfigError, JobError
from nacre.job.settings_change import plain
from nacre.scope.rules.stock import Rule
from nacre.settings.amend import REMOVED, Edit, amended, swapped
from nacre.settings.chains import INSERT, REMOVE, REORDER
from nacre.settings.settings import JobSettings

_LISTS: Final = (
    "scope", "fetch.midfetch", "uri.normalize", "uri.canonical", "bandwidth.windows",
    "cycle.scoring", *(f"chains.{chain}" for chain in ChainName),
)  # fmt: skip
_NAMES: Final = ("rule", "processor", "normalizer", "scoring")
"""Keys that say what an item is."""
_HIDDEN: Final = frozenset((*_NAMES, "enabled"))
MOVES: Final = ("up", "down")


def card_lists(loaded: Loaded[JobSettings]) -> list[dict[str, Any]]:
    """Every list of rules with its cards, in the order of the reference.

    Args:
        loaded: The settings of the job.

    Returns:
        Of each list `path`, `cards`, `kinds` (names of what can be added, each with its meaning)
        and `rules` (the last opinion wins).
    """
    made = []
    for path in (*_LISTS, *_gates(loaded.settings)):
        items = _items(loaded.settings, path)
        if items is None:
            continue
        holds_rules = path in {"scope", "fetch.midfetch"} or path.endswith(".gate")
        made.append(
            {
                "path": path,
                "cards": [_card(loaded, path, at, item) for at, item in enumerate(items)],
                "kinds": [one._asdict() for one in _kinds(path, holds_rules=holds_rules)],
                "rules": holds_rules,
                "title": path == "scope",
            }
        )
    return made


def _gates(settings: JobSettings) -> list[str]:
    """The gates of the entries of chains that have one."""
    return [
        f"chains.{chain}.{entry.label}.gate"
        for chain in ChainName
        for entry in settings.chains.of(chain)
        if entry.gate
    ]


def _items(settings: JobSettings, path: str) -> Sequence[BaseModel] | None:
    """The items of a list; None where something else stands in its place."""
    parts = path.split(".")
    if parts[0] == "chains" and len(parts) > 2:
        entries = settings.chains.of(ChainName(parts[1]))
        found = next((one for one in entries if one.label == ".".join(parts[2:-1])), None)
        return found.gate if found is not None else None
    value = value_at(settings, path)
    return value if isinstance(value, tuple) else None


def _kinds(path: str, *, holds_rules: bool) -> list[PlaceName]:
    """What can be added to a list; nothing where its items have no kinds."""
    if holds_rules:
        return rules()
    if path.startswith("chains."):
        return processors(ChainName(path.split(".")[1]))
    return []


def _card(
    loaded: Loaded[JobSettings], path: str, number: int, item: BaseModel
) -> dict[str, Any]:  # fmt: skip
    said = plain(item)
    name = next((str(said[key]) for key in _NAMES if key in said), "")
    turned = getattr(item, "of", None) if isinstance(item, Rule) and name == "not" else None
    shown = {key: value for key, value in said.items() if key not in _HIDDEN}
    fixed = item.fixed if isinstance(item, Entry) else ""
    return {
        "number": number, "label": getattr(item, "label", "") or name or str(number + 1),
        "kind": name, "doc": _meaning(turned or item),
        "said": yaml_text(masked(shown)).strip() if shown else "",
        "enabled": getattr(item, "enabled", True), "can_be_off": hasattr(item, "enabled"),
        "says": str(item.says) if isinstance(item, Rule) else "",
        "negated": turned is not None,
        "negatable": isinstance(item, Rule) and item.says.value != "NONE",
        "fixed": fixed,
        "origin": str(loaded.origin(f"{path}.{number}")),
        "fields": _fields(type(item)),
    }  # fmt: skip


def _meaning(item: object) -> str:
    return " ".join((type(item).__doc__ or "").partition("\n\n")[0].split())


def _fields(kind: type[BaseModel]) -> list[dict[str, str]]:
    """What a card of a kind can say: name, type and meaning."""
    found = [facts_of(name, info) for name, info in kind.model_fields.items()]
    return [
        {"name": one.path, "type": typed(one), "doc": one.doc}
        for one in found
        if one.path not in _HIDDEN
    ]


# ---- changes


class CardChange(NamedTuple):
    """A change of a list.

    Attributes:
        path: The list.
        number: The card, from 0; of an addition the number of cards.
        what: `up`, `down`, `disable`, `enable`, `negate`, `remove`, `set` or `add`.
        said: YAML of what the card says, for `set` and `add`.
        kind: Name of what is added; "" where the YAML says it.
    """

    path: str
    number: int
    what: str
    said: str = ""
    kind: str = ""


def read_change(text: str, said: str, kind: str) -> CardChange:
    """A change as the form sends it: the list, the number of the card, and what is done.

    Raises:
        JobError: It is none.
    """
    path, _, rest = text.partition(" ")
    at, _, what = rest.partition(" ")
    if not at.isdecimal() or len(at) > 6:
        raise JobError(f"there is no rule {at[:20]!r}")
    return CardChange(path, int(at), what, said.replace("\r\n", "\n"), kind)


def changed_text(text: str, loaded: Loaded[JobSettings], change: CardChange) -> str:
    """The text of the file with one change of a list; comments and order stay.

    Args:
        text: The text.
        loaded: What it says.
        change: The change.

    Raises:
        ConfigError: What the card is to say is not YAML.
        JobError: There is no such list, card or change.
    """
    known = (*_LISTS, *_gates(loaded.settings))
    items = _items(loaded.settings, change.path) if change.path in known else None
    if items is None:
        raise JobError(f"there is no list of rules {change.path[:60]!r}")
    if not 0 <= change.number < len(items) + (change.what == "add"):
        raise JobError(f"{change.path} has no rule {change.number}")
    parts = change.path.split(".")
    in_file = _value(read_yaml(text, "crawl.yaml").tree, parts)
    if parts[0] == "chains" and len(parts) == 2 and not isinstance(in_file, list):
        return _in_chain(text, loaded, change)
    whole = [plain(item) for item in items]
    if not isinstance(in_file, list) or len(in_file) != len(items):
        text = amended(text, [Edit(tuple(parts), whole)])
        in_file = whole
    return _in_list(text, change, items, in_file)


def _value(tree: Any, parts: Sequence[str]) -> Any:  # noqa: ANN401 - YAML
    for part in parts:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _in_list(
    text: str, change: CardChange, items: Sequence[BaseModel], written: Sequence[Any]
) -> str:
    """The text with a change of a list that it says in full."""
    at, item = change.number, None if change.what == "add" else items[change.number]
    place: tuple[str | int, ...] = (*change.path.split("."), at)
    if change.what in MOVES:
        first = min(max(at - (change.what == "up"), 0), max(len(items) - 2, 0))
        return swapped(text, change.path, first)
    return amended(text, [_edit(change, place, item, written)])


def _edit(
    change: CardChange, place: tuple[str | int, ...], item: BaseModel | None, written: Sequence[Any]
) -> Edit:
    """The edit of one item of a list; there is no item for an addition."""
    before = plain(item) if item is not None else {}
    match change.what:
        case "remove":
            return Edit(place, REMOVED)
        case "disable" | "enable":
            on = change.what == "enable"
            if isinstance(written[change.number], dict):
                return Edit((*place, "enabled"), REMOVED if on else False)
            return Edit(place, {**before, "enabled": on})
        case "negate" if item is not None:
            return Edit(place, _turned(item))
        case "set" | "add":
            return Edit(place, _said(change, before))
        case _:
            raise _no_such(change)


def _no_such(change: CardChange) -> JobError:
    return JobError(f"{change.path} cannot be changed by {change.what[:20]!r}")


def _turned(rule: BaseModel) -> dict[str, Any]:
    """A rule turned round; one that is turned round already as it was before."""
    inner = getattr(rule, "of", None)
    if isinstance(inner, BaseModel) and getattr(rule, "rule", "") == "not":
        return dict(plain(inner))
    return {"rule": "not", "of": plain(rule)}


def _said(change: CardChange, before: Mapping[str, Any]) -> dict[str, Any]:
    """What a card says from now on.

    Raises:
        ConfigError: It is not YAML.
        JobError: It is not `name: value` lines, or names no rule.
    """
    lines = "".join(f"  {line}\n" for line in change.said.split("\n"))
    layer = read_yaml(f"card:\n{lines}", "form")
    if layer.problems:
        raise ConfigError(layer.problems)
    said = layer.tree.get("card")
    if said is not None and not isinstance(said, dict):
        raise JobError(f"{change.path}: say `name: value` lines, such as `comment: by hand`")
    kept = {key: before[key] for key in _HIDDEN if key in before}
    named = {"processor" if change.path.startswith("chains.") and "gate" not in change.path
             else "rule": change.kind} if change.kind else {}  # fmt: skip
    made = {**kept, **named, **(said or {})}
    if not made and change.what == "add":
        raise JobError(f"{change.path}: say what is to be added")
    return made


# ---- chains that are said as changes of the stock one


def _in_chain(text: str, loaded: Loaded[JobSettings], change: CardChange) -> str:
    """The text with a change of a chain that it says as changes, or not at all."""
    base = tuple(change.path.split("."))
    entries = loaded.settings.chains.of(ChainName(base[1]))
    tree = _value(read_yaml(text, "crawl.yaml").tree, base)
    said: Mapping[str, Any] = tree if isinstance(tree, dict) else {}
    inserted = list(said.get(INSERT) or ())
    if change.what == "add":
        return amended(text, [Edit((*base, INSERT), [*inserted, _said(change, {})])])
    label = entries[change.number].label
    match change.what:
        case "up" | "down":
            labels = [one.label for one in entries]
            other = change.number + (1 if change.what == "down" else -1)
            if not 0 <= other < len(labels):
                raise JobError(f"{label} is at the end of {change.path} already")
            labels[change.number], labels[other] = labels[other], labels[change.number]
            return amended(text, [Edit((*base, REORDER), labels)])
        case "disable" | "enable":
            on = change.what == "enable"
            return amended(text, [Edit((*base, label, "enabled"), on)])
        case "set":
            before = said.get(label)
            values = _said(change, before if isinstance(before, dict) else {})
            return amended(text, [Edit((*base, label), values or REMOVED)])
        case "remove":
            return amended(text, list(_without(base, label, said)))
        case _:
            raise _no_such(change)


def _without(base: tuple[str, ...], label: str, said: Mapping[str, Any]) -> Iterator[Edit]:
    """The edits that take an entry out of a chain."""
    inserted = list(said.get(INSERT) or ())
    names = [
        str(one.get("name") or one.get("processor")) if isinstance(one, dict) else str(one)
        for one in inserted
    ]
    if label in said:
        yield Edit((*base, label), REMOVED)
    order = [one for one in said.get(REORDER) or () if one != label]
    if order != list(said.get(REORDER) or ()):
        yield Edit((*base, REORDER), order)
    if label in names:
        yield Edit((*base, INSERT, names.index(label)), REMOVED)
    else:
        yield Edit((*base, REMOVE), [*(said.get(REMOVE) or ()), label])
