import pytest

from nacre.config.effective import fixed
from nacre.core.processor import Result
from nacre.core.status import FetchStatus
from nacre.engine.prerequisites import ROBOTS_FOR, HostAnswer, HostAnswers, RobotsCache, RobotsRow
from nacre.engine.steps.preconditions import Preconditions, WaitingUris
from nacre.scope.robots_txt import RobotsPolicy, RobotsSettings, RobotsState
from tests.job.memory import memory_store, visit_of

NOW = 1_790_000_000.0
SITE = "http://a.test"
TEXT = b"User-agent: *\nDisallow: /x\n"


class Gate:
    """Preconditions with what they look at."""

    def __init__(self, *, resolves=True, **settings):
        values = fixed(RobotsSettings(**settings))
        store = memory_store()
        self.hosts = HostAnswers(store)
        self.robots = RobotsCache(store, values)
        self.checks = Preconditions(self.hosts, self.robots, values, resolves=fixed(resolves))

    def name(self, *addresses, host="a.test", expires=NOW + 60):
        self.hosts.put(host, HostAnswer(addresses, expires))
        return self

    def rules(self, state=RobotsState.RULES, text=TEXT, site=SITE, **known):
        self.robots.put(site, RobotsRow(state, NOW + 60, text, **known))
        return self

    def check(self, url=f"{SITE}/x", **heritable):
        visit = visit_of(url, **heritable)
        return self.checks.check(visit, NOW), visit


def deferred(gate, url=f"{SITE}/x", **heritable):
    result, visit = gate.check(url, **heritable)
    assert (result, visit.status) == (Result.FINISH, FetchStatus.DEFERRED)
    return visit.prerequisite


def refused(gate, url=f"{SITE}/x"):
    result, visit = gate.check(url)
    assert result is Result.FINISH
    assert visit.prerequisite == ""
    return visit.status, visit.error


def proceeds(gate, url=f"{SITE}/x", **heritable):
    result, visit = gate.check(url, **heritable)
    return (result, visit.status, visit.prerequisite) == (Result.PROCEED, 0, "")


def test_dns_has_none():
    checks = Gate().checks
    assert not checks.accepts(visit_of("dns:a.test"))
    assert checks.accepts(visit_of("http://a.test/"))


def test_first_the_name_then_robots_then_the_page():
    gate = Gate()
    assert deferred(gate, f"{SITE}:81/y") == "dns:a.test"
    gate.name("192.0.2.1")
    assert deferred(gate, f"{SITE}:81/y") == f"{SITE}:81/robots.txt"
    gate.rules(site=f"{SITE}:81")
    assert proceeds(gate, f"{SITE}:81/y")


def test_an_expired_name_is_looked_up_again():
    assert deferred(Gate().name("192.0.2.1", expires=NOW)) == "dns:a.test"


def test_a_name_without_addresses():
    status, error = refused(Gate().name())
    assert status == FetchStatus.PREREQUISITE_DNS_FAILED
    assert "a.test" in error


@pytest.mark.parametrize("host", ["192.0.2.1", "[2001:db8::1]:81"])
def test_addresses_need_no_name(host):
    assert deferred(Gate(), f"http://{host}/x") == f"http://{host}/robots.txt"


def test_a_proxy_that_resolves_needs_no_names():
    assert deferred(Gate(resolves=False)) == f"{SITE}/robots.txt"


def test_what_robots_forbids():
    gate = Gate(resolves=False).rules()
    result, visit = gate.check(f"{SITE}/x?y")
    assert (result, visit.status) == (Result.FINISH, FetchStatus.ROBOTS_PRECLUDED)
    assert visit.robots == "Disallow: /x"
    assert "'Disallow: /x'" in visit.error
    assert proceeds(gate, f"{SITE}/y")
    assert proceeds(gate, f"{SITE}/robots.txt")


def test_each_origin_has_its_own():
    gate = Gate(resolves=False).rules()
    assert deferred(gate, "https://a.test/x") == "https://a.test/robots.txt"
    assert deferred(gate, "http://b.a.test/x") == "http://b.a.test/robots.txt"


def test_userinfo_is_no_part_of_it():
    assert refused(Gate(resolves=False).rules(), "http://me@a.test/x")[0] == -9998


def test_no_robots_allows_all():
    assert proceeds(Gate(resolves=False).rules(RobotsState.ALLOW, b"", status=404))


def test_unreachable_robots_forbid_all():
    gate = Gate(resolves=False).rules(RobotsState.UNREACHABLE, b"", status=503)
    status, error = refused(gate, f"{SITE}/y")
    assert status == FetchStatus.PREREQUISITE_ROBOTS_FAILED
    assert "503" in error
    gate = Gate(resolves=False).rules(RobotsState.UNREACHABLE, b"", status=-2)
    assert "(-2: No connection" in refused(gate, f"{SITE}/y")[1]
    gate = Gate(resolves=False).rules(RobotsState.UNREACHABLE, b"", status=-2, error="no tunnel")
    assert "(-2: no tunnel)" in refused(gate, f"{SITE}/y")[1]


def test_redirected_robots_are_fetched_from_there():
    next_url = "http://b.test/robots.txt"
    gate = Gate(resolves=False).rules(RobotsState.REDIRECT, b"", next_url=next_url)
    assert deferred(gate) == next_url


@pytest.mark.parametrize("policy", [RobotsPolicy.IGNORE, RobotsPolicy.CUSTOM])
def test_robots_are_fetched_first_if_they_are_not_obeyed_too(policy):
    settings = {"policy": policy, "custom": "User-agent: *\nDisallow: /no"}
    gate = Gate(resolves=False, **settings)
    assert deferred(gate) == f"{SITE}/robots.txt"
    gate.rules(RobotsState.REDIRECT, b"", next_url="http://b.test/r")
    assert deferred(gate) == "http://b.test/r"
    for state in (RobotsState.RULES, RobotsState.ALLOW, RobotsState.UNREACHABLE):
        assert proceeds(gate.rules(state))
    forbidden = gate.check(f"{SITE}/no")[1].status == FetchStatus.ROBOTS_PRECLUDED
    assert forbidden is (policy is RobotsPolicy.CUSTOM)
    assert proceeds(gate, "http://b.test/elsewhere", **{ROBOTS_FOR: SITE})


@pytest.mark.parametrize("policy", [RobotsPolicy.IGNORE, RobotsPolicy.CUSTOM])
def test_they_are_not_fetched_if_that_is_switched_off(policy):
    gate = Gate(resolves=False, policy=policy, custom="User-agent: *\nDisallow: /no", fetch=False)
    assert proceeds(gate)
    assert deferred(Gate(resolves=False, fetch=False)) == f"{SITE}/robots.txt"


def test_who_obeys_asks_again_if_they_were_tried_once_only():
    gate = Gate(resolves=False)
    assert deferred(gate.rules(RobotsState.UNREACHABLE, b"", once=True)) == f"{SITE}/robots.txt"
    assert refused(gate.rules(once=True))[0] == FetchStatus.ROBOTS_PRECLUDED
    assert proceeds(gate.rules(RobotsState.ALLOW, b"", once=True))


def test_robots_themselves_ask_no_robots():
    gate = Gate(resolves=False)
    assert proceeds(gate, "http://b.test/elsewhere", **{ROBOTS_FOR: SITE})


def test_but_they_ask_for_names():
    assert deferred(Gate(), "http://b.test/r", **{ROBOTS_FOR: SITE}) == "dns:b.test"


def test_other_schemes_have_no_robots():
    assert proceeds(Gate().name("192.0.2.1"), "ftp://a.test/x")


def test_ignored():
    assert proceeds(Gate(resolves=False, policy=RobotsPolicy.IGNORE).rules())


def test_custom_rules_replace_those_that_are_fetched():
    custom = "User-agent: *\nDisallow: /custom\n"
    gate = Gate(resolves=False, policy=RobotsPolicy.CUSTOM, custom=custom).rules()
    assert proceeds(gate)
    assert refused(gate, f"{SITE}/custom")[0] == FetchStatus.ROBOTS_PRECLUDED


def test_uris_that_wait_are_forgotten_when_they_are_many():
    waiting = WaitingUris(capacity=3)
    for number in range(9):
        waiting.begin(f"{SITE}/{number}", "dns", NOW)
        waiting.begin(f"{SITE}/0", "robots", NOW)
    kept = [number for number in range(9) if waiting.since(f"{SITE}/{number}", "dns") == NOW]
    assert kept == [0, 7, 8]
    for number in range(9):
        waiting.end(f"{SITE}/{number}")
    assert not waiting._since
