import os
from itertools import pairwise
from pathlib import Path

from nacre.fleet.job_files import FilePlace, is_shown, list_files, run_names

RUNS = ("20261124T051642Z", "20261124T051642Z-2", "20261125T000000Z")
FOLDERS = ("archive", "logs", "reports")


def add_files(root: Path, number: int) -> set[str]:
    """Files in each folder of each run, and others that are never shown."""
    for run in RUNS:
        for folder in FOLDERS:
            at = root / "runs" / run / folder
            at.mkdir(parents=True)
            for one in range(number):
                (at / f"f{one:02}.txt").write_text(run)
            (at / ".hidden.txt").touch()
            (at / "key.pem").touch()
            (at / "link.txt").symlink_to("/etc/passwd")
    (root / "runs" / "notes").mkdir()
    return {f"runs/{run}/{f}/f{n:02}.txt" for run in RUNS for f in FOLDERS for n in range(number)}


def pages(root: Path, limit: int, run: str = "") -> list[list[str]]:
    """The paths of all pages."""
    found, after = [], None
    while True:
        page = list_files(root, limit, after, run)
        found.append([one.path for one in page.items])
        if page.next is None:
            return found
        after = page.next


def test_each_file_is_on_one_page_the_newest_run_first(tmp_path: Path):
    known = add_files(tmp_path, 5)
    assert run_names(tmp_path) == sorted(RUNS, reverse=True)
    for limit in (1, 4, 7, 45, 46, 500):
        found = pages(tmp_path, limit)
        flat = [path for page in found for path in page]
        assert set(flat) == known
        assert len(flat) == len(known)
        assert {len(page) for page in found[:-1]} <= {limit}
        assert flat[0] == f"runs/{RUNS[2]}/archive/f00.txt"
        assert all(one.split("/")[1] >= two.split("/")[1] for one, two in pairwise(flat))
    assert all(is_shown(path) for path in known)


def test_the_files_of_one_run(tmp_path: Path):
    add_files(tmp_path, 3)
    found = pages(tmp_path, 4, RUNS[1])
    assert [len(page) for page in found] == [4, 4, 1]
    assert {path.split("/")[1] for page in found for path in page} == {RUNS[1]}
    for none in ("notes", "../runs", "20200101T000000Z", "/"):
        assert pages(tmp_path, 4, none) == [[]]
    assert pages(tmp_path / "nowhere", 4) == [[]]


def test_files_that_come_and_go_between_pages_move_no_other(tmp_path: Path):
    stay = add_files(tmp_path, 4)
    given, after = list[str](), None
    for turn in range(100):
        page = list_files(tmp_path, 5, after)
        given += [one.path for one in page.items]
        if page.next is None:
            break
        after = page.next
        # The file that the cursor names goes, others come before it and behind it.
        (tmp_path / "runs" / Path(*after)).unlink()
        for run in (RUNS[0], RUNS[2]):
            (tmp_path / "runs" / run / "logs" / f"a{turn:02}.txt").touch()
    assert len(given) == len(set(given))
    assert stay <= set(given)


def test_a_cursor_of_what_is_not_there_is_a_place(tmp_path: Path):
    add_files(tmp_path, 2)
    behind = list_files(tmp_path, 9, FilePlace(RUNS[1], "m", "\x00"))
    assert behind.items[0].path == f"runs/{RUNS[1]}/reports/f00.txt"
    assert list_files(tmp_path, 9, FilePlace("", "", "")).items == ()
    first = list_files(tmp_path, 1, FilePlace("~", os.sep, ".."))
    assert first.items[0].path.startswith(f"runs/{RUNS[2]}/")
