import asyncio
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import JobError
from nacre.job.control import Answer, ControlServer, is_running, send_command

FAULTS: list[tuple[str, str]] = []


async def echo(request: Mapping[str, Any]) -> Answer:
    return {"said": request["text"]}


async def refuse(_: Mapping[str, Any]) -> Answer:
    raise JobError("not now")


async def stumble(_: Mapping[str, Any]) -> Answer:
    raise KeyError("a bug")


async def garble(_: Mapping[str, Any]) -> Answer:
    return {"bytes": b"no JSON"}


COMMANDS = {"echo": echo, "refuse": refuse, "stumble": stumble, "garble": garble}


def note_fault(command: str, error: Exception) -> str:
    FAULTS.append((command, type(error).__name__))
    return "an error in the crawler"


async def serving(named: Path, work: Any) -> Any:
    server = ControlServer(named, COMMANDS, note_fault)
    await server.start()
    try:
        return await asyncio.to_thread(work)
    finally:
        await server.close()


def test_a_running_job_answers(tmp_path: Path):
    named = tmp_path / "control"
    answer = asyncio.run(serving(named, lambda: send_command(named, "echo", text="日本")))
    assert answer == {"ok": True, "said": "日本"}
    assert not is_running(named)


def test_its_refusal_is_an_error(tmp_path: Path):
    named = tmp_path / "control"
    with pytest.raises(JobError, match="not now"):
        asyncio.run(serving(named, lambda: send_command(named, "refuse")))
    with pytest.raises(JobError, match="no such command: dance"):
        asyncio.run(serving(named, lambda: send_command(named, "dance")))


def test_a_bug_in_a_command_is_answered_and_told(tmp_path: Path):
    named = tmp_path / "control"

    def work() -> Answer:
        for command in ("stumble", "garble"):
            with pytest.raises(JobError, match="an error in the crawler"):
                send_command(named, command)
        return send_command(named, "echo", text="still there")

    FAULTS.clear()
    assert asyncio.run(serving(named, work))["said"] == "still there"
    assert FAULTS == [("stumble", "KeyError"), ("garble", "TypeError")]


def test_only_its_user_can_connect(tmp_path: Path):
    named = tmp_path / "control"

    def look() -> int:
        path = Path(json.loads(named.read_text())["socket"])
        return stat.S_IMODE(path.stat().st_mode) | stat.S_IMODE(path.parent.stat().st_mode)

    assert asyncio.run(serving(named, look)) & 0o077 == 0


def test_a_job_that_does_not_run(tmp_path: Path):
    with pytest.raises(JobError, match="the job is not running"):
        send_command(tmp_path / "control", "echo", text="")
    (tmp_path / "control").write_text('{"socket": "/nonexistent/socket"}')
    assert not is_running(tmp_path / "control")
