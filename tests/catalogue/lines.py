"""Lines of indexes, jobs that have them, and the look-up that reads every line."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from nacre.catalogue.captures import IndexedCapture, read_capture
from nacre.catalogue.lookup import sort_by_distance


def index_line(
    key: str, timestamp: str, offset: int = 0, warc: str = "a.warc.gz", **fields: object
) -> bytes:
    """A line with its end."""
    values = {
        "url": f"http://{key}", "mime": "text/html", "status": "200", "digest": "sha1:A",
        "length": "9", "offset": str(offset), "filename": warc,
    }  # fmt: skip
    return f"{key} {timestamp} {json.dumps(values | fields)}\n".encode()


def job_with(root: Path, indexes: Mapping[str, Iterable[bytes]]) -> Path:
    """A job whose run has indexes; those named `.open` have the lines in their order."""
    folder = root / "runs" / "20261120T100000Z" / "archive"
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in indexes.items():
        is_open = name.endswith(".open")
        stem = name.removesuffix(".open")
        (folder / f"{stem}.cdxj{'.open' if is_open else ''}").write_bytes(
            b"".join(lines if is_open else sorted(set(lines)))
        )
        (folder / f"{stem}.warc.gz{'.open' if is_open else ''}").write_bytes(b"")
    return root


class LinearIndex:
    """The results of a look-up, from all lines: the judge of `SortedIndexes`."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        captures = {capture for line in lines if (capture := read_capture(line))}
        self._captures = sorted(captures, key=lambda capture: capture.order)

    def exact(self, key: str, method: str | None = None) -> list[IndexedCapture]:
        """See `CaptureIndex.exact`."""
        captures = [each for each in self._captures if each.key == key]
        return [each for each in captures if method is None or each.method == method]

    def closest(self, key: str, timestamp: str, limit: int = 1) -> list[IndexedCapture]:
        """See `CaptureIndex.closest`."""
        return sort_by_distance(self.exact(key), timestamp)[:limit]

    def prefix(self, key_prefix: str, after: str = "", limit: int = 1000) -> list[IndexedCapture]:
        """See `CaptureIndex.prefix`."""
        captures = [each for each in self._captures if each.key.startswith(key_prefix)]
        positions = [each.position for each in captures]
        start = positions.index(after) + 1 if after else 0
        return captures[start : start + limit]
