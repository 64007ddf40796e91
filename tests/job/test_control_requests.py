"""Malformed control files and requests get an error; the job goes on."""

import asyncio
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import JobError
from nacre.job.background.control_files import ControlFiles
from nacre.job.commands import CommandHandlers
from nacre.job.control import Answer, ControlServer
from nacre.job.job import Job
from nacre.settings.settings import JobSettings
from tests.job.opened import opened


def test_control_files_that_are_none_are_not_obeyed(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path) as session:
            session.layout.control.mkdir()
            for name in ("parallel", "ignores"):
                os.mkfifo(session.layout.control / name)
            ControlFiles(session, session.clock, {}).look()

    asyncio.run(play())
    log = next((tmp_path / "runs").glob("*/logs/alerts.log")).read_text()
    assert "but a pipe" in log


async def echo(request: Mapping[str, Any]) -> Answer:
    return {"said": request["text"]}


def asked(tmp_path: Path, lines: list[bytes]) -> list[dict[str, Any]]:
    """What a server answers to lines; it must answer a sound request behind them."""
    named = tmp_path / "control"

    def talk() -> list[dict[str, Any]]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(json.loads(named.read_text())["socket"])
            answers = connection.makefile("rb")
            found = []
            for line in [*lines, b'{"command": "echo", "text": "x"}']:
                connection.sendall(line + b"\n")
                found.append(json.loads(answers.readline()))
            answers.close()
            return found

    async def play() -> list[dict[str, Any]]:
        server = ControlServer(named, {"echo": echo}, lambda command, error: repr(error))
        await server.start()
        try:
            return await asyncio.to_thread(talk)
        finally:
            await server.close()

    return asyncio.run(play())


def test_requests_that_are_none_are_answered(tmp_path: Path):
    odd = [b"[" * 100_000, b'{"a":' * 100_000, b'{"command": [' + b"[" * 100_000, b"1" * 5000]
    odd += [b"\xff\xfe", b"null", b"[]", b"{}", b'{"command": []}', b'{"command": {}}', b"NaN"]
    *refused, sound = asked(tmp_path, odd)
    assert [sorted(answer) for answer in refused] == [["error"]] * len(odd)
    assert sound == {"ok": True, "said": "x"}


@pytest.mark.parametrize(
    "request_",
    [{"lines": 1}, {"lines": [1]}, {"lines": [], "first": "x"}, {"lines": [], "options": "x"}],
)
def test_an_import_that_is_none_is_refused(tmp_path: Path, request_: dict[str, Any]):
    async def play() -> None:
        async with opened(tmp_path) as session:
            job = Job(tmp_path, JobSettings())
            job.session = session
            with pytest.raises(JobError, match="not an import"):
                await CommandHandlers(job).frontier_import(request_)

    asyncio.run(play())
