from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.window import Window
from tests.frontier.memory_rows import MemoryRows

numbers = st.lists(st.integers(0, 99), max_size=12)


@given(numbers, st.lists(st.one_of(st.none(), numbers)), st.integers(1, 3))
def test_hands_out_the_first_rows_whatever_comes_in_between(
    at_first: list[int], steps: list[list[int] | None], batch: int
) -> None:
    rows = MemoryRows()
    model = {bytes([n]) for n in at_first}
    for key in model:
        rows.put("queue", key, b"v")
    window = Window(rows, "queue", b"", b"\xff", batch)
    taken: set[bytes] = set()
    for step in steps:
        if step is None:
            entry = window.pop(taken)
            assert (entry[0] if entry else None) == min(model, default=None)
            if entry:
                model.remove(entry[0])
                taken.add(entry[0])
        else:
            for key in {bytes([n]) for n in step} - model - taken:
                rows.put("queue", key, b"v")
                window.offer(key, b"v")
                model.add(key)
        assert all(window.low() <= key for key in model)
    window.restart(b"")
    rest = []
    while entry := window.pop(taken):
        rest.append(entry[0])
    assert rest == sorted(model)


def test_is_never_read_again_and_stays_small() -> None:
    rows = MemoryRows()
    window = Window(rows, "queue", b"", b"\xff", 2)
    assert window.pop() is None
    for n in range(200):
        rows.put("queue", bytes([n]), b"v")
        window.offer(bytes([n]), b"v")
        assert len(window._heap) <= 4
