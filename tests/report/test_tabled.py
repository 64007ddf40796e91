"""Reports of a run as tables for people."""

import pytest

from nacre.report.plain import plain_text
from nacre.report.tabled import TABLED

QUEUE = {
    "queue": "test,a,", "state": "snoozed", "precedence": 3, "current_size": 7,
    "total_enqueues": 9, "session_balance": 2990, "last_cost": 1, "average_cost": 1.5,
    "last_dequeue_time": "2026-11-20T10:00:00.000Z", "wake_time": None, "total_spend": 2,
    "total_budget": -1, "error_count": 0, "last_peek_uri": "http://a.test/%CD%A8%D6%AA%B9%AB%B8%E6",
    "last_queued_uri": "",
}  # fmt: skip


def text(name: str, data: dict[str, object], *, verbose: bool = False) -> str:
    return plain_text(TABLED[name](data, verbose=verbose))


def test_a_queue_has_its_times_and_its_inside_on_demand():
    data = {"report": "frontier-nonempty", "rows": [QUEUE], "left_out": 0}
    short, long = text("frontier-nonempty", data), text("frontier-nonempty", data, verbose=True)
    assert "waiting URIs" in short
    assert "precedence" not in short
    assert "2026-11-20 10:00" in long
    assert "1.5" in long


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"code": 0}, "not tried yet"),
        (
            {"code": -2, "cause": "connection refused, tried twice"},
            "connection refused, tried twice",
        ),
        ({"code": 404}, "HTTP status 404"),
    ],
)
def test_a_seed_says_what_came_of_it(row: dict[str, object], told: str):
    whole = {"seed": "http://a.test/", "status": "x", "redirect": None} | row
    assert told in text("seeds", {"report": "seeds", "rows": [whole], "left_out": 0})


def test_rows_that_are_left_out_are_told():
    row = {"urls": 3, "bytes": 1500, "mime": "text/html"}
    shown = text("mimetype", {"report": "mimetype", "rows": [row], "left_out": 1234})
    assert "1,234 more rows" in shown
    assert "1.5 KB" in shown
