"""What a crawl of a whole documentation site must have captured, and what must be 404."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.cases.table import Row, Table, json_lines
from tests.crawl.coverage import Places, listed
from tests.crawl.jobs import Crawled, crawl
from tools import debs
from tools.nginx import Server, free_port, serving


def _load(folder: Path) -> Iterator[Row]:
    """One row for each path of each list, with the status that a crawl of all sites found."""
    lists = list(json_lines("coverage.jsonl")(folder))
    addresses = tuple(f"127.0.8.{number}" for number in range(1, len(lists) + 1))
    port = free_port(addresses)
    with tempfile.TemporaryDirectory() as place:
        crawled = _crawl(lists, addresses, port, Path(place))
        statuses = crawled.statuses
    for row, address in zip(lists, addresses, strict=True):
        places = Places(statuses, f"http://{address}:{port}")
        version = debs.version(row["package"])
        for path, status in listed(row, folder):
            yield {
                "id": f"{row['id']}{path}",
                "status": status,
                "found": places.status(path),
                "version": row["version"],
                "crawled_version": version,
            }


def _crawl(lists: list[Row], addresses: tuple[str, ...], port: int, place: Path) -> Crawled:
    servers = [
        Server(address, port, debs.ensure(row["package"]))
        for row, address in zip(lists, addresses, strict=True)
    ]
    seeds = [
        f"http://{address}:{port}{row['start']}"
        for row, address in zip(lists, addresses, strict=True)
    ]
    # No name server, so that nothing outside is asked for.
    with serving(servers, place / "nginx"):
        return crawl(place / "job", seeds, dns={"servers": ["127.0.0.1:9"], "timeout": 0.1})


def _check(row: Row) -> str | None:
    if row["found"] == row["status"]:
        return None
    if row["version"] != row["crawled_version"]:
        return f"{row['found']}, but in version {row['crawled_version']} of the package"
    return str(row["found"])


TABLE = Table("coverage", _load, _check)
