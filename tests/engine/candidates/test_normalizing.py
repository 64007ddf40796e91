import tracemalloc

from nacre.engine.candidates.normalizing import normalizing
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.scope.seeds import parse_seed
from nacre.settings.settings import JobSettings


def made(tmp_path, *items):
    settings = JobSettings.model_validate({"uri": {"normalize": list(items)}})
    return normalizing(settings.uri, RuleFiles(tmp_path))


def test_none_where_none_is_configured(tmp_path):
    assert made(tmp_path) is None


def test_links_and_redirects_have_chains_of_their_own(tmp_path):
    found = made(tmp_path, {"normalizer": "querystring", "scopes": ["fetcher"]}, "basic")
    assert found is not None
    assert found.link("http://h/?b&a=[") == "http://h/?b&a=%5B"
    assert found.link("http://h/?b&a", is_redirect=True) == "http://h/?a&b"
    assert found.link("news://h/") is None


def test_the_result_is_a_url_as_it_is_requested(tmp_path):
    (tmp_path / "h.txt").write_text("h B\u00fccher.DE\nbad a%b\n")
    found = made(tmp_path, {"normalizer": "host", "file": "h.txt"})
    assert found is not None
    assert found.link("http://h/") == "http://xn--bcher-kva.de/"
    assert found.link("http://bad/") is None


def test_seeds(tmp_path):
    rules = "h i\n"
    found = made(tmp_path, {"normalizer": "host", "rules": rules, "scopes": ["inject"]})
    assert found is not None
    seeds = list(found.seeds([parse_seed("h/x"), parse_seed("http://k/")]))
    assert [(seed.text, seed.url, seed.fallback) for seed in seeds] == [
        ("h/x", "https://i/x", "http://i/x"),
        ("http://k/", "http://k/", ""),
    ]
    assert found.link("http://h/") == "http://h/"


def test_forms_are_remembered_within_bounds(tmp_path, monkeypatch):
    monkeypatch.setattr("nacre.engine.candidates.normalizing._KEPT", 2)
    found = made(tmp_path, "querystring")
    assert found is not None
    urls = ["http://h/?b&a", "http://h/?d&c", "http://h/?f&e"]
    assert [found.link(url) for url in urls * 2] == [
        "http://h/?a&b", "http://h/?c&d", "http://h/?e&f",
    ] * 2  # fmt: skip


def test_long_urls_take_no_more_memory_than_others(tmp_path):
    found = made(tmp_path, "querystring")
    assert found is not None
    tracemalloc.start()
    try:
        for number in range(12_000):
            assert found.link(f"http://h/?b={number:02000}&a", is_redirect=number % 2 == 0)
        assert tracemalloc.get_traced_memory()[0] < 40_000_000
    finally:
        tracemalloc.stop()
