"""Helper processes: an answer that takes too much of the processor, or none at all."""

import asyncio
import gc
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop

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
        await helper.abandon()
        await helper.abandon()
        return await process.wait()

    # Its pipe is closed first: it may have ended before it is killed.
    assert asyncio.run(story()) in {0, -signal.SIGKILL}


LOOPS = pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
Run = Callable[[Coroutine[Any, Any, Any]], Any]


@LOOPS
@pytest.mark.parametrize("reaped", [True, False], ids=["noticed", "unnoticed"])
def test_a_helper_that_was_killed_between_two_messages_is_replaced(run: Run, *, reaped: bool):
    async def story() -> list[bytes]:
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        try:
            first = await helper.ask(b"pid", bytes)
            os.kill(int(first), signal.SIGKILL)
            if reaped:
                assert helper._process is not None
                await helper._process.wait()
            second = await helper.ask(b"pid", bytes)
            assert first != second
            return [await helper.ask(b"pid", bytes), second]
        finally:
            await helper.close()

    third, second = run(story())
    assert third == second


@LOOPS
def test_a_message_over_which_a_helper_died_is_tried_again(run: Run, tmp_path: Path):
    async def story() -> None:
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        try:
            once, killed = tmp_path / "once", tmp_path / "killed"
            message = b"once " + os.fsencode(once)
            assert await helper.ask(message, bytes) == message
            with pytest.raises(HelperFailedError):
                await helper.ask(b"killed " + os.fsencode(killed), bytes)
            assert (once.read_bytes(), killed.read_bytes()) == (b"x", b"xxx")
            assert await helper.ask(b"next", bytes) == b"next"
        finally:
            await helper.close()

    run(story())


@LOOPS
def test_who_gives_up_leaves_no_answer_for_the_next_message(run: Run):
    async def story() -> bytes:
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        try:
            await helper.ask(b"one", bytes)
            asking = asyncio.ensure_future(helper.ask(b"two", bytes))
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait({asking})
            return await helper.ask(b"three", bytes)
        finally:
            await helper.close()

    assert run(story()) == b"three"


@LOOPS
def test_helpers_that_are_killed_at_random_lose_no_message(run: Run):
    chance = random.Random(23)

    async def story() -> None:
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        try:
            for number in range(12):
                message = str(number).encode() * chance.choice((1, 500_000))
                asking = asyncio.ensure_future(helper.ask(message, bytes))
                for _ in range(chance.randrange(12)):
                    await asyncio.sleep(0)
                process = helper._process
                if process is not None and process.returncode is None:
                    with suppress(ProcessLookupError):  # it has ended; asyncio has not heard of it
                        os.kill(process.pid, signal.SIGKILL)
                assert await asking == message
        finally:
            await helper.close()

    run(story())


@LOOPS
def test_a_helper_that_is_killed_leaves_no_error_that_nobody_takes(run: Run):
    """A long message was on its way: asyncio printed the broken pipe with its traceback."""
    reports: list[dict[str, Any]] = []

    async def story() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
        helper = HelperProcess(busy_helper.__name__, time_limit=300)
        try:
            os.kill(int(await helper.ask(b"pid", bytes)), signal.SIGSTOP)
            process = helper._process
            assert process is not None
            asking = asyncio.ensure_future(helper.ask(b"x" * 3_000_000, bytes))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            os.kill(process.pid, signal.SIGKILL)
            assert len(await asking) == 3_000_000
            del process, asking
        finally:
            await helper.close()
        gc.collect()

    run(story())
    assert reports == []
