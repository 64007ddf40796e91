import tracemalloc
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier import known_set
from nacre.frontier.known_set import KnownSet


@given(st.lists(st.binary(max_size=20)))
def test_what_was_added_is_known(texts: list[bytes]) -> None:
    known = KnownSet()
    for text in texts:
        known.add(text)
        assert known.has(text)
        assert not known.add(text)


def test_few_texts_are_known_by_mistake() -> None:
    known = KnownSet()
    for number in range(50_000):
        known.add(f"/page/{number}".encode())
    mistaken = sum(known.has(f"/other/{number}".encode()) for number in range(10_000))
    assert mistaken < 10_000 / 64


def test_on_a_small_site_next_to_no_new_text_is_known_by_mistake() -> None:
    """A link that is taken for a view may end the chain of pages that leads to the rest."""
    mistaken = 0
    for port in range(40_000, 40_050):
        known, salt = KnownSet(), crc32(f"127.0.0.1:{port}".encode())
        for number in range(750):
            known.add(f"event={number}".encode(), salt)
        mistaken += sum(known.has(f"date=2026-{day}".encode(), salt) for day in range(1_000))
    assert mistaken < 50 * 1_000 / 4_000


def test_a_salt_tells_sets_apart() -> None:
    known = KnownSet()
    known.add(b"word", 1)
    assert known.has(b"word", 1)
    assert not known.has(b"word", 2)


def test_what_was_taken_is_restored() -> None:
    known, again = KnownSet(), KnownSet()
    for number in range(40_000):
        known.add(str(number).encode())
    again.restore(known.take_fresh())
    assert not known.take_fresh()
    texts = [str(number).encode() for number in range(40_000)]
    alike = sum(again.has(text) == known.has(text) for text in texts)
    assert alike > 0.99 * len(texts)
    assert sum(again.has(text) for text in texts) > 0.95 * len(texts)


def test_a_row_that_was_cut_short_is_read_as_far_as_it_goes() -> None:
    known, again = KnownSet(), KnownSet()
    known.add(b"one")
    known.add(b"two")
    again.restore(known.take_fresh()[:-1])
    assert again.has(b"one")
    assert not again.has(b"two")


@pytest.mark.parametrize("form", ["word{}-x", "/item/{}.html", "date=2026-{}", "通知{}"])
def test_numbered_texts_are_seldom_taken_for_each_other(form: str) -> None:
    known = KnownSet()
    new = sum(known.add(form.format(number).encode()) for number in range(12_000))
    assert new > 12_000 * 0.95


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """The most texts of a table that cannot grow beyond its first size."""
    monkeypatch.setattr(known_set, "_MOST_BITS", known_set._FIRST_BITS)
    return known_set._FIRST_BITS // known_set._FULL


def full_of(most: int) -> tuple[KnownSet, list[bytes]]:
    """A table that has forgotten many texts, and those that entered it, in order."""
    known = KnownSet()
    texts = [f"/page/{number}".encode() for number in range(3 * most)]
    return known, [text for text in texts if known.add(text)]


def test_the_oldest_texts_are_forgotten_one_by_one(small: int) -> None:
    known, texts = full_of(small)
    assert len(known) == small == sum(map(int.bit_count, known._bits))
    assert all(map(known.has, texts[-small:]))
    assert sum(map(known.has, texts[: len(texts) - small])) < (len(texts) - small) / 12


def test_a_full_table_is_restored_in_order(small: int) -> None:
    known, texts = full_of(small)
    again = KnownSet()
    again.restore(known.everything())
    for number in range(small // 2):
        known.add(f"/more/{number}".encode())
        again.add(f"/more/{number}".encode())
    assert again.everything() == known.everything()
    assert [again.has(text) for text in texts] == [known.has(text) for text in texts]


def test_forgetting_takes_no_memory(small: int) -> None:
    known, _ = full_of(small)
    known.take_fresh()
    tracemalloc.start()
    try:
        for number in range(1_000):
            known.mark(f"/more/{number}".encode())
        assert tracemalloc.get_traced_memory()[1] < known_set._FIRST_BITS // 8
    finally:
        tracemalloc.stop()
