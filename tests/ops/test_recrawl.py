from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.machine.layout import Layout
from nacre.ops.recrawl import export_history, forget_history, import_history
from tests.cli.known import known_job, new_job


@pytest.mark.parametrize("parquet", [False, True])
def test_the_history_is_exported_forgotten_and_imported(tmp_path: Path, parquet: bool):
    layout, folder = Layout(known_job(tmp_path / "job")), tmp_path / "表"
    tables = {
        table.path.name: table.rows for table in export_history(layout, folder, parquet=parquet)
    }
    assert sum(tables.values()) > 3
    forget_history(layout)
    emptied = list(export_history(layout, tmp_path / "empty"))
    assert sum(table.rows for table in emptied) < sum(tables.values())
    assert {table.path.name: table.rows for table in import_history(layout, folder)} == tables
    again = {
        table.path.name: table.rows
        for table in export_history(layout, tmp_path / "again", parquet=parquet)
    }
    assert again == tables


def test_a_job_that_never_ran_has_no_history(tmp_path: Path):
    layout = Layout(new_job(tmp_path / "job"))
    for steps in (export_history, import_history):
        with pytest.raises(JobError):
            list(steps(layout, tmp_path / "tables"))
    with pytest.raises(JobError):
        forget_history(layout)
    assert not (tmp_path / "tables").exists()
