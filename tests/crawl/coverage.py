"""The coverage lists of the shared cases: what each must have come to."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

STATUS = {"OK": 200, "404": 404}


def listed(row: dict[str, Any], folder: Path) -> Iterator[tuple[str, int]]:
    """Each URL path of a list, and the status that it must have.

    Args:
        row: A row of coverage.jsonl.
        folder: The folder of the cases.
    """
    for line in gzip.decompress((folder / row["list"]).read_bytes()).decode().splitlines():
        word, path = line.split(" ", 1)
        yield path, STATUS[word]


class Places:
    """What one site of a crawl answered, by place.

    Args:
        statuses: Status by URL.
        origin: Scheme and host of the site.
    """

    def __init__(self, statuses: dict[str, int], origin: str) -> None:
        self._known = {
            _place(url.removeprefix(origin)): status
            for url, status in statuses.items()
            if url.startswith(origin + "/")
        }

    def status(self, path: str) -> int | None:
        """Status of a path of a list; None when it was never asked for."""
        return self._known.get(_place(path))


def _place(path: str) -> str:
    """What a server looks for: the lists escape less, and write two slashes as one."""
    return re.sub("/+", "/", unquote(path))
