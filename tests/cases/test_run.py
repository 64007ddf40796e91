"""The harness itself: what counts as passed, decided, unsupported and failed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases.differences import DIFFERENCES
from tests.cases.run import all_tables
from tests.cases.table import (
    Difference,
    Differs,
    Row,
    Table,
    Unsupported,
    cases_folder,
    decision,
    json_lines,
    run_table,
)

OWN = Path(__file__).parent / "own"
TABLES = {table.name: table for table in all_tables()}


def rows(folder: Path, *lines: str) -> Path:
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_a_row_that_cannot_be_read_or_crashes_is_a_failed_row(tmp_path: Path):
    rows(tmp_path, '{"id": 1, "n": 1}', '{"id": 2}', '{"id": 3, "n":')
    table = Table("t", json_lines("rows.jsonl"), lambda row: None if row["n"] else "none")
    excuses_all = Difference("t", "anything", "", lambda _row, _answer: True)
    result = run_table(table, [excuses_all], tmp_path)
    assert (result.rows, result.passed) == (3, 1)
    assert [name for name, _ in result.failed] == ["2", "the row cannot be read"]


def test_a_predicate_that_crashes_fails_its_row(tmp_path: Path):
    rows(tmp_path, '{"id": 1, "text": null}', '{"id": 2, "text": "ab"}')
    table = Table("t", json_lines("rows.jsonl"), lambda _: "wrong")
    decided = Difference("t", "begins with a", "", lambda row, _: row["text"].startswith("a"))
    result = run_table(table, [decided], tmp_path)
    assert [name for name, _ in result.failed] == ["1"]
    assert result.decided == {"begins with a": 1}


def test_a_difference_sees_the_answer_and_excuses_no_other(tmp_path: Path):
    rows(tmp_path, '{"id": 1, "n": 1}', '{"id": 2, "n": 2}')
    table = Table("t", json_lines("rows.jsonl"), lambda row: Differs(row["n"] * 10, "ten times"))
    decided = Difference("t", "ten", "", lambda _row, answer: bool(answer == 10))
    result = run_table(table, [decided], tmp_path)
    assert result.decided == {"ten": 1}
    assert result.failed == [("2", "ten times")]


def test_what_is_not_supported_is_counted_apart(tmp_path: Path):
    rows(tmp_path, '{"id": 1}', '{"id": 2}')
    table = Table("t", json_lines("rows.jsonl"), lambda _: Unsupported("ARC files"))
    result = run_table(table, [], tmp_path)
    assert result.unsupported == {"ARC files": 2}
    assert result.line().split()[-4:] == ["unsupported", "2", "failed", "0"]


def judged(table: Table, folder: Path) -> Iterator[tuple[Row, Any, Difference]]:
    """Each decided row, Nacre's answer, and the difference."""
    mine = [d for d in DIFFERENCES if d.table == table.name]
    for row in table.load(folder):
        answer = table.check(row)
        if answer is None or isinstance(answer, Unsupported):
            continue
        decided = decision(mine, row, answer)
        assert decided, (row, answer)
        yield row, answer.answer if isinstance(answer, Differs) else answer, decided


def own(name: str) -> Table:
    """The table with our own rows in the place of the given ones."""
    return Table(name, json_lines(f"{name}.jsonl"), TABLES[name].check)


@pytest.mark.parametrize("name", sorted(path.stem for path in OWN.glob("*.jsonl")))
def test_our_own_rows_are_decided_by_the_difference_that_they_name(name: str):
    found = list(judged(own(name), OWN))
    assert len(found) == len((OWN / f"{name}.jsonl").read_text().splitlines())
    assert [decided.name for _, _, decided in found] == [row["difference"] for row, _, _ in found]


def altered(answer: Any) -> list[Any]:
    """Other answers that resemble one: a part changed, left out, or none at all."""
    if isinstance(answer, dict):
        parts = [{**answer, k: a} for k, v in answer.items() for a in altered(v) if a is not None]
        return [*parts, None]
    if isinstance(answer, tuple):
        places = enumerate(answer)
        return [(*answer[:i], a, *answer[i + 1 :]) for i, v in places for a in altered(v)]
    return altered_value(answer)


def altered_value(answer: Any) -> list[Any]:
    others: list[Any] = ["http://other.example.com/"]
    if isinstance(answer, str):
        others = [answer + "x", answer[:-1], None]
    elif isinstance(answer, frozenset | set):
        more = answer | {("L", "http://other.example.com/", "a/@href")}
        others = [more, *(answer - {one} for one in list(answer)[:3])]
    elif isinstance(answer, list):
        others = [answer[:-1], [*answer, ("http://other.example.com/", False, "")]]
    elif isinstance(answer, bool):
        others = [not answer]
    elif isinstance(answer, int | float):
        others = [answer + 1]
    return others


def excused(table: Table, folder: Path) -> Iterator[tuple[Row, Any, str]]:
    """Wrong answers that a difference would let pass, beside the row's own."""
    mine = [d for d in DIFFERENCES if d.table == table.name]
    for row, answer, _ in judged(table, folder):
        for other in altered(answer):
            if other != answer and (found := decision(mine, row, Differs(other))):
                yield row, other, found.name


@pytest.mark.parametrize("name", sorted(path.stem for path in OWN.glob("*.jsonl")))
def test_another_wrong_answer_to_a_row_of_ours_fails(name: str):
    assert list(excused(own(name), OWN)) == []


@pytest.mark.cases
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sorted({d.table for d in DIFFERENCES}))
def test_another_wrong_answer_to_a_decided_row_fails(name: str):
    folder = cases_folder()
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; name the tables' folder with NACRE_CASES")
    assert list(excused(TABLES[name], folder)) == []


@pytest.mark.cases
@pytest.mark.timeout(300)
def test_every_difference_decides_a_row():
    folder = cases_folder()
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; name the tables' folder with NACRE_CASES")
    used = set()
    for name in {d.table for d in DIFFERENCES}:
        used |= {id(decided) for _, _, decided in judged(TABLES[name], folder)}
        if (OWN / f"{name}.jsonl").exists():
            used |= {id(decided) for _, _, decided in judged(own(name), OWN)}
    assert [(d.table, d.name) for d in DIFFERENCES if id(d) not in used] == []
