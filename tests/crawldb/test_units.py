"""Hosts are spread over units, and the long tail is cut before it begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb.units import HostWork, pack

WORKS = st.lists(
    st.builds(
        HostWork,
        st.integers(0, 10**6).map(lambda n: f"h{n}.example"),
        st.integers(1, 500),
        st.sampled_from([0.5, 1.0, 3.0]),
    ),
    max_size=40,
    unique_by=lambda work: work.name,
)


@given(WORKS, st.integers(1, 9))
def test_every_host_is_in_one_unit(works, units):
    packed = pack(works, units)
    assert set(packed.unit_of) == {work.name for work in works}
    assert set(packed.unit_of.values()) == set(range(min(units, len(works)) if works else 0))
    assert packed.cut == 0
    assert packed == pack(list(reversed(works)), units)


@given(WORKS, st.integers(1, 9))
def test_no_unit_has_much_more_than_another(works, units):
    packed = pack(works, units)
    loads = dict.fromkeys(packed.unit_of.values(), 0.0)
    for work in works:
        loads[packed.unit_of[work.name]] += work.seconds
    longest = max((work.seconds for work in works), default=0)
    assert max(loads.values(), default=0) <= min(loads.values(), default=0) + longest


def test_a_host_beyond_the_limit_keeps_what_fits():
    packed = pack([HostWork("slow", 100, 3.0), HostWork("quick", 100, 0.1)], 2, limit=60)
    assert packed.most == {"slow": 20}
    assert packed.cut == 80
    assert packed.longest == HostWork("slow", 20, 3.0)
    assert sorted(packed.seconds) == [10.0, 60.0]


def test_one_url_is_always_kept():
    assert pack([HostWork("slow", 3, 100.0)], 1, limit=10).most == {"slow": 1}
    assert pack([HostWork("slow", 1, 100.0)], 1, limit=10).cut == 0


def test_nothing_to_pack():
    assert pack([], 4) == ({}, (0.0,), {}, 0, None, 0, 0.0)


@pytest.mark.parametrize(
    ("at_once", "whole"), [(0, 40.0), (9, 40.0), (4, 40.0), (3, 40.0), (2, 50.0), (1, 100.0)]
)
def test_units_that_wait_for_their_turn_come_behind_the_first_that_ends(at_once, whole):
    works = [HostWork(f"h{n}", n, 10.0) for n in (1, 2, 3, 4)]
    packed = pack(works, 4, at_once=at_once)
    assert packed.seconds == (40.0, 30.0, 20.0, 10.0)
    assert packed.whole == whole


def test_a_host_has_its_share_of_the_time_where_units_wait_for_their_turn():
    works = [HostWork(f"h{n}", 100, 1.0) for n in range(4)]
    assert pack(works, 4, limit=60).most == dict.fromkeys(("h0", "h1", "h2", "h3"), 60)
    packed = pack(works, 4, limit=60, at_once=2)
    assert packed.most == dict.fromkeys(("h0", "h1", "h2", "h3"), 30)
    assert (packed.cut, packed.whole) == (280, 60.0)
    assert not pack(works[:2], 4, limit=100, at_once=2).most, "two hosts are two units"


def test_the_hosts_of_a_group_are_in_one_unit():
    works = [HostWork(f"h{n}", 10 - n, 1.0, "a" if n % 2 else "") for n in range(6)]
    packed = pack(works, 6)
    assert len({packed.unit_of[name] for name in ("h1", "h3", "h5")}) == 1
    assert len(packed.seconds) == 4
    assert packed.seconds[packed.unit_of["h1"]] == 9.0
    assert packed.longest == works[0]
