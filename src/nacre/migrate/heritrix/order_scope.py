"""Scopes of Heritrix 1 as rules: DecidingScope has them; the older ones say what they stand for.

An older scope accepts what its focus accepts within `max-link-hops` links, what accepted pages
embed within `max-trans-hops`, and refuses what its exclude-filter matches.
"""

from collections.abc import Callable
from typing import Any

from nacre.migrate.draft import Noted
from nacre.migrate.fate import mapped, to_check
from nacre.migrate.heritrix.beans import Bean, Setting
from nacre.migrate.heritrix.scope import RuleWriter, place_rules
from nacre.migrate.heritrix.seeds import read_file
from nacre.migrate.heritrix.work import Work, decide_all, decide_inside

OLD = {
    "BroadScope": {"rule": "accept"},
    "ClassicScope": {"rule": "accept"},
    "DomainScope": {"rule": "on-domains"},
    "HostScope": {"rule": "on-hosts"},
    "PathScope": {"rule": "surt-prefixed"},
    "SurtPrefixScope": {"rule": "surt-prefixed"},
}
"""Classes of old scopes, and the rule that is their focus."""

_END = ({"rule": "prerequisite-accept"}, {"rule": "seed-accept"}, {"rule": "scheme-not-in-set"})


def map_order_scope(work: Work, scope: Bean) -> None:
    """The scope of an order."""
    seeds = scope.settings.get("seedsfile")
    if seeds is not None:
        seeds.fate = read_file(work, seeds, seeds.text)
    scope.fate = mapped("scope")
    if scope.kind in OLD:
        work.draft.put("scope", _old_rules(work, scope), scope.place)
        return
    sequence = next(iter(work.beans.beans_in(scope.settings.get("decideRules"))), None)
    if sequence is None:
        scope.fate = to_check(f"no rules in {scope.kind}: the stock scope holds", "scope")
        return
    setting = sequence.settings.get("rules")
    beans = work.beans.beans_in(setting)
    rules = RuleWriter(work).rules(beans)
    place_rules(work, rules, beans)
    sequence.fate = mapped("scope")
    decide_all([one for one in sequence.settings.values() if one.fate is None], sequence.fate)
    work.draft.put("scope", rules, scope.place)


def _old_rules(work: Work, scope: Bean) -> list[Noted]:
    focus: dict[str, Any] = dict(OLD[scope.kind])
    file = scope.settings.get("surtsSourceFile")
    if file is not None and file.text:
        focus["files"] = [work.file(file, file.text)]
    if "seedsAsSurtPrefixes" in scope.settings:
        focus["seeds_as_prefixes"] = scope.is_true("seedsAsSurtPrefixes", default=True)
    rules = [
        Noted({"rule": "reject"}, {}),
        Noted(focus, {"rule": scope.place}),
        *_depth(scope, "maxLinkHops", "too-many-link-hops", "max_hops"),
        *_depth(scope, "maxTransHops", "transclusion", "max_trans_hops"),
        *_filters(work, scope),
        *(Noted(rule, {}) for rule in _END),
    ]
    used = ("surtsSourceFile", "seedsAsSurtPrefixes", "maxLinkHops", "maxTransHops")
    decide_all([scope.settings[name] for name in used if name in scope.settings], mapped("scope"))
    return rules


def _depth(scope: Bean, name: str, rule: str, ours: str) -> list[Noted]:
    setting = scope.settings.get(name)
    if setting is None or not setting.text.isdecimal():
        return []
    return [Noted({"rule": rule, ours: int(setting.text)}, {"rule": setting.place})]


def _filters(work: Work, scope: Bean) -> list[Noted]:
    """The exclude-filter; other filters are flagged."""
    found: list[Noted] = []
    for name, setting in scope.settings.items():
        if "Filter" not in name and "filters" not in name:
            continue
        for bean in work.beans.beans_in(setting):
            found += _filter(work, bean, setting) if name == "excludeFilter" else ()
            bean.fate = bean.fate or to_check(f"{name}: write a rule for it into scope", "scope")
            decide_all(bean.settings.values(), bean.fate)
    return found


def _filter(work: Work, bean: Bean, owner: Setting) -> list[Noted]:
    if bean.kind == "OrFilter":
        bean.fate = mapped("scope")
        inner = work.beans.beans_in(bean.settings.get("filters"))
        rules = [rule for one in inner for rule in _filter(work, one, owner)]
        decide_all(bean.settings.values(), mapped("scope"))
        return rules
    make = _FILTERS.get(bean.kind)
    said = make(bean) if make is not None else None
    if said is None:
        bean.fate = to_check("no rule of Nacre is like it: write one into scope", "scope")
        decide_inside(owner.value, bean.fate)
        return []
    bean.fate = mapped("scope")
    decide_all(bean.settings.values(), bean.fate)
    return [Noted({**said, "decision": "REJECT"}, {"rule": bean.place})]


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
