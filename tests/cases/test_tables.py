import pytest

from tests.cases.differences import DIFFERENCES
from tests.cases.run import all_tables
from tests.cases.table import Table, cases_folder, run_table


@pytest.mark.cases
@pytest.mark.timeout(300)
@pytest.mark.parametrize("table", list(all_tables()), ids=lambda table: table.name)
def test_every_row_passes_or_differs_by_decision(table: Table) -> None:
    folder = cases_folder()
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; name the tables' folder with NACRE_CASES")
    try:
        result = run_table(table, DIFFERENCES, folder)
    except FileNotFoundError as error:
        pytest.skip(f"{error.filename} is absent")
    assert result.rows > 0
    assert result.failed == []


def test_every_difference_names_a_table() -> None:
    names = {table.name for table in all_tables()}
    assert {d.table for d in DIFFERENCES} <= names
