import gzip

import pytest

from nacre.config.effective import fixed
from nacre.engine.prerequisites import (
    FAILED_TTL,
    MEMORY,
    ROBOTS_FOR,
    ROBOTS_REDIRECTS,
    STALE,
    Answers,
    HostAnswer,
    HostAnswers,
    RobotsCache,
    RobotsRow,
)
from nacre.scope.robots_txt import RobotsPolicy, RobotsSettings, RobotsState
from tests.job.memory import answered, memory_store, visit_of

NOW = 1_790_000_000.0
SITE = "http://a.test"
TEXT = b"User-agent: *\nDisallow: /x\nCrawl-delay: 7\n"


def row(text=TEXT, state=RobotsState.RULES, expires=NOW + 60):
    return RobotsRow(state, expires, text, 200, fetched=NOW)


def allows(cache, target="/x", origin=SITE):
    entry = cache.get(origin, NOW)
    assert entry is not None
    assert entry[1] is not None
    return entry[1].verdict(target).allowed


def test_an_unknown_origin():
    cache = RobotsCache(memory_store(), fixed(RobotsSettings()))
    assert cache.get(SITE, NOW) is None
    assert cache.last(SITE) is None


def test_rows_are_kept_for_the_next_process_until_they_expire():
    store = memory_store()
    RobotsCache(store, fixed(RobotsSettings())).put(SITE, row())
    cache = RobotsCache(store, fixed(RobotsSettings()))
    assert not allows(cache)
    assert allows(cache, "/y")
    assert cache.get("https://a.test", NOW) is None
    assert cache.get(SITE, NOW + 60) is None
    assert cache.last(SITE) == row()


def test_what_comes_later_replaces():
    cache = RobotsCache(memory_store(), fixed(RobotsSettings()))
    cache.put(SITE, row())
    cache.put(SITE, row(b"", RobotsState.ALLOW))
    entry = cache.get(SITE, NOW)
    assert entry is not None
    assert (entry[0].state, entry[1]) == (RobotsState.ALLOW, None)


def test_the_agents_of_the_settings():
    cache = RobotsCache(memory_store(), fixed(RobotsSettings(agent="one, two")))
    cache.put(SITE, row(b"User-agent: two\nDisallow: /x\n"))
    assert not allows(cache)


def test_custom_rules_hold_everywhere_without_a_fetch():
    settings = RobotsSettings(policy=RobotsPolicy.CUSTOM, custom="User-agent: *\nDisallow: /y\n")
    cache = RobotsCache(memory_store(), fixed(settings))
    assert [allows(cache, target) for target in ("/x", "/y")] == [True, False]
    cache.put(SITE, row())
    assert [allows(cache, target) for target in ("/x", "/y")] == [True, False]
    assert not allows(cache, "/y", "http://other.test:81")


def test_ignored_robots_have_no_crawl_delay_either():
    cache = RobotsCache(memory_store(), fixed(RobotsSettings(policy=RobotsPolicy.IGNORE)))
    cache.put(SITE, row())
    assert cache.get(SITE, NOW) is None


@pytest.mark.parametrize(("size", "kept"), [(100, 3), (MEMORY // 2, 2), (MEMORY + 1, 1)])
def test_memory_is_bounded_by_number_and_by_size(size, kept):
    cache = RobotsCache(memory_store(), fixed(RobotsSettings(max_bytes=100)), capacity=3)
    for number in range(4):
        cache.put(f"http://{number}.test", row(b"#" * size))
    assert len(cache._recent) == kept
    assert cache.get("http://0.test", NOW) is not None


URL = f"{SITE}/robots.txt"
TEXT_ANSWERS = b"User-agent: *\nDisallow: /x\n"


class Learning:
    """Answers with what they are kept in."""

    def __init__(self, **settings):
        self.settings = fixed(RobotsSettings(**settings))
        store = memory_store()
        self.hosts = HostAnswers(store)
        self.robots = RobotsCache(store, self.settings)
        self.answers = Answers(self.hosts, self.robots, self.settings)

    def learn(self, visit, now=NOW):
        self.answers.learn(visit, now)

    def row(self) -> RobotsRow:
        row = self.robots.last(SITE)
        assert row is not None
        return row


def reply(status, body=b"", location="", followed=0, url=URL, **headers):
    fields = [(b"Location", location.encode())] if location else []
    fields += [(name.encode(), value.encode()) for name, value in headers.items()]
    about = {ROBOTS_FOR: SITE, ROBOTS_REDIRECTS: str(followed)}
    return answered(url, status, body, tuple(fields), **about)


def test_addresses_hold_for_their_ttl():
    learning = Learning()
    visit = visit_of("dns:a.test", 1)
    visit.addresses, visit.ttl = ("192.0.2.1",), 300.0
    learning.learn(visit)
    answer = learning.hosts.get("a.test", NOW + 299)
    assert answer is not None
    assert answer.addresses == ("192.0.2.1",)
    assert learning.hosts.get("a.test", NOW + 300) is None


def test_a_name_without_addresses_is_asked_again_later():
    learning = Learning()
    learning.learn(visit_of("dns:a.test", -1))
    answer = learning.hosts.get("a.test", NOW + FAILED_TTL - 1)
    assert answer is not None
    assert answer.addresses == ()
    assert learning.hosts.get("a.test", NOW + FAILED_TTL) is None


def test_rules_are_parsed_and_hold_for_a_day():
    learning = Learning()
    learning.learn(reply(200, TEXT_ANSWERS))
    assert learning.row() == RobotsRow(
        RobotsState.RULES, NOW + 86400, TEXT_ANSWERS, 200, fetched=NOW, learned=NOW
    )
    entry = learning.robots.get(SITE, NOW)
    assert entry is not None
    assert entry[1] is not None
    assert not entry[1].verdict("/x").allowed


def test_rules_are_read_through_their_coding_and_to_the_limit():
    learning = Learning(max_bytes=len(TEXT_ANSWERS))
    learning.learn(
        reply(200, gzip.compress(TEXT_ANSWERS + b"#" * 1000), **{"Content-Encoding": "gzip"})
    )
    assert learning.row().text == TEXT_ANSWERS
    learning.learn(reply(200, TEXT_ANSWERS + b"#" * 1000))
    assert learning.row().text == TEXT_ANSWERS


def test_other_visits_teach_nothing():
    learning = Learning()
    learning.learn(answered(URL, 200, TEXT_ANSWERS))
    assert learning.robots.last(SITE) is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 451])
def test_4xx_allows_all(status):
    learning = Learning()
    learning.learn(reply(status, TEXT_ANSWERS))
    assert learning.row() == RobotsRow(
        RobotsState.ALLOW, NOW + 86400, b"", status, fetched=NOW, learned=NOW
    )


@pytest.mark.parametrize("status", [500, 503, 599])
def test_5xx_forbids_all(status):
    learning = Learning()
    learning.learn(reply(status, TEXT_ANSWERS))
    assert learning.row().state is RobotsState.UNREACHABLE
    assert learning.row().text == b""


@pytest.mark.parametrize("status", [-1, -2, -3, -4, -5, -6, -7, 0, 200, 404])
def test_no_reply_forbids_all(status):
    learning = Learning()
    learning.learn(visit_of(URL, status, **{ROBOTS_FOR: SITE}))
    assert learning.row().state is RobotsState.UNREACHABLE
    assert learning.row().status == status


def test_why_there_was_no_reply_is_kept():
    learning = Learning()
    failed = visit_of(URL, -2, **{ROBOTS_FOR: SITE})
    failed.error = "proxy p.test:3128: no tunnel, status 407" + "!" * 900
    learning.learn(failed)
    assert learning.row().error.startswith("proxy p.test:3128: no tunnel, status 407!")
    assert len(learning.row().error) == 500


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://a.test/robots.txt", "https://a.test/robots.txt"),
        ("/other.txt#x", f"{SITE}/other.txt"),
        ("//b.test/r?x", "http://b.test/r?x"),
    ],
)
def test_redirects_are_followed(location, target):
    learning = Learning()
    learning.learn(reply(301, TEXT_ANSWERS, location))
    row = learning.row()
    assert (row.state, row.next_url, row.redirects) == (RobotsState.REDIRECT, target, 1)
    assert row.text == b""


def test_rules_behind_redirects_are_those_of_the_first_origin():
    learning = Learning()
    learning.learn(reply(200, TEXT_ANSWERS, followed=2, url="http://b.test/r"))
    assert learning.row().text == TEXT_ANSWERS


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("", 0),
        (URL, 0),
        ("ftp://a.test/robots.txt", 0),
        ("data:text/plain,x", 0),
        ("http://[", 0),
        ("/x", 5),
    ],
)
def test_redirects_that_lead_nowhere_allow_all(location, followed):
    learning = Learning()
    learning.learn(reply(302, TEXT_ANSWERS, location, followed))
    assert learning.row().state is RobotsState.ALLOW


def test_five_redirects_are_followed():
    learning = Learning()
    learning.learn(reply(302, b"", "/x", followed=4))
    assert learning.row().redirects == 5
    assert learning.row().state is RobotsState.REDIRECT


@pytest.mark.parametrize("before", [200, 404])
def test_an_old_answer_stands_in_for_a_site_that_cannot_be_reached(before):
    learning = Learning()
    learning.learn(reply(before, TEXT_ANSWERS))
    known = learning.row()
    later = NOW + STALE - 1
    learning.learn(reply(503), later)
    assert learning.row().state is known.state
    assert learning.row().text == known.text
    assert learning.row().expires == later + 86400
    learning.learn(visit_of(URL, -2, **{ROBOTS_FOR: SITE}), NOW + STALE)
    assert learning.row().state is RobotsState.UNREACHABLE


def test_what_could_not_be_reached_before_stands_in_for_nothing():
    learning = Learning()
    learning.learn(reply(503))
    learning.learn(reply(500), NOW + 1)
    assert learning.row().status == 500


def test_answers_of_many_hosts_are_in_the_store_alone():
    hosts = HostAnswers(memory_store(), capacity=3)
    for number in range(9):
        hosts.put(f"{number}.test", HostAnswer((f"192.0.2.{number}",), NOW + 60))
        assert hosts.latest("0.test") is not None
    assert len(hosts._recent) == 3
    found = [hosts.latest(f"{number}.test") for number in range(9)]
    assert [answer.addresses for answer in found if answer] == [(f"192.0.2.{n}",) for n in range(9)]
    assert len(hosts._recent) == 3
