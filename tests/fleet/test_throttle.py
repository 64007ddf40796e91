import pytest

from nacre.fleet.throttle import (
    FORGOTTEN,
    LONGEST_PAUSE,
    MOST,
    STRANGERS,
    LoginThrottle,
    network_of,
    pause_after,
)
from tests.fleet.test_keys import GivenClock


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (10**6, 60)]
)
def test_pauses_double_up_to_a_minute(failures: int, seconds: float):
    assert pause_after(failures) == seconds


def test_asvs_6_3_1_an_account_and_an_address_have_their_pauses():
    clock = GivenClock()
    throttle = LoginThrottle(clock)
    for expected in (1, 2, 4, 8):
        throttle.begin("anna", "192.0.2.1")
        assert throttle.seconds_left("ANNA", "192.0.2.1") == expected
        assert throttle.seconds_left("berta", "192.0.2.1") == expected
        assert throttle.seconds_left("berta", "192.0.2.2") == 0
        clock.time += expected
        assert throttle.seconds_left("anna", "192.0.2.1") == 0
    clock.time += FORGOTTEN
    throttle.begin("anna", "192.0.2.1")
    assert throttle.seconds_left("anna", "192.0.2.1") == 1


def test_nobody_locks_a_name_for_others():
    clock = GivenClock()
    throttle = LoginThrottle(clock)
    for _ in range(20):
        throttle.begin("anna", "192.0.2.1")
    assert throttle.seconds_left("anna", "192.0.2.1") == LONGEST_PAUSE
    assert throttle.seconds_left("anna", "192.0.2.2") == 0
    throttle.welcome("berta", "192.0.2.1")
    assert throttle.seconds_left("berta", "192.0.2.1") == 0
    assert throttle.seconds_left("other", "192.0.2.1") == LONGEST_PAUSE
    throttle.begin("berta", "192.0.2.1")
    assert throttle.seconds_left("berta", "192.0.2.1") == 1


def test_guesses_from_many_addresses_are_bounded():
    clock = GivenClock()
    throttle = LoginThrottle(clock)
    throttle.begin("anna", "192.0.2.250")
    throttle.succeeded("anna", "192.0.2.250")
    tried = 0
    for number in range(250):
        address = f"198.51.100.{number}"
        if not throttle.seconds_left("anna", address):
            throttle.begin("anna", address)
            tried += 1
    assert tried == STRANGERS
    assert throttle.seconds_left("anna", "203.0.113.1") == LONGEST_PAUSE
    assert throttle.seconds_left("anna", "192.0.2.250") == 0
    assert throttle.seconds_left("berta", "203.0.113.1") == 0
    clock.time += FORGOTTEN
    assert throttle.seconds_left("anna", "203.0.113.1") == 0


def test_an_account_of_ones_own_is_no_way_to_try_others():
    clock = GivenClock()
    throttle = LoginThrottle(clock)
    for _ in range(3):
        throttle.begin("anna", "192.0.2.1")
    throttle.begin("mallory", "192.0.2.1")
    throttle.succeeded("mallory", "192.0.2.1")
    assert throttle.seconds_left("mallory", "") == 0
    assert throttle.seconds_left("other", "192.0.2.1") == 4
    throttle = LoginThrottle(clock)
    throttle.begin("anna", "192.0.2.9")
    throttle.succeeded("anna", "192.0.2.9")
    assert throttle.seconds_left("anna", "192.0.2.9") == 0


def test_addresses_of_one_sender_count_together():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1")
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("testclient") == "testclient"


def test_what_is_known_is_bounded():
    throttle = LoginThrottle(GivenClock())
    for number in range(MOST):
        throttle.begin(f"user {number}", f"192.0.2.{number}")
    assert len(throttle._known) == MOST
