from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import JobLabels, JobLabelsWish, LabelBook, changed_labels
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout

JOB = FoundJob("crawls~demo", "demo", "crawls", Layout(Path("/crawls/demo")))


def test_labels_outlive_the_console(tmp_path: Path):
    database = ConsoleDatabase(tmp_path)
    book = LabelBook(database)
    assert book.of(JOB) == JobLabels()
    book.set(JOB, JobLabels("图书馆", ("a", "b c")))
    database.close()
    database = ConsoleDatabase(tmp_path)
    book = LabelBook(database)
    assert book.of(JOB) == JobLabels("图书馆", ("a", "b c"))
    assert book.all_tags([JOB]) == ["a", "b c"]
    assert book.all_tags([]) == []
    database.close()


def test_what_is_left_out_stays():
    before = JobLabels("old", ("x",))
    assert changed_labels(before, JobLabelsWish(name=" new ")) == JobLabels("new", ("x",))
    assert changed_labels(before, JobLabelsWish(tags=("b", " a", "b", ""))) == JobLabels(
        "old", ("a", "b")
    )
    assert changed_labels(before, JobLabelsWish(name="", tags=())) == JobLabels()


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"name": "x" * 101}, "101 characters; 100 are the most"),
        ({"name": "a\u202eb"}, "cannot be seen"),
        ({"tags": ["x" * 41]}, "the tag has 41 characters"),
        ({"tags": ["a\u200bb"]}, "cannot be seen"),
        ({"tags": ["a,b"]}, "has a comma"),
        ({"tags": [str(n) for n in range(21)]}, "21 tags are too many"),
    ],
)
def test_a_label_that_cannot_be_taken_says_why(wish: dict[str, object], said: str):
    with pytest.raises(RefusedRequestError, match=said):
        changed_labels(JobLabels(), msgspec.convert(wish, JobLabelsWish))


def test_the_tags_of_many_jobs_cost_as_many_statements_as_those_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    statements: list[str] = []
    rows = ConsoleDatabase.rows

    def counted(
        database: ConsoleDatabase, statement: str, *values: str | float | bytes
    ) -> list[tuple[object, ...]]:
        statements.append(statement)
        return rows(database, statement, *values)

    with closing(ConsoleDatabase(tmp_path)) as database:
        book = LabelBook(database)
        book.set(JOB, JobLabels("", ("gbk",)))
        jobs = [JOB, *(JOB._replace(layout=Layout(tmp_path / str(number))) for number in range(50))]
        assert book.all_tags(jobs) == ["gbk"]
        monkeypatch.setattr(ConsoleDatabase, "rows", counted)
        assert book.all_tags([JOB]) == ["gbk"]
        once = len(statements)
        assert book.all_tags(jobs) == ["gbk"]
        assert len(statements) == 2 * once
