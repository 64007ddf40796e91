import asyncio
import os
import signal
from pathlib import Path

import pytest

from nacre.console.problems import RefusedRequestError
from nacre.console.readers.pool import ReaderPool
from nacre.console.readers.worker import ReaderRequest, answer_to
from nacre.errors import JobError, NacreError


def test_a_task_answers_or_says_why_not(tmp_path: Path):
    (tmp_path / "crawl.yaml").touch()
    request = ReaderRequest("stored-status", str(tmp_path))
    assert answer_to(request).data["overview"]["state"] == "NASCENT"
    nothing = answer_to(ReaderRequest("stored-status", str(tmp_path / "none")))
    assert (nothing.error, nothing.data) == ("JobError", None)
    assert answer_to(ReaderRequest("nothing", str(tmp_path))).error == "Exception"


def test_a_process_that_dies_or_hangs_is_replaced(tmp_path: Path):
    (tmp_path / "crawl.yaml").touch()

    async def play() -> None:
        pool = ReaderPool(1)
        (process,) = pool._processes
        try:
            answer = await pool.ask("stored-status", tmp_path)
            assert answer["overview"]["state"] == "NASCENT"
            assert process._process is not None
            first = process._process.pid
            with pytest.raises(JobError, match="is not a job"):
                await pool.ask("stored-status", tmp_path / "none")
            with pytest.raises(NacreError, match="KeyError: 'nothing'"):
                await pool.ask("nothing", tmp_path)
            os.kill(first, signal.SIGSTOP)
            with pytest.raises(RefusedRequestError, match="could not be read"):
                await pool.ask("stored-status", tmp_path, 0.01)
            with pytest.raises(ProcessLookupError):
                os.kill(first, 0)
            assert (await pool.ask("stored-status", tmp_path))["slowest"] == []
            os.kill(process._process.pid, signal.SIGKILL)
            with pytest.raises(RefusedRequestError, match="ended"):
                await pool.ask("stored-status", tmp_path)
        finally:
            await pool.close()

    asyncio.run(play())
