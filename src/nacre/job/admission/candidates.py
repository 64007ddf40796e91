"""Outlinks become candidates: scope, key, queue, frontier; what was refused is remembered."""

from collections.abc import Callable, Sequence

from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.charsets import with_charset
from nacre.core.crawluri import CrawlURI, Hop, Outlink, extend_path
from nacre.core.processor import Candidate, LinkProcessor, Result, Visit
from nacre.errors import StorageError
from nacre.frontier.frontier import Frontier
from nacre.job.admission.cookiewalls import through_walls
from nacre.job.admission.identity import Identity
from nacre.job.admission.ignores import IGNORES
from nacre.job.admission.normalizing import Normalizing
from nacre.job.admission.outside import Outside
from nacre.job.admission.prospects import Prospects
from nacre.job.admission.seen import RecentURLs
from nacre.job.admission.speculation import Speculation
from nacre.job.admission.timeouts import Timeouts
from nacre.job.chain.plan import Bound, CandidatePlan
from nacre.report.steps import Step
from nacre.scope.rule import Decision, Scope, Subject, Verdict
from nacre.scope.subject import OWN_SCOPE

# The way to a member of an enumeration is long.
_SPECULATIVE, _REDIRECT = Hop.SPECULATIVE, Hop.REDIRECT

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
        plans: What was added to the candidate chain or left out, under each combination of sheets;
            None for nothing.

    Attributes:
        judged: Counts the links that the scope was asked about.
        prepared: Counts those that it accepted.
        failed: Told of the bug of a processor that was added.
        recent: URLs that need not be judged again.
        normalizing: Rewrites links before anything else; None leaves them as they are.
        ignored: Says which links are to be ignored for now; None while none are.
        timeouts: Notes expressions that took too long; None where none can.
        prospects: Says which links go later; None: none do.
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
        plans: Effective[CandidatePlan | None],
    ) -> None:
        self.scope = scope
        self._plans = plans
        self.judged = Step("Candidate", "scope")
        self.prepared = Step("Candidate", "prepare")
        self.failed: Callable[[str, Exception], None] = _unheard
        self._overlay_of = overlay_of
        self.recent = RecentURLs()
        self.normalizing: Normalizing | None = None
        self.ignored: Callable[[str], bool] | None = None
        self.timeouts: Timeouts | None = None
        self.prospects: Prospects | None = None
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
        if visit.status >= 300:
            accepted = through_walls(visit, accepted)
        accepted = with_charset(visit, accepted)
        for uri in accepted:
            self.recent.add(uri.url)
        if self.prospects is None:
            return sum(self._frontier.schedule(accepted, now))
        entered = self._frontier.schedule(self.prospects.met(accepted, visit.overlay), now)
        self.prospects.entered(entered)
        return sum(entered)

    def accepted(
        self, parent: CrawlURI, links: Sequence[Outlink]
    ) -> list[tuple[Outlink, CrawlURI]]:
        """Each link that the scope accepts, with what the frontier would keep of it."""
        if self.normalizing is not None:
            links = self._normalized(self.normalizing, parent, links)
        found: list[tuple[Outlink, CrawlURI]] = []
        for link in links:
            path = extend_path(parent.path, link.hop)
            if self.recent.refuses(link.url, path):
                continue
            if link.hop is _SPECULATIVE and not self._speculation.worth_trying(link):
                continue
            uri = self._decide(parent, link, path)
            if uri is not None:
                found.append((link, uri))
        return found

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
            if hop is _SPECULATIVE and not self._speculation.worth_trying(link):
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
            url = normalizing.link(link.url, is_redirect=link.hop is _REDIRECT)
            if url is None:
                path = extend_path(parent.path, link.hop)
                subject = Subject(link.url, path, parent.url, link.context)
                self._outside.add(self._identity.key(link.url), subject, "uri.normalize")
            else:
                found.append(link if url == link.url else structs.replace(link, url=url))
        return found

    def _decide(self, parent: CrawlURI, link: Outlink, path: str) -> CrawlURI | None:
        promoted = link.hop is _REDIRECT and _promotes(parent, path)
        subject = Subject(link.url, path, parent.url, link.context, promoted, parent.source)
        if parent.heritable:
            subject.seed = parent.heritable.get(OWN_SCOPE, "")
        if self.ignored is not None and self.ignored(link.url):
            self._outside.add(self._identity.key(link.url), subject, IGNORES)
            return None
        overlay = self._overlay_of(subject)
        plan = self._plans[overlay]
        if plan is not None:
            return self._along(plan, Candidate(link, parent, path, overlay), subject)
        accepted = self._accepts(subject, overlay)
        return self._made(parent, link, subject, overlay) if accepted else None

    def _accepts(self, subject: Subject, overlay: int) -> bool:
        """Ask the scope; what it refuses is remembered. A rule may make the subject a seed."""
        promoted, scope = subject.is_seed, self.scope[overlay]
        verdict = scope.decide(subject)
        self.judged.handled += 1
        if self._log is not None:
            self._log(scope, subject)
        if verdict.accepted or (promoted and not _forbidden(scope, verdict)):
            return True
        if not scope.asks_origin:
            self.recent.refuse(subject.url, subject.path)
        self._outside.add(self._identity.key(subject.url), subject, verdict.rule)
        return False

    def _made(self, parent: CrawlURI, link: Outlink, subject: Subject, overlay: int) -> CrawlURI:
        self.prepared.handled += 1
        if not subject.is_seed:
            return self._identity.child(parent, link, overlay)
        uri = self._identity.redirected_seed(parent, link, overlay)
        self._new_seed(uri)
        return uri

    def _along(
        self, plan: CandidatePlan, candidate: Candidate, subject: Subject
    ) -> CrawlURI | None:
        """A chain that is not the stock one."""
        if not self._pass(plan.before, candidate, subject):
            return None
        if candidate.link.url != subject.url:
            subject.url = candidate.link.url
        asks = plan.asks is True or (plan.asks is not False and plan.asks.opens(subject))
        if asks and not self._accepts(subject, candidate.overlay):
            return None
        if not self._pass(plan.between, candidate, subject):
            return None
        candidate.uri = self._made(candidate.via, candidate.link, subject, candidate.overlay)
        return candidate.uri if self._pass(plan.after, candidate, subject) else None

    def _pass(
        self, steps: Sequence[Bound[LinkProcessor]], candidate: Candidate, subject: Subject
    ) -> bool:
        """Processors that were added to the chain; False when one refuses the link, or fails."""
        for processor, step in steps:
            try:
                if not processor.accepts(candidate):
                    continue
                step.handled += 1
                if processor.process(candidate) is Result.PROCEED:
                    continue
                rule = candidate.rule or step.name
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - it is nobody else's bug
                rule = f"{step.name} failed: {type(error).__name__}"
                self.failed(f"{step.name} with the link {candidate.link.url}", error)
            self._outside.add(self._identity.key(candidate.link.url), subject, rule)
            return False
        return True


def _forbidden(scope: Scope, verdict: Verdict) -> bool:
    """Refused by a rule of its own (a `-` line, the scheme), not by the first of the list."""
    return verdict.decision is Decision.REJECT and not scope.is_first(verdict)


def _promotes(parent: CrawlURI, path: str) -> bool:
    """A redirect from a seed makes its target a seed, so that a site that moved is crawled."""
    return parent.is_seed and len(path) <= MAX_SEED_REDIRECTS and not path.strip(_REDIRECT)


def _unheard(_what: str, _error: Exception) -> None:
    """Nobody listens."""
