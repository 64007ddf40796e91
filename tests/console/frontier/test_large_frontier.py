"""Pages of queues and URIs, while both come and go between two pages."""

from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cli.site import nacre
from tests.console.frontier.test_frontier import got, play, posted
from tests.console.given import GivenConsole

HOSTS = 15
Change = Callable[[int, list[dict[str, Any]]], Awaitable[None]]
"""Changes the frontier behind a page: its number, and its items."""


def url_of(host: int, page: int) -> str:
    """A URL of a host; the names of hosts of even numbers are taken, others come later."""
    return f"http://h{host:02}.test/p{page}"


def add_job(folder: Path) -> set[str]:
    """A job in whose frontier URIs of every second host wait; these, without its seed."""
    job = folder / "crawls" / "demo"
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    urls = {url_of(host, page) for host in range(0, 2 * HOSTS, 2) for page in range(1 + host % 5)}
    lines = folder / "lines.txt"
    lines.write_text("\n".join(sorted(urls)) + "\n")
    assert nacre("frontier", job, "import", lines).code == 0
    return urls


async def all_pages(
    console: GivenConsole, path: str, change: Change, way: str = "next", **query: Any
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The items of all pages, with a change behind each; and the last page."""
    found = list[dict[str, Any]]()
    for number in range(1000):
        page = await got(console, path, **query)
        found += page["items"]
        if page[way] is None:
            return found, [page]
        await change(number, page["items"])
        query["before" if way == "previous" else "after"] = page[way]
    raise AssertionError(path)


async def delete(console: GivenConsole, url: str) -> None:
    status, done = await posted(console, "/frontier/delete", urls=f"^{url}$", everything=True)
    assert (status, done["changed"]) == (200, 1), done


async def add(console: GivenConsole, *urls: str) -> None:
    status, done = await posted(console, "/frontier/import", lines=list(urls))
    assert (status, done["changed"]) == (200, len(urls)), done


@pytest.mark.parametrize("limit", [1, 7, 10])
@pytest.mark.slow
def test_uris_that_stay_are_given_once_while_others_come_and_go(tmp_path: Path, limit: int):
    stay = add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        gone, come = set[str](), set[str]()

        async def change(number: int, items: list[dict[str, Any]]) -> None:
            if number >= HOSTS:
                return
            # The one that the cursor names goes, and one of a host that may be ahead or behind.
            ends = {items[-1]["url"], url_of(2 * ((7 * number) % HOSTS), 0)} - gone
            for url in ends & stay:
                await delete(console, url)
                gone.add(url)
            new = [url_of((14 * number + 1) % (2 * HOSTS), 9), url_of(2 * number, 50)]
            await add(console, *(url for url in new if url not in come))
            come.update(new)

        found, _ = await all_pages(console, "/uris", change, limit=limit)
        given = Counter(one["url"] for one in found)
        assert max(given.values()) == 1, given.most_common(3)
        assert len(gone) > 4
        assert stay - gone <= given.keys()
        assert given.keys() - stay <= come | {"http://127.0.0.1:9/"}
        assert come & given.keys(), "the pages show what came"

    play(tmp_path, scene)


@pytest.mark.parametrize("sort", ["name", "-name", "waiting", "-waiting"])
@pytest.mark.slow
def test_queues_that_stay_are_given_once_while_others_come_and_go(tmp_path: Path, sort: str):
    waits = add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        moved, numbers = set[str](), count()

        async def change(_: int, items: list[dict[str, Any]]) -> None:
            number = next(numbers)
            new = f"test,h{(14 * number + 1) % (2 * HOSTS):02},"
            await add(console, f"http://{new[5:8]}.test/{number}/new")
            moved.add(new)
            # The last queue of the page has another number than its cursor says, or none waits.
            key = items[-1]["queue"]
            if key in moved or not key.startswith("test,"):
                return
            moved.add(key)
            for url in sorted(waits):
                if url.startswith(f"http://{key[5:8]}."):
                    await delete(console, url)

        stay = {f"test,h{host:02}," for host in range(0, 2 * HOSTS, 2)} | {"127.0.0.1#9"}
        found, (last,) = await all_pages(console, "/queues", change, sort=sort, limit=5)
        given = Counter(one["queue"] for one in found)
        assert stay - moved <= given.keys()
        assert all(given[key] == 1 for key in stay - moved), given.most_common(3)
        assert len(stay - moved) > HOSTS // 2
        # In the rising order what comes has the smallest numbers: it is before the page.
        assert (given.keys() - stay != set()) is (sort != "waiting"), "what came is shown"
        if sort.removeprefix("-") == "name":
            assert max(given.values()) == 1  # a name has one place, whatever waits in its queue
        back, _ = await all_pages(
            console, "/queues", change, "previous", sort=sort, limit=5, before=last["previous"]
        )
        given = Counter(one["queue"] for one in (*back, *last["items"]))
        assert all(given[key] == 1 for key in stay - moved), given.most_common(3)

    play(tmp_path, scene)
