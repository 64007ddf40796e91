"""The first step of the fetch chain: what need not be fetched after all.

Source: Heritrix's Preselector, in its order.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.config.effective import Effective
from nacre.core.crawluri import Hop
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.job.admission.speculation import UNTRIED, Speculation
from nacre.job.chain.entry import Entry
from nacre.job.chain.stock import Preselect as PreselectEntry
from nacre.scope.patterns import PatternList

_SPECULATIVE = Hop.SPECULATIVE  # the way to a member of an enumeration is long


class Blocks(NamedTuple):
    """What an operator blocks.

    Attributes:
        everything: All URIs.
        allowed: Those that it does not match.
        blocked: Those that it matches.
    """

    everything: bool
    allowed: PatternList
    blocked: PatternList

    def why(self, url: str) -> str:
        """The setting that blocks a URL; "" for none."""
        if self.everything:
            return "block_all"
        if self.allowed and not self.allowed.matches(url):
            return "allow_by_regex"
        return "block_by_regex" if self.blocked.matches(url) else ""


def preselection(entries: Sequence[Entry]) -> Blocks | None:
    """What the entry of a chain blocks; None for nothing."""
    entry = next((one for one in entries if isinstance(one, PreselectEntry)), None)
    if entry is None or not (entry.block_all or entry.allow_by_regex or entry.block_by_regex):
        return None
    allowed, blocked = (
        PatternList([regex] if regex else [])
        for regex in (entry.allow_by_regex, entry.block_by_regex)
    )
    return Blocks(entry.block_all, allowed, blocked)


class Preselect:
    """Lets go what is blocked, and speculative URIs whose like have proved hopeless.

    One script can queue thousands of guesses before the first is tried.
    """

    def __init__(self, blocks: Effective[Blocks | None], speculation: Speculation) -> None:
        self._blocks = blocks
        self._speculation = speculation

    def accepts(self, visit: Visit) -> bool:
        """Speculative URIs, and where something is blocked all that no other URI needs first."""
        if self._blocks[visit.overlay] is not None and not visit.uri.is_prerequisite:
            return True
        return visit.uri.path[-1:] == _SPECULATIVE

    async def process(self, visit: Visit) -> Result:
        """Disregard it (-5001, -5000), with the reason."""
        uri, blocks = visit.uri, self._blocks[visit.overlay]
        setting = blocks.why(uri.url) if blocks is not None else ""
        if setting:
            visit.status = FetchStatus.BLOCKED_BY_USER
            visit.error = f"blocked by {setting} of the preselector"
            return Result.FINISH
        hop = uri.path[-1:]
        if hop != _SPECULATIVE or self._speculation.still_worth(uri.url, uri.context):
            return Result.PROCEED
        visit.status = FetchStatus.OUT_OF_SCOPE
        visit.annotate(UNTRIED)
        visit.error = "guesses of its kind on this site led nowhere"
        return Result.FINISH
