"""The comparison of two versions is measured on pages that are found changed."""

from pathlib import Path

from bench.comparison import costs, pages
from bench.report import table

PAGE = "<html><body><h1>{0}</h1><p>Page {0} has a text of its own.</p></body></html>"


def test_pages_are_drawn_evenly_and_broken_ones_left_out(tmp_path: Path):
    for number in range(20):
        (tmp_path / f"{number:02}.html").write_text(PAGE.format(number))
    (tmp_path / "04.html").write_text("no body")
    found = pages([tmp_path], 10)
    assert [text.partition("</h1>")[0][-1] for text in found] == [
        *("0", "2", "6", "8"),
        *("0", "2", "4", "6", "8"),
    ]


def test_each_added_sentence_is_found():
    found = costs([PAGE.format(number) for number in range(5)])
    assert (found["pages"], found["found_changed"]) == (5, 5)
    assert found["all_ms"] >= found["compare_ms"] >= 0
    shown = table({"processor": "P", "load_before": 0.5, "comparison": found})
    assert "5 of one added sentence each found" in shown
