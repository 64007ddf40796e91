import pytest

from nacre.config.effective import fixed
from nacre.job.visit.robots_cache import MEMORY, RobotsCache, RobotsRow
from nacre.scope.robots import RobotsPolicy, RobotsSettings, RobotsState
from tests.job.memory import memory_store

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
