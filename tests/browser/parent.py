"""A process that starts a browser, prints its processes, and waits to be killed.

python -m tests.browser.parent PROGRAM DIRECTORY SCRIPT
"""

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from nacre.browser import process_tree
from nacre.browser.cdp import CdpTimeoutError
from nacre.browser.finding import find_browser
from nacre.browser.process import BrowserLaunch, BrowserProcess, open_context
from nacre.errors import BrowserError


async def main(program: str, directory: str, script: str) -> None:
    browser = BrowserProcess(BrowserLaunch(find_browser(program), Path(directory)))
    try:
        await browser.start()
    except BrowserError as error:
        report({"error": str(error)})
        return
    page = await open_context(browser, browser.sockets[1].getsockname()[1])
    with suppress(CdpTimeoutError):
        await page.cdp.call(
            "Runtime.evaluate", {"expression": script}, session=page.session, timeout=0.5
        )
    pids = process_tree.list_processes(browser.pid)
    owner = os.stat(f"/proc/{browser.pid}").st_uid  # noqa: PTH116 - a path that is no file
    report({"pids": pids, "owner": owner})
    await asyncio.sleep(600)


def report(values: dict[str, object]) -> None:
    print(json.dumps(values), flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
