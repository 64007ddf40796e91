"""Helper processes: an answer that takes too much of the processor, or none at all."""

import asyncio

import pytest

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
