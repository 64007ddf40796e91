"""Scripts of workers of archived pages, and what each begins with so that its URLs are archived."""

import json
import re
from typing import Final

from nacre.replay.page_urls import PageAddress
from nacre.replay_server.pages import static_files

WORKERS: Final = frozenset(("worker", "sharedworker"))
"""What the script of a worker is for, as browsers name it."""
_BOM: Final = b"\xef\xbb\xbf"
_STRICT: Final = re.compile(rb"\s*[\"']use strict")


def begin_worker(script: bytes, page: PageAddress) -> bytes:
    """Return the script of a worker, preceded by `worker.js`.

    It is no separate script, since classic scripts and modules load those in different ways.

    Args:
        script: The script, without content coding; workers read it as UTF-8.
        page: Its address.
    """
    facts = json.dumps([page.timestamp, page.url, "captured"])
    strict = b'"use strict";' if _STRICT.match(script.removeprefix(_BOM)) else b""
    start = b"%bself.nacre = %b;%b" % (strict, facts.encode(), static_files()["worker.js"].data)
    return start + script.removeprefix(_BOM)
