"""What the process of a repeated crawl publishes: when the next pass begins, and why."""

from pathlib import Path

from nacre.machine.layout import Layout
from nacre.messages import Message, message
from nacre.runs.passes import NextPass, find_recurring, lock_passes


def test_the_reason_of_the_next_pass_keeps_its_code(tmp_path: Path):
    layout = Layout(tmp_path)
    layout.state.mkdir(parents=True)
    layout.control.mkdir(exist_ok=True)
    why = message("job.url-and-reason", "{url}: {why}", url="http://h.test/", why="calendar")
    with lock_passes(layout, "--every 6h") as keeper:
        keeper.announce(NextPass(5.0, why))
        found = find_recurring(layout)
        assert found is not None
        assert (found.time, found.why) == (5.0, "http://h.test/: calendar")
        assert isinstance(found.why, Message)
        assert found.why.code == "job.url-and-reason"
        keeper.announce(NextPass(6.0, "plain"))
        plain = find_recurring(layout)
        assert plain is not None
        assert plain.why == "plain"
