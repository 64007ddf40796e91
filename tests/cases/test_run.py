from pathlib import Path

from tests.cases.table import Table, json_lines, run_table


def test_a_row_that_cannot_be_read_or_crashes_is_a_failed_row(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "n": 1}\n{"id": 2}\n{"id": 3, "n":\n')
    table = Table("t", json_lines("rows.jsonl"), lambda row: None if row["n"] else "none")
    result = run_table(table, [], tmp_path)
    assert (result.rows, result.passed) == (3, 1)
    assert [name for name, _ in result.failed] == ["2", "the row cannot be read"]
