"""What an operator should know of a scope before it is used: slow, idle and hidden rules."""

from collections.abc import Iterator, Sequence

from nacre.config.check import Loaded
from nacre.errors import Problem
from nacre.job.configuration.settings import JobSettings
from nacre.job.seeding.seeds import Seed
from nacre.scope.patterns import examine
from nacre.scope.rule import Decision, Scope, Subject, always, never
from nacre.scope.rules import AnyRule, stock_rules

_SEEDS_JUDGED = 1000
_SHOWN = 20


def scope_notes(
    loaded: Loaded[JobSettings], scope: Scope, seeds: Sequence[Seed]
) -> Iterator[Problem]:
    """Warnings about the rules of a scope.

    Args:
        loaded: The settings.
        scope: Their scope, built, with its seeds.
        seeds: The first seeds.
    """
    rules = loaded.settings.scope
    yield from _slow(rules)
    if loaded.is_unknown("scope"):
        return
    if not loaded.origin("scope").source.startswith("profile"):
        yield from _idle(rules, scope)
    yield from _hidden(rules, scope)
    yield from _unscoped(rules, scope, seeds)


def _slow(rules: Sequence[AnyRule]) -> Iterator[Problem]:
    """Expressions that run slower than the operator may think."""
    for number, rule in enumerate(rules):
        for name in ("regexes", "regex"):
            given = getattr(rule, name, ())
            patterns = (given,) if isinstance(given, str) else given
            for index, pattern in enumerate(patterns):
                note = examine(pattern)
                if note:
                    place = f"scope.{number}.{name}" + (
                        "" if isinstance(given, str) else f".{index}"
                    )
                    yield Problem(place, f"{note.pattern!r} {note.message}")


def _idle(rules: Sequence[AnyRule], scope: Scope) -> Iterator[Problem]:
    """Rules that can never speak; empty lists of the stock scope and of profiles may be filled."""
    stock = stock_rules()
    for number, rule in enumerate(rules):
        opinions = [one for one in scope.opinions if one.number == number]
        is_silent = all(one.test is never for one in opinions)
        if is_silent and rule.enabled and rule not in stock and not rule.needs:
            yield Problem(
                f"scope.{number}", f"the rule {rule.label} can never speak as it is configured"
            )


def _hidden(rules: Sequence[AnyRule], scope: Scope) -> Iterator[Problem]:
    """Rules before one that always speaks: it has the last word over all of them."""
    last = max((one.number for one in scope.opinions if one.test is always), default=0)
    before = [rule.label for rule in rules[:last] if rule.enabled]
    if before and not (len(before) == 1 and before[0].startswith("reject")):
        yield Problem(
            f"scope.{last}",
            f"{rules[last].label} speaks of every URL, so the rules before it never decide: "
            + ", ".join(before),
        )
    if not any(one.decision is Decision.ACCEPT and one.test is not never for one in scope.opinions):
        yield Problem("scope", "no rule can accept anything: nothing but the seeds will be fetched")


def _unscoped(rules: Sequence[AnyRule], scope: Scope, seeds: Sequence[Seed]) -> Iterator[Problem]:
    """Seeds that the scope itself would refuse: they are fetched, but nothing near them may be."""
    labels = [rule.label for rule in rules]
    refused = 0
    for seed in seeds[:_SEEDS_JUDGED]:
        verdict = scope.judge(Subject(seed.url, is_seed=True, seed=seed.text if seed.own else ""))
        if verdict.accepted:
            continue
        refused += 1
        if refused <= _SHOWN:
            path = f"scope.{labels.index(verdict.rule)}" if verdict.rule in labels else "scope"
            said = f"the seed {seed.text} is out of scope itself, by the rule {verdict.rule}"
            yield Problem(path, said)
    if refused > _SHOWN:
        yield Problem(
            "scope", f"and {refused - _SHOWN} more seeds that are out of scope themselves"
        )
