from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.job import edits
from nacre.job.edits import TextBefore, edit_list, note_edit, read_edit
from nacre.machine.layout import Layout


def job(folder: Path, text: str) -> Layout:
    layout = Layout(folder)
    layout.config.write_text(text)
    return layout


def write(layout: Layout, text: str, why: str = "") -> None:
    before = TextBefore(layout.config.read_bytes(), layout.config.stat().st_mtime)
    layout.config.write_text(text)
    note_edit(layout, before, "anna", why, "console")


def test_each_version_is_kept_with_who_and_why(tmp_path: Path):
    layout = job(tmp_path, "a: 1\n")
    write(layout, "a: 2\n", "两\nlines")
    found = edit_list(layout)
    assert [(one.number, one.source, one.who, one.why) for one in found] == [
        (1, "outside", "", ""), (2, "console", "anna", "两 lines"),
    ]  # fmt: skip
    assert read_edit(layout, 1)[1] == "a: 1\n"
    assert layout.edits.stat().st_mode & 0o77 == 0


def test_a_file_changed_outside_is_a_version(tmp_path: Path):
    layout = job(tmp_path, "a: 1\n")
    write(layout, "a: 2\n")
    layout.config.write_text("a: 3\n")
    assert [one.source for one in edit_list(layout)] == ["outside", "console", "outside"]
    assert read_edit(layout, 3)[1] == "a: 3\n"
    write(layout, "a: 4\n")
    assert [one.source for one in edit_list(layout)] == ["outside", "console", "outside", "console"]
    assert read_edit(layout, 3)[1] == "a: 3\n"


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(edits, "KEPT", 3)
    layout = job(tmp_path, "a: 0\n")
    for number in range(1, 6):
        write(layout, f"a: {number}\n")
    assert [one.number for one in edit_list(layout)] == [4, 5, 6]
    with pytest.raises(JobError, match="no version 1"):
        read_edit(layout, 1)


def test_a_version_that_cannot_be_read_is_left_out(tmp_path: Path):
    layout = job(tmp_path, "a: 0\n")
    write(layout, "a: 1\n")
    (layout.edits / "00000001.zst").write_bytes(b"rubbish")
    assert [one.number for one in edit_list(layout)] == [2]
