"""Rules on the address of a server and on its reply."""

import pytest
from pydantic import ValidationError

from nacre.scope.rules.server import (
    ContentLength,
    GeoLocation,
    IdenticalDigest,
    IpAddressSet,
    ResourceLongerThan,
    ResponseLengthBetween,
    StatusBetween,
)
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need, Subject
from tests.scope.asking import says, scope_of

A, R, N = "ACCEPT", "REJECT", "NONE"


@pytest.mark.parametrize(
    ("addresses", "address", "expected"),
    [
        (["192.0.2.1"], "192.0.2.1", A),
        (["192.0.2.1"], "192.0.2.2", N),
        (["192.0.2.0/24"], "192.0.2.200", A),
        (["192.0.2.77/24"], "192.0.2.1", A),  # bits of the host do not matter
        (["2001:db8::/32"], "2001:db8::5", A),
        (["[2001:db8::1]"], "[2001:db8::1]", A),
        (["192.0.2.0/24"], "::ffff:192.0.2.9", A),
        (["192.0.2.0/24"], "2001:db8::1", N),
        (["192.0.2.0/24"], "", N),
        (["192.0.2.0/24"], "no address", N),
        ([], "192.0.2.1", N),
    ],
)
def test_addresses(addresses, address, expected):
    rule = {"rule": "ip-address-set", "addresses": addresses}
    assert says(rule, f_address=address) == expected


def test_what_is_no_address_is_refused():
    with pytest.raises(ValidationError, match="'host' is neither an IP address nor a network"):
        IpAddressSet(addresses=frozenset({"192.0.2.1", "host"}))


def in_country(countries, address, **fields):
    state = ScopeState(countries=lambda file: lambda one: "IS" if one == "1.1.1.1" else "")
    rule = {"rule": "geo-location", "countries": countries, "database": "db", **fields}
    return says(rule, state=state, f_address=address)


def test_countries():
    assert in_country(["is", "FI"], "1.1.1.1") == A
    assert in_country(["FI"], "1.1.1.1") == N
    assert in_country(["IS"], "9.9.9.9") == N
    assert in_country(["IS"], "") == N
    assert in_country([], "1.1.1.1") == N
    assert in_country(["IS"], "1.1.1.1", decision="reject") == R


@pytest.mark.parametrize("code", ["ISL", "I", "1S", "ÍS"])
def test_a_country_has_a_code_of_two_letters(code):
    with pytest.raises(ValidationError, match="is not a country code of two letters"):
        GeoLocation(countries=frozenset({code}), database="db")


def test_a_rule_on_countries_without_a_database_says_where_one_is():
    with pytest.raises(ValidationError, match=r"MaxMind's format .* write `database: FILE\.mmdb`"):
        GeoLocation(countries=frozenset({"IS"}))
    assert not GeoLocation(enabled=False).enabled


@pytest.mark.parametrize(
    ("rule", "known", "expected"),
    [
        ({"rule": "fetch-status", "statuses": [404, -6]}, {"f_status": -6}, A),
        ({"rule": "fetch-status", "statuses": [404]}, {"f_status": 200}, N),
        ({"rule": "fetch-status"}, {"f_status": 0}, N),
        ({"rule": "fetch-status-matches-regex", "regex": "4.."}, {"f_status": 404}, A),
        ({"rule": "fetch-status-matches-regex", "regex": "4."}, {"f_status": 404}, N),
        ({"rule": "fetch-status-matches-regex", "regex": "-.*"}, {"f_status": -2}, A),
        ({"rule": "status-between", "lower": 400, "upper": 499}, {"f_status": 400}, A),
        ({"rule": "status-between", "lower": 400, "upper": 499}, {"f_status": 499}, A),
        ({"rule": "status-between", "lower": 400, "upper": 499}, {"f_status": 500}, N),
        ({"rule": "status-between", "lower": 400, "upper": 499}, {"f_status": 399}, N),
        (
            {"rule": "content-type-matches-regex", "regex": "(?i)text/.*"},
            {"f_content_type": "Text/HTML; charset=x"},
            A,
        ),
        (
            {"rule": "content-type-matches-regex", "regex": "text/html"},
            {"f_content_type": "text/html; charset=x"},
            N,
        ),
        ({"rule": "content-length", "threshold": 10}, {}, A),
        ({"rule": "content-length"}, {"f_received": 10**12}, A),
        ({"rule": "content-length", "threshold": 10, "enabled": False}, {"f_received": 11}, N),
        ({"rule": "resource-no-longer-than"}, {"f_header_length": 0}, N),
        ({"rule": "resource-longer-than"}, {"f_header_length": 0}, A),
        ({"rule": "resource-longer-than"}, {}, N),
        ({"rule": "resource-longer-than", "threshold": 10}, {"f_header_length": 10}, N),
        (
            {"rule": "resource-no-longer-than", "threshold": 10, "use_header_length": False},
            {"f_received": 11, "f_header_length": 1},
            N,
        ),
        ({"rule": "response-length-between", "lower": 5, "upper": 6}, {"f_received": 4}, N),
        ({"rule": "response-length-between", "lower": 5, "upper": 6}, {"f_received": 5}, A),
        ({"rule": "response-length-between", "lower": 5, "upper": 6}, {"f_received": 7}, N),
        ({"rule": "identical-digest"}, {}, N),
        ({"rule": "identical-digest"}, {"f_identical": True}, R),
    ],
)
def test_replies(rule, known, expected):
    assert says(rule, **known) == expected


def test_a_range_without_a_status_is_refused():
    with pytest.raises(ValidationError, match="`lower` is above `upper`"):
        StatusBetween(lower=2, upper=1)


@pytest.mark.parametrize(
    ("rule", "need"),
    [
        (IpAddressSet(), Need.ADDRESS),
        (StatusBetween(), Need.HEADERS),
        (ContentLength(), Need.RESPONSE),
        (ResourceLongerThan(), Need.HEADERS),
        (ResourceLongerThan(use_header_length=False), Need.RESPONSE),
        (ResponseLengthBetween(), Need.RESPONSE),
        (IdenticalDigest(), Need.DIGEST),
    ],
)
def test_each_rule_says_what_it_needs(rule, need):
    assert rule.needs == need


def test_before_the_reply_they_are_silent():
    scope = scope_of({"rule": "status-between"}, offers=Need.ADDRESS)
    assert str(scope.decide(Subject("http://a.test/")).decision) == N
