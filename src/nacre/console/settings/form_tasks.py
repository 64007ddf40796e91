"""The search of settings and rules: by name, meaning, and words of people for them (pure).

Meanings are searched in the language of the page, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from nacre.config.check import Loaded
from nacre.config.facts import FieldFacts, choices_of, fields, required, type_at, value_at
from nacre.config.findings import typed
from nacre.config.layer import Layer, SettingOrigin, put
from nacre.core.message_data import to_json
from nacre.editing.cards import (
    card_lists,
    changed_text,
    editor_of,
    field_text,
    read_change,
    value_of,
)
from nacre.editing.places import heritrix_of
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.settings_change import SettingsEditor, why_fixed
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.settings_file import read_version
from nacre.settings.amend import REMOVED, Edit, amended
from nacre.settings.load import examine_job
from nacre.settings.settings import JobSettings
from nacre.web.languages import language as language_of

_WORDS: Final[Mapping[str, str]] = {
    "max_hops": "depth deep levels layers clicks 深度 层级 层数 跳数",
    "regexes": "exclude exclusion block filter 排除 屏蔽 过滤",
    "delay": "speed interval pause wait seconds requests 间隔 速度 等待",
    "min_delay": "speed interval pause wait seconds requests 间隔 速度 等待",
    "in_flight": "parallel connections per host 并发 并行 同时",
    "parallel": "threads workers toes slots 线程 并发 并行 同时",
    "documents": "limit maximum pages 上限 页数 限制",
    "bytes": "limit maximum size 上限 大小 限制",
    "time": "limit maximum duration 上限 时长 限制",
    "policy": "robots.txt obey ignore 遵守 忽略",
}
"""Words of people for a setting, by the last part of its name."""
_COMMON: Final = frozenset(("comment", "name", "decision", "negate"))
"""Fields of every card."""


class SettingSearch:
    """A search for settings: the text that the user typed, and their language.

    Args:
        text: The text; "" finds nothing.
        translate: Translates an English text into the language of the user.
    """

    def __init__(self, text: str, translate: Callable[[str], str]) -> None:
        self._words = text.lower().split()
        self._translate = translate

    def finds(self, name: str, doc: str, *more: str) -> bool:
        """Whether a setting matches the search.

        Args:
            name: Its name or path.
            doc: Its meaning, in English.
            more: Its other names.
        """
        return self.names(name, doc, self._translate(doc) if doc else "", *more)

    def names(self, name: str, *more: str) -> bool:
        """Whether each word is in the name of a setting, a word of people for it, or more texts."""
        return self._is_in(name, _WORDS.get(name.rpartition(".")[2], ""), *more)

    def _is_in(self, *texts: str) -> bool:
        text = "\n".join(texts).lower()
        return bool(self._words) and all(word in text for word in self._words)

    def in_cards(self, lists: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The lists of rules with the cards that are meant, those without one left out.

        Args:
            lists: As `cards.card_lists` has them.
        """
        matching = []
        for card_list in lists:
            cards = [card for card in card_list["cards"] if self._is_meant(card)]
            if cards:
                matching.append({**card_list, "cards": cards})
        return matching

    def _is_meant(self, card: Mapping[str, Any]) -> bool:
        if self.finds(str(card["label"]), str(card["doc"]), str(card["kind"])):
            return True
        return any(self.finds(field["name"], field["doc"]) for field in _fields_of(card))

    def first_field(self, lists: Iterable[Mapping[str, Any]]) -> str:
        """The first card with a field that is meant by its name, as `LIST NUMBER`; "" for none."""
        for card_list in lists:
            for card in card_list["cards"]:
                if any(self.names(field["name"]) for field in _fields_of(card)):
                    return f"{card_list['path']} {card['number']}"
        return ""


def _fields_of(card: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """The fields of a card without those that all cards have."""
    return (field for field in card["fields"] if field["name"] not in _COMMON)


Arguments = Mapping[str, Any]

COMMON: Final = frozenset(
    (
        "name", "fetch.contact", "fetch.user_agent", "politeness.delay_factor",
        "politeness.min_delay", "politeness.max_delay", "politeness.delay", "politeness.in_flight",
        "engine.parallel", "frontier.max_retries", "robots.policy", "limits.documents",
        "limits.bytes", "limits.time", "archive.prefix", "archive.operator",
        "archive.description", "archive.max_file_size", "network.allow", "disk.reserve",
        "extract.max_outlinks", "recrawl.schedule.kind", "alerts.webhook.url",
    )
)  # fmt: skip
"""Settings that are often changed; the form shows them first."""
_ELSEWHERE: Final = frozenset(("scope", "chains", "sheets", "sheet_associations"))


def form_fields(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """The fields of the form.

    Args:
        layout: The job.
        arguments: `section`: all of this section, "" for the common ones; `search`: those that
            have this text in name, meaning or Heritrix's name, "" for no search; `spoken`: the
            language of the page, "" for English.

    Returns:
        What `fields_shown` returns, `lists` (of rules: those without a section, or with the cards
        that a search finds), `opened` (the first card with a field that it finds) and `etag`.
    """
    loaded, problems = examine_job(layout)
    if loaded is None:
        return {"problems": [problem._asdict() for problem in problems]}
    section, search = str(arguments["section"]), str(arguments["search"])
    language = str(arguments.get("spoken", ""))
    lists = card_lists(loaded) if search or not section else []
    opened = ""
    if search:
        setting_search = searching(search, language)
        lists = setting_search.in_cards(lists)
        opened = setting_search.first_field(lists)
    return {
        **fields_shown(loaded, layout.config.name, section, search, language=language),
        "lists": lists,
        "opened": opened,
        "etag": read_version(layout).etag,
        "problems": [],
    }


def fields_shown(
    loaded: Loaded[JobSettings] | None,
    own: str,
    section: str,
    search: str,
    *paths: str,
    language: str = "",
) -> dict[str, Any]:
    """The settings of a section, or those that a search finds, as fields.

    Args:
        loaded: The settings whose values they show; None for the defaults.
        own: Name of the file that can be changed; "" for none.
        section: All of this section; "" for the common ones.
        search: Those that have this text in name, meaning or Heritrix's name; "" for no search.
        paths: Settings that are shown too, before the others.
        language: The language in which meanings are searched, too; "" for English alone.

    Returns:
        `fields`, the names of all `sections`, and `total`, the number of all settings.
    """
    all_fields = [
        field for field in fields(JobSettings) if field.path.partition(".")[0] not in _ELSEWHERE
    ]
    selected, setting_search = (
        [setting for setting in all_fields if setting.path in paths],
        searching(search, language),
    )
    selected += [
        setting for setting in all_fields
        if setting.path not in paths
        and (_fits(setting, setting_search) if search else _is_in(setting, section))
    ]  # fmt: skip
    return {
        "fields": [_field(loaded, own, setting) for setting in selected],
        "sections": list(dict.fromkeys(_section(setting.path) for setting in all_fields)),
        "total": len(all_fields),
    }


def _section(path: str) -> str:
    return path.partition(".")[0] if "." in path else "job"


def _is_in(facts: FieldFacts, section: str) -> bool:
    return facts.path in COMMON if not section else _section(facts.path) == section


def _fits(facts: FieldFacts, search: SettingSearch) -> bool:
    return search.finds(facts.path, facts.doc, *heritrix_of(facts.path))


def searching(text: str, language: str) -> SettingSearch:
    """A search of settings.

    Args:
        text: What was typed.
        language: The language of the page; "" for English.
    """
    return SettingSearch(text, language_of(language).text)


def _field(loaded: Loaded[JobSettings] | None, own: str, facts: FieldFacts) -> dict[str, Any]:
    kind = editor_of(facts)
    origin = loaded.origin(facts.path) if loaded else SettingOrigin("default")
    is_own = origin.source == "file" and origin.file == own
    settings = loaded.settings if loaded else JobSettings()
    return {
        "path": facts.path, "section": _section(facts.path), "kind": kind, "type": typed(facts),
        "unit": facts.unit, "value": field_text(kind, value_at(settings, facts.path), facts.path),
        "default": "" if required(facts) else field_text(kind, facts.default, facts.path),
        "origin": str(origin), "own": is_own, "given": origin.source != "default",
        "doc": facts.doc, "live": facts.live, "sheets": facts.sheets, "sample": facts.sample,
        "why": "" if facts.live else why_fixed(facts.path),
        "choices": list(choices_of(type_at(JobSettings, facts.path.split("."), None))),
        "heritrix": list(heritrix_of(facts.path)),
    }  # fmt: skip


def form_change(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """The assignments that values of a form mean, for a running job.

    Args:
        layout: The job.
        arguments: `values`: texts by path.
    """
    values = _values(arguments["values"])
    lines = [f"{path}={to_json(value).decode()}" for path, value in values]
    return {"etag": read_version(layout).etag, "assignments": lines}


def form_values(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """The settings that values of a form mean, nested as in `crawl.yaml`.

    Args:
        _: Where the job would be.
        arguments: `values`: texts by path.

    Returns:
        `settings`.

    Raises:
        ConfigError: A value is wrong, or there is no such setting; with every problem.
    """
    layer = Layer("option", {})
    for path, value in _values(arguments["values"]):
        put(layer, path, value, SettingOrigin("option"))
    return {"settings": layer.tree}


def _values(texts: Mapping[str, str]) -> list[tuple[str, Any]]:
    by_path = {field.path: field for field in fields(JobSettings)}
    values, problems = [], []
    for path, text in texts.items():
        facts = by_path.get(path)
        if facts is None:
            problems.append(Problem(path, message("console.no-setting", "no such setting")))
            continue
        try:
            values.append((path, value_of(editor_of(facts), text)))
        except ConfigError as error:
            problems += [problem._replace(path=path, line=0, file="") for problem in error.problems]
    if problems:
        raise ConfigError(problems)
    return values


def form_text(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """The text of the file with the values of a form; comments and order stay.

    Args:
        layout: The job.
        arguments: `values`: texts by path; `resets`: paths that go back to their defaults; `card`:
            a change of a list of rules as `editing.cards.CardChange` has it, such as `scope 3 up`,
            "" for none, with `said`, `card_kind` and `fields`.

    Raises:
        ConfigError: A value is wrong; with every problem.
        JobError: The file cannot be changed in part.
    """
    loaded, _ = examine_job(layout)
    if loaded is None:
        raise JobError(
            message("console.file-not-yaml", "the file cannot be read: correct it as YAML first")
        )
    version = read_version(layout)
    text = version.text
    editor = SettingsEditor(loaded.settings, layout.root, running=False)
    problems: list[Problem] = []
    for path, value in _values(arguments["values"]):
        try:
            editor.put(path, value)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    edits = list(editor.finish().edits)
    edits += [Edit(tuple(path.split(".")), REMOVED) for path in arguments["resets"]]
    if edits:
        text = amended(text, edits)
    card = str(arguments.get("card", ""))
    if card:
        change = read_change(
            card, str(arguments.get("said", "")), str(arguments.get("card_kind", "")),
            arguments.get("fields", {}),
        )  # fmt: skip
        text = changed_text(text, loaded, change)
    return {"text": text, "etag": version.etag}
