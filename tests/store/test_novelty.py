from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.store.novelty import Novelty

KEYS = st.sets(st.binary(min_size=7, max_size=21), max_size=50)


@settings(max_examples=20)  # 2 MB each
@given(KEYS)
def test_what_was_put_is_never_new(keys: set[bytes]) -> None:
    novelty = Novelty(is_empty=True)
    for key in keys:
        novelty.add(key)
    assert not any(novelty.is_new(key) for key in keys)


def test_what_was_not_put_is_new() -> None:
    novelty = Novelty(is_empty=True)
    novelty.add(b"hostabc rest")
    assert novelty.is_new(b"hostabd rest")
    assert novelty.is_new(b"hostxbc rest")
    assert not novelty.is_new(b"h0stabc else")


def test_nothing_is_known_of_a_family_with_rows() -> None:
    novelty = Novelty(is_empty=False)
    novelty.add(b"hostabc rest")
    assert not novelty.is_new(b"another key")
