"""Compiles rules to a scope, once per distinct list, and finds rules that do not fit a place."""

from collections.abc import Iterator, Sequence

from nacre.scope.rules.combine import sequence_of
from nacre.scope.rules.rule import Build, Rule
from nacre.scope.rules.seeds import SeedScope
from nacre.scope.rules.surt import Prefixed
from nacre.scope.scope import Decision, Gate, Opinion, Scope, WatchedScope
from nacre.scope.seed_scope import ScopeKind
from nacre.scope.state import ScopeState
from nacre.scope.subject import NEEDS, Need, RulePlace


def compile_scope(
    rules: Sequence[Rule],
    state: ScopeState,
    offers: Need = Need.NOTHING,
) -> Scope:
    """Build a list of rules; those that can never decide cost nothing afterwards.

    Args:
        rules: The rules, in order.
        state: What changes while they run.
        offers: The information at their place; a rule that needs more never matches.
    """
    scope, opinions, build = _compile_rules(rules, state, offers)
    _follow_own(scope, rules, opinions, build)
    return scope


def _compile_rules(
    rules: Sequence[Rule], state: ScopeState, offers: Need
) -> tuple[Scope, list[tuple[int, Opinion]], Build]:
    build = Build(state, offers)
    numbered = [(at, opinion._replace(number=at)) for at, opinion in sequence_of(rules, build)]
    opinions = [opinion for _, opinion in numbered]
    origin = any(rule.asks_origin for rule in all_rules(rules))
    scope = (
        WatchedScope(opinions, build.marks, build.logs, state.write, asks_origin=origin)
        if build.logs or build.marks
        else Scope(opinions, asks_origin=origin)
    )
    return scope, numbered, build


def _follow_own(
    scope: Scope, rules: Sequence[Rule], opinions: Sequence[tuple[int, Opinion]], build: Build
) -> None:
    """Apply their own scopes to descendants of seeds that have one, from the first such seed on."""
    at = next((number for number, rule in enumerate(rules) if rule.seed_scope), None)
    if at is None or any(isinstance(rule, SeedScope) for rule in all_rules(rules)):
        return
    by_seed = SeedScope(scope=rules[at].seed_scope or ScopeKind.PREFIX).opinions(build)
    own = [opinion._replace(number=at) for opinion in by_seed]

    def awake() -> None:
        before = [opinion for number, opinion in opinions if number <= at]
        behind = [opinion for number, opinion in opinions if number > at]
        scope.replace([*before, *own, *behind], asks_origin=True)

    if build.state.own:
        awake()
    else:
        build.state.when_own(awake)


def compile_gate(rules: Sequence[Rule], state: ScopeState, place: RulePlace) -> Gate | None:
    """Compile a gate from rules. None: there are no rules, and the gate is always open.

    A seed's own scope does not speak in a gate.
    """
    return Gate(_compile_rules(rules, state, place.offers)[0]) if rules else None


def all_rules(rules: Sequence[Rule]) -> Iterator[Rule]:
    """Yield enabled rules with their inner rules; an outer rule comes first."""
    for rule in rules:
        if rule.enabled:
            yield rule
            yield from all_rules(rule.parts)


def accepted_prefixes(rules: Sequence[Rule], state: ScopeState) -> Iterator[str]:
    """Yield the SURT prefixes that rules accept, those of the seeds included.

    Rules within sequences are left out, because the rules around them can differ.
    """
    for rule in rules:
        if rule.enabled and isinstance(rule, Prefixed) and rule.decision is Decision.ACCEPT:
            for prefixes in rule.sets(state):
                yield from prefixes


def find_misplaced(rules: Sequence[Rule], place: RulePlace) -> Iterator[tuple[int, str]]:
    """Yield rules that need facts that a place does not have: index in the list, and problem."""
    for number, rule in enumerate(rules):
        for inner in all_rules([rule]):
            missing = inner.needs & ~place.offers
            if missing and not inner.parts:
                yield number, _explain_missing(inner, missing, place)


def _explain_missing(rule: Rule, missing: Need, needed_at: RulePlace) -> str:
    needs = " and ".join(text for need, text in NEEDS.items() if need in missing)
    places = "; ".join(offering.text for offering in RulePlace if rule.needs in offering.offers)
    return (
        f"the rule `{rule.label}` needs {needs}, which is not known to {needed_at.text}. "
        f"It can be used in: {places}"
    )
