"""The crawls of test_private_networks.py, run where no network is.

    python -m tests.crawl.private_seeds CASE FOLDER

One JSON object on stdout: how many requests each address got, the lines of the crawl logs, and what
went wrong with each URL.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import uvloop

from nacre.engine.outcomes import scan_outcomes
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.runs.runs import plan_run
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.crawl.again import Later
from tests.fetch.nameserver import NameServer, a, name_server, reply
from tests.netns import bring_up

PUBLIC, PRIVATE, LOOPBACK = "93.184.216.34", "10.0.0.1", "127.0.0.1"
PORT = 8099
ADDRESSES = (PUBLIC, PRIVATE, LOOPBACK)


class World:
    """The same small site at a public, a private and a loopback address, which count requests."""

    def __init__(self, names: NameServer, folder: Path) -> None:
        self.names = names
        self.folder = folder
        self.asked: Counter[str] = Counter()

    def page(self) -> bytes:
        """Links and embeds that lead to each address."""
        links = [f'<a href="/{number}.html">.</a>' for number in range(3)]
        links += [
            f'<img src="http://{address}:{PORT}/{number}.png">'
            for address in ADDRESSES
            for number in range(3)
        ]
        return "".join(links).encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = writer.get_extra_info("sockname")[0]
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        self.asked[address] += 1
        found = b"robots.txt" not in head
        body = self.page() if found else b""
        writer.write(
            b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n"
            b"Connection: close\r\n\r\n%s" % (b"200 OK" if found else b"404 No", len(body), body)
        )
        writer.close()

    def turning(self, name: str, *addresses: str) -> None:
        """A name with another address at each question, which holds for no time."""
        asked = iter(addresses)

        def answer(query: Any) -> Any:
            address = next(asked, addresses[-1]) if query.q.qtype == 1 else ""
            return reply(query, *([a(name, address, ttl=0)] if address else []))

        self.names.answers[name] = answer

    def settings(self, *hosts: str, **more: Any) -> JobSettings:
        plan = {
            "seeds": [f"http://{host}:{PORT}/" for host in hosts],
            "scope": [rule.model_dump() for rule in rules_for(ScopeKind.HOST)],
            "politeness": {"delay": 0.001, "in_flight": 4},
            "frontier": {"max_retries": 1, "retry_delay": 0.01},
            "fetch": {"contact": "https://library.example/"},
            "dns": {"servers": [self.names.address]},
        }
        return JobSettings.model_validate(plan | more)

    async def crawl(self, settings: JobSettings, days: float = 0) -> None:
        """One run, the first or a later one."""
        layout = Layout(self.folder)
        clock = Later(days)
        if layout.store.exists():
            with Store.open(str(layout.store)) as store:
                plan_run(store, layout, clock.now(), mode="full")
        await Job(self.folder, settings, clock=clock).run()


async def public_names(world: World) -> None:
    """Public seeds whose owners gave them private addresses, beside one that links there."""
    world.names.zone(a("shop.example.com", PUBLIC))
    world.names.zone(a("rogue.example.com", LOOPBACK), a("thief.example.com", PRIVATE))
    await world.crawl(world.settings("shop.example.com", "rogue.example.com", "thief.example.com"))


async def turns_before_recrawl(world: World) -> None:
    """A seed that was public when it was crawled first."""
    world.names.zone(a("shop.example.com", PUBLIC))
    await world.crawl(world.settings("shop.example.com"))
    world.names.zone(a("shop.example.com", PRIVATE))
    await world.crawl(world.settings("shop.example.com"), days=30)


async def rebinding(world: World) -> None:
    """A name that is public when it is looked at, and private soon after, for no time each."""
    turns = (PUBLIC, PUBLIC, PUBLIC, PUBLIC, LOOPBACK, PUBLIC, PRIVATE)
    world.turning("shop.example.com", *turns * 20)
    settings = world.settings(
        "shop.example.com", dns={"servers": [world.names.address], "min_ttl": 0}
    )
    await world.crawl(settings)


async def mixed_answer(world: World) -> None:
    """A name with a public and two private addresses at once."""
    records = [a("shop.example.com", address) for address in ADDRESSES]
    world.names.answers["shop.example.com"] = lambda query: reply(query, *records)
    await world.crawl(world.settings("shop.example.com"))


async def written_address(world: World) -> None:
    await world.crawl(world.settings(PRIVATE))


async def written_mapping(world: World) -> None:
    """A public name that the operator gave a private address."""
    hosts = {"shop.example.com": PRIVATE}
    dns = {"servers": [world.names.address], "hosts": hosts}
    await world.crawl(world.settings("shop.example.com", dns=dns))


async def chinese_mapping(world: World) -> None:
    """The same in Chinese, as the operator types both."""
    dns = {"servers": [world.names.address], "hosts": {"例子。中国": PRIVATE}}
    await world.crawl(world.settings("例子.中国", dns=dns))


async def mapping_of_others(world: World) -> None:
    """A mapping of a name that is not a seed: linked to, it opens nothing."""
    world.names.zone(a("shop.example.com", PUBLIC))
    dns = {"servers": [world.names.address], "hosts": {"tracker.example.com": LOOPBACK}}
    await world.crawl(world.settings("shop.example.com", dns=dns))


async def private_name(world: World, name: str) -> None:
    world.names.zone(a(name, PRIVATE))
    await world.crawl(world.settings(name))


async def allowed(world: World) -> None:
    """What the message tells to do."""
    world.names.zone(a("shop.example.com", PRIVATE))
    network = {"allow": [f"{PRIVATE}/32"]}
    await world.crawl(world.settings("shop.example.com", network=network))


CASES: Mapping[str, Callable[[World], Awaitable[None]]] = {
    "public": public_names,
    "recrawl": turns_before_recrawl,
    "rebinding": rebinding,
    "mixed": mixed_answer,
    "address": written_address,
    "mapping": written_mapping,
    "中文": chinese_mapping,
    "others": mapping_of_others,
    "allowed": allowed,
    "local": lambda world: private_name(world, "wiki.local"),
    "home": lambda world: private_name(world, "nas.home.arpa"),
    "internal": lambda world: private_name(world, "db.internal"),
    "chinese": lambda world: private_name(world, "xn--fsqu00a.test"),
}


async def run(case: str, folder: Path) -> Counter[str]:
    """Crawl what a case says; the requests by address."""
    bring_up(ADDRESSES[:2])
    async with AsyncExitStack() as stack:
        world = World(await stack.enter_async_context(name_server()), folder)
        for address in ADDRESSES:
            server = await asyncio.start_server(world.serve, address, PORT)
            await stack.enter_async_context(server)
        await CASES[case](world)
    return world.asked


def main(case: str, folder: Path) -> None:
    asked = uvloop.run(run(case, folder))
    logs = sorted(folder.glob("runs/*/logs/crawl.log"))
    lines = [line for log in logs for line in log.read_text().splitlines()]
    with Store.open(str(Layout(folder).store)) as store:
        errors = {row.url: row.error for _, row in scan_outcomes(store)}
    sys.stdout.write(json.dumps({"asked": asked, "log": lines, "errors": errors}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
