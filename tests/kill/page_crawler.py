"""The process that is killed: a crawl that runs pages, without a browser or with one.

    python -m tests.kill.page_crawler JOB SITE [real]

It writes a line on stdout for each page as it opens, and `finished` at the end.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import uvloop

from nacre.assembly import parts
from nacre.core.rendered import PageRenderer, PageTask, RenderedPage, RequestHandler
from nacre.job.job import Job
from tests.fault.pages import AppRenderer, page_settings


class TellingRenderer:
    """Tells of each page: as it opens, and as it is about to be stored."""

    def __init__(self, renderer: PageRenderer) -> None:
        self._renderer = renderer
        self.slots = renderer.slots
        self.close = renderer.close

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        sys.stdout.write(f"open {task.url}\n")
        sys.stdout.flush()
        rendered = await self._renderer.render(task, handler)
        await asyncio.sleep(0.05)
        sys.stdout.write(f"done {task.url}\n")
        sys.stdout.flush()
        return rendered


async def main() -> None:
    folder, site, *real = sys.argv[1:]
    open_browser = parts.open_renderer  # type: ignore[attr-defined]

    def open_renderer(*settings: Any) -> TellingRenderer:
        return TellingRenderer(open_browser(*settings) if real else AppRenderer())

    parts.open_renderer = open_renderer  # type: ignore[attr-defined, assignment]
    await Job(Path(folder), page_settings(site)).run()
    sys.stdout.write("finished\n")


if __name__ == "__main__":
    uvloop.run(main())
