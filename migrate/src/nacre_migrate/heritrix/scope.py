"""DecideRules of Heritrix in any nesting, as Nacre's rules with a comment on each.

DecidingScope of Heritrix 1 has such rules; the older scopes stand for some. An older scope accepts
what its focus accepts within `max-link-hops` links, what accepted pages embed within
`max-trans-hops`, and refuses what its exclude-filter matches.
"""

import re
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nacre.errors import NacreError
from nacre.scope.compile import find_misplaced
from nacre.scope.heritrix import equivalent, short_form
from nacre.scope.rules.stock import AnyRule
from nacre.scope.subject import RulePlace
from nacre_migrate.draft import CommentedMapping
from nacre_migrate.heritrix.beans import Bean, Ref, Setting, decide_all, decide_inside
from nacre_migrate.heritrix.seeds import read_file
from nacre_migrate.heritrix.work import WIRING, Migration
from nacre_migrate.report import defaulted, mapped, missing, to_check

_ADAPTER: TypeAdapter[AnyRule] = TypeAdapter(AnyRule)
_TEXTS = re.compile(r"(?i)regex|comment|expression|scriptSource|\Asurt(Prefixes|sSource)")
_OF_HERITRIX_1 = frozenset(("rebuildOnReconfig",))
_MAY_BE_EMPTY = frozenset(("surtsDumpFile", "surtsSourceFile", "comment"))
_NUMBER = re.compile(r"-?[0-9]{1,18}\Z")
_NO_SCRIPT = (
    "a script cannot run: write the rule as an expression into scope (see `nacre help docs`)"
)
_BEFORE = ("preselect", "runtime-limit", "quotas", "preconditions", "fetch-dns", "fetch-http")
_PLACES = {
    "scope": RulePlace.RECHECK,
    "sheet_associations": RulePlace.CANDIDATES,
    "chains.candidate.scope.gate": RulePlace.CANDIDATES,
    **{f"chains.fetch.{name}.gate": RulePlace.BEFORE_FETCH for name in _BEFORE},
    "fetch.midfetch": RulePlace.MID_FETCH,
    "chains.disposition.archive.gate": RulePlace.AFTER_FETCH,
    "chains.disposition.candidates.gate": RulePlace.DISPOSITION,
}
"""The places of rules, by the scope or chain that asks them."""

_MISSING = "the scope has no such rule: its decisions may differ"


class RuleWriter:
    """Writes rules.

    Args:
        work: The migration.
        target: Where they go in `crawl.yaml`, for the report.
    """

    def __init__(self, work: Migration, target: str = "scope") -> None:
        self._work = work
        self._beans = work.beans
        self._target = target
        self._place = _PLACES.get(target)
        self._names: set[str] = set()

    def rules(self, beans: list[Bean]) -> list[CommentedMapping]:
        """Rules in order, without those that Nacre does not have."""
        written = (self.rule(bean) for bean in beans)
        return [rule for rule in written if rule is not None]

    def rule(self, bean: Bean) -> CommentedMapping | None:
        """One rule; None when it cannot be had, which is flagged."""
        if not bean.active:
            self._work.advise(
                f"The rule {bean.kind} of {bean.file}:{bean.line} is left out of {self._target}, "
                "as you said."
            )
            return None
        if equivalent(bean.kind) is None:
            conversion = missing(f"Nacre has no rule {bean.kind}: {_MISSING}")
            bean.decide(conversion)
            decide_all(bean.settings.values(), conversion)
            self._work.advise(
                f"The rule {bean.kind} of {bean.file}:{bean.line} is left out of {self._target}."
            )
            return None
        if bean.kind == "ScriptedDecideRule":
            bean.decide_with_settings(to_check(_NO_SCRIPT, self._target))
            self._work.advise(f"{bean.place}: {_NO_SCRIPT}")
            return None
        values = self._values_of(bean)
        valid = self._valid_values(bean, values)
        if valid is None or self._is_misplaced(bean, valid):
            return None
        bean.decide(mapped(self._target))
        return self._with_notes(bean, valid)

    def _values_of(self, bean: Bean) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, setting in bean.settings.items():
            if setting.conversion is not None and setting.bean is bean:
                continue
            if name in _OF_HERITRIX_1 or (name in _MAY_BE_EMPTY and setting.value == ""):
                setting.decide(defaulted("it does nothing"))
                continue
            value = self._value(setting)
            if value is None:
                setting.decide_if_undecided(defaulted(WIRING))
                continue
            values[name] = value
            setting.decide_if_undecided(mapped(self._target))
        return values

    def _value(self, setting: Setting) -> object:
        """The value as a configuration of Nacre has it; None if it needs none."""
        if setting.name == "rules":
            return self.rules(self._beans.beans_in(setting))
        if setting.name in {"surtsSource", "surtsSourceFile"}:
            return self._source(setting)
        if setting.name == "lookup":
            return self._database(setting)
        if isinstance(setting.value, Ref) or setting.value is None:
            value = self._beans.resolved(setting.value)
            if value is None and isinstance(setting.value, Ref):
                setting.decide(to_check(f"there is no bean {setting.value.name}", self._target))
            return _plain(setting.name, value) if isinstance(value, list) else None
        return _plain(setting.name, setting.value)

    def _database(self, setting: Setting) -> object:
        """The file that a look-up of countries names, whatever its class."""
        database = self._beans.resolved(setting.value)
        texts = (
            [part.text for part in database.settings.values()] if isinstance(database, Bean) else []
        )
        setting.decide_with_parts(
            to_check("a MaxMind file is looked up, with `database` of the rule")
        )
        name = next((text for text in texts if text.endswith(".mmdb")), "")
        return self._work.file(setting, name) if name else None

    def _source(self, setting: Setting) -> object:
        """A ConfigString or ConfigFile with SURTs."""
        value = self._beans.resolved(setting.value)
        if not isinstance(value, Bean):
            name = setting.text
            return self._work.file(setting, name) if name else None
        decide_all(value.settings.values(), mapped(self._target))
        value.decide(mapped(self._target))
        if value.kind == "ConfigFile" or "path" in value.settings:
            name = value.text("path")
            return {"path": self._work.file(setting, name)} if name else None
        lines = (line.strip() for line in value.text("value").splitlines())
        return [line for line in lines if line and not line.startswith("#")]

    def _valid_values(self, bean: Bean, values: dict[str, Any]) -> dict[str, Any] | None:
        """What of it Nacre accepts; the rest is flagged."""
        problem = rule_problem(bean.kind, values)
        if not problem:
            return values
        valid: dict[str, Any] = {}
        for name, raw in values.items():
            several = isinstance(raw, list) and name != "rules"
            value = self._usable_items(bean, name, raw, valid) if several else raw
            problem = rule_problem(bean.kind, {**valid, name: value})
            if not problem:
                valid[name] = value
            else:
                bean.settings[name].decide(to_check(f"left out: {problem}", self._target))
        problem = rule_problem(bean.kind, valid)
        if not problem:
            return valid
        bean.decide(to_check(f"the rule is left out: {problem}", self._target))
        self._work.advise(
            f"The rule {bean.kind} of {bean.file}:{bean.line} is left out of {self._target}."
        )
        for name in valid:
            bean.settings[name].decide(bean.conversion)
        return None

    def _is_misplaced(self, bean: Bean, values: dict[str, Any]) -> bool:
        """Whether it needs facts that the place does not have: Heritrix's rule never matches."""
        if self._place is None:
            return False
        rule = _ADAPTER.validate_python(_shortened(bean.kind, values))
        for _, message in find_misplaced([rule], self._place):
            bean.decide_with_settings(
                to_check(f"left out, because it has no say there: {message}", self._target)
            )
            for name in values:
                bean.settings[name].decide(bean.conversion)
            return True
        return False

    def _usable_items(
        self, bean: Bean, name: str, values: list[Any], valid: dict[str, Any]
    ) -> list[Any]:
        """The elements of a list that Nacre accepts; the others are reported."""
        wrong = {
            place: problem
            for place, value in enumerate(values)
            if (problem := rule_problem(bean.kind, {**valid, name: [value]}))
        }
        for place, problem in wrong.items():
            self._work.advise(f"{bean.settings[name].place}: left out {values[place]!r}: {problem}")
        if wrong:
            note = f"left out {len(wrong)} of {len(values)}: {next(iter(wrong.values()))}"
            bean.settings[name].decide(to_check(note, self._target))
        return [value for place, value in enumerate(values) if place not in wrong]

    def _with_notes(self, bean: Bean, values: dict[str, Any]) -> CommentedMapping:
        short = _shortened(bean.kind, values)
        outer = CommentedMapping(short, {"rule": bean.place})
        inner = outer
        if short["rule"] == "not":
            inner = outer["of"] = CommentedMapping(short["of"], {"rule": bean.place})
        for name, value in values.items():
            for key in _shortened(bean.kind, {name: value}):
                if key in inner and key not in {"rule", "of"}:
                    inner.reasons[key] = bean.settings[name].place
        if bean.name and _is_plain_name(bean.name) and bean.name not in self._names:
            self._names.add(bean.name)
            outer["name"] = bean.name
        return outer


def is_open(work: Migration, rule: Bean) -> bool:
    """Whether it never rejects: it accepts everything, or is a list without a rule."""
    if not rule.active or not rule.is_true("enabled", default=True):
        return True
    if rule.kind == "DecideRuleSequence":
        inner = work.beans.beans_in(rule.settings.get("rules"))
        return all(is_open(work, inner_rule) for inner_rule in inner)
    return rule.kind == "AcceptDecideRule"


def place_rules(
    work: Migration, rules: list[CommentedMapping], beans: list[Bean], above: str = "scope"
) -> None:
    """Note where each rule is, so that sheets can speak of it."""
    by_line = {rule.reasons["rule"]: (place, rule) for place, rule in enumerate(rules)}
    for bean in beans:
        placed = by_line.get(bean.place)
        if placed is None:
            continue
        place, rule = placed
        path = f"{above}.{rule.get('name') or place}"
        work.rule_paths[bean] = f"{path}.of" if rule["rule"] == "not" else path
        if rule["rule"] == "sequence":
            inner = work.beans.beans_in(bean.settings.get("rules"))
            place_rules(work, rule.get("rules", []), inner, f"{path}.rules")


def rule_problem(kind: str, values: dict[str, Any]) -> str:
    """The problem with a rule; "" for none."""
    try:
        _ADAPTER.validate_python(_shortened(kind, values))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "extra_forbidden":
            return "the rule has no such setting here"
        return " ".join(str(first["msg"]).removeprefix("Value error, ").split())
    except (NacreError, TypeError, AttributeError) as error:
        return str(error)
    return ""


def setting_of_rule(kind: str, name: str, value: object) -> dict[str, Any]:
    """Nacre's name and value for one property of a rule, as a sheet has it."""
    short = _shortened(kind, {name: _plain(name, value)})
    short.pop("rule")
    return dict(short.pop("of", {}), **short) if "of" in short else short


def _shortened(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    renamed = {"database" if name == "lookup" else name: values[name] for name in values}
    short = short_form({"rule": kind, **renamed})
    if "surtsDumpFile" not in values:
        short.get("of", short).pop("dump_file", None)
    if short["rule"] == "not":
        short["of"] = dict(short["of"])
    return short


def _plain(name: str, value: object) -> object:
    if isinstance(value, list):
        return [item for part in value if (item := _plain(name, part)) not in ("", None)]
    if isinstance(value, dict):
        return {key: _plain(name, item) for key, item in value.items()}
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _TEXTS.search(name):
        return text
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    return int(text) if _NUMBER.match(text) else text


def _is_plain_name(name: str) -> bool:
    return (
        name.isascii() and name.replace("_", "").replace("-", "").isalnum() and not name.isdigit()
    )


OLD_SCOPES = {
    "BroadScope": {"rule": "accept"},
    "ClassicScope": {"rule": "accept"},
    "DomainScope": {"rule": "on-domains"},
    "HostScope": {"rule": "on-hosts"},
    "PathScope": {"rule": "surt-prefixed"},
    "SurtPrefixScope": {"rule": "surt-prefixed"},
}
"""Classes of old scopes, and the rule that is their focus."""

_END = ({"rule": "prerequisite-accept"}, {"rule": "seed-accept"}, {"rule": "scheme-not-in-set"})


def map_order_scope(work: Migration, scope: Bean) -> None:
    """The scope of an order."""
    seeds = scope.settings.get("seedsfile")
    if seeds is not None:
        seeds.decide(read_file(work, seeds, seeds.text))
    scope.decide(mapped("scope"))
    if scope.kind in OLD_SCOPES:
        work.draft.put("scope", _old_rules(work, scope), scope.place)
        return
    sequence = next(iter(work.beans.beans_in(scope.settings.get("decideRules"))), None)
    if sequence is None:
        scope.decide(to_check(f"no rules in {scope.kind}: the stock scope holds", "scope"))
        return
    setting = sequence.settings.get("rules")
    beans = work.beans.beans_in(setting)
    rules = RuleWriter(work).rules(beans)
    place_rules(work, rules, beans)
    undecided = [part for part in sequence.settings.values() if part.conversion is None]
    sequence.decide(mapped("scope"))
    decide_all(undecided, mapped("scope"))
    work.draft.put("scope", rules, scope.place)


def _old_rules(work: Migration, scope: Bean) -> list[CommentedMapping]:
    focus: dict[str, Any] = dict(OLD_SCOPES[scope.kind])
    file = scope.settings.get("surtsSourceFile")
    if file is not None and file.text:
        focus["files"] = [work.file(file, file.text)]
    if "seedsAsSurtPrefixes" in scope.settings:
        focus["seeds_as_prefixes"] = scope.is_true("seedsAsSurtPrefixes", default=True)
    rules = [
        CommentedMapping({"rule": "reject"}, {}),
        CommentedMapping(focus, {"rule": scope.place}),
        *_depth(scope, "maxLinkHops", "too-many-link-hops", "max_hops"),
        *_depth(scope, "maxTransHops", "transclusion", "max_trans_hops"),
        *_filters(work, scope),
        *(CommentedMapping(rule, {}) for rule in _END),
    ]
    used = ("surtsSourceFile", "seedsAsSurtPrefixes", "maxLinkHops", "maxTransHops")
    decide_all([scope.settings[name] for name in used if name in scope.settings], mapped("scope"))
    return rules


def _depth(scope: Bean, name: str, rule: str, setting_name: str) -> list[CommentedMapping]:
    setting = scope.settings.get(name)
    if setting is None or not setting.text.isdecimal():
        return []
    return [
        CommentedMapping({"rule": rule, setting_name: int(setting.text)}, {"rule": setting.place})
    ]


def _filters(work: Migration, scope: Bean) -> list[CommentedMapping]:
    """The exclude-filter; other filters are flagged."""
    rules: list[CommentedMapping] = []
    for name, setting in scope.settings.items():
        if "Filter" not in name and "filters" not in name:
            continue
        for bean in work.beans.beans_in(setting):
            rules += _filter(work, bean, setting) if name == "excludeFilter" else ()
            by_hand = to_check(f"{name}: write a rule for it into scope", "scope")
            bean.decide_with_settings(bean.conversion or by_hand)
    return rules


def _filter(work: Migration, bean: Bean, owner: Setting) -> list[CommentedMapping]:
    if bean.kind == "OrFilter":
        bean.decide(mapped("scope"))
        inner = work.beans.beans_in(bean.settings.get("filters"))
        rules = [rule for inner_bean in inner for rule in _filter(work, inner_bean, owner)]
        decide_all(bean.settings.values(), mapped("scope"))
        return rules
    make = _FILTERS.get(bean.kind)
    mapping = make(bean) if make is not None else None
    if mapping is None:
        conversion = to_check("no rule of Nacre is like it: write one into scope", "scope")
        bean.decide(conversion)
        decide_inside(owner.value, conversion)
        return []
    bean.decide_with_settings(mapped("scope"))
    return [CommentedMapping({**mapping, "decision": "REJECT"}, {"rule": bean.place})]


def _path_depth(bean: Bean) -> dict[str, Any] | None:
    return _limited("too-many-path-segments", "max_path_depth", bean.text("maxPathDepth", "20"))


def _pathological(bean: Bean) -> dict[str, Any] | None:
    number = bean.text("repetitions") or bean.text("maxRepetitions", "3")
    return _limited("pathological-path", "max_repetitions", number)


def _limited(rule: str, name: str, text: str) -> dict[str, Any] | None:
    return {"rule": rule, name: int(text)} if text.isdecimal() else None


def _regex(bean: Bean) -> dict[str, Any] | None:
    text = bean.text("regex")
    if bean.is_true("ifMatchReturn", default=True):
        return {"rule": "matches-regex", "regex": text}
    return {"rule": "not", "of": {"rule": "matches-regex", "regex": text}}


_FILTERS: dict[str, Callable[[Bean], dict[str, Any] | None]] = {
    "PathDepthFilter": _path_depth,
    "PathologicalPathFilter": _pathological,
    "URIRegexFilter": _regex,
}
