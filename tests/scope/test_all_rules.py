"""Each rule by itself: what it says of one URI."""

from typing import Any

import pytest

from nacre.scope.state import ScopeState
from nacre.scope.subject import Facts, Subject
from tests.scope.asking import says, scope_of

A, R, N = "ACCEPT", "REJECT", "NONE"


@pytest.mark.parametrize(
    ("rule", "known", "expected"),
    [
        ({"rule": "has-via"}, {"via": "http://b.test/"}, A),
        ({"rule": "has-via"}, {}, N),
        ({"rule": "source-seed", "seeds": ["s"]}, {"source": "s"}, A),
        ({"rule": "source-seed", "seeds": ["s"]}, {"source": "t"}, N),
        ({"rule": "seed-accept"}, {"is_seed": True}, A),
        ({"rule": "hops-path-matches-regex", "regex": "LE?"}, {"path": "LE"}, A),
        ({"rule": "hops-path-matches-regex", "regex": "LE?"}, {"path": "LEE"}, N),
        ({"rule": "hop-crosses-domain"}, {"via": "http://b.test/"}, A),
        ({"rule": "hop-crosses-domain"}, {"via": "http://shop.a.test/"}, N),
        ({"rule": "hop-crosses-domain"}, {}, N),
        ({"rule": "via-surt-prefixed", "prefixes": ["b.test"]}, {"via": "http://x.b.test/"}, A),
        ({"rule": "via-surt-prefixed", "prefixes": ["a.test"]}, {"via": "http://b.test/"}, N),
        ({"rule": "on-hosts", "prefixes": ["http://www.a.test/other/"]}, {}, A),
        ({"rule": "on-hosts", "prefixes": ["http://a.test/"]}, {}, N),
        ({"rule": "on-domains", "prefixes": ["http://www.a.test/other/"]}, {}, A),
        ({"rule": "on-domains", "prefixes": ["http://x.a.test/"]}, {}, N),
        ({"rule": "not", "of": {"rule": "on-hosts", "prefixes": ["a.test"]}}, {}, A),
        ({"rule": "matches-regex", "regex": r".*\.html\?q=1"}, {}, A),
        ({"rule": "matches-regex"}, {}, N),
        ({"rule": "file-pattern"}, {"url": "http://a.test/A.WEBP"}, A),
        ({"rule": "file-pattern", "preset": "audio"}, {"url": "http://a.test/a.webp"}, N),
        ({"rule": "file-pattern"}, {}, N),
        ({"rule": "queue-matches-regex", "regex": "test,a,.*"}, {}, A),
        ({"rule": "queue-matches-regex", "regex": "test,a,.*"}, {"f_queue": "other"}, N),
        ({"rule": "ip-address-set", "addresses": ["192.0.2.0/24"]}, {"f_address": "192.0.2.7"}, A),
        (
            {"rule": "ip-address-set", "addresses": ["192.0.2.1"]},
            {"f_address": "::ffff:192.0.2.1"},
            A,
        ),
        ({"rule": "ip-address-set", "addresses": ["192.0.2.1"]}, {"f_address": "2001:db8::1"}, N),
        ({"rule": "ip-address-set", "addresses": ["192.0.2.1"]}, {}, N),
        ({"rule": "fetch-status", "statuses": [404]}, {"f_status": 404}, A),
        ({"rule": "status-between", "lower": 400, "upper": 499}, {"f_status": 499}, A),
        (
            {"rule": "NotMatchesStatusCodeDecideRule", "lowerBound": 400, "upperBound": 499},
            {"f_status": 400},
            N,
        ),
        ({"rule": "fetch-status-matches-regex", "regex": "-.*"}, {"f_status": -5}, A),
        (
            {"rule": "content-type-matches-regex", "regex": "(?i)text/html.*"},
            {"f_content_type": "Text/HTML; charset=x"},
            A,
        ),
        ({"rule": "content-type-matches-regex", "regex": "unknown"}, {}, A),
        ({"rule": "content-length", "threshold": 10}, {"f_received": 9}, A),
        ({"rule": "content-length", "threshold": 10}, {"f_received": 10}, R),
        ({"rule": "resource-no-longer-than", "threshold": 10}, {"f_header_length": 10}, A),
        ({"rule": "resource-no-longer-than", "threshold": 10}, {"f_received": 1}, N),
        (
            {"rule": "resource-longer-than", "threshold": 10, "use_header_length": False},
            {"f_received": 11},
            A,
        ),
        (
            {"rule": "resource-longer-than", "threshold": 3 * 10**9},
            {"f_header_length": 4 * 10**9},
            A,
        ),
        ({"rule": "response-length-between", "lower": 5, "upper": 6}, {"f_received": 6}, A),
        ({"rule": "response-length-between"}, {}, N),
        ({"rule": "identical-digest"}, {"f_identical": True}, R),
        ({"rule": "expression", "expression": "ip == '192.0.2.1'"}, {"f_address": "192.0.2.1"}, A),
        ({"rule": "has-via", "enabled": False}, {"via": "http://b.test/"}, N),
    ],
)
def test_what_a_rule_says(rule: dict[str, Any], known: dict[str, Any], expected: str):
    assert says(rule, **known) == expected


@pytest.mark.parametrize(
    ("via", "path", "expected"),
    [
        ("http://a.test/", "R", A),
        ("http://www2.a.test/?x", "R", A),
        ("http://a.test/deep", "R", N),
        ("http://b.test/", "R", N),
        ("http://a.test/", "L", N),
    ],
)
def test_a_redirect_from_a_start_page_is_marked(via: str, path: str, expected: str):
    scope = scope_of({"rule": "add-redirect-from-root"}, {"rule": "reject"})
    subject = Subject("http://www.a.test/home", path, via)
    assert str(scope.decide(subject).decision) == R
    assert subject.is_seed is (expected == A)


def test_files_of_prefixes_and_their_dump():
    state = ScopeState(read_lines=lambda name: ["# list", "+http://(test,b,", "c.test/  # end"])
    rule = {"rule": "surt-prefixed", "files": ["x"], "dump_file": "d", "seeds_as_prefixes": False}
    assert says(rule, "http://www.b.test/", state) == A
    assert says(rule, "http://d.test/", state) == N
    assert state.dumps[0].lines() == ["http://(test,b,", "http://(test,c,)/"]


def test_countries_are_looked_up_once_each():
    asked: list[str] = []

    def country(address: str) -> str:
        asked.append(address)
        return {"192.0.2.1": "IS"}.get(address, "")

    state = ScopeState(countries=lambda name: country)
    scope = scope_of({"rule": "geo-location", "countries": ["is"], "database": "d"}, state=state)
    for address, expected in (("192.0.2.1", A), ("192.0.2.1", A), ("192.0.2.2", N), ("", N)):
        assert (
            scope.decide(Subject("http://a.test/", facts=Facts(address=address))).decision
            == expected
        )
    assert asked == ["192.0.2.1", "192.0.2.2"]
