from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.backoff import Backoff, next_backoff
from nacre.frontier.settings import PolitenessSettings

SETTINGS = PolitenessSettings()


def after(*replies: tuple[int, float], settings: PolitenessSettings = SETTINGS) -> Backoff:
    state = Backoff()
    for status, latency in replies:
        state = next_backoff(settings, state, status, latency)
    return state


def test_throttling_doubles_and_success_decays() -> None:
    assert after((429, 50), (503, 50)).factor == 4.0
    assert after((429, 50), (200, 50)).factor == 1.6
    assert after((503, 50), *[(200, 50.0)] * 10).factor == 1.0


def test_rising_latency_raises_by_half() -> None:
    assert after((200, 300), (200, 2000)).factor == 1.5
    assert after((200, 20), (200, 90)).factor == 1.0


def test_a_fixed_delay_ignores_latency_but_not_throttling() -> None:
    fixed = PolitenessSettings(delay=0)
    assert after((200, 300), (200, 20_000), settings=fixed).factor == 1.0
    assert after((429, 300), settings=fixed).factor == 2.0


def test_failures_say_nothing_and_zero_switches_it_off() -> None:
    assert after((200, 300), (-2, 20_000)) == Backoff(1.0, 300)
    assert after((429, 300), settings=PolitenessSettings(backoff_up_to=0)) == Backoff()


@given(st.lists(st.tuples(st.sampled_from([200, 404, 429, 503, -2]), st.floats(0, 1e7))))
def test_the_factor_stays_in_bounds(replies: list[tuple[int, float]]) -> None:
    assert 1.0 <= after(*replies).factor <= 64.0
