"""Finds settings that are valid each by itself, but contradict or disable each other.

`conflict_problems` keep a job from starting; `conflict_warnings` and `scope_warnings` (slow
expressions, rules that never decide, seeds out of scope) do not.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.config.check import Loaded
from nacre.config.facts import value_at
from nacre.config.place import properties
from nacre.config.secret import Secret
from nacre.errors import Problem
from nacre.messages import message
from nacre.planner.settings import WITHOUT_EFFECT
from nacre.scope.patterns.matching import examine
from nacre.scope.robots_txt import RobotsPolicy
from nacre.scope.rules.stock import AnyRule, stock_rules
from nacre.scope.scope import Decision, Scope, always, never
from nacre.scope.seeds import Seed
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings

_SEEDS_JUDGED = 1000
_SHOWN = 20


class _Order(NamedTuple):
    """A setting that must not exceed another, and the reason."""

    lower: str
    upper: str
    reason: str


_ORDERS = (
    _Order(
        "politeness.min_delay",
        "politeness.max_delay",
        message("settings.longer-delay-wins", "the longer one would win"),
    ),
    _Order(
        "frontier.retry_delay",
        "frontier.retry_delay_max",
        message("settings.retry-shorter", "no retry would wait that long"),
    ),
    _Order(
        "fetch.connect_timeout",
        "fetch.timeout",
        message("settings.whole-fetch-ends", "the whole fetch ends before"),
    ),
    _Order(
        "fetch.handshake_timeout",
        "fetch.timeout",
        message("settings.whole-fetch-ends", "the whole fetch ends before"),
    ),
    _Order(
        "fetch.silence_timeout",
        "fetch.timeout",
        message("settings.whole-fetch-ends", "the whole fetch ends before"),
    ),
)


def conflict_problems(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    """Pairs of values, both given, that contradict each other."""
    for order in _ORDERS:
        if loaded.is_given(order.lower) and loaded.is_given(order.upper):
            yield from _check_order(loaded.settings, order)
    frontier = loaded.settings.frontier
    lowest = frontier.queue_precedence.base
    if frontier.precedence_floor <= lowest:
        yield Problem(
            "frontier.precedence_floor",
            message(
                "settings.queues-have-precedence",
                "queues have precedence {lowest}, so with a floor of {precedence_floor} none is "
                "ever crawled",
                lowest=lowest,
                precedence_floor=frontier.precedence_floor,
            ),
            message("settings.more-than", "more than {lowest}", lowest=lowest),
            "precedence_floor: 255",
        )


def conflict_warnings(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    """Warn of values that have no effect with the others, or hardly the intended one."""
    for order in _ORDERS:
        if not (loaded.is_given(order.lower) and loaded.is_given(order.upper)):
            yield from _check_order(loaded.settings, order)
    yield from _without_effect(loaded)
    yield from _removed(loaded)
    yield from _plain_secrets(loaded)


def _check_order(settings: JobSettings, order: _Order) -> Iterator[Problem]:
    lower, upper = value_at(settings, order.lower), value_at(settings, order.upper)
    assert isinstance(lower, float)  # noqa: S101 - all of them are durations
    assert isinstance(upper, float)  # noqa: S101 - likewise
    if lower > upper:
        yield Problem(
            order.lower,
            message(
                "settings.is-longer",
                "is {seconds:g} s, more than {setting}, which is {limit:g} s: {why}",
                seconds=lower,
                setting=order.upper,
                limit=upper,
                why=order.reason,
            ),
            message("settings.at-most", "at most {upper}", upper=order.upper),
        )


def _without_effect(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    settings = loaded.settings
    robots, politeness, fetch = settings.robots, settings.politeness, settings.fetch
    custom = robots.policy is RobotsPolicy.CUSTOM
    if robots.custom and not custom:
        yield Problem(
            "robots.custom",
            message(
                "settings.has-no-effect-with-policy",
                "has no effect with the policy {policy}",
                policy=robots.policy,
            ),
        )
    if robots.policy is RobotsPolicy.OBEY and not robots.fetch:
        yield Problem(
            "robots.fetch",
            message(
                "settings.without-effect-policy-obey",
                "has no effect with the policy obey, which needs robots.txt",
            ),
        )
    if custom and not robots.custom.strip():
        yield Problem(
            "robots.policy",
            message(
                "settings.custom-without-robots",
                "`custom` without `robots.custom` allows everything",
            ),
        )
    if politeness.delay is not None:
        for name in ("delay_factor", "min_delay", "max_delay"):
            if loaded.is_given(f"politeness.{name}"):
                yield Problem(
                    f"politeness.{name}",
                    message(
                        "settings.without-effect-fixed-delay",
                        "has no effect beside a fixed `delay`",
                    ),
                )
    if fetch.send_range and not fetch.max_length:
        yield Problem(
            "fetch.send_range",
            message(
                "settings.has-no-effect-without-fetch", "has no effect without `fetch.max_length`"
            ),
        )
    if settings.network.proxy_resolves and not fetch.proxy:
        yield Problem(
            "network.proxy_resolves",
            message("settings.without-effect-no-proxy", "has no effect without `fetch.proxy`"),
        )
    if settings.frontier.cost == "zero" and settings.frontier.queue_total_budget >= 0:
        yield Problem(
            "frontier.queue_total_budget",
            message("settings.has-no-effect", "has no effect: with cost `zero` nothing is spent"),
        )


def _removed(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    """Settings of earlier versions, which are read and do nothing."""
    for name in sorted(WITHOUT_EFFECT):
        if loaded.is_given(f"recrawl.{name}"):
            yield Problem(
                f"recrawl.{name}",
                message("settings.removed", "was removed and has no effect: delete it"),
            )


def _plain_secrets(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    """Secrets in plain text in a file."""
    for setting in properties(loaded.settings):
        if isinstance(setting.value, Secret) and setting.value.is_plain:
            yield Problem(
                setting.path,
                message(
                    "settings.plain-text-secret",
                    "is given in plain text: everybody who can read the configuration can read it",
                ),
                message(
                    "settings.reference-env", "a reference: `{{env: NAME}}` or `{{file: PATH}}`"
                ),
            )


def scope_warnings(
    loaded: Loaded[JobSettings], scope: Scope, seeds: Sequence[Seed]
) -> Iterator[Problem]:
    """Warnings about the rules of a scope.

    Args:
        loaded: The settings.
        scope: Their scope, built, with its seeds.
        seeds: The first seeds.
    """
    rules = loaded.settings.scope
    yield from _slow_patterns(rules)
    if loaded.is_unknown("scope"):
        return
    if not loaded.origin("scope").source.startswith("profile"):
        yield from _silent_rules(rules, scope)
    yield from _check_overruled(rules, scope)
    yield from _check_refused_seeds(rules, scope, seeds)


def _slow_patterns(rules: Sequence[AnyRule]) -> Iterator[Problem]:
    """Expressions that run slower than the operator may think."""
    for number, rule in enumerate(rules):
        for name in ("regexes", "regex"):
            value = getattr(rule, name, ())
            patterns = (value,) if isinstance(value, str) else value
            for index, pattern in enumerate(patterns):
                note = examine(pattern)
                if note:
                    place = f"scope.{number}.{name}" + (
                        "" if isinstance(value, str) else f".{index}"
                    )
                    yield Problem(place, f"{note.pattern!r} {note.message}")


def _silent_rules(rules: Sequence[AnyRule], scope: Scope) -> Iterator[Problem]:
    """Rules that can never speak; empty lists of the stock scope and of profiles may be filled."""
    stock = stock_rules()
    for number, rule in enumerate(rules):
        opinions = [opinion for opinion in scope.opinions if opinion.number == number]
        is_silent = all(opinion.test is never for opinion in opinions)
        if is_silent and rule.enabled and rule not in stock and not rule.needs:
            yield Problem(
                f"scope.{number}",
                message(
                    "settings.rule-can-never-match",
                    "the rule {label} can never match as it is configured",
                    label=rule.label,
                ),
            )


def _check_overruled(rules: Sequence[AnyRule], scope: Scope) -> Iterator[Problem]:
    """Warn of rules before a rule that always decides, which overrides them."""
    last = max((opinion.number for opinion in scope.opinions if opinion.test is always), default=0)
    before = [rule.label for rule in rules[:last] if rule.enabled]
    if before and not (len(before) == 1 and before[0].startswith("reject")):
        yield Problem(
            f"scope.{last}",
            message(
                "settings.rule-matches-every-url",
                "{rule} matches every URL, so the rules before it never decide: {names}",
                rule=rules[last].label,
                names=", ".join(before),
            ),
        )
    if not any(
        opinion.decision is Decision.ACCEPT and opinion.test is not never
        for opinion in scope.opinions
    ):
        yield Problem(
            "scope",
            message(
                "settings.no-rule-can-accept-anything",
                "no rule can accept anything: only the seeds will be fetched",
            ),
        )


def _check_refused_seeds(
    rules: Sequence[AnyRule], scope: Scope, seeds: Sequence[Seed]
) -> Iterator[Problem]:
    """Seeds that the scope itself would refuse: they are fetched, but nothing near them may be."""
    labels = [rule.label for rule in rules]
    refused = 0
    for seed in seeds[:_SEEDS_JUDGED]:
        verdict = scope.judge(Subject(seed.url, is_seed=True, seed=seed.owner))
        if verdict.accepted:
            continue
        refused += 1
        if refused <= _SHOWN:
            path = f"scope.{labels.index(verdict.rule)}" if verdict.rule in labels else "scope"
            problem = message(
                "settings.seed-out-of-scope",
                "the seed {text} is out of scope itself, by the rule {rule}",
                text=seed.text,
                rule=verdict.rule,
            )
            yield Problem(path, problem)
    if refused > _SHOWN:
        yield Problem(
            "scope",
            message(
                "settings.more-seeds-out-of-scope",
                "and {refused} more seeds that are out of scope themselves",
                refused=refused - _SHOWN,
            ),
        )
