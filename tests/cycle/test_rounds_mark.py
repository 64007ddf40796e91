import os
from pathlib import Path

from nacre.cycle.rounds_mark import rounds_mark, rounds_run
from nacre.store.layout import Layout


def test_rounds_run_while_a_command_has_the_mark(tmp_path: Path):
    layout = Layout(tmp_path)
    assert not rounds_run(layout)
    with rounds_mark(layout), rounds_mark(layout):  # two commands do no harm
        assert rounds_run(layout)
        assert rounds_run(layout)
    assert not rounds_run(layout)


def test_a_link_or_a_pipe_in_its_place_is_no_mark(tmp_path: Path):
    layout = Layout(tmp_path)
    layout.cycle.mkdir()
    os.mkfifo(layout.cycle / "running")
    assert not rounds_run(layout)
    (layout.cycle / "running").unlink()
    (layout.cycle / "running").symlink_to(tmp_path / "elsewhere")
    with rounds_mark(layout):
        assert not rounds_run(layout)
    assert not (tmp_path / "elsewhere").exists()
