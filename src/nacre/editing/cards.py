"""Lists of rules as cards: the items of each list in the settings, and the text after a change.

A list is that of the scope, one of rules elsewhere, a chain of processors, or the gate of one of
these. Cards can be moved, disabled, negated, edited, removed and added.
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import dedent
from types import MappingProxyType
from typing import Any, Final, NamedTuple, get_args

from pydantic import BaseModel

from nacre.config.check import Loaded
from nacre.config.document import read_yaml, yaml_text
from nacre.config.facts import (
    EITHER,
    FLAG,
    NONE,
    NUMBER,
    FieldFacts,
    choices_of,
    facts_of,
    required,
    type_at,
    type_name,
    value_at,
)
from nacre.config.findings import typed
from nacre.config.secret import NOT_SHOWN, Secret, masked
from nacre.editing.places import PlaceName, processors, rules
from nacre.engine.chain.entry import ChainName, Entry
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.settings_change import plain
from nacre.messages import Message, find, message
from nacre.scope.rules.stock import Rule
from nacre.settings.amend import REMOVED, Edit, amended, swap_items
from nacre.settings.chains import INSERT, REMOVE, REORDER
from nacre.settings.settings import JobSettings

_LISTS: Final = (
    "scope", "fetch.midfetch", "fetch.credentials", "uri.normalize", "uri.canonical",
    "bandwidth.windows", "cycle.scoring", "cycle.index.writers", "cycle.index.filters",
    *(f"chains.{chain}" for chain in ChainName),
)  # fmt: skip
_NAMES: Final = ("rule", "processor", "normalizer", "scoring", "writer", "filter")
"""Keys that say what an item is."""
_REFERENCE: Final = "a secret is entered as a reference, so that no page and no file shows it"
_HIDDEN: Final = frozenset((*_NAMES, "enabled"))
MOVES: Final = ("up", "down")


def card_lists(loaded: Loaded[JobSettings]) -> list[dict[str, Any]]:
    """Every list of rules with its cards, in the order of the reference.

    Args:
        loaded: The settings of the job.

    Returns:
        Of each list `path`, `cards`, their `total`, `kinds` (names of what can be added, each with
        its meaning), `fields` (of a new item, where all are of one kind) and `rules` (the last
        opinion wins).
    """
    lists = []
    for path in (*_LISTS, *_gates(loaded.settings)):
        items = _items(loaded.settings, path)
        if items is None:
            continue
        holds_rules = path in {"scope", "fetch.midfetch"} or path.endswith(".gate")
        lists.append(
            {
                "path": path,
                "cards": [_card(loaded, path, at, item) for at, item in enumerate(items)],
                "total": len(items),
                "kinds": [kind._asdict() for kind in _kinds(path, holds_rules=holds_rules)],
                "rules": holds_rules,
                "fields": _fields_of_new(path),
                "title": path == "scope",
            }
        )
    return lists


def _gates(settings: JobSettings) -> list[str]:
    """The gates of the entries of chains that have one."""
    return [
        f"chains.{chain}.{entry.label}.gate"
        for chain in ChainName
        for entry in settings.chains.of(chain)
        if entry.gate
    ]


def _items(settings: JobSettings, path: str) -> Sequence[BaseModel] | None:
    """Return the items of a list; None if the value at the path is not a list."""
    parts = path.split(".")
    if parts[0] == "chains" and len(parts) > 2:
        entries = settings.chains.of(ChainName(parts[1]))
        chain_entry = next(
            (entry for entry in entries if entry.label == ".".join(parts[2:-1])), None
        )
        return chain_entry.gate if chain_entry is not None else None
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
    values = plain(item)
    name = next((str(values[key]) for key in _NAMES if key in values), "")
    turned = getattr(item, "of", None) if isinstance(item, Rule) and name == "not" else None
    visible = {key: value for key, value in values.items() if key not in _HIDDEN}
    fixed = item.fixed if isinstance(item, Entry) else ""
    return {
        "number": number, "label": getattr(item, "label", "") or name or _label(visible, number),
        "kind": name, "doc": _meaning(turned or item),
        "said": yaml_text(masked(visible)).strip() if visible else "",
        "enabled": getattr(item, "enabled", True), "can_be_off": hasattr(item, "enabled"),
        "says": str(item.says) if isinstance(item, Rule) else "",
        "negated": turned is not None,
        "negatable": isinstance(item, Rule) and item.says.value != "NONE",
        "fixed": fixed,
        "origin": str(loaded.origin(f"{path}.{number}")),
        "fields": _fields(type(item), item), "hides": _hides(visible),
    }  # fmt: skip


def _label(values: Mapping[str, Any], number: int) -> str:
    """What a card without a name is called: by the first thing that it says, else by its number."""
    first = next(iter(masked(values).values()), None)
    return first[:60] if isinstance(first, str) and first else str(number + 1)


def _hides(value: object) -> bool:
    """Whether values as the file says them hold a secret that is not shown."""
    if isinstance(value, Mapping):
        return any(_hides(inner) for inner in value.values())
    return any(map(_hides, value)) if isinstance(value, list) else value == NOT_SHOWN


def _meaning(item: object) -> str:
    return " ".join((type(item).__doc__ or "").partition("\n\n")[0].split())


def _fields(kind: type[BaseModel], item: BaseModel | None = None) -> list[dict[str, Any]]:
    """What a card of a kind can say: name, type, meaning, editor, choices and value.

    Args:
        kind: Its class.
        item: What the card says now; None: nothing yet.
    """
    fields = []
    for name, info in kind.model_fields.items():
        if name in _HIDDEN:
            continue
        facts = facts_of(name, info)
        editor = editor_of(facts, kind)
        needed = required(facts)
        value = getattr(item, name) if item is not None else None if needed else facts.default
        fields.append(
            {
                "name": name, "type": typed(facts), "doc": facts.doc, "kind": editor,
                "needed": needed, "choices": list(choices_of(info.annotation)),
                "value": "" if value is None else field_text(editor, value, name),
            }
        )  # fmt: skip
    return fields


def _fields_of_new(path: str) -> list[dict[str, Any]]:
    """The fields of a new item of a list whose items are all of one kind; else none."""
    kind = _kind_of(path)
    return _fields(kind) if kind is not None else []


def _kind_of(path: str) -> type[BaseModel] | None:
    annotation = type_at(JobSettings, path.split("."), None)
    inner = get_args(annotation)
    is_one = bool(inner) and isinstance(inner[0], type) and issubclass(inner[0], BaseModel)
    return inner[0] if is_one and not set(_NAMES) & set(inner[0].model_fields) else None


# ---- changes


class CardChange(NamedTuple):
    """A change of a list.

    Attributes:
        path: The list.
        number: The card, from 0; for an addition, the number of cards.
        action: `up`, `down`, `disable`, `enable`, `negate`, `remove`, `set`, `fields` or `add`.
        text: YAML of the card, for `set` and `add`.
        kind: Name of the kind of the added card; "" if the YAML contains it.
        fields: Texts of the fields that were changed, by name, for `fields` and `add`.
    """

    path: str
    number: int
    action: str
    text: str = ""
    kind: str = ""
    fields: Mapping[str, str] = MappingProxyType({})


def read_change(
    text: str, yaml: str, kind: str, fields: Mapping[str, str] = MappingProxyType({})
) -> CardChange:
    """Read a change from the form: the list, the number of the card, and the action.

    Raises:
        JobError: The text is not a change.
    """
    path, _, tail = text.partition(" ")
    at, _, action = tail.partition(" ")
    if not at.isdecimal() or len(at) > 6:
        raise JobError(message("editing.no-rule", "there is no rule {at!r}", at=at[:20]))
    return CardChange(path, int(at), action, yaml.replace("\r\n", "\n"), kind, fields)


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
    lists = (*_LISTS, *_gates(loaded.settings))
    items = _items(loaded.settings, change.path) if change.path in lists else None
    if items is None:
        raise JobError(
            message(
                "editing.no-rule-list", "there is no list of rules {path!r}", path=change.path[:60]
            )
        )
    if not 0 <= change.number < len(items) + (change.action == "add"):
        raise JobError(
            message(
                "editing.no-rule-of-number",
                "{path} has no rule {number}",
                path=change.path,
                number=change.number,
            )
        )
    parts = change.path.split(".")
    in_file = _value(read_yaml(text, "crawl.yaml").tree, parts)
    if parts[0] == "chains" and len(parts) == 2 and not isinstance(in_file, list):
        return _in_chain(text, loaded, change)
    whole = [plain(item) for item in items]
    if _hides(whole) and not isinstance(in_file, list):
        raise JobError(
            message(
                "editing.secrets-of-another-file",
                "{path} has secrets of another file: change them there",
                path=change.path,
            )
        )
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
    at, item = change.number, None if change.action == "add" else items[change.number]
    place: tuple[str | int, ...] = (*change.path.split("."), at)
    if change.action in MOVES:
        first = min(max(at - (change.action == "up"), 0), max(len(items) - 2, 0))
        return swap_items(text, change.path, first)
    if change.action == "fields" and item is not None:
        return amended(text, _field_edits(change, place, item, written[at]))
    return amended(text, [_edit(change, place, item, written)])


def _field_edits(
    change: CardChange, place: tuple[str | int, ...], item: BaseModel, written: object
) -> list[Edit]:
    """The edits of single fields of an item; the rest of it stays as it is written."""
    values = _values(change, type(item))
    if isinstance(written, dict):
        return [Edit((*place, name), value) for name, value in values.items()]
    changed = {name: value for name, value in values.items() if value is not REMOVED}
    return [Edit(place, {**plain(item), **changed})]


def _values(change: CardChange, kind: type[BaseModel]) -> dict[str, Any]:
    """Parse the texts of fields; REMOVED for an empty field that has a default.

    Raises:
        ConfigError: A text is no value, or a secret in plain text.
        JobError: There is no such field.
    """
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, text in change.fields.items():
        info = kind.model_fields.get(name)
        if info is None or name in _HIDDEN:
            raise JobError(
                message(
                    "editing.no-field",
                    "{path} has no field {name!r}",
                    path=change.path,
                    name=name[:60],
                )
            )
        facts = facts_of(name, info)
        path = f"{change.path}.{change.number}.{name}"
        try:
            value = value_of(editor_of(facts, kind), text)
        except ConfigError as error:
            problems += [problem._replace(path=path, line=0, file="") for problem in error.problems]
            continue
        if masked(value, name) != value or (info.annotation is Secret and isinstance(value, str)):
            problems.append(Problem(path, _REFERENCE, "{env: NAME} or {file: PATH}"))
        values[name] = REMOVED if not text.strip() and not required(facts) else value
    if problems:
        raise ConfigError(problems)
    return values


def _edit(
    change: CardChange, place: tuple[str | int, ...], item: BaseModel | None, written: Sequence[Any]
) -> Edit:
    """The edit of one item of a list; there is no item for an addition."""
    before = plain(item) if item is not None else {}
    match change.action:
        case "remove":
            return Edit(place, REMOVED)
        case "disable" | "enable":
            on = change.action == "enable"
            if isinstance(written[change.number], dict):
                return Edit((*place, "enabled"), REMOVED if on else False)
            return Edit(place, {**before, "enabled": on})
        case "negate" if item is not None:
            return Edit(place, _turned(item))
        case "set" | "add":
            return Edit(place, _card_values(change, before))
        case _:
            raise _no_such(change)


def _no_such(change: CardChange) -> JobError:
    return JobError(
        message(
            "editing.card-action",
            "{path} cannot be changed by {what!r}",
            path=change.path,
            what=change.action[:20],
        )
    )


def _turned(rule: BaseModel) -> dict[str, Any]:
    """A rule turned round; one that is turned round already as it was before."""
    inner = getattr(rule, "of", None)
    if isinstance(inner, BaseModel) and getattr(rule, "rule", "") == "not":
        return dict(plain(inner))
    return {"rule": "not", "of": plain(rule)}


def _card_values(change: CardChange, before: Mapping[str, Any]) -> dict[str, Any]:
    """What a card says from now on.

    Raises:
        ConfigError: It is not YAML.
        JobError: It is not `name: value` lines, or names no rule.
    """
    lines = "".join(f"  {line}\n" for line in change.text.split("\n"))
    layer = read_yaml(f"card:\n{lines}", "form")
    if layer.problems:
        raise ConfigError(layer.problems)
    values = layer.tree.get("card")
    if values is not None and not isinstance(values, dict):
        raise JobError(
            message(
                "editing.card-lines",
                "{path}: say `name: value` lines, such as `comment: by hand`",
                path=change.path,
            )
        )
    unchanged = {key: before[key] for key in _HIDDEN if key in before}
    named = {"processor" if change.path.startswith("chains.") and "gate" not in change.path
             else "rule": change.kind} if change.kind else {}  # fmt: skip
    merged = {**unchanged, **named, **(values or {})}
    kind = _kind_of(change.path)
    if kind is not None and change.action == "add":
        typed_values = _values(change, kind)
        merged |= {name: value for name, value in typed_values.items() if value is not REMOVED}
    if not merged and change.action == "add":
        raise JobError(
            message("editing.card-empty", "{path}: write the value to add", path=change.path)
        )
    return merged


# ---- chains that are said as changes of the stock one


def _in_chain(text: str, loaded: Loaded[JobSettings], change: CardChange) -> str:
    """The text with a change of a chain that it says as changes, or not at all."""
    base = tuple(change.path.split("."))
    entries = loaded.settings.chains.of(ChainName(base[1]))
    tree = _value(read_yaml(text, "crawl.yaml").tree, base)
    tree_said: Mapping[str, Any] = tree if isinstance(tree, dict) else {}
    inserted = list(tree_said.get(INSERT) or ())
    if change.action == "add":
        return amended(text, [Edit((*base, INSERT), [*inserted, _card_values(change, {})])])
    label = entries[change.number].label
    match change.action:
        case "up" | "down":
            labels = [entry.label for entry in entries]
            second = change.number + (1 if change.action == "down" else -1)
            if not 0 <= second < len(labels):
                raise JobError(
                    message(
                        "editing.rule-at-end",
                        "{label} is at the end of {path} already",
                        label=label,
                        path=change.path,
                    )
                )
            labels[change.number], labels[second] = labels[second], labels[change.number]
            return amended(text, [Edit((*base, REORDER), labels)])
        case "disable" | "enable":
            on = change.action == "enable"
            return amended(text, [Edit((*base, label, "enabled"), on)])
        case "set":
            before = tree_said.get(label)
            values = _card_values(change, before if isinstance(before, dict) else {})
            return amended(text, [Edit((*base, label), values or REMOVED)])
        case "fields":
            values = _values(change, type(entries[change.number]))
            return amended(
                text, [Edit((*base, label, name), value) for name, value in values.items()]
            )
        case "remove":
            return amended(text, list(_without(base, label, tree_said)))
        case _:
            raise _no_such(change)


def _without(base: tuple[str, ...], label: str, values: Mapping[str, Any]) -> Iterator[Edit]:
    """The edits that take an entry out of a chain."""
    inserted = list(values.get(INSERT) or ())
    names = [
        str(entry.get("name") or entry.get("processor")) if isinstance(entry, dict) else str(entry)
        for entry in inserted
    ]
    if label in values:
        yield Edit((*base, label), REMOVED)
    order = [entry for entry in values.get(REORDER) or () if entry != label]
    if order != list(values.get(REORDER) or ()):
        yield Edit((*base, REORDER), order)
    if label in names:
        yield Edit((*base, INSERT, names.index(label)), REMOVED)
    else:
        yield Edit((*base, REMOVE), [*(values.get(REMOVE) or ()), label])


def editor_of(facts: FieldFacts, model: type[BaseModel] = JobSettings) -> str:
    """The kind of editor of a setting: `flag`, `choice`, `scalar`, `text`, `lines` or `yaml`.

    Args:
        facts: About the setting.
        model: What its path leads from.
    """
    code = facts.type.code if isinstance(facts.type, Message) else ""
    if code in FLAG:
        return "flag"
    if code == "type.text":
        return "text"
    if facts.type == type_name(tuple[str, ...]):
        return "lines"
    if _is_number(facts.type):
        return "scalar"
    choices = choices_of(type_at(model, facts.path.split("."), None))
    if (
        choices
        and all(f"`{choice}`" in facts.type for choice in choices)
        and not find(facts.type, NONE)
    ):
        return "choice"
    return "yaml"


def _is_number(kind: str) -> bool:
    """Whether a type is a number, or a number or none."""
    if not isinstance(kind, Message):
        return False
    parts = kind.params.values() if kind.code == EITHER[0] else (kind,)
    codes = {part.code for part in parts if isinstance(part, Message)}
    return bool(codes & NUMBER) and codes <= NUMBER | NONE


def field_text(kind: str, value: object, path: str = "") -> str:
    """A value as its editor shows it; of a secret its reference.

    Args:
        kind: As `editor_of` says.
        value: The value.
        path: The setting.
    """
    plain_value = masked(plain(value), path)
    if kind == "lines" and isinstance(plain_value, list):
        return "\n".join(map(str, plain_value))
    if isinstance(plain_value, bool):
        return str(plain_value).lower()
    if kind == "yaml" and plain_value in ([], {}, None, ""):
        return ""
    if isinstance(plain_value, float):
        return f"{plain_value:g}"
    if isinstance(plain_value, list | dict) or isinstance(value, Secret):
        text = yaml_text(plain_value) if isinstance(plain_value, list | dict) else str(plain_value)
        return dedent(text).strip()
    return "" if plain_value is None else str(plain_value)


def value_of(kind: str, text: str) -> Any:  # noqa: ANN401 - YAML
    """The value that a text of an editor stands for.

    Args:
        kind: As `editor_of` says.
        text: The text.

    Raises:
        ConfigError: It is not YAML.
    """
    text = text.replace("\r\n", "\n")
    if kind == "text":
        return text
    if kind == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if kind == "choice" and not text.replace(".", "").isdigit():
        return text.strip()
    layer = read_yaml("value:\n" + "".join(f"  {line}\n" for line in text.split("\n")), "form")
    if layer.problems:
        raise ConfigError(layer.problems)
    return layer.tree.get("value")
