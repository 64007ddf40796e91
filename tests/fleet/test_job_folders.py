import shutil
from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.fleet.job_folders import ever_ran, forget_job
from nacre.machine.layout import Layout
from tests.cli.site import nacre


def made_job(folder: Path) -> Path:
    made = folder / "demo"
    assert nacre("new", made, "http://anna:geheim@127.0.0.1:9/").code == 0
    return made


def test_a_job_that_never_ran_is_deleted_with_what_making_and_editing_it_left(tmp_path: Path):
    made = made_job(tmp_path)
    assert list((made / "logins").iterdir())
    assert nacre("set", made, "limits.documents=5").code == 0
    (made / "control").mkdir(exist_ok=True)
    (made / "control" / "pause").touch()
    (made / "job.log").write_text("x\n")
    (tmp_path / "beside").touch()
    forget_job(Layout(made))
    assert [path.name for path in tmp_path.iterdir()] == ["beside"]


@pytest.mark.parametrize(
    "other", ["notes.txt", "state/store/x", "runs/r/x.warc", "action/a.seeds", "cycle/x", ".git/x"]
)
def test_a_job_with_anything_else_is_left_whole(tmp_path: Path, other: str):
    made = made_job(tmp_path)
    (made / other).parent.mkdir(parents=True, exist_ok=True)
    (made / other).write_text("mine")
    before = sorted(path for path in made.rglob("*"))
    with pytest.raises(JobError, match=r"ran|has more than what a job has that never ran"):
        forget_job(Layout(made))
    assert sorted(path for path in made.rglob("*")) == before


@pytest.mark.parametrize("name", ["logins", "control", "seeds.txt"])
def test_a_link_is_not_followed(tmp_path: Path, name: str):
    made, target = made_job(tmp_path), tmp_path / "precious"
    target.mkdir()
    (target / "mine").write_text("mine")
    if (made / name).is_dir():
        shutil.rmtree(made / name)
    (made / name).unlink(missing_ok=True)
    (made / name).symlink_to(target)
    with pytest.raises(JobError, match=name):
        forget_job(Layout(made))
    assert (target / "mine").read_text() == "mine"
    assert (made / "crawl.yaml").is_file()


def test_a_directory_of_a_run_says_that_a_job_ran(tmp_path: Path):
    layout = Layout(made_job(tmp_path))
    assert not ever_ran(layout)
    (layout.root / "runs" / "20261124").mkdir(parents=True)
    assert ever_ran(layout)
    with pytest.raises(JobError, match="ran: its archive is never deleted here"):
        forget_job(layout)
