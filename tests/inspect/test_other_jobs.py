import asyncio
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nacre.frontier.rows import queue_id
from nacre.frontier.shared_slots import ClockReading, SlotTable
from nacre.frontier.slot_owners import table_path
from nacre.inspect.other_jobs import QueueSharer, other_jobs, sharing_text
from tests.engine.visiting import ManualClock
from tests.job.opened import opened

QUEUE = "test,a,"
PLACE = int.from_bytes(queue_id(QUEUE)[:4], "big") % (1 << 17)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def jobs() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def run(stack: ExitStack, job: Path, clock: ManualClock, until: float = 0.0) -> None:
    """Let a job run, as far as others see it; `until` is the end of its delay at the host."""
    table = SlotTable(table_path(), pytest.fail, ClockReading(clock.now(), clock.monotonic()), job)
    stack.callback(table.close, ())
    table._extend_rest(PLACE, until)


async def fill(root: Path) -> None:
    async with opened(root, seeds=("http://a.test/",)):
        pass


def sharers(root: Path, clock: ManualClock, queue: str = QUEUE) -> list[QueueSharer]:
    with other_jobs(root, clock) as others:
        return others.sharers(queue)


def test_a_job_alone_shares_with_nobody(tmp_path: Path, clock: ManualClock, jobs: ExitStack):
    assert sharers(tmp_path / "own", clock) == []
    run(jobs, tmp_path / "own", clock, clock.monotonic() + 5.0)
    assert sharers(tmp_path / "own", clock) == []


def test_a_job_with_urls_of_the_host_shares_it(tmp_path: Path, clock: ManualClock, jobs: ExitStack):
    asyncio.run(fill(tmp_path / "other"))
    assert sharers(tmp_path / "own", clock) == [], "it does not run"
    run(jobs, tmp_path / "other", clock)
    (sharer,) = sharers(tmp_path / "own", clock)
    assert (sharer.job, sharer.rests) == (str(tmp_path / "other"), 0.0)
    assert sharers(tmp_path / "own", clock, "test,b,") == []


@pytest.mark.parametrize("until", [float("nan"), float("inf"), float("-inf"), -1.0])
def test_a_table_that_is_damaged_names_no_delay(
    tmp_path: Path, clock: ManualClock, jobs: ExitStack, until: float
):
    run(jobs, tmp_path / "other", clock, clock.monotonic() + 5.0)
    (sharer,) = sharers(tmp_path / "own", clock)
    assert sharer.rests == pytest.approx(5.0)
    with table_path().open("r+b") as file:
        file.seek(PLACE * 16)
        file.write(struct.pack("<d", until))
    assert sharers(tmp_path / "own", clock) == []


@pytest.mark.parametrize("kind", ["missing", "no store", "no directory", "damaged"])
def test_a_job_whose_store_cannot_be_read_is_named_by_its_delay(
    tmp_path: Path, clock: ManualClock, jobs: ExitStack, kind: str
):
    other = tmp_path / "other"
    if kind == "no store":
        other.mkdir()
    elif kind == "no directory":
        other.write_text("a file")
    elif kind == "damaged":
        asyncio.run(fill(other))
        for path in (other / "state").rglob("CURRENT"):
            path.write_bytes(b"\xff")
    run(jobs, other, clock, clock.monotonic() + 5.0)
    (sharer,) = sharers(tmp_path / "own", clock)
    assert (sharer.job, sharer.delay) == (str(other), 0.0)


@pytest.mark.parametrize(
    ("sharer", "text"),
    [
        (QueueSharer("/b", 7), "it takes turns with job /b (process 7)"),
        (
            QueueSharer("/b", 7, 9.0),
            "it takes turns with job /b (process 7), whose delay of 9.0 s is in effect after its "
            "fetches",
        ),
        (
            QueueSharer("/b", 7, 9.0, 4.25),
            "the delay of 9.0 s of job /b (process 7) is in effect for 4.2 s more",
        ),
        (
            QueueSharer("/作业", 7, 0.0, 4.0),
            "the delay of job /作业 (process 7) is in effect for 4.0 s more",
        ),
    ],
)
def test_the_clause(sharer: QueueSharer, text: str):
    assert sharing_text(sharer) == text
