"""Pages that change together are told from those that only change often."""

import pytest

from nacre.history.recrawl.cochange import Looks, Word, change_together, lift, note, support, word


def _looks(*steps: tuple[int, int]) -> Looks:
    looks: Looks = []
    for time, (visited, changed) in enumerate(steps):
        for place in range(visited):
            note(looks, float(time), changed=place < changed)
    return looks


def test_a_release_changes_a_group_at_once() -> None:
    looks = _looks(*[(20, 0)] * 9, (20, 15))
    assert support(looks) == 105
    assert lift(looks) == pytest.approx((15 * 14) / (10 * 20 * 19) / (15 / 200) ** 2)
    assert change_together(looks)


@pytest.mark.parametrize(
    "steps",
    [
        [(20, 10)] * 10,  # always half of them: by chance
        [(20, 1)] * 10,  # one at a time
        [(20, 0)] * 9 + [(20, 3)],  # too few pairs
        [],
    ],
)
def test_chance_is_no_group(steps: list[tuple[int, int]]) -> None:
    assert not change_together(_looks(*steps))


def test_the_sentinels_speak_for_their_step_alone() -> None:
    assert word(_looks((5, 0), (3, 3)), 1.0) is Word.CHANGED
    assert word(_looks((5, 5), (3, 0)), 1.0) is Word.QUIET
    assert word(_looks((5, 5), (3, 1)), 1.0) is Word.NOTHING
    assert word(_looks((5, 5)), 1.0) is Word.NOTHING
    assert word([], 1.0) is Word.NOTHING


def test_old_steps_are_forgotten() -> None:
    assert len(_looks(*[(1, 0)] * 60)) == 40
