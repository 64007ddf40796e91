"""Which step comes next, whatever was interrupted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import JobError
from nacre.machine.layout import Layout
from nacre.rounds.journal import (
    JournalFile,
    RoundsJournal,
    StopSignal,
    begin,
    marked_late,
    next_step,
    run_rounds,
    waiting,
)
from nacre.rounds.tables.versions import CycleVersion, SegmentState

STEPS = ("generate", "fetch", "update", "links", "dedup")


def version(number: int = 5, *, generated: int = 5, taken: str = "", **states: str) -> CycleVersion:
    """A version whose segments were made by the version `generated`; `taken` by further steps."""
    more = {"version": generated} | dict.fromkeys(taken.split(), True)
    segments = {name: SegmentState(state=state, more=more) for name, state in states.items()}
    return CycleVersion(number=number, segments=segments)


def journal(step: str = "", *, ended: bool = False, parent: int = 5, number: int = 2):
    return RoundsJournal(rounds=3, round=number, step=step, ended=ended, parent=parent)


@pytest.mark.parametrize(
    ("left", "now", "expected"),
    [
        (journal(), version(), (2, "generate")),
        (journal("generate"), version(), (2, "generate")),
        (journal("generate"), version(6, s1="generated"), (2, "fetch")),
        (journal("fetch"), version(5, s1="generated"), (2, "fetch")),
        (journal("fetch", parent=4), version(5, s1="fetched", s2="generated"), (2, "fetch")),
        (journal("fetch"), version(6, s1="fetched"), (2, "update")),
        (journal("update"), version(5, s1="fetched"), (2, "update")),
        (journal("update"), version(6, s1="updated"), (2, "links")),
        (journal("links"), version(5, s1="updated"), (2, "links")),
        (journal("links", ended=True), version(5, s1="updated"), (2, "dedup")),
        (journal("links"), version(6, s1="updated"), (2, "links")),
        (journal("links"), version(6, taken="links", s1="updated"), (2, "dedup")),
        (journal("dedup"), version(7, taken="links", s1="updated"), (2, "dedup")),
        (journal("dedup"), version(7, taken="links dedup", s1="updated"), (3, "generate")),
        (journal("dedup", ended=True), version(5, s1="updated"), (3, "generate")),
        (journal("generate"), version(6, generated=6, s1="updated"), (2, "links")),
        # Another command committed while the rounds were interrupted.
        (journal("generate"), version(6, s1="updated"), (2, "generate")),
    ],
)
def test_the_step_that_comes_next(left, now, expected):
    assert next_step(left, now, STEPS) == expected


@pytest.mark.parametrize(("late", "expected"), [(0, "generate"), (2, "sitemaps")])
def test_sitemaps_come_again_for_those_that_the_time_did_not_suffice_for(late, expected):
    asked = marked_late(SegmentState(state="updated", more={"sitemaps": 1, "links": True}), late)
    now = CycleVersion(number=5, segments={"s1": asked})
    steps = ("sitemaps", *STEPS)
    left = journal("dedup", ended=True, number=1)
    assert next_step(left, now, steps, {"sitemaps"}) == (2, expected)
    assert next_step(left, now, STEPS) == (2, "generate"), "a command without that step"


def test_without_further_steps_a_round_ends_with_update():
    assert next_step(journal("update"), version(6, s1="updated")) == (3, "generate")


def test_an_interrupted_command_is_continued_when_it_asks_for_as_many_rounds():
    left = journal("fetch")
    assert begin(left, 3, 77, {"top": "9"}).round == 2
    assert begin(left, 3, 77, {"top": "9"}).step == "fetch"
    assert begin(left, 1, 77, {}).round == 1
    assert begin(None, 3, 77, {}) == RoundsJournal(rounds=3, started=77)


def test_the_journal_is_kept_in_a_file(tmp_path):
    file = JournalFile(Layout(tmp_path))
    assert file.read() is None
    file.write(journal("fetch"))
    assert file.read() == journal("fetch")
    file.remove()
    file.remove()
    assert file.read() is None


def test_a_broken_journal_is_told_with_the_remedy(tmp_path):
    (tmp_path / "cycle").mkdir()
    (tmp_path / "cycle" / "journal.json").write_text("{")
    with pytest.raises(JobError, match="Remove it"):
        JournalFile(Layout(tmp_path)).read()


def test_segments_wait_by_age():
    assert waiting(version(s2="fetched", s1="fetched", s3="updated"), "fetched") == ["s1", "s2"]


@given(st.integers(0, 40))
def test_kills_at_any_place_lead_through_all_steps(kills):
    """A driver that dies after each write of its journal and after each commit still ends."""
    done: list[str] = []
    left, state, number, generated = RoundsJournal(rounds=2), "", 1, 0
    taken = ""
    for turn in range(60):
        now = version(number, generated=generated, taken=taken, **({"s1": state} if state else {}))
        at, step = next_step(left, now, STEPS)
        if at > 2:
            break
        left = RoundsJournal(rounds=2, round=at, step=step, parent=number)
        if turn % 2 and kills % (turn + 1) == 0:
            continue  # killed before the commit
        done.append(step)
        number += 1
        if step == "generate":
            taken, generated = "", number
        state = {"generate": "generated", "fetch": "fetched", "update": "updated"}.get(step, state)
        taken += f" {step}" if step in {"links", "dedup"} else ""
    assert done == [*STEPS, *STEPS]


class Steps:
    """Rounds of the step `generate`, which fails with what it is given, or has nothing to do."""

    def __init__(self, error: BaseException | None = None, number: int = 5, now: int = 700) -> None:
        self.number, self.time, self.clocks = number, now, list[int]()
        self._error = error

    def newest(self) -> CycleVersion:
        return version(self.number)

    def now(self) -> int:
        return self.time

    def step(self, name: str, left: RoundsJournal) -> bool:
        self.clocks.append(left.clock)
        if self._error is not None:
            raise self._error
        return False


def rounds(folder, steps: Steps) -> JournalFile:
    """Run rounds that go on with the journal of a folder."""
    file = JournalFile(Layout(folder))
    left = begin(file.read(), 1, steps.now(), {})
    try:
        run_rounds(steps, file, left, StopSignal(Layout(folder)))
    except (JobError, KeyboardInterrupt):
        assert file.read() is not None
    return file


def test_a_step_that_was_killed_is_done_again_with_its_clock(tmp_path):
    rounds(tmp_path, Steps(KeyboardInterrupt()))
    again = Steps(now=900)
    rounds(tmp_path, again)
    assert again.clocks == [700]


def test_a_clock_holds_no_more_when_another_command_committed_meanwhile(tmp_path):
    rounds(tmp_path, Steps(KeyboardInterrupt()))
    again = Steps(number=6, now=900)
    rounds(tmp_path, again)
    assert again.clocks == [900]


def test_a_step_that_the_user_has_to_mend_begins_at_the_time_of_the_next_try(tmp_path):
    rounds(tmp_path, Steps(JobError("a wrong condition")))
    again = Steps(now=900)
    rounds(tmp_path, again)
    assert again.clocks == [900]


def test_a_step_before_which_somebody_ended_the_rounds_has_no_clock_yet(tmp_path):
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / "stop").touch()
    rounds(tmp_path, Steps())
    (tmp_path / "control" / "stop").unlink()
    later = Steps(now=900)
    rounds(tmp_path, later)
    assert later.clocks == [900]


def test_sitemaps_go_on_with_their_clock_behind_their_own_commit(tmp_path):
    file = JournalFile(Layout(tmp_path))
    left = RoundsJournal(rounds=1, step="sitemaps", parent=4, clock=700)
    made = SegmentState(state="generated", more={"sitemaps": 1, "made": 5})
    steps = Steps(KeyboardInterrupt(), now=900)
    steps.newest = lambda: CycleVersion(number=5, segments={"s1": made})  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run_rounds(steps, file, left, StopSignal(Layout(tmp_path)), ("sitemaps", *STEPS))
    assert steps.clocks == [700]
