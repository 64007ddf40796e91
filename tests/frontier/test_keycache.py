from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.keycache import KeyCache


def keys(first: int, last: int) -> list[bytes]:
    return [blake2b(b"%d" % n, digest_size=16).digest() for n in range(first, last)]


def test_remembers_nearly_all_while_it_grows() -> None:
    cache, known = KeyCache(2_000_000), keys(0, 200_000)
    for first in range(0, len(known), 100):
        cache.add(known[first : first + 100])
    assert len(cache.unknown(known)) < 0.01 * len(known)
    assert 780_000 <= cache.room <= 800_000
    assert cache.unknown(keys(200_000, 230_000)) == keys(200_000, 230_000)


def test_takes_no_more_room_than_it_may_and_forgets_the_oldest() -> None:
    cache, known = KeyCache(20_000), keys(0, 100_000)
    for first in range(0, len(known), 100):
        cache.add(known[first : first + 100])
    assert cache.room == 20_000
    assert len(cache.unknown(known[-5_000:])) < 500
    assert len(cache.unknown(known[:50_000])) > 49_500


@given(st.integers(0, 3000), st.lists(st.integers(0, 200), max_size=60))
def test_has_only_what_was_added_and_not_forgotten(limit: int, numbers: list[int]) -> None:
    cache, known, model = KeyCache(limit), keys(0, 200), set[bytes]()
    for number in numbers:
        key = known[number % 200]
        if number % 3:
            cache.add(cache.unknown([key]))
            model.add(key)
            assert cache.unknown([key]) == []
        else:
            cache.forget(key)
            model.discard(key)
        assert not model.isdisjoint(known) or set(cache.unknown(known)) == set(known)
        assert set(cache.unknown(known)) >= set(known) - model


def test_a_key_is_found_where_slots_begin_only() -> None:
    cache = KeyCache(8)
    one, other = b"host" + b"u" * 6 + b"abcdef", b"host" + b"u" * 6 + b"ghijkl"
    cache.add([one, other])
    across = b"host" + b"u" * 6 + b"jklabc"
    assert cache.unknown([one, other, across]) == [across]
    cache.add([across])
    assert cache.unknown([one, other, across]) == []


def test_a_key_of_another_host_is_another_key_only_by_its_url() -> None:
    cache = KeyCache(1000)
    one = b"host" + b"u" * 12
    cache.add([one])
    assert cache.unknown([b"h0st" + b"u" * 12, b"host" + b"v" + b"u" * 11]) == [
        b"host" + b"v" + b"u" * 11
    ]
