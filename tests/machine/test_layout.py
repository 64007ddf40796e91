"""Paths of a job, and what is said to a user who may not look at it."""

import os
from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.machine.layout import Layout, run_name


@pytest.fixture
def job(tmp_path: Path) -> Layout:
    """A job that never ran."""
    layout = Layout(tmp_path / "job")
    layout.root.mkdir()
    layout.config.write_text("")
    return layout


def test_everything_of_a_job_has_its_place_below_it() -> None:
    layout = Layout(Path("/srv/job"))
    found = {
        str(path.relative_to(layout.root))
        for path in (
            layout.config, layout.state, layout.store, layout.checkpoints, layout.scratch,
            layout.socket, layout.passes, layout.action, layout.control, layout.latest,
            layout.run("20261120T151100Z"),
        )
    }  # fmt: skip
    assert found == {
        "crawl.yaml", "state", "state/store", "state/checkpoints", "state/scratch",
        "state/control", "state/passes", "action", "control", "latest",
        "runs/20261120T151100Z",
    }  # fmt: skip


def test_a_relative_directory_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Layout(Path("job")).root == tmp_path / "job"


def test_a_job_has_a_store_once_it_has_run(job: Layout) -> None:
    job.require()
    assert not job.has_store
    job.store.mkdir(parents=True)
    assert job.has_store


def test_a_directory_without_a_configuration_is_no_job(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"is not a job: it holds no crawl\.yaml; .*nacre new"):
        Layout(tmp_path).require()


def test_a_path_that_leads_through_a_file_cannot_be_read(job: Layout) -> None:
    below = Layout(job.config / "deeper")
    with pytest.raises(JobError, match="is not a job"):
        below.require()
    with pytest.raises(JobError, match="Not a directory"):
        below.require_access()


def test_a_name_that_the_file_system_refuses_is_told(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="cannot be read: File name too long"):
        Layout(tmp_path / ("x" * 300)).require()


@pytest.mark.parametrize(
    ("uid", "who"), [(0, "`sudo -u root nacre …`"), (4_000_000_000, "ask as #4000000000")]
)
def test_the_owner_of_a_closed_state_is_named(
    job: Layout, monkeypatch: pytest.MonkeyPatch, uid: int, who: str
) -> None:
    job.state.mkdir()
    facts = os.stat_result((0o40700, 1, 1, 1, uid, uid, 0, 0, 0, 0))
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(Path, "stat", lambda self, **_: facts)
    with pytest.raises(JobError, match="only its owner may read it") as caught:
        job.require_access()
    assert who in str(caught.value)


def test_a_run_is_named_after_its_start_in_utc() -> None:
    assert run_name(1_795_187_460.9) == "20261120T151100Z"


@pytest.mark.parametrize("name", [b"caf\xe9", "馆".encode("gbk"), b"\xff/job"])
def test_a_path_that_is_not_utf_8_is_refused_by_its_bytes(tmp_path, name):
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    layout = Layout(root)
    for refused in (layout.require, layout.require_path):
        with pytest.raises(JobError, match=r"\\x.*not UTF-8.*Rename it"):
            refused()
    Layout(tmp_path / "馆").require_path()
