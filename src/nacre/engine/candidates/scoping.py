"""The processors of the stock candidate chain: one applies the scope, one prepares a CrawlURI.

Most links of a site lead to pages that are already known, so URLs that were met recently are not
judged again.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.recent_table import RecentTable
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.chain.entry import ORDERED, SCOPED, ChainName, Entry, FixedEntry
from nacre.report.statistics import StepCounts
from nacre.scope.scope import Decision, Scope, Verdict
from nacre.scope.subject import Subject

_REDIRECT = Hop.REDIRECT  # the way to a member of an enumeration is long
_TOO_MANY_HOPS = "too-many-hops"

ScopeLog = Callable[[Scope, Subject], None]
"""Records the decision of a scope on a URI."""


class JudgeScope(Entry):
    """Asks the scope; links that are not accepted are dropped. Settings: `scope`."""

    chains = frozenset((ChainName.CANDIDATE,))
    heritrix = "CandidateScoper"
    gives = frozenset((SCOPED,))
    processor: Literal["scope"] = "scope"


class Prepare(FixedEntry):
    """Gives a URI its queue, directive, precedence and cost. Settings: `frontier`."""

    chains = frozenset((ChainName.CANDIDATE,))
    heritrix = "FrontierPreparer"
    gives = frozenset((ORDERED,))
    fixed = "the frontier takes only prepared URIs"
    processor: Literal["prepare"] = "prepare"


class RecentURLs:
    """Bounded tables of URLs that need not be judged again.

    An accepted URL is in the frontier's seen set whatever way it is found again. A refused one may
    be accepted on another way (an embed, a shorter path), so it is kept with its hop path.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._accepted: RecentTable[str, None] = RecentTable(capacity // 2)
        self._refused: RecentTable[tuple[str, str], None] = RecentTable(capacity // 2)
        self._enabled = True

    def remember(self, *, enabled: bool) -> None:
        """Answer from memory; else every link is judged each time that it is met."""
        self._enabled = enabled

    def unknown(self, links: Sequence[Outlink]) -> Sequence[Outlink]:
        """Return the links that have to be judged: their URLs are not known to be in the frontier.

        Redirects stay, for they may be forced.
        """
        if not self._enabled:
            return links
        young, old = self._accepted.young, self._accepted.old
        return [
            link
            for link in links
            if ((url := link.url) not in young and url not in old) or link.hop is _REDIRECT
        ]

    def forget_refusals(self) -> None:
        """Forget refused links, since the scope changed and judges them again."""
        self._refused.clear()

    def refuses(self, url: str, path: str) -> bool:
        """The URL was refused on this way."""
        return (url, path) in self._refused and self._enabled

    def add(self, url: str) -> None:
        """A URL that is in the frontier now, or was before."""
        self._accepted.put(url, None, len(url))

    def refuse(self, url: str, path: str) -> None:
        """A URL that the scope refused on this way."""
        self._refused.put((url, path), None, len(url))

    def forget(self) -> None:
        """Forget all links, since the scope changed, or URIs were deleted."""
        self._accepted.clear()
        self._refused.clear()


class JudgeScopeStep:
    """The worker of `JudgeScope`: accepts or refuses links, and remembers the refused ones.

    Args:
        scope: The compiled rules, under each combination of sheets.
        key: The seen key of a URL.
        outside: Where refused URLs are remembered, for `explain`.
        counts: Counts the links that the scope judged.

    Attributes:
        scope: As given.
        recent: URLs that need not be judged again.
        refused_by: The rule of the latest refusal; "" before the first.
    """

    def __init__(
        self,
        scope: Effective[Scope],
        key: Callable[[str], bytes],
        outside: RejectedUris,
        counts: StepCounts,
    ) -> None:
        self.scope = scope
        self.recent = RecentURLs()
        self.refused_by = ""
        self._key = key
        self._outside = outside
        self._counts = counts
        self._log: ScopeLog | None = None
        self.trace(None)

    def trace(self, log: ScopeLog | None) -> None:
        """Write each decision to scope.log from now on; None stops this."""
        self._log = log
        # A log of every decision needs every decision to be made.
        self.recent.remember(enabled=log is None and not any(scope.logs for scope in self.scope))

    def accepts(self, subject: Subject, overlay: int) -> bool:
        """Ask the scope; a rule may make the subject a seed."""
        promoted, scope = subject.is_seed, self.scope[overlay]
        verdict = scope.decide(subject)
        self._counts.handled += 1
        if self._log is not None:
            self._log(scope, subject)
        if verdict.accepted or (promoted and not _forbidden(scope, verdict)):
            return True
        if not scope.asks_origin:
            self.recent.refuse(subject.url, subject.path)
        self.refuse(subject, verdict.rule)
        return False

    def too_deep(self, overlay_of: Callable[[Subject], int]) -> Iterator[str]:
        """Yield the URLs that were refused for the number of their hops alone.

        Many hops often lead out of the scope anyway; so each link is judged as if a seed had it.

        Args:
            overlay_of: Determines which combination of sheets applies.
        """
        for row in self._outside.of_rule(_TOO_MANY_HOPS):
            subject = Subject(row.url, row.path, row.via, row.context)
            near = structs.replace(subject, path=row.path[-1:])
            scope = self.scope[overlay_of(subject)]
            if not scope.decide(subject).accepted and scope.decide(near).accepted:
                yield row.url

    def refuse(self, subject: Subject, rule: str, url: str = "") -> None:
        """Remember that a rule refuses a link; `url`: of the link, where it has another by now."""
        self.refused_by = rule
        self._outside.add(self._key(url or subject.url), subject, rule)


class PrepareStep:
    """The worker of `Prepare`: makes a CrawlURI of a link that was accepted.

    Args:
        identity: Makes CrawlURIs.
        new_seed: Called when a redirect makes a seed.
        counts: Counts them.
    """

    def __init__(
        self, identity: Identity, new_seed: Callable[[CrawlURI], None], counts: StepCounts
    ) -> None:
        self._identity = identity
        self._new_seed = new_seed
        self._counts = counts

    def prepare(self, parent: CrawlURI, link: Outlink, subject: Subject, overlay: int) -> CrawlURI:
        """Make the URI that enters the frontier."""
        self._counts.handled += 1
        if not subject.is_seed:
            return self._identity.child(parent, link, overlay)
        uri = self._identity.redirected_seed(parent, link, overlay)
        self._new_seed(uri)
        return uri


def _forbidden(scope: Scope, verdict: Verdict) -> bool:
    """Return whether a separate rule refused it (a `-` line, the scheme), not the first one."""
    return verdict.decision is Decision.REJECT and not scope.is_first(verdict)
