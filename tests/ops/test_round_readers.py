"""Operations that read batch rounds, and change their segments."""

from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.operation import OperationContext
from nacre.ops.round_readers import SEGMENTS, SegmentsRequest
from nacre.ops.round_requests import StepRun
from nacre.rounds.steps.generate import GenerateOptions, generate
from tests.rounds.steps.test_generate import opened, seeded


def _given_up(root: Path, *names: str) -> tuple[list[str], list[str]]:
    """Give segments up; return those that the result names, and what was reported."""
    lines: list[str] = []
    context = OperationContext(Layout(root), SystemClock(), step=StepRun(warn=lines.append))
    try:
        result = SEGMENTS.run(context, SegmentsRequest("drop", names))
    except JobError as error:
        return [], [*lines, str(error)]
    return list(result.versions), lines


@pytest.fixture
def lists(tmp_path: Path) -> tuple[Path, list[str]]:
    """A batch crawl with two segments that wait for their fetch."""
    seeded(tmp_path, "http://a.example/", "http://b.example/")
    with opened(tmp_path) as step:
        names = [*generate(step, GenerateOptions(top=1)).segments]
        names += generate(step, GenerateOptions()).segments
    return tmp_path, names


@pytest.mark.slow
def test_a_segment_that_is_named_twice_is_given_up_once(lists: tuple[Path, list[str]]):
    root, (first, second) = lists
    assert _given_up(root, first, second, first) == ([first, second], [])


@pytest.mark.slow
def test_segments_before_an_unknown_one_are_reported(lists: tuple[Path, list[str]]):
    root, (first, _) = lists
    result, (line, error) = _given_up(root, first, "nosuch")
    assert result == []
    assert line.startswith(f"{first} is given up in version ")
    assert "no segment 'nosuch'" in error
