import pytest

from nacre.frontier.queues import QueueRow, State
from nacre.frontier.repose import why_it_rests
from nacre.frontier.settings import FrontierSettings


@pytest.mark.parametrize(
    ("row", "settings", "wait", "says"),
    [
        (QueueRow("a", state=State.READY), {}, None, ""),
        (QueueRow("a", state=State.IN_PROCESS), {}, None, ""),
        (QueueRow("a", state=State.EXHAUSTED), {}, None, "it is empty"),
        (QueueRow("a", state=State.EXHAUSTED, waiting=2), {}, None, "2 of its URIs wait"),
        (QueueRow("a", state=State.INACTIVE), {}, None, "its turn among the queues of preced"),
        (QueueRow("a", 9, State.INELIGIBLE), {"precedence_floor": 9}, None, "floor of 9"),
        (QueueRow("a", state=State.SNOOZED), {}, 2.0, "its politeness delay for 2.0 s more"),
        (QueueRow("a", state=State.SNOOZED, backoff=2.0), {}, None, "server asked"),
        (QueueRow("a", state=State.SNOOZED, held=True), {}, None, "robots.txt or dns:"),
        (QueueRow("a", state=State.RETIRED, why="operator"), {}, None, "unretire"),
        (QueueRow("a", state=State.RETIRED, why="Q:hostMaxAllKb"), {}, None, "(Q:hostMaxAllKb)"),
        (
            QueueRow("a", state=State.RETIRED, why="budget", spent=7),
            {"queue_total_budget": 5},
            None,
            "spent 7 of its budget of 5",
        ),
        (
            QueueRow("a", state=State.RETIRED, why="budget"),
            {"force_retire": True},
            None,
            "force_re",
        ),
    ],
)
def test_reasons(row: QueueRow, settings: dict[str, object], wait: float | None, says: str) -> None:
    text = why_it_rests(row, FrontierSettings.model_validate(settings), wait)
    assert says in text
    assert bool(says) == bool(text)
