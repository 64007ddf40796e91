"""Tasks of reader processes about sheets: where each applies, and what holds for a URL."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nacre.config.check import Loaded
from nacre.config.facts import choices_of, fields, type_at, value_at
from nacre.config.findings import typed
from nacre.config.secret import masked
from nacre.config.sheet import flat
from nacre.console.readers.editors import editor_of, field_text, value_of
from nacre.engine.candidates.scope_state import RuleFiles, scope_state
from nacre.engine.seeding.seeds import parse_seed
from nacre.errors import ConfigError, Problem
from nacre.job.settings_change import plain
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import STOCK, make_sheets, sheet_list
from nacre.store.layout import Layout
from nacre.uri.surt import implied_prefix

Arguments = Mapping[str, Any]
_MOST_PREFIXES = 2_000


def list_sheets(layout: Layout, _: Arguments) -> dict[str, Any]:
    """All sheets, their associations, and the prefixes as a tree.

    Raises:
        ConfigError: The settings have problems.
    """
    loaded = load_job(layout)
    settings = loaded.settings
    every = {**STOCK, **settings.sheets}
    values = {name: masked(flat(tree, settings)) for name, tree in every.items()}
    return {
        "sheets": [
            {
                "name": name,
                "shipped": name in STOCK and name not in settings.sheets,
                "values": {path: _shown(value) for path, value in said.items()},
                "used": any(
                    name in association.sheets for association in settings.sheet_associations
                ),
            }
            for name, said in values.items()
        ],
        "associations": [
            {
                "number": number,
                "sheets": list(one.sheets),
                "surts": list(one.surts)[:_MOST_PREFIXES],
                "file": one.surts_file,
                "rules": [rule.label for rule in one.all_rules],
                "order": one.order,
            }
            for number, one in enumerate(settings.sheet_associations)
        ],
        "places": _places(loaded, values),
        "keys": [field.path for field in fields(JobSettings) if field.sheets],
    }


def _shown(value: object) -> str:
    kind = "yaml" if isinstance(value, list | dict) else "text"
    return field_text(kind, value)


def _places(
    loaded: Loaded[JobSettings], values: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:  # fmt: skip
    """The prefixes in the order of the tree, each with what its own sheets and those above say."""
    settings = loaded.settings
    named: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for one in settings.sheet_associations:
        for text in one.surts[:_MOST_PREFIXES]:
            prefix = implied_prefix(text.lstrip("+"))
            named.setdefault(prefix, []).extend(one.sheets)
            texts.setdefault(prefix, text)
    found: list[dict[str, Any]] = []
    above: list[str] = []
    for prefix in sorted(named):
        while above and not prefix.startswith(above[-1]):
            above.pop()
        above.append(prefix)
        chain = [name for one in above for name in named[one]]
        found.append(
            {
                "prefix": prefix,
                "text": texts[prefix],
                "depth": len(above) - 1,
                "sheets": named[prefix],
                "holds": list(_holding(chain, values, loaded)),
            }
        )
    return found


def _holding(
    names: Sequence[str], values: Mapping[str, Mapping[str, Any]], loaded: Loaded[JobSettings]
) -> Iterator[dict[str, Any]]:
    """The settings that sheets say, the strongest last, each with the sheets that it overrules."""
    said: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        for path, value in values.get(name, {}).items():
            said.setdefault(path, []).append((name, _shown(value)))
    for path, given in sorted(said.items()):
        *weaker, (name, value) = given
        overruled = [{"sheet": other, "value": text} for other, text in weaker]
        own = loaded.is_given(f"sheets.{name}")
        origin = str(loaded.origin(f"sheets.{name}.{path}")) if own else ""
        yield {
            "path": path, "value": value, "sheet": name, "overruled": overruled, "origin": origin,
            "plain": field_text("text", plain(value_at(loaded.settings, path)), path),
        }  # fmt: skip


def sheets_at(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """The sheets that apply to a URL, the strongest last, and what they say.

    Args:
        layout: The job.
        arguments: `url`; `key`: a setting whose editor is wanted, "" for none.

    Raises:
        URIError: That is not a URL.
        ConfigError: The settings have problems, or there is no such setting for sheets.
    """
    url = parse_seed(str(arguments["url"])).url
    loaded = load_job(layout)
    settings = loaded.settings
    found = sheet_list(settings, layout.root)
    sheets = make_sheets(settings, found, scope_state(layout.root, RuleFiles(layout.root)))
    overlay = sheets.of_url(url)
    names = sheets.names(overlay)
    every = {**STOCK, **settings.sheets}
    values = {name: masked(flat(tree, settings)) for name, tree in every.items()}
    said: dict[str, Any] = {
        "url": url,
        "sheets": list(names),
        "holds": list(_holding(names, values, loaded)),
    }
    key = str(arguments.get("key", ""))
    if key:
        said["field"] = _field(key, sheets.settings[overlay])
    return said


def _field(key: str, settings: JobSettings) -> dict[str, Any]:
    """The editor of a setting, with the value that holds."""
    facts = next(
        (field for field in fields(JobSettings) if field.path == key and field.sheets), None
    )
    if facts is None:
        raise ConfigError([Problem(key, "no setting that a sheet can change")])
    kind = editor_of(facts)
    value: object = settings
    for part in key.split("."):
        value = getattr(value, part)
    return {
        "path": key, "kind": kind, "type": typed(facts), "doc": facts.doc, "sample": facts.sample,
        "value": field_text(kind, plain(value), key),
        "choices": list(choices_of(type_at(JobSettings, key.split("."), None))),
    }  # fmt: skip


def sheet_value(_: Layout, arguments: Arguments) -> Any:  # noqa: ANN401 - YAML
    """The value that a text of an editor means: `key`, `text`.

    Raises:
        ConfigError: There is no such setting, or the text is not YAML.
    """
    key = str(arguments["key"])
    facts = next(
        (field for field in fields(JobSettings) if field.path == key and field.sheets), None
    )
    if facts is None:
        raise ConfigError([Problem(key, "no setting that a sheet can change")])
    return value_of(editor_of(facts), str(arguments["text"]))
