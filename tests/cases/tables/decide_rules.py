"""DecideRules one by one and in sequences: Heritrix's answers."""

from typing import Any

from pydantic import TypeAdapter

from nacre.errors import URIError
from nacre.scope.options import compile_scope
from nacre.scope.rule import Decision, Subject
from nacre.scope.rules import AnyRule
from nacre.scope.state import ScopeState
from nacre.uri.parse import parse
from tests.cases.table import Row, Table, json_lines

_RULE: TypeAdapter[AnyRule] = TypeAdapter(AnyRule)
_NAMES = {
    "maxHops": "max_hops",
    "maxTransHops": "max_trans_hops",
    "maxSpeculativeHops": "max_speculative_hops",
    "maxPathDepth": "max_path_depth",
    "maxRepetitions": "max_repetitions",
    "regexList": "regexes",
    "alsoCheckVia": "also_check_via",
    "schemes": "schemes",
    "decision": "decision",
}
_COERCED = {"OnHostsDecideRule": "host", "OnDomainsDecideRule": "domain"}
OFFERED = frozenset(
    (
        *("AcceptDecideRule", "RejectDecideRule", "SurtPrefixedDecideRule", "OnHostsDecideRule"),
        *("OnDomainsDecideRule", "TooManyHopsDecideRule", "TransclusionDecideRule"),
        *("MatchesListRegexDecideRule", "NotMatchesListRegexDecideRule"),
        *("MatchesRegexDecideRule", "NotMatchesRegexDecideRule", "PathologicalPathDecideRule"),
        *("TooManyPathSegmentsDecideRule", "PrerequisiteAcceptDecideRule"),
        *("SeedAcceptDecideRule", "SchemeNotInSetDecideRule"),
    )
)
"""Rules of which Nacre has the like; a Not-rule is the same one that speaks otherwise."""


def rules_of(row: Row) -> list[tuple[str, dict[str, Any]]]:
    """Name and configuration of each rule of a row."""
    if row["rule"] != "DecideRuleSequence":
        return [(row["rule"], row["config"])]
    return [(rule["rule"], rule.get("config", {})) for rule in row["config"]["rules"]]


def is_offered(row: Row) -> bool:
    return all(name in OFFERED for name, _ in rules_of(row))


def check(row: Row) -> str | None:
    if not is_offered(row):
        return "not offered"
    state = ScopeState()
    rules = [_rule(name, config, state) for name, config in rules_of(row)]
    uri = row["uri"]
    subject = Subject(_parsed(uri["url"]), uri.get("hops", ""), _parsed(uri.get("via", "")))
    answer = compile_scope(rules, state).decide(subject).decision
    return None if answer is Decision(row["expected"]) else f"{answer}"


def _parsed(url: str) -> str:
    try:
        return parse(url) if url else ""
    except URIError:
        return url


def _rule(name: str, config: dict[str, Any], state: ScopeState) -> AnyRule:
    values = {_NAMES[key]: value for key, value in config.items() if key in _NAMES}
    values["rule"] = name
    if "Regex" in name:
        values["rule"] = "matches-list-regex"
        values.setdefault("regexes", [config.get("regex", ".")])
        values["all"] = not config.get("listLogicalOr", True)
        values["negate"] = name.startswith("Not")
    elif name in {"SurtPrefixedDecideRule", *_COERCED}:
        values["rule"] = "surt-prefixed"
        values["coerce"] = _COERCED.get(name, "prefix")
        values["seeds_as_prefixes"] = "seeds" in config or name in _COERCED
        _fill(config, values, state, coerced=name in _COERCED)
    return _RULE.validate_python(values)


def _fill(config: dict[str, Any], values: dict[str, Any], state: ScopeState, *, coerced: bool):
    lines = [line.strip() for line in config.get("surtsText", "").split("\n")]
    prefixes = [line for line in lines if line and not line.startswith("#")]
    if coerced:
        # What Heritrix coerces of a list, Nacre coerces of seeds.
        for line in prefixes:
            state.add_seed(line.lstrip("+"))
    else:
        values["prefixes"] = prefixes
    for seed in config.get("seeds", ()):
        state.add_seed(seed)
    state.add_directives(config.get("nonseedLines", ()))


TABLE = Table("decide_rules", json_lines("decide_rules.jsonl"), check)
