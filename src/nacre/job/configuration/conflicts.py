"""Settings that are right each by itself, and do not go together."""

from collections.abc import Iterator
from typing import NamedTuple

from nacre.config.check import Loaded
from nacre.config.facts import value_at
from nacre.config.place import properties
from nacre.config.secret import Secret
from nacre.errors import Problem
from nacre.job.configuration.settings import JobSettings
from nacre.scope.robots import RobotsPolicy


class _Order(NamedTuple):
    """One setting that must not be over another, and why."""

    lower: str
    upper: str
    why: str


_ORDERS = (
    _Order("politeness.min_delay", "politeness.max_delay", "the longer one would win"),
    _Order("frontier.retry_delay", "frontier.retry_delay_max", "no retry would wait that long"),
    _Order("fetch.connect_timeout", "fetch.timeout", "the whole fetch ends before"),
    _Order("fetch.handshake_timeout", "fetch.timeout", "the whole fetch ends before"),
    _Order("fetch.silence_timeout", "fetch.timeout", "the whole fetch ends before"),
)


def conflicts(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    """Pairs of values, both given, that contradict each other."""
    for order in _ORDERS:
        if loaded.is_given(order.lower) and loaded.is_given(order.upper):
            yield from _unordered(loaded.settings, order)
    frontier = loaded.settings.frontier
    lowest = frontier.queue_precedence.base
    if frontier.precedence_floor <= lowest:
        yield Problem(
            "frontier.precedence_floor",
            f"queues have precedence {lowest}, so with a floor of "
            f"{frontier.precedence_floor} none is ever crawled",
            f"more than {lowest}",
            "precedence_floor: 255",
        )


def doubts(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    """Values that have no effect beside the others, or hardly the one that was meant."""
    for order in _ORDERS:
        if not (loaded.is_given(order.lower) and loaded.is_given(order.upper)):
            yield from _unordered(loaded.settings, order)
    yield from _idle(loaded)
    yield from _readable(loaded)


def _unordered(settings: JobSettings, order: _Order) -> Iterator[Problem]:
    lower, upper = value_at(settings, order.lower), value_at(settings, order.upper)
    assert isinstance(lower, float)  # noqa: S101 - all of them are durations
    assert isinstance(upper, float)  # noqa: S101 - likewise
    if lower > upper:
        yield Problem(
            order.lower,
            f"is {lower:g} s, more than {order.upper}, which is {upper:g} s: {order.why}",
            f"at most {order.upper}",
        )


def _idle(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    settings = loaded.settings
    robots, politeness, fetch = settings.robots, settings.politeness, settings.fetch
    custom = robots.policy is RobotsPolicy.CUSTOM
    if robots.custom and not custom:
        yield Problem("robots.custom", f"has no effect with the policy {robots.policy}")
    if custom and not robots.custom.strip():
        yield Problem("robots.policy", "`custom` without `robots.custom` allows everything")
    if politeness.delay is not None:
        for name in ("delay_factor", "min_delay", "max_delay"):
            if loaded.is_given(f"politeness.{name}"):
                yield Problem(f"politeness.{name}", "has no effect beside a fixed `delay`")
    if fetch.send_range and not fetch.max_length:
        yield Problem("fetch.send_range", "has no effect without `fetch.max_length`")
    if settings.network.proxy_resolves and not fetch.proxy:
        yield Problem("network.proxy_resolves", "has no effect without `fetch.proxy`")
    if settings.frontier.cost == "zero" and settings.frontier.queue_total_budget >= 0:
        yield Problem("frontier.queue_total_budget", "is never used up: with cost `zero` none is")


def _readable(loaded: Loaded[JobSettings]) -> Iterator[Problem]:
    """Secrets that stand in a file in plain text."""
    for one in properties(loaded.settings):
        if isinstance(one.value, Secret) and one.value.is_plain:
            yield Problem(
                one.path,
                "stands here in plain text; whoever can read the configuration knows it",
                "a reference: `{env: NAME}` or `{file: PATH}`",
            )
