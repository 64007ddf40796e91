"""The sheets of a job: where each applies, and which settings are effective for a URL."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from nacre.assembly.rules import open_rules
from nacre.config.check import Loaded
from nacre.config.facts import FieldFacts, choices_of, fields, type_at, value_at
from nacre.config.findings import typed
from nacre.config.secret import masked
from nacre.config.sheet import flat
from nacre.core.clock import iso
from nacre.editing.cards import editor_of, field_text, value_of
from nacre.errors import ConfigError, Problem
from nacre.job.settings_change import plain
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import LineText, ShortText, Text
from nacre.scope.seeds import parse_seed
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import STOCK
from nacre.uri.surt import implied_prefix
from nacre.web.workers.task import NoRequest, reader_task
from nacre.web.workers.views import CLOCK

_MOST_PREFIXES: Final = 2_000


class SheetFacts(msgspec.Struct, frozen=True):
    """A sheet.

    Attributes:
        name: Its name.
        shipped: It comes with Nacre.
        values: What it says, by path.
        used: URIs are associated with it.
    """

    name: str
    shipped: bool
    values: dict[str, str]
    used: bool


class AssociationFacts(msgspec.Struct, frozen=True):
    """An association of sheets with URIs.

    Attributes:
        number: Its place in `sheet_associations`, from 0.
        sheets: Its sheets, the strongest last.
        surts: SURT prefixes or URLs.
        file: File of more prefixes; "" for none.
        rules: Rules that say which URIs.
        order: Its order among rules; later ones are stronger.
    """

    number: int
    sheets: tuple[str, ...]
    surts: tuple[str, ...]
    file: str
    rules: tuple[str, ...]
    order: int


class OverruledValue(msgspec.Struct, frozen=True):
    """A value of a weaker sheet.

    Attributes:
        sheet: The sheet.
        value: What it says.
    """

    sheet: str
    value: str


class HoldingValue(msgspec.Struct, frozen=True):
    """The value of a setting that results from sheets.

    Attributes:
        path: Its path.
        value: The effective value.
        sheet: The sheet that sets it.
        overruled: The values of weaker sheets, the weakest first.
        origin: Where the sheet sets it, such as a file and its line; "" for a sheet that comes with
            Nacre.
        plain: The value if no sheet applies.
    """

    path: str
    value: str
    sheet: str
    overruled: tuple[OverruledValue, ...] = ()
    origin: str = ""
    plain: str = ""


class SheetPlace(msgspec.Struct, frozen=True):
    """A prefix in the tree of prefixes.

    Attributes:
        prefix: The SURT prefix.
        text: As the file has it.
        depth: How many other prefixes contain it.
        sheets: The sheets of the prefix itself.
        holds: What holds there, with the sheets of the prefixes that contain it.
    """

    prefix: str
    text: str
    depth: int
    sheets: tuple[str, ...]
    holds: tuple[HoldingValue, ...]


class SheetAnswer(msgspec.Struct, frozen=True):
    """The sheets of a job.

    Attributes:
        items: The sheets.
        associations: What they apply to.
        places: The prefixes, each behind those that contain it.
        keys: The settings that a sheet can change.
        next: Always null: all are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[SheetFacts, ...]
    associations: tuple[AssociationFacts, ...]
    places: tuple[SheetPlace, ...]
    keys: tuple[str, ...]
    next: None
    as_of: str


class SheetsAtQuery(msgspec.Struct, frozen=True):
    """A URL.

    Attributes:
        u: It; without a scheme as in a seed list.
    """

    u: LineText = ""


class SheetsAtUrl(msgspec.Struct, frozen=True):
    """The sheets that apply to a URL.

    Attributes:
        url: As it would be requested.
        sheets: Their names, the strongest last.
        holds: What they say.
    """

    url: str
    sheets: tuple[str, ...]
    holds: tuple[HoldingValue, ...]


class SheetField(msgspec.Struct, frozen=True):
    """The editor of a setting for a place.

    Attributes:
        path: Its path.
        kind: Kind of the editor.
        type: Its type.
        doc: Its meaning.
        sample: A good value; "" if the default is one.
        value: The effective value, as the editor shows it.
        choices: The values that it may have, if only some are possible.
    """

    path: str
    kind: str
    type: str
    doc: str
    sample: str
    value: str
    choices: tuple[str, ...]


class PlaceRequest(msgspec.Struct, frozen=True):
    """A URL, and a setting to change there.

    Attributes:
        url: The URL; without a scheme as in a seed list.
        key: Path of the setting; "" for none.
    """

    url: LineText
    key: ShortText = ""


class SheetsAtPlace(SheetsAtUrl, frozen=True):
    """The sheets that apply to a URL, and the editor of a setting there.

    Attributes:
        field: The editor; null for none.
    """

    field: SheetField | None = None


class ValueRequest(msgspec.Struct, frozen=True):
    """A text of an editor.

    Attributes:
        key: Path of the setting.
        text: The text.
    """

    key: LineText
    text: Text


class SheetValue(msgspec.Struct, frozen=True):
    """The value that a text of an editor means."""

    value: Any


@reader_task("list-sheets")
def list_sheets(layout: Layout, _: NoRequest) -> SheetAnswer:
    """Read all sheets, their associations, and the prefixes as a tree.

    Raises:
        ConfigError: The settings have problems.
    """
    loaded = load_job(layout)
    settings = loaded.settings
    values = _values(settings)
    used = {name for association in settings.sheet_associations for name in association.sheets}
    sheets = (
        SheetFacts(
            name, name in STOCK and name not in settings.sheets,
            {path: _format_value(value) for path, value in of_sheet.items()}, name in used,
        )
        for name, of_sheet in values.items()
    )  # fmt: skip
    associations = (
        AssociationFacts(
            number, tuple(association.sheets), tuple(association.surts)[:_MOST_PREFIXES],
            association.surts_file,
            tuple(rule.label for rule in association.all_rules), association.order,
        )
        for number, association in enumerate(settings.sheet_associations)
    )  # fmt: skip
    keys = tuple(field.path for field in fields(JobSettings) if field.sheets)
    places = tuple(_places(loaded, values))
    as_of = iso(CLOCK.now())
    return SheetAnswer(tuple(sheets), tuple(associations), places, keys, None, as_of)


def _values(settings: JobSettings) -> dict[str, dict[str, object]]:
    """Return the settings of each sheet by path, with marks in place of secrets."""
    sheets = {**STOCK, **settings.sheets}
    return {name: masked(flat(tree, settings)) for name, tree in sheets.items()}


def _format_value(value: object) -> str:
    kind = "yaml" if isinstance(value, list | dict) else "text"
    return field_text(kind, value)


def _places(
    loaded: Loaded[JobSettings], values: Mapping[str, Mapping[str, Any]]
) -> Iterator[SheetPlace]:
    """The prefixes in the order of the tree, each with what its own sheets and those above say."""
    settings = loaded.settings
    named: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for association in settings.sheet_associations:
        for text in association.surts[:_MOST_PREFIXES]:
            prefix = implied_prefix(text.lstrip("+"))
            named.setdefault(prefix, []).extend(association.sheets)
            texts.setdefault(prefix, text)
    above: list[str] = []
    for prefix in sorted(named):
        while above and not prefix.startswith(above[-1]):
            above.pop()
        above.append(prefix)
        chain = [name for association in above for name in named[association]]
        holds = tuple(_holding(chain, values, loaded))
        yield SheetPlace(prefix, texts[prefix], len(above) - 1, tuple(named[prefix]), holds)


def _holding(
    names: Sequence[str], values: Mapping[str, Mapping[str, Any]], loaded: Loaded[JobSettings]
) -> Iterator[HoldingValue]:
    """The settings that sheets say, the strongest last, each with the sheets that it overrules."""
    holding: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        for path, value in values.get(name, {}).items():
            holding.setdefault(path, []).append((name, _format_value(value)))
    for path, assigned in sorted(holding.items()):
        *weaker, (name, value) = assigned
        overruled = tuple(OverruledValue(second, text) for second, text in weaker)
        own = loaded.is_given(f"sheets.{name}")
        origin = str(loaded.origin(f"sheets.{name}.{path}")) if own else ""
        elsewhere = field_text("text", plain(value_at(loaded.settings, path)), path)
        yield HoldingValue(path, value, name, overruled, origin, elsewhere)


@reader_task("sheets-at")
def sheets_at(layout: Layout, request: PlaceRequest) -> SheetsAtPlace:
    """Read the sheets that apply to a URL, the strongest last, and their settings.

    Raises:
        URIError: That is not a URL.
        ConfigError: The settings have problems, or there is no such setting for sheets.
    """
    url = parse_seed(request.url).url
    loaded = load_job(layout)
    settings = loaded.settings
    sheets = open_rules(settings, layout.root).sheets
    overlay = sheets.of_url(url)
    names = tuple(sheets.names(overlay))
    holds = tuple(_holding(names, _values(settings), loaded))
    field = _field(request.key, sheets.settings[overlay]) if request.key else None
    return SheetsAtPlace(url, names, holds, field)


def _facts_of(key: str) -> FieldFacts:
    """Return the facts about a setting that a sheet can change.

    Raises:
        ConfigError: There is none of this path.
    """
    for field in fields(JobSettings):
        if field.path == key and field.sheets:
            return field
    raise ConfigError(
        [Problem(key, message("console.no-sheet-setting", "no setting that a sheet can change"))]
    )


def _field(key: str, settings: JobSettings) -> SheetField:
    """Return the editor of a setting, with the effective value."""
    facts = _facts_of(key)
    kind = editor_of(facts)
    value: object = settings
    for part in key.split("."):
        value = getattr(value, part)
    choices = tuple(choices_of(type_at(JobSettings, key.split("."), None)))
    text = field_text(kind, plain(value), key)
    return SheetField(key, kind, typed(facts), facts.doc, facts.sample, text, choices)


@reader_task("sheet-value")
def sheet_value(_: Layout, request: ValueRequest) -> SheetValue:
    """Read the value that a text of an editor means.

    Raises:
        ConfigError: There is no such setting, or the text is not YAML.
    """
    return SheetValue(value_of(editor_of(_facts_of(request.key)), request.text))
