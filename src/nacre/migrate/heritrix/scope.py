"""DecideRules of Heritrix in any nesting, as Nacre's rules with a comment on each."""

import re
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nacre.errors import NacreError
from nacre.migrate.draft import Noted
from nacre.migrate.fate import defaulted, mapped, missing, to_check
from nacre.migrate.heritrix.beans import Bean, Ref, Setting
from nacre.migrate.heritrix.work import WIRING, Work, decide_all, decide_inside
from nacre.scope.compile import misplaced
from nacre.scope.heritrix import equivalent, short_form
from nacre.scope.rules import AnyRule
from nacre.scope.subject import Place

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
    "scope": Place.RECHECK,
    "sheet_associations": Place.CANDIDATES,
    "chains.candidate.scope.gate": Place.CANDIDATES,
    **{f"chains.fetch.{name}.gate": Place.BEFORE_FETCH for name in _BEFORE},
    "fetch.midfetch": Place.MID_FETCH,
    "chains.disposition.archive.gate": Place.AFTER_FETCH,
    "chains.disposition.candidates.gate": Place.DISPOSITION,
}
"""Where rules are asked, by what they go to."""

_MISSING = "the scope has no such rule: its decisions may differ"


class RuleWriter:
    """Writes rules.

    Args:
        work: The migration.
        target: Where they go in `crawl.yaml`, for the report.
    """

    def __init__(self, work: Work, target: str = "scope") -> None:
        self._work = work
        self._target = target
        self._place = _PLACES.get(target)
        self._names: set[str] = set()

    def rules(self, beans: list[Bean]) -> list[Noted]:
        """Rules in order, without those that Nacre does not have."""
        found = (self.rule(bean) for bean in beans)
        return [rule for rule in found if rule is not None]

    def rule(self, bean: Bean) -> Noted | None:
        """One rule; None when it cannot be had, which is flagged."""
        if not bean.active:
            self._work.report.advice.append(
                f"The rule {bean.kind} of {bean.file}:{bean.line} is left out of {self._target}, "
                "as you said."
            )
            return None
        if equivalent(bean.kind) is None:
            fate = missing(f"Nacre has no rule {bean.kind}: {_MISSING}")
            bean.fate = fate
            decide_all(bean.settings.values(), fate)
            self._work.report.advice.append(
                f"The rule {bean.kind} of {bean.file}:{bean.line} is left out of {self._target}."
            )
            return None
        if bean.kind == "ScriptedDecideRule":
            bean.fate = to_check(_NO_SCRIPT, self._target)
            decide_all(bean.settings.values(), bean.fate)
            self._work.report.advice.append(f"{bean.place}: {_NO_SCRIPT}")
            return None
        said = self._said(bean)
        kept = self._valid(bean, said)
        if kept is None or self._is_misplaced(bean, kept):
            return None
        bean.fate = mapped(self._target)
        return self._noted(bean, kept)

    def _said(self, bean: Bean) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, setting in bean.settings.items():
            if setting.fate is not None and setting.bean is bean:
                continue
            if name in _OF_HERITRIX_1 or (name in _MAY_BE_EMPTY and setting.value == ""):
                setting.fate = defaulted("it does nothing")
                continue
            value = self._value(setting)
            if value is None:
                setting.fate = setting.fate or defaulted(WIRING)
                continue
            found[name] = value
            setting.fate = setting.fate or mapped(self._target)
        return found

    def _value(self, setting: Setting) -> object:
        """The value as a configuration of Nacre has it; None where there is none to say."""
        beans = self._work.beans
        if setting.name == "rules":
            return self.rules(beans.beans_in(setting))
        if setting.name in {"surtsSource", "surtsSourceFile"}:
            return self._source(setting)
        if setting.name == "lookup":
            return self._database(setting)
        if isinstance(setting.value, Ref) or setting.value is None:
            value = beans.resolved(setting.value)
            if value is None and isinstance(setting.value, Ref):
                setting.fate = to_check(f"there is no bean {setting.value.name}", self._target)
            return _plain(setting.name, value) if isinstance(value, list) else None
        return _plain(setting.name, setting.value)

    def _database(self, setting: Setting) -> object:
        """The file that a look-up of countries names, whatever its class."""
        found = self._work.beans.resolved(setting.value)
        texts = [one.text for one in found.settings.values()] if isinstance(found, Bean) else []
        setting.fate = to_check("a MaxMind file is looked up, with `database` of the rule")
        decide_inside(setting.value, setting.fate)
        name = next((text for text in texts if text.endswith(".mmdb")), "")
        return self._work.file(setting, name) if name else None

    def _source(self, setting: Setting) -> object:
        """A ConfigString or ConfigFile with SURTs."""
        value = self._work.beans.resolved(setting.value)
        if not isinstance(value, Bean):
            name = setting.text
            return self._work.file(setting, name) if name else None
        decide_all(value.settings.values(), mapped(self._target))
        value.fate = mapped(self._target)
        if value.kind == "ConfigFile" or "path" in value.settings:
            name = value.text("path")
            return {"path": self._work.file(setting, name)} if name else None
        lines = (line.strip() for line in value.text("value").splitlines())
        return [line for line in lines if line and not line.startswith("#")]

    def _valid(self, bean: Bean, said: dict[str, Any]) -> dict[str, Any] | None:
        """What of it Nacre accepts; the rest is flagged."""
        problem = rule_problem(bean.kind, said)
        if not problem:
            return said
        kept: dict[str, Any] = {}
        for name, given in said.items():
            several = isinstance(given, list) and name != "rules"
            value = self._usable(bean, name, given, kept) if several else given
            problem = rule_problem(bean.kind, {**kept, name: value})
            if not problem:
                kept[name] = value
            else:
                bean.settings[name].fate = to_check(f"left out: {problem}", self._target)
        problem = rule_problem(bean.kind, kept)
        if not problem:
            return kept
        bean.fate = to_check(f"the rule is left out: {problem}", self._target)
        self._work.report.advice.append(
            f"The rule {bean.kind} of {bean.file}:{bean.line} is left out of {self._target}."
        )
        for name in kept:
            bean.settings[name].fate = bean.fate
        return None

    def _is_misplaced(self, bean: Bean, said: dict[str, Any]) -> bool:
        """Whether it asks for what is not known there, so that Heritrix's never speaks either."""
        if self._place is None:
            return False
        rule = _ADAPTER.validate_python(_shortened(bean.kind, said))
        for _, message in misplaced([rule], self._place):
            bean.fate = to_check(f"left out, because it has no say there: {message}", self._target)
            decide_all(bean.settings.values(), bean.fate)
            for name in said:
                bean.settings[name].fate = bean.fate
            return True
        return False

    def _usable(self, bean: Bean, name: str, values: list[Any], kept: dict[str, Any]) -> list[Any]:
        """The elements of a list that Nacre accepts; the others are told."""
        wrong = {
            place: problem
            for place, value in enumerate(values)
            if (problem := rule_problem(bean.kind, {**kept, name: [value]}))
        }
        for place, problem in wrong.items():
            self._work.report.advice.append(
                f"{bean.settings[name].place}: left out {values[place]!r}: {problem}"
            )
        if wrong:
            note = f"left out {len(wrong)} of {len(values)}: {next(iter(wrong.values()))}"
            bean.settings[name].fate = to_check(note, self._target)
        return [value for place, value in enumerate(values) if place not in wrong]

    def _noted(self, bean: Bean, said: dict[str, Any]) -> Noted:
        short = _shortened(bean.kind, said)
        outer = Noted(short, {"rule": bean.place})
        inner = outer
        if short["rule"] == "not":
            inner = outer["of"] = Noted(short["of"], {"rule": bean.place})
        for name, value in said.items():
            for key in _shortened(bean.kind, {name: value}):
                if key in inner and key not in {"rule", "of"}:
                    inner.reasons[key] = bean.settings[name].place
        if bean.name and _named(bean.name) and bean.name not in self._names:
            self._names.add(bean.name)
            outer["name"] = bean.name
        return outer


def is_open(work: Work, rule: Bean) -> bool:
    """Whether it never says REJECT: it accepts everything, or is a list without a rule."""
    if not rule.active or not rule.is_true("enabled", default=True):
        return True
    if rule.kind == "DecideRuleSequence":
        inner = work.beans.beans_in(rule.settings.get("rules"))
        return all(is_open(work, one) for one in inner)
    return rule.kind == "AcceptDecideRule"


def place_rules(work: Work, rules: list[Noted], beans: list[Bean], above: str = "scope") -> None:
    """Note where each rule is, so that sheets can speak of it."""
    by_line = {rule.reasons["rule"]: (place, rule) for place, rule in enumerate(rules)}
    for bean in beans:
        found = by_line.get(bean.place)
        if found is None:
            continue
        place, rule = found
        path = f"{above}.{rule.get('name') or place}"
        work.rule_paths[bean] = f"{path}.of" if rule["rule"] == "not" else path
        if rule["rule"] == "sequence":
            inner = work.beans.beans_in(bean.settings.get("rules"))
            place_rules(work, rule.get("rules", []), inner, f"{path}.rules")


def rule_problem(kind: str, said: dict[str, Any]) -> str:
    """What Nacre has against a rule; "" for nothing."""
    try:
        _ADAPTER.validate_python(_shortened(kind, said))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "extra_forbidden":
            return "the rule has no such setting here"
        return " ".join(str(first["msg"]).removeprefix("Value error, ").split())
    except (NacreError, TypeError, AttributeError) as error:
        return str(error)
    return ""


def setting_of_rule(kind: str, name: str, value: object) -> dict[str, Any]:
    """Nacre's name and value for one property of a rule, as a sheet says it."""
    short = _shortened(kind, {name: _plain(name, value)})
    short.pop("rule")
    return dict(short.pop("of", {}), **short) if "of" in short else short


def _shortened(kind: str, said: dict[str, Any]) -> dict[str, Any]:
    known = {"database" if name == "lookup" else name: said[name] for name in said}
    short = short_form({"rule": kind, **known})
    if "surtsDumpFile" not in said:
        short.get("of", short).pop("dump_file", None)
    if short["rule"] == "not":
        short["of"] = dict(short["of"])
    return short


def _plain(name: str, value: object) -> object:
    if isinstance(value, list):
        return [item for one in value if (item := _plain(name, one)) not in ("", None)]
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


def _named(name: str) -> bool:
    return (
        name.isascii() and name.replace("_", "").replace("-", "").isalnum() and not name.isdigit()
    )
