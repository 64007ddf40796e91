"""Adaptive backoff (pure): a host that groans is asked less often."""

from typing import NamedTuple

from nacre.frontier.settings import PolitenessSettings

THROTTLED = frozenset((429, 503))
_LIMIT = 64.0
_SMOOTHING = 0.1
_SLOW = 3.0
_SLOW_MS = 500.0


class Backoff(NamedTuple):
    """What a queue remembers about the mood of its host.

    Attributes:
        factor: The wait is multiplied by it; 1 is normal.
        latency: Smoothed time to the first byte, ms; 0 before the first reply.
    """

    factor: float = 1.0
    latency: float = 0.0


def next_backoff(
    settings: PolitenessSettings, state: Backoff, status: int, latency_ms: float
) -> Backoff:
    """The state after one fetch.

    429 and 503 double the factor; a first byte that takes three times as long as usual, and half a
    second more, raises it by half; any other reply lets it decay. A fixed delay is the operator's
    word: then latency does not count.

    Args:
        settings: The politeness that holds.
        state: The state before.
        status: Fetch status.
        latency_ms: Time to the first byte, ms.
    """
    if status <= 0 or not settings.backoff_up_to:
        return state
    usual = state.latency
    latency = usual + _SMOOTHING * (latency_ms - usual) if usual else latency_ms
    if status in THROTTLED:
        return Backoff(min(state.factor * 2.0, _LIMIT), usual)
    slow = usual and latency_ms > max(_SLOW * usual, usual + _SLOW_MS)
    if slow and settings.delay is None:
        return Backoff(min(state.factor * 1.5, _LIMIT), latency)
    return Backoff(max(1.0, state.factor * 0.8), latency)
