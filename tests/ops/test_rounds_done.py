import pytest

from nacre.ops.status import rounds_done
from nacre.rounds.tables.versions import CycleVersion, SegmentState


@pytest.mark.parametrize(
    ("segments", "done"),
    [
        ({}, 0),
        ({"a": ("updated", 2), "b": ("generated", 5)}, 1),
        ({"a": ("updated", 2), "b": ("fetched", 2)}, 0),
        ({"a": ("updated", 2), "b": ("updated", 2), "c": ("updated", 7)}, 2),
    ],
)
def test_a_round_is_done_when_all_its_lists_are_in_the_tables(segments, done):
    states = {
        name: SegmentState(state=state, more={"version": made})
        for name, (state, made) in segments.items()
    }
    assert rounds_done(CycleVersion(number=9, segments=states)) == done
