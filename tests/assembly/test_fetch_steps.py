"""The stock steps of the fetch chain, made of the records of a run."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nacre.assembly.fetch_steps import fetch_steps
from nacre.core.processor import Processor, Visit
from nacre.job.session import Session
from nacre.settings.settings import JobSettings
from tests.archive.captures import make_capture
from tests.job.opened import opened

NAMES = (
    "preselect", "runtime-limit", "quotas", "preconditions", "recheck-scope", "fetch-dns",
    "fetch-http", "extract",
)  # fmt: skip


def steps(session: Session) -> dict[str, Callable[[], Processor]]:
    return dict(fetch_steps(session._records, conditional=False))


def test_each_stock_entry_of_the_fetch_chain_has_its_worker(tmp_path: Path):
    async def look() -> None:
        async with opened(tmp_path) as session:
            makers = steps(session)
            assert tuple(makers) == NAMES
            assert {entry.kind for entry in session.settings.chains.fetch} == {
                *NAMES,
                "render",
                "walls",
            }
            workers = [make() for make in makers.values()]
            assert len({type(worker) for worker in workers}) == len(NAMES)
            # URIs that wait for an answer are known to both.
            first, second = (vars(makers["preconditions"]()) for _ in range(2))
            assert first["_preconditions"] is second["_preconditions"]

    asyncio.run(look())


@pytest.mark.parametrize(
    ("sections", "meant"),
    [
        ({}, False),
        ({"robots": {"agent": "mybot"}}, True),
        ({"robots": {"agent": "mybot"}, "extract": {"robots_agent": "other"}}, False),
        ({"extract": {"robots_agent": "mybot"}}, True),
    ],
)
def test_a_page_speaks_to_the_agent_of_robots_txt(
    tmp_path: Path, sections: dict[str, Any], meant: bool
):
    body = b"<!DOCTYPE html><meta name=mybot content=noarchive><a href=b>b</a>"

    async def extract() -> Visit:
        async with opened(tmp_path, JobSettings.model_validate(sections)) as session:
            capture = make_capture(body=body, url="http://a.test/")
            visit = Visit(session.queues.identity.seed(capture.url), 200, capture=capture)
            await steps(session)["extract"]().process(visit)
        return visit

    assert ("noarchive" in asyncio.run(extract()).robots_meta) is meant
