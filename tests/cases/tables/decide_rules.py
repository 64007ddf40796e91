"""DecideRules one by one and in sequences: Heritrix's answers."""

from typing import Any

from pydantic import TypeAdapter

from nacre.errors import URIError
from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import AnyRule
from nacre.scope.scope import Decision
from nacre.scope.state import ScopeState
from nacre.scope.subject import Facts, Need, Subject
from nacre.uri.parse import parse
from tests.cases.table import Answer, Row, Table, json_lines

_RULE: TypeAdapter[AnyRule] = TypeAdapter(AnyRule)
_ALL = Need.ADDRESS | Need.HEADERS | Need.RESPONSE | Need.DIGEST
_OF_THE_JOB = frozenset(("seeds", "nonseedLines", "surtsText", "rules"))


def rules_of(row: Row) -> list[tuple[str, dict[str, Any]]]:
    """Name and configuration of each rule of a row."""
    if row["rule"] != "DecideRuleSequence":
        return [(row["rule"], row["config"])]
    return [(rule["rule"], rule.get("config", {})) for rule in row["config"]["rules"]]


def check(row: Row) -> Answer:
    """The answer is the decision: ACCEPT, REJECT or NONE."""
    state = ScopeState()
    rules = [_rule(name, config, state) for name, config in rules_of(row)]
    uri = row["uri"]
    subject = Subject(
        _parsed(uri["url"]),
        uri.get("hops", ""),
        _parsed(uri.get("via", "")),
        is_seed=bool(uri.get("seed", uri.get("is_seed", False))),
        source=uri.get("source_tag", ""),
        facts=Facts(
            address=uri.get("server_ip", ""),
            status=uri.get("status", 0),
            content_type=uri.get("content_type", "unknown"),
        ),
    )
    answer = compile_scope(rules, state, _ALL).decide(subject).decision
    return None if answer is Decision(row["expected"]) else str(answer)


def _parsed(url: str) -> str:
    try:
        return parse(url) if url else ""
    except URIError:
        return url


def _rule(name: str, config: dict[str, Any], state: ScopeState) -> AnyRule:
    """The rule under Heritrix's names; its seeds and lines go where a job has them."""
    said = {key: value for key, value in config.items() if key not in _OF_THE_JOB}
    if "surtsText" in config:
        said["surtsSource"] = config["surtsText"]
    if "surtsText" in config or "seeds" in config:
        said["seedsAsSurtPrefixes"] = "seeds" in config
    for seed in config.get("seeds", ()):
        state.add_seed(seed)
    state.add_directives(config.get("nonseedLines", ()))
    return _RULE.validate_python({"rule": name, **said})


TABLE = Table("decide_rules", json_lines("decide_rules.jsonl"), check)
