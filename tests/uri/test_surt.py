import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import URIError
from nacre.uri.surt import (
    DEFAULT_QUEUE,
    SurtPrefixSet,
    history_key,
    implied_prefix,
    queue_host,
    scope_surt,
    surt_authority,
    to_domain,
    to_host,
)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.Example.com/A?b=/C", "https://(Com,Example,www,)/A?b=/C"),
        ("http://u:p@a.b:81/c", "http://(b,a,:81@u:p)/c"),
        ("http://127.0.0.1/a", "http://(127.0.0.1)/a"),
        ("http://127.0.0.1:81/a", "http://(127.0.0.1:81)/a"),
        ("http://[::1]:81/a", "http://([::1],:81)/a"),
        ("http://host/", "http://(host,)/"),
        ("x://a.b?c", "x://(b,a,)?c"),
        ("dns:a.b", "dns:a.b"),
    ],
)
def test_history_keys_keep_case_and_scheme(url, key):
    assert history_key(url.replace("Example.com", "Example.Com")) == key


def test_scope_surts_fold_case_and_scheme():
    assert scope_surt("https://a.b/C") == scope_surt("http://a.b/c") == "http://(b,a,)/c"
    assert scope_surt("ftp://a.b/C") == "ftp://(b,a,)/c"
    assert scope_surt("dns:A.b") == "dns:a.b"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.com/x", "com,example,www,"),
        ("https://www.example.com/x", "com,example,www,"),
        ("http://u@www.example.com:8080/", "com,example,www,#8080"),
        ("http://10.0.0.1:81/", "10.0.0.1#81"),
        ("http://[::1]:81/", "[::1],#81"),
        ("dns:www.example.com", "com,example,www,"),
        ("mailto:a@b", DEFAULT_QUEUE),
    ],
)
def test_queue_keys(url, key):
    assert surt_authority(url) == key


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("example.com", "http://(com,example,"),
        ("http://example.com", "http://(com,example,"),
        ("https://example.com#x", "http://(com,example,"),
        ("http://example.com/", "http://(com,example,)/"),
        ("http://example.com?q", "http://(com,example,)/"),
        ("www.example.com/a/b", "http://(com,example,www,)/a/"),
        ("http://example.com/a/b/", "http://(com,example,)/a/b/"),
        ("http://example.com/A_(b)/c", "http://(com,example,)/a_(b)/"),
        ("http://u:p@example.com/a", "http://(com,example,@u:p)/"),
        ("http://example.com:8080", "http://(com,example,:8080)"),
        ("example.com:8080/a", "http://(com,example,:8080)/"),
        ("http://10.0.0.1", "http://(10.0.0.1)"),
        ("http://[::1]", "http://([::1],"),
        (" https://(Com,example, ", "http://(com,example,"),
        ("(com,example,", "http://(com,example,"),
        ("dns:Example.com", "dns:example.com"),
    ],
)
def test_implied_prefixes(text, prefix):
    assert implied_prefix(text) == prefix


@pytest.mark.parametrize("text", ["", "mailto:a@b", "http://", "a b c"])
def test_text_that_implies_nothing(text):
    with pytest.raises(URIError):
        implied_prefix(text)


def test_a_trailing_slash_means_this_host_only():
    domain, host = implied_prefix("http://example.com"), implied_prefix("http://example.com/")
    sub, own = scope_surt("https://www.example.com/a"), scope_surt("https://example.com/a")
    other = scope_surt("http://example.com.evil.test/")
    assert sub.startswith(domain)
    assert own.startswith(domain)
    assert own.startswith(host)
    assert not sub.startswith(host)
    assert not other.startswith(domain)


@pytest.mark.parametrize(
    ("prefix", "host", "domain"),
    [
        ("http://(com,example,www,)/a/", "http://(com,example,www,)", "http://(com,example,"),
        ("http://(com,example,", "http://(com,example,)", "http://(com,example,"),
        ("http://(com,example", "http://(com,example,)", "http://(com,example"),
        ("http://(com,example,)", "http://(com,example,)", "http://(com,example,"),
        ("http://(10.0.0.1)/a", "http://(10.0.0.1)", "http://(10.0.0.1"),
        ("http://(10.0.0.1", "http://(10.0.0.1)", "http://(10.0.0.1"),
        ("http://(www,)/", "http://(www,)", "http://(www,"),
    ],
)
def test_prefixes_widened(prefix, host, domain):
    assert to_host(prefix) == host
    assert to_domain(prefix) == domain


def test_redundant_prefixes_are_dropped():
    prefixes = SurtPrefixSet(["http://(com,a,)/x/", "http://(com,b,"])
    assert prefixes.add("http://(com,a,")
    assert not prefixes.add("http://(com,a,)/y")
    assert not prefixes.add("http://(com,b,")
    assert list(prefixes) == ["http://(com,a,", "http://(com,b,"]
    assert len(prefixes) == 2
    assert "http://(com,a," in prefixes
    assert "http://(com,a,)/x/" not in prefixes


WORDS = st.text("ab,)", max_size=6)


@given(st.lists(WORDS, max_size=12), WORDS)
def test_a_set_answers_like_a_list(prefixes, text):
    found = sorted({p for p in prefixes if text.startswith(p)}, key=len)
    shortest = found[0] if found else None
    assert SurtPrefixSet(prefixes).match(text) == shortest
    everything = SurtPrefixSet(prefixes, keep_all=True)
    assert everything.all_matching(text) == found
    assert everything.match(text) == shortest
    assert list(everything) == sorted(set(prefixes))


@given(st.lists(WORDS, max_size=12))
def test_no_member_is_a_prefix_of_another(prefixes):
    members = list(SurtPrefixSet(prefixes))
    assert not [(a, b) for a in members for b in members if a != b and b.startswith(a)]
    assert members == sorted(members)


def test_members_below_a_text():
    prefixes = SurtPrefixSet(["http://(test,a,)/x/", "http://(test,c,"])
    texts = ["http://(test,a,)/", "http://(test,a,)/x/y", "http://(test,b,", "http://(test,c,", "z"]
    assert [prefixes.any_below(text) for text in texts] == [True, False, False, True, False]
    assert not SurtPrefixSet().any_below("")


@given(st.lists(st.text("ab,", max_size=4)), st.lists(st.text("ab,", max_size=4)), st.booleans())
def test_many_prefixes_at_once_are_the_same_as_one_by_one(
    first: list[str], more: list[str], keep_all: bool
):
    at_once = SurtPrefixSet(first, keep_all=keep_all)
    assert bool(at_once) is bool(first)
    at_once.update(more)
    one_by_one = SurtPrefixSet(keep_all=keep_all)
    for prefix in [*first, *more]:
        one_by_one.add(prefix)
    assert list(at_once) == list(one_by_one)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://www.example.com/a", "www.example.com"),
        ("https://www.example.com:8443/", "www.example.com"),
        ("http://localhost/", "localhost"),
        ("http://127.0.0.1:8080/", "127.0.0.1"),
        ("http://[::1]:8080/", "[::1]"),
        ("dns:www.example.com", "www.example.com"),
    ],
)
def test_the_host_of_a_queue(url: str, host: str):
    assert queue_host(surt_authority(url)) == host
