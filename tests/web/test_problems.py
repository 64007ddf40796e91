import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre.console
import nacre.fleet
import nacre.web
from nacre.console.reader_tasks import READER_TASKS
from nacre.console.routes import API
from nacre.fleet.refusals import SOON, RefusedRequestError
from nacre.ops.operation import Role
from nacre.web.workers.background import MOST, Tell
from nacre.web.workers.pool import ALONE, START, ReaderPool, ReaderProcess, _ask_reader
from nacre.web.workers.worker import ReaderRequest
from tests.console.given import GivenConsole, play
from tests.console.waiting import add_waiting_job

LASTING = {"audit", "no-replay"}
"""Refusals that nobody knows the end of: a disk is full, or this console serves no replay."""


def refusals(status: int) -> Iterator[tuple[str, str, bool]]:
    """The refusals with a status: place, code, and whether they say when to try again."""
    folders = (nacre.console, nacre.web, nacre.fleet)
    paths = (path for folder in folders for path in Path(folder.__path__[0]).rglob("*.py"))
    for path in sorted(paths):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or len(node.args) < 2:
                continue
            name, first, code = ast.unparse(node.func), node.args[0], node.args[1]
            if name.endswith("RefusedRequestError") and ast.unparse(first) == str(status):
                says = len(node.args) > 3 or any(k.arg == "retry_after" for k in node.keywords)
                yield f"{path.name}:{node.lineno}", str(ast.literal_eval(code)), says


@pytest.mark.parametrize(("status", "least"), [(429, 2), (503, 4)])
def test_each_refusal_that_passes_says_when_to_try_again(status: int, least: int):
    found = list(refusals(status))
    assert len(found) >= least
    assert [place for place, code, says in found if not says and code not in LASTING] == []


def test_a_console_with_too_many_tasks_says_when_to_try_again(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        async def work(_: Tell) -> None:
            await asyncio.Event().wait()

        for number in range(MOST):
            console.parts.common.tasks.begin("j", "count", f"anna {number}", work)
        path, fields = f"{API}/jobs/crawls~demo/frontier/delete", console.as_key(Role.OPERATOR)
        refused = await console.client.post(path, json={"urls": "x", "expect": 0}, headers=fields)
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-tasks")
        assert refused.headers["retry-after"] == str(SOON)

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("error", "code"), [(TimeoutError(), "too-slow"), (ConnectionError("it ended"), "reader")]
)
def test_a_reader_that_gives_no_answer_is_asked_again_later(error: Exception, code: str):
    class Silent(ReaderProcess):
        async def ask(self, *_: object) -> None:  # type: ignore[override]
            raise error

    with pytest.raises(RefusedRequestError) as refused:
        asyncio.run(
            _ask_reader(Silent(READER_TASKS), ReaderRequest("queues", "/jobs/a"), 1.0, None)
        )
    assert (refused.value.status, refused.value.code) == (503, code)
    assert refused.value.retry_after == SOON


def test_a_question_whose_turn_does_not_come_is_asked_again_later():
    async def played() -> None:
        pool = ReaderPool(READER_TASKS, 1)
        for _ in range(ALONE):
            await pool._turns.acquire()
        with pytest.raises(RefusedRequestError) as refused:
            await pool.ask("count", Path("/jobs/a"), -START)
        assert (refused.value.status, refused.value.code) == (503, "busy")
        assert refused.value.retry_after == SOON
        await pool.close()

    asyncio.run(played())
