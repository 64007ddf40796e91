"""Helper processes: an answer that takes too much of the processor, or none at all."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.engine.helper_loop import FOLDER
from nacre.engine.helper_process import HelperFailedError, HelperProcess
from tests.engine import busy_helper


def test_work_beyond_the_limit_of_the_processor_ends_and_the_next_message_is_answered():
    async def story() -> bytes:
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        try:
            assert await helper.ask(b"one", bytes) == b"one"
            with pytest.raises(TimeoutError):
                await helper.ask(b"busy", bytes)
            return await helper.ask(b"two", bytes)
        finally:
            await helper.close()

    assert asyncio.run(story()) == b"two"


def test_a_helper_that_cannot_start_has_failed():
    async def story() -> None:
        helper = HelperProcess("tests.engine.there_is_none", time_limit=300)
        with pytest.raises(HelperFailedError):
            await helper.ask(b"one", bytes)

    asyncio.run(story())


def test_its_temporary_folder_is_its_own_and_goes_with_it():
    async def story() -> tuple[Path, int]:
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        try:
            folder = Path((await helper.ask(b"folder", bytes)).decode())
            mode = await asyncio.to_thread(folder.stat)
            return folder, mode.st_mode & 0o777
        finally:
            await helper.close()

    folder, mode = asyncio.run(story())
    assert (mode, folder.exists()) == (0o700, False)


def test_its_folder_goes_also_where_the_process_that_asks_was_killed(tmp_path: Path):
    folder = tmp_path / "own"
    (folder / "library").mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-m", busy_helper.__name__], stdin=subprocess.DEVNULL, check=True,
        env={**os.environ, FOLDER: str(folder)},
    )  # fmt: skip
    assert not folder.exists()


def test_a_helper_that_is_abandoned_ends():
    async def story() -> int | None:
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        assert await helper.ask(b"one", bytes) == b"one"
        process = helper._process
        assert process is not None
        helper.abandon()
        helper.abandon()
        return await process.wait()

    assert asyncio.run(story()) == -signal.SIGKILL
