"""The first step of the fetch chain: drops URIs that need not be fetched.

Source: Heritrix's Preselector, in its order.

The scope is applied again before the fetch, with the known address, as in Heritrix's Preselector.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from nacre.annotations import SPECULATIVE_HOPELESS
from nacre.config.component import setting
from nacre.config.effective import Effective
from nacre.core.crawluri import Hop
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.speculation import Speculation
from nacre.engine.chain.entry import CHECKS, Entry
from nacre.scope.patterns.matching import PatternList
from nacre.scope.rules.regex import RegexText
from nacre.scope.scope import Scope
from nacre.scope.subject import subject_of

_SPECULATIVE = Hop.SPECULATIVE  # the way to a member of an enumeration is long


class Preselect(Entry):
    """Drops URIs that need not be fetched: blocked URIs, and hopeless guesses."""

    heritrix = "Preselector"
    processor: Literal["preselect"] = "preselect"
    block_all: bool = setting(False, "Block every URI (-5001).")
    allow_by_regex: RegexText = setting(
        "", "Block URIs that this does not match as a whole (-5001); empty blocks none."
    )
    block_by_regex: RegexText = setting(
        "", "Block URIs that this matches as a whole (-5001); empty blocks none."
    )


class Blocks(NamedTuple):
    """The URLs that an operator blocks.

    Attributes:
        everything: All URIs.
        allowed: Those that it does not match.
        blocked: Those that it matches.
    """

    everything: bool
    allowed: PatternList
    blocked: PatternList

    def blocking_setting(self, url: str) -> str:
        """Return the setting that blocks a URL; "" for none."""
        if self.everything:
            return "block_all"
        if self.allowed and not self.allowed.matches(url):
            return "allow_by_regex"
        return "block_by_regex" if self.blocked.matches(url) else ""


def preselection(entries: Sequence[Entry]) -> Blocks | None:
    """Return the URLs that the entry of a chain blocks; None for none."""
    entry = next((candidate for candidate in entries if isinstance(candidate, Preselect)), None)
    if entry is None or not (entry.block_all or entry.allow_by_regex or entry.block_by_regex):
        return None
    allowed, blocked = (
        PatternList([regex] if regex else [])
        for regex in (entry.allow_by_regex, entry.block_by_regex)
    )
    return Blocks(entry.block_all, allowed, blocked)


class PreselectStep:
    """Drops blocked URIs, and speculative URIs of a kind that has proved hopeless.

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
        setting = blocks.blocking_setting(uri.url) if blocks is not None else ""
        if setting:
            visit.refuse(FetchStatus.BLOCKED_BY_USER, f"blocked by {setting} of the preselector")
            return Result.FINISH
        hop = uri.path[-1:]
        if hop != _SPECULATIVE or self._speculation.still_worth(uri.url, uri.context):
            return Result.PROCEED
        reason = "guesses of its kind on this site led nowhere"
        visit.refuse(FetchStatus.OUT_OF_SCOPE, reason, SPECULATIVE_HOPELESS)
        return Result.FINISH


class RecheckScope(Entry):
    """Asks the scope again, when the address of the server is known (-5000).

    The scope can contain rules that need an address then.
    """

    needs = frozenset((CHECKS,))
    behind = "preconditions"
    processor: Literal["recheck-scope"] = "recheck-scope"
    enabled: bool = setting(False, "Ask the scope again before each fetch.")


class RecheckScopeStep:
    """Drops URIs that the scope no longer accepts, or does not accept at this address.

    Args:
        scope: The scope under each combination of sheets, built for `Place.RECHECK`.
        address: Address of a visit's server; "" while it is not known.
    """

    def __init__(self, scope: Effective[Scope], address: Callable[[Visit], str]) -> None:
        self._scope = scope
        self._address = address

    def accepts(self, visit: Visit) -> bool:
        """Return whether a URI is no prerequisite of another URI."""
        return not visit.uri.is_prerequisite

    async def process(self, visit: Visit) -> Result:
        """Disregard it (-5000) if it is out of scope, with the rule as reason."""
        verdict = self._scope[visit.overlay].decide(subject_of(visit, self._address(visit)))
        if verdict.accepted:
            return Result.PROCEED
        reason = f"out of scope when it was asked again, by the rule {verdict.rule}"
        visit.refuse(FetchStatus.OUT_OF_SCOPE, reason)
        return Result.FINISH
