from contextlib import closing
from pathlib import Path

import pytest

from bench.histories.repositories import (
    Blobs,
    FileChange,
    missing_blobs,
    parse_changes,
    parse_commits,
)
from bench.histories.timeline import (
    FileState,
    RecordedVersion,
    Timeline,
    has_real_change,
    load_timeline,
    load_versions,
    recorded_versions,
    snapshot_time,
)
from tests.bench.histories.repository import Commit, make_repository

DAY = 86_400
A, B, NONE = "a" * 40, "b" * 40, "0" * 40


def test_times_along_a_branch_never_go_back():
    text = f"{'c' * 40} 50 {B}\n{B} 40 {A}\n{A} 60\n"
    commits = parse_commits(text)
    assert [(commit.name[0], commit.time) for commit in commits] == [
        ("a", 60),
        ("b", 60),
        ("c", 60),
    ]
    assert commits[0].parent == ""


def test_changes_of_several_commits_are_read():
    listing = (
        f"{A}\0:100644 100644 {B} {A} M\0a b.html\0:100644 000000 {B} {NONE} D\0条款.html\0{B}\0"
        f":000000 100644 {NONE} {B} A\0c.html\0"
    )
    assert list(parse_changes(listing.encode())) == [
        FileChange(A, "a b.html", A), FileChange(A, "条款.html", None), FileChange(B, "c.html", B),
    ]  # fmt: skip


def test_a_file_has_states_from_times_on():
    timeline = Timeline(r"\.html$")
    for time, blob in ((10, A), (20, B), (20, A), (30, None)):
        timeline.add("a.html", time, blob)
    timeline.add("a.css", 10, A)
    at = [timeline.at("a.html", now) for now in (9, 10, 19, 20, 30)]
    assert at == [None, FileState(10, A), FileState(10, A), FileState(20, A), None]
    assert timeline.at("a.css", 15) is None


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A repository of one document in four commits, one of them before the start."""
    make_repository(
        tmp_path / "pages",
        [
            Commit(0 * DAY, "first", {"A/条款.html": "one", "A/old.html": "old"}),
            Commit(2 * DAY, "second", {"A/条款.html": "two"}),
            Commit(3 * DAY, "third", {"A/old.html": None, "A/new.html": "new"}),
            Commit(9 * DAY, "late", {"A/条款.html": "late"}),
        ],
    )
    return tmp_path / "pages"


def test_a_branch_is_read_between_two_times(pages: Path):
    timeline = load_timeline(pages, "main", 1 * DAY, 5 * DAY)
    with closing(Blobs(pages)) as blob:

        def text(path: str, day: int) -> str:
            state = timeline.at(path, day * DAY)
            return "" if state is None or state.blob is None else blob(state.blob).decode()

        assert [text("A/条款.html", day) for day in (1, 2, 5, 20)] == ["one", "two", "two", "two"]
        assert [text("A/old.html", day) for day in (1, 3)] == ["old", ""]
        assert [text("A/new.html", day) for day in (2, 3)] == ["", "new"]
        assert text("A/条款.html", 2) == "two"  # from the cache


def test_versions_have_the_time_of_their_snapshot(tmp_path: Path):
    names = make_repository(
        tmp_path / "snapshots",
        [Commit(DAY, "snapshot", {"A/T.html": "1"}), Commit(2 * DAY, "again", {"A/T.html": "2"})],
    )
    body = f"a.test/snapshots/commit/{names[0]}"
    make_repository(
        tmp_path / "versions",
        [
            Commit(DAY + 50, f"First record of A T\n\n{body}", {"A/T.md": "one"}),
            Commit(2 * DAY, f"Record new changes of A T\n\n{body}", {"A/T.md": "two"}),
            Commit(3 * DAY, "Apply technical upgrade on A T", {"A/T.md": "three"}),
            Commit(4 * DAY, "Update A T", {"A/T.md": None, "README.txt": "-"}),
        ],
    )
    versions = load_versions(tmp_path / "versions", tmp_path / "snapshots")
    assert set(versions) == {"A/T"}
    # Two versions name the snapshot of the first day; of one time the order is that of blobs.
    assert sorted((row.time // DAY, row.is_real) for row in versions["A/T"]) == [
        (1, False), (1, True), (3, False), (4, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "time"),
    [
        (f"see x/snapshots/commit/{A}", 1_000_000),
        ("no snapshot", 1_500_000),
        (f"see x/snapshots/commit/{'c' * 40}", 1_500_000),
        (f"see x/snapshots/commit/{B}", 1_500_000),
    ],
)
def test_snapshots_of_another_history_do_not_count(body: str, time: int):
    assert snapshot_time(body, 1_500_000, {A: 1_000_000, B: 9_000_000}) == time


def test_only_pages_of_documents_are_versions():
    messages = {A: (5, "Record new changes of B", "")}
    changes = [FileChange(A, "S/D.md", B), FileChange(A, "S/D.json", B), FileChange(A, "md", B)]
    assert recorded_versions(messages, changes, {}) == {"S/D": [RecordedVersion(5, B, True)]}


@pytest.mark.parametrize(
    ("old", "new", "real"),
    [
        (0, 10, True),
        (10, 20, False),
        (20, 30, True),
        (20, 40, False),
        (5, 5, False),
        (40, 99, False),
    ],
)
def test_a_change_is_real_if_it_lasts(old: int, new: int, real: bool):
    rows = [
        RecordedVersion(10, A, True), RecordedVersion(15, B, False), RecordedVersion(30, A, True),
        RecordedVersion(40, B, True),
    ]  # fmt: skip
    assert has_real_change(rows, old, new) is real


def test_files_that_a_partial_clone_does_not_have_do_not_exist(tmp_path: Path):
    make_repository(tmp_path / "pages", [Commit(0, "first", {"a.html": "one", "b.html": "two"})])
    timeline = load_timeline(tmp_path / "pages", "main", 1, 2)
    timeline.add("c.html", 1, A)
    missing = missing_blobs(tmp_path / "pages", timeline.blobs)
    assert missing == {A}
    timeline.forget(missing)
    assert [bool(timeline.at(f"{name}.html", 2)) for name in "abc"] == [True, True, False]
