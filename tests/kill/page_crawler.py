"""The process that is killed: a crawl that runs pages, without a browser.

    python -m tests.kill.page_crawler JOB SITE

It writes a line on stdout for each page as it opens, and `finished` at the end.
"""

import asyncio
import sys
from pathlib import Path

import uvloop

from nacre.assembly import parts
from nacre.core.rendered import PageTask, RenderedPage, RequestHandler
from nacre.job.job import Job
from tests.fault.pages import AppRenderer, page_settings


class TellingRenderer(AppRenderer):
    """Tells of each page: as it opens, and as it is about to be stored."""

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        sys.stdout.write(f"open {task.url}\n")
        sys.stdout.flush()
        rendered = await super().render(task, handler)
        await asyncio.sleep(0.05)
        sys.stdout.write(f"done {task.url}\n")
        sys.stdout.flush()
        return rendered


async def main() -> None:
    folder, site = sys.argv[1:]
    parts.open_renderer = lambda *_: TellingRenderer()  # type: ignore[attr-defined]
    await Job(Path(folder), page_settings(site)).run()
    sys.stdout.write("finished\n")


if __name__ == "__main__":
    uvloop.run(main())
