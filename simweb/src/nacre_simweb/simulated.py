"""The real crawler on a simulated clock and network: months in seconds, the same every time."""

import asyncio
from pathlib import Path

from nacre.machine.clock import SystemClock
from nacre_simweb.answer import Sending, WorldServer, read_heading
from nacre_simweb.calendar import START
from nacre_simweb.captures import read_archive
from nacre_simweb.crawling import Crawling
from nacre_simweb.driver import Driver, DriverSteps
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.loop import SimLoop
from nacre_simweb.policy import Policy
from nacre_simweb.serve import Hands, serving
from nacre_simweb.world import World


class SimClock:
    """The clock of a simulated loop; see `core.clock.Clock`."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        """Seconds since the epoch, of the simulation."""
        return START + self._loop.time()

    def monotonic(self) -> float:
        """Seconds since the beginning."""
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        """Wait, in simulated time."""
        await asyncio.sleep(max(seconds, 0.0))


class _Network:
    """Answers what connections of a simulated loop send."""

    def __init__(self) -> None:
        self.answers: WorldServer | None = None

    def respond(self, data: bytes) -> Sending | None:
        """See `memory.Respond`."""
        heading = read_heading(data)
        if heading is None or self.answers is None:
            return None
        sending = self.answers.answer(heading)
        if sending.row is not None:
            self.answers.rows.append(sending.row)
        return sending


def crawl_simulated(
    world: World, policy: Policy, steps: DriverSteps, root: Path, *, moving: bool = False
) -> tuple[KeptCaptures, Driver]:
    """Crawl a world inside this process, in lock step with its time.

    Args:
        world: The world.
        policy: Chooses the visits.
        steps: Times of the steps.
        root: Directory of the job.
        moving: The world's time moves on while the crawler works, and the politeness delay is
            that of a careful crawler; else it stands still during a step (epochs).
    """
    network = _Network()
    loop = SimLoop(network.respond)
    hands = Hands()

    async def to(time: float) -> None:
        hands.set(time)
        await asyncio.sleep(max(time - loop.time(), 0.0))

    network.answers = WorldServer(world, loop.time if moving else hands.now, loop.time)
    crawling = Crawling(
        world, root, policy, clock=SimClock(loop), to=to, delay=1.0 if moving else 0.0
    )
    driver = Driver(world, policy, crawling, steps)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(driver.run())
    return read_archive(root, network.answers.rows), driver


def crawl_served(
    world: World, policy: Policy, steps: DriverSteps, root: Path
) -> tuple[KeptCaptures, Driver]:
    """Crawl a world over real HTTP, epoch by epoch.

    Args:
        world: The world.
        policy: Chooses the visits.
        steps: Times of the steps.
        root: Directory of the job.
    """
    hands = Hands()

    async def run() -> tuple[KeptCaptures, Driver]:
        async with serving(world, hands) as (server, port):
            server.answers.bare = True
            crawling = Crawling(world, root, policy, clock=SystemClock(), to=hands.set, port=port)
            driver = Driver(world, policy, crawling, steps)
            await driver.run()
            return read_archive(root, server.answers.rows), driver

    return asyncio.run(run())
