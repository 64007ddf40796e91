"""The part of an incremental run in a session: who asks the planner, and when.

Names that do not exist are asked for before anything but seeds: only what they answer tells a page
that is gone with status 200 from one that changed. Then wave follows wave, each when the one before
is done.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar, cast

from nacre.history.dedup import Digests
from nacre.history.slices import Slices
from nacre.job.assemble import Parts
from nacre.job.holdings.bases import Bases
from nacre.job.incremental.knowledge import Knowledge
from nacre.job.incremental.recrawl import Recrawl
from nacre.job.incremental.remembering import Remembering
from nacre.job.layout import Layout
from nacre.job.runrow import RunRow
from nacre.job.visit.keeping import Keeping

T = TypeVar("T")

_PATIENCE = 30.0
"""Nothing is held back longer for names that do not exist, seconds: their host may be dead."""


class Planning:
    """Puts the planner in the place of following every link.

    Args:
        parts: Of the job.
        layout: The job's directories.
        run: The run.
        elapsed: Tells how long the run has been running, seconds.
        tell: Takes what people should know.
        ended: Whether somebody wants the end.

    Attributes:
        recrawl: Drives the run.
    """

    def __init__(
        self,
        parts: Parts,
        layout: Layout,
        run: RunRow,
        elapsed: Callable[[], float],
        tell: Callable[[str], None],
        ended: Callable[[], bool],
    ) -> None:
        store, settings = parts.store, parts.settings
        self._parts = parts
        self._elapsed = elapsed
        self._ended = ended
        self._chosen = False
        self._wants = True
        self._known = Knowledge(layout.root, store, settings.change, parts.clock.monotonic)
        self.recrawl = Recrawl(parts, run, self._known, elapsed)
        self._remembering = Remembering(parts, self.recrawl, self._known, tell)
        parts.archive.keeping = Keeping(
            store,
            parts.effective.then(lambda s: s.keep),
            Bases(layout.root, store, Digests(store)),
            settings.archive.level,
        )
        parts.engine.judge = self.recrawl.learn
        parts.engine.disposition.follow = self.recrawl.finished
        parts.commit.on_seal(self._known.seal)

    async def begin(self) -> None:
        """Read what earlier runs captured, and choose the first visits."""
        count = await self._remembering.run(self._ended)
        if count:
            self._parts.logs.job(f"{count} captures of earlier runs read for the planner")
        if not self._ended():
            await self._in_slices(self.recrawl.begin())
            await self.look()

    async def look(self) -> None:
        """Choose the first visits, once the names that do not exist are answered for."""
        held = self.recrawl.probing > 0 and self._elapsed() < _PATIENCE
        if not self._chosen and not held:
            await self.more()

    async def more(self) -> bool:
        """Choose the next visits; False when nothing more is wanted, or somebody wants the end."""
        self._chosen = True
        entered = self._wants = bool(await self._in_slices(self.recrawl.more()))
        if entered:
            self._parts.engine.wake()
        return entered

    @property
    def wants_more(self) -> bool:
        """Waves have begun, and the last one that was asked for was not empty."""
        return self._chosen and self._wants

    def end(self) -> None:
        """Put what is known into the open commit group."""
        self._known.seal_all()

    async def _in_slices(self, work: Slices[T]) -> T | None:
        """Do long work, and all that waits in between; None when somebody wants the end."""
        while not self._ended():
            try:
                next(work)
            except StopIteration as done:
                return cast("T", done.value)
            await asyncio.sleep(0)
        work.close()
        return None
