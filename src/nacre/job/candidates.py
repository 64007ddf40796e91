"""Outlinks become candidates: scope, key, queue, frontier; what was refused is remembered."""

from collections.abc import Callable, Sequence

from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Hop, Outlink, extend_path
from nacre.core.processor import Visit
from nacre.frontier.frontier import Frontier
from nacre.job.identity import Identity
from nacre.job.normalizing import Normalizing
from nacre.job.outside import Outside
from nacre.job.seen import RecentURLs
from nacre.job.speculation import Speculation
from nacre.job.timeouts import Timeouts
from nacre.scope.rule import Decision, Scope, Subject, Verdict
from nacre.scope.subject import OWN_SCOPE

ScopeLog = Callable[[Scope, Subject], None]

MAX_SEED_REDIRECTS = 5
"""R hops from a seed within which a redirect target becomes a seed."""


class Candidates:
    """The candidate chain: scope, then preparation, then the frontier.

    Args:
        scope: The compiled rules, under each combination of sheets.
        overlay_of: Says which combination applies to a candidate.
        identity: Makes CrawlURIs.
        frontier: Where accepted ones go.
        outside: Where refused ones are remembered, for `explain`.
        speculation: Says which speculative links are worth a try.
        new_seed: Called when a redirect makes a seed.

    Attributes:
        recent: URLs that need not be judged again.
        normalizing: Rewrites links before anything else; None leaves them as they are.
        timeouts: Notes expressions that took too long; None where none can.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        scope: Effective[Scope],
        overlay_of: Callable[[Subject], int],
        *,
        identity: Identity,
        frontier: Frontier,
        outside: Outside,
        speculation: Speculation,
        new_seed: Callable[[CrawlURI], None],
    ) -> None:
        self.scope = scope
        self._overlay_of = overlay_of
        self.recent = RecentURLs()
        self.normalizing: Normalizing | None = None
        self.timeouts: Timeouts | None = None
        self._log: ScopeLog | None = None
        self.trace_scope(None)
        self._identity = identity
        self._frontier = frontier
        self._outside = outside
        self._speculation = speculation
        self._new_seed = new_seed

    def trace_scope(self, log: ScopeLog | None) -> None:
        """Tell each decision to scope.log from now on; None ends that."""
        self._log = log
        # A log of every decision needs every decision to be made.
        self.recent.enabled = log is None and not any(one.logs for one in self.scope)

    def admit(self, visit: Visit, now: float) -> int:
        """Judge the outlinks of a visit; how many entered the frontier."""
        accepted = self._judge(visit.uri, visit.outlinks)
        if self.timeouts is not None:
            self.timeouts.annotate(visit)
        if not accepted:
            return 0
        for uri in accepted:
            self.recent.add(uri.url)
        return sum(self._frontier.schedule(accepted, now))

    def _judge(self, parent: CrawlURI, links: Sequence[Outlink]) -> list[CrawlURI]:
        if self.normalizing is not None:
            links = self._normalized(self.normalizing, parent, links)
        refuses = self.recent.refuses
        paths: dict[Hop, str] = {}
        accepted: list[CrawlURI] = []
        for link in self.recent.unknown(links):
            hop = link.hop
            path = paths.get(hop)
            if path is None:
                path = paths[hop] = extend_path(parent.path, hop)
            if refuses(link.url, path):
                continue
            if hop is Hop.SPECULATIVE and not self._speculation.worth_trying(link):
                continue
            uri = self._decide(parent, link, path)
            if uri is not None:
                accepted.append(uri)
        return accepted

    def _normalized(
        self, normalizing: Normalizing, parent: CrawlURI, links: Sequence[Outlink]
    ) -> list[Outlink]:
        """The links in their normal forms; those that have none are remembered as refused."""
        found: list[Outlink] = []
        for link in links:
            url = normalizing.link(link.url, is_redirect=link.hop is Hop.REDIRECT)
            if url is None:
                path = extend_path(parent.path, link.hop)
                subject = Subject(link.url, path, parent.url, link.context)
                self._outside.add(self._identity.key(link.url), subject, "uri.normalize")
            else:
                found.append(link if url == link.url else structs.replace(link, url=url))
        return found

    def _decide(self, parent: CrawlURI, link: Outlink, path: str) -> CrawlURI | None:
        promoted = link.hop is Hop.REDIRECT and _promotes(parent, path)
        subject = Subject(link.url, path, parent.url, link.context, promoted, parent.source)
        if parent.heritable:
            subject.seed = parent.heritable.get(OWN_SCOPE, "")
        overlay = self._overlay_of(subject)
        scope = self.scope[overlay]
        verdict = scope.decide(subject)
        if self._log is not None:
            self._log(scope, subject)
        if (promoted and not _forbidden(scope, verdict)) or (
            subject.is_seed and not promoted and verdict.accepted
        ):
            uri = self._identity.redirected_seed(parent, link, overlay)
            self._new_seed(uri)
            return uri
        if not verdict.accepted:
            if not scope.asks_origin:
                self.recent.refuse(link.url, path)
            self._outside.add(self._identity.key(link.url), subject, verdict.rule)
            return None
        return self._identity.child(parent, link, overlay)


def _forbidden(scope: Scope, verdict: Verdict) -> bool:
    """Refused by a rule of its own (a `-` line, the scheme), not by the first of the list."""
    return verdict.decision is Decision.REJECT and not scope.is_first(verdict)


def _promotes(parent: CrawlURI, path: str) -> bool:
    """A redirect from a seed makes its target a seed, so that a site that moved is crawled."""
    return parent.is_seed and len(path) <= MAX_SEED_REDIRECTS and not path.strip(Hop.REDIRECT)
