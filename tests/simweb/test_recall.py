"""Recall of archives made by hand, where the right answer is plain."""

import pytest

from nacre_simweb.holdings import Holdings
from nacre_simweb.recall import (
    CountedWindow,
    deletion,
    discovery,
    epoch_recall,
    quantile,
    share,
    version_recall,
)
from nacre_simweb.truth import Track, TrueVersion
from tests.simweb.archives import ALL, INF, NOTHING, TRACKS, WINDOW, archive, row


def test_version_recall():
    found = version_recall(TRACKS, Holdings(ALL), WINDOW)
    assert (found["versions"], found["recall"], found["recall_of_time"]) == (2, 1, 1)
    assert version_recall(TRACKS, Holdings(NOTHING), WINDOW)["recall"] == 0
    half = version_recall(TRACKS, Holdings(archive(row("e", 10, 1))), WINDOW)
    assert (half["recall"], half["recall_minor"], half["recall_new"]) == (0.5, 1, 0)
    assert half["recall_of_time"] == pytest.approx(11 / 19, abs=1e-6)


def test_discovery():
    found = discovery(TRACKS, Holdings(ALL), WINDOW)
    assert (found["born"], found["recall"], found["recall_24h"]) == (1, 1, 1)
    assert found["delay_median_h"] == pytest.approx(8 / 3600, abs=1e-4)
    assert discovery(TRACKS, Holdings(NOTHING), WINDOW)["recall"] == 0


def test_deletion():
    found = deletion(TRACKS, Holdings(ALL), WINDOW, {"e": 16, "s": 3})
    assert (found["died"], found["recall"], found["false"]) == (1, 1, 0.5)
    early = archive(row("e", 10, -1, "error", 404))
    assert deletion(TRACKS, Holdings(early), WINDOW, None)["recall"] == 0


def test_epoch_recall():
    found = epoch_recall(TRACKS, Holdings(ALL), WINDOW)
    assert (found["differing"], found["recall"]) == (3, 1)
    late = archive(row("e", 20, 1))
    assert epoch_recall(TRACKS, Holdings(late), WINDOW)["recall"] == 0


def test_what_was_never_there_has_no_recall():
    nothing = CountedWindow([100.0, 110.0])
    held = Holdings(ALL)
    assert version_recall(TRACKS, held, nothing)["recall"] is None
    assert discovery(TRACKS, held, nothing)["recall"] is None
    found = deletion(TRACKS, held, nothing, None)
    assert (found["died"], found["recall"], found["false"]) == (0, None, None)
    assert epoch_recall(TRACKS, held, nothing)["recall"] is None


def test_changes_count_behind_the_first_step_and_up_to_the_last():
    spans = [TrueVersion(n, "minor", at, at + 1) for n, at in enumerate((0.0, 1.0, 20.0, 21.0))]
    found = version_recall([Track("u", "article", tuple(spans))], Holdings(NOTHING), WINDOW)
    assert found["versions"] == 2


def test_what_comes_back_is_no_new_version():
    spans = (TrueVersion(0, "new", -5, 4), TrueVersion(0, "back", 8, INF))
    found = version_recall([Track("u", "article", spans)], Holdings(NOTHING), WINDOW)
    assert found["versions"] == 0


def test_a_version_that_is_fetched_too_late_counts_for_its_step_only_until_the_next():
    tracks = [
        Track("u", "article", (TrueVersion(0, "new", -5, 4), TrueVersion(1, "minor", 4, INF)))
    ]
    steps = CountedWindow([0.0, 10.0, 20.0])
    for time, recall in ((10.0, 1), (19.0, 1), (20.0, 0)):
        held = Holdings(archive(row("u", time, 1)))
        assert epoch_recall(tracks, held, steps)["recall_changed"] == recall


@pytest.mark.parametrize(
    ("part", "value"), [(0.0, 1), (0.25, 1), (0.5, 2), (0.51, 3), (0.95, 4), (1.0, 4)]
)
def test_quantiles_are_values_that_were_seen(part, value):
    assert quantile([1, 2, 3, 4], part) == value


def test_a_share_of_nothing_is_none():
    assert share(0, 0) is None
    assert share(1, 3) == 0.333333
