"""The seeds of a new run enter the frontier: in portions, and durably, however many there are."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from nacre.job.seeding.seedbook import FALLBACK, own_scope
from nacre.job.seeding.seeds import BadSeed, Directive, Entry, Seed

if TYPE_CHECKING:
    from nacre.job.assemble import Parts

_PORTION = 2000
_POSITION = "seeds-entered"
_WAIT = 0.01
_NAMED = 100
"""Lines that are no seed and are named in job.log."""
SKIPPED = "seeds-skipped"
"""Counter of the lines of the seed list that are no seed."""
_DONE = -1


class Entering:
    """Takes a seed list into a run; goes on where a killed process was.

    Args:
        parts: Of the run.
        seeds: Opens the seed list.
        rests: Says of a URL that it is visited when its schedule says so, and not at once.
    """

    def __init__(
        self,
        parts: "Parts",
        seeds: Callable[[], Iterator[Entry]],
        rests: Callable[[str], bool] | None = None,
    ) -> None:
        self._rests = rests
        self._parts = parts
        self._seeds = seeds
        self._entries: Iterator[Entry] | None = None
        self._position = parts.store.counter(_POSITION)

    @property
    def done(self) -> bool:
        """The whole list is in."""
        return self._position == _DONE

    def begin(self) -> None:
        """A new run: nothing is in yet."""
        self._position = 0
        self._parts.store.set_counter(SKIPPED, 0)
        self._entries = self._seeds()

    def resume(self) -> None:
        """Skip what an earlier process took in; runs of before portions were taken in whole."""
        if self._position > 0:
            self._entries = islice(self._seeds(), self._position, None)
        else:
            self._position = _DONE

    def portion(self) -> None:
        """Take in the next portion, and note how far that is, in the open commit group."""
        if self._entries is None or self.done:
            return
        portion = list(islice(self._entries, _PORTION))
        directives = [entry.text for entry in portion if isinstance(entry, Directive)]
        if directives:
            self._parts.seeds.direct(directives)
        listed = [entry for entry in portion if isinstance(entry, Seed)]
        enter_seeds(self._parts, listed, self._rests)
        self._skip([entry for entry in portion if isinstance(entry, BadSeed)])
        self._position = self._position + len(portion) if len(portion) == _PORTION else _DONE
        self._parts.store.set_counter(_POSITION, self._position)

    async def rest(self, stopped: Callable[[], bool]) -> None:
        """Take in all that is left, no faster than it becomes durable."""
        while not self.done and not stopped():
            if self._parts.commit.saturated:
                await asyncio.sleep(_WAIT)
                continue
            self.portion()
            await asyncio.sleep(0)

    def _skip(self, bad: Sequence[BadSeed]) -> None:
        """Count lines that are no seed, and name the first in job.log."""
        if not bad:
            return
        store, logs = self._parts.store, self._parts.logs
        before = store.counter(SKIPPED)
        store.set_counter(SKIPPED, before + len(bad))
        for each in bad[: max(_NAMED - before, 0)]:
            logs.job(f"seed list, skipped: line {each.line}: {each._replace(file='')}")
        if before < _NAMED <= before + len(bad):
            logs.job("seed list: more lines that are no seed are not named")


def enter_seeds(
    parts: "Parts", seeds: Sequence[Seed], rests: Callable[[str], bool] | None = None
) -> int:
    """Take seeds into the seed book and the frontier; how many of these were new.

    Args:
        parts: Of the run.
        seeds: The seeds.
        rests: Says of a URL that it does not enter the frontier now; None: all do.
    """
    tags = parts.settings.engine.source_tags
    for said in parts.logins.take(seeds):
        parts.logs.alert(said)
    if parts.normalizing is not None:
        seeds = list(parts.normalizing.seeds(seeds))
    uris = []
    for seed in parts.seeds.add_all(seeds):
        if rests is not None and rests(seed.url):
            continue
        heritable = own_scope(seed.text if seed.own is not None else "")
        if seed.fallback:
            heritable[FALLBACK] = seed.fallback
        overlay = parts.sheets.of_url(seed.url)
        source = seed.text if tags else ""
        uris.append(
            parts.identity.seed(seed.url, source=source, heritable=heritable, overlay=overlay)
        )
    if uris:
        parts.frontier.schedule(uris, parts.clock.now())
    return len(uris)
