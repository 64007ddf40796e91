from pathlib import Path

from tests.cases.table import Difference, Table, json_lines, run_table


def test_a_row_that_cannot_be_read_or_crashes_is_a_failed_row(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "n": 1}\n{"id": 2}\n{"id": 3, "n":\n')
    table = Table("t", json_lines("rows.jsonl"), lambda row: None if row["n"] else "none")
    result = run_table(table, [], tmp_path)
    assert (result.rows, result.passed) == (3, 1)
    assert [name for name, _ in result.failed] == ["2", "the row cannot be read"]


def test_a_predicate_that_is_not_made_for_a_row_does_not_excuse_it(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "text": null}\n{"id": 2, "text": "ab"}\n')
    table = Table("t", json_lines("rows.jsonl"), lambda _: "wrong")
    decided = Difference("t", "begins with a", "", lambda row: row["text"].startswith("a"))
    result = run_table(table, [decided], tmp_path)
    assert [name for name, _ in result.failed] == ["1"]
    assert result.differing == {"begins with a": 1}
