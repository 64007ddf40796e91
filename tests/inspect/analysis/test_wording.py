"""The results of a recrawl in words."""

import pytest

from nacre.inspect.analysis.wording import changes_text, count_changes


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"minor": 1, "none": 132}, "1 changed (minor changes 1), 132 unchanged"),
        ({"none": 10, "never there": 2}, "0 changed, 10 unchanged; dead links 2"),
        (
            {"new": 2, "major": 1, "noise": 3, "none": 4, "missing": 1, "silent": 5},
            "1 changed (major changes 1), 7 unchanged (noise only 3), 2 new, "
            "1 gone (newly missing 1); no answer or refused 5",
        ),
    ],
)
def test_what_counts_comes_first(found, text):
    assert changes_text(found) == text


def test_numbers():
    assert count_changes({"minor": 1, "template": 2}) == {
        "changed": 1, "unchanged": 2, "new": 0, "gone": 0,
    }  # fmt: skip
