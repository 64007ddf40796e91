"""Pauses with a reason of who asks, in `control/hold`."""

import asyncio
from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.job.background.control_files import ControlFiles
from nacre.job.holds import change_hold, holds_in
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from tests.job.opened import log_of, opened


def test_lines_of_the_file():
    assert holds_in("# why\n\nquota: 20 GB: all\nschedule\n") == {
        "quota": "20 GB: all",
        "schedule": "",
    }


@pytest.mark.parametrize("reason", ["", "Quota", "a b", "x" * 40, "disk", "operator", "a\n"])
def test_what_is_no_reason(tmp_path: Path, reason: str):
    with pytest.raises(ConfigError, match="reason"):
        change_hold(tmp_path, reason, "")


def test_holds_are_kept_in_the_file(tmp_path: Path):
    folder = tmp_path / "control"
    change_hold(folder, "quota", "磁盘已满\nall of it")
    change_hold(folder, "schedule", "")
    found = holds_in((folder / "hold").read_text())
    assert list(found) == ["quota", "schedule"]
    assert "磁盘已满" in found["quota"]
    change_hold(folder, "quota", None)
    change_hold(folder, "quota", None)
    assert holds_in((folder / "hold").read_text()) == {"schedule": ""}
    change_hold(folder, "schedule", None)
    assert not (folder / "hold").exists()
    (folder / "hold").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be changed"):
        change_hold(folder, "quota", "")


def test_a_session_pauses_for_each_reason(tmp_path: Path):
    folder = tmp_path / "control"

    async def play() -> Session:
        async with opened(tmp_path) as session:
            files = ControlFiles(session, SystemClock(), {})
            change_hold(folder, "quota", "20 GB")
            change_hold(folder, "schedule", "")
            files.look()
            assert session.holds == {"quota", "schedule"}
            again = ControlFiles(session, SystemClock(), {})
            again.look()
            change_hold(folder, "quota", None)
            files.look()
            assert session.holds == {"schedule"}
            change_hold(folder, "schedule", None)
            files.look()
            assert not session.holds
            return session

    session = asyncio.run(play())
    text = log_of(session)
    assert "control/hold: pauses for quota: 20 GB" in text
    assert "control/hold: quota is over" in text
