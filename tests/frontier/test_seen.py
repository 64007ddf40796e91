from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.seen import Seen
from tests.frontier.memory_rows import MemoryRows

keys = st.lists(st.binary(min_size=1, max_size=1), max_size=6)


@given(st.lists(st.tuples(st.sampled_from(["known", "enter", "forget"]), keys)), st.integers(0, 8))
def test_is_a_set(steps: list[tuple[str, list[bytes]]], recent: int) -> None:
    seen, model = Seen(MemoryRows(), recent), set[bytes]()
    for step, given_keys in steps:
        if step == "known":
            assert seen.known(given_keys) == [key in model for key in given_keys]
        elif step == "forget":
            for key in given_keys:
                seen.forget(key)
            model -= set(given_keys)
        else:
            for key, new in zip(given_keys, seen.enter(given_keys), strict=True):
                assert new == (key not in model)
                model.add(key)


def test_one_look_up_at_most_and_none_for_what_was_just_asked() -> None:
    rows = MemoryRows()
    seen = Seen(rows, 100)
    batch = [b"a", b"b", b"c"]
    assert seen.known(batch) == [False] * 3
    assert rows.gets == 1
    assert seen.enter(batch) == [True] * 3
    assert seen.enter(batch) == [False] * 3
    assert rows.gets == 1
