"""The candidate chain: outlinks pass the scope, get key and queue, and enter the frontier.

Pages after a redirect that sets a cookie and leads back are requested again.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from nacre.annotations import COOKIE_WALL, regex_timeout
from nacre.config.effective import Effective, fixed
from nacre.core.charsets import with_charset
from nacre.core.crawluri import CrawlURI, Hop, Outlink, extend_path
from nacre.core.processor import Candidate, LinkProcessor, Result, Visit
from nacre.engine.candidates.normalizing import Normalizing
from nacre.engine.candidates.prospects import Prospects
from nacre.engine.candidates.rejected_uris import IGNORES, Ignored
from nacre.engine.candidates.scoping import JudgeScopeStep, PrepareStep, ScopeLog
from nacre.engine.candidates.speculation import Speculation
from nacre.engine.chain.plan import Bound, CandidatePlan
from nacre.engine.counters import TIMEOUTS
from nacre.engine.settings import SeedRedirects
from nacre.errors import StorageError
from nacre.frontier.frontier import Frontier
from nacre.scope.scope import Scope
from nacre.scope.state import ScopeState
from nacre.scope.subject import OWN_SCOPE, Subject
from nacre.store.store import Store

# The way to a member of an enumeration is long.
_SPECULATIVE, _REDIRECT = Hop.SPECULATIVE, Hop.REDIRECT

MAX_SEED_REDIRECTS = 5
"""R hops from a seed within which a redirect target becomes a seed."""


_SEEDS: Effective[SeedRedirects] = fixed("seed")


def _forget_target(_url: str, _target: str) -> None:
    """Note no target of a redirect."""


class Timeouts:
    """Counts, durably, the matches of operators' expressions that took too long in a run.

    Args:
        state: Knows those of this session.
        store: Keeps their number.
    """

    def __init__(self, state: ScopeState, store: Store) -> None:
        self._state = state
        self._store = store
        self._before = self._saved = store.counter(TIMEOUTS)
        self._noted = 0

    @property
    def total(self) -> int:
        """Their number."""
        return self._before + self._state.timeouts()

    def annotate(self, visit: Visit) -> None:
        """Annotate a visit with the number of expressions that timed out: `regexTimeout:n`."""
        number = self._state.timeouts()
        if number != self._noted:
            visit.annotate(regex_timeout(number - self._noted))
            self._noted = number

    def seal(self) -> None:
        """Write the number if it changed; called just before a group is sealed."""
        total = self.total
        if total != self._saved:
            self._store.set_counter(TIMEOUTS, total)
            self._saved = total


class Candidates:
    """The candidate chain: scope, then preparation, then the frontier.

    Args:
        judge: Asks the scope.
        prepare: Makes CrawlURIs of accepted links.
        overlay_of: Determines which combination applies to a candidate.
        frontier: Receives accepted URIs.
        speculation: Determines which speculative links are worth a try.
        plans: What was added to the candidate chain or left out, under each combination of sheets;
            None for nothing.
        ignored: Determines which links are to be ignored for now.
        failed: Called with the bug of an added processor.
        normalizing: Rewrites links before anything else; None leaves them as they are.
        timeouts: Records expressions that took too long; None if none can.
        prospects: Determines which links go later; None: none do.
        redirects: What the redirect target of a seed is, under each combination of sheets.
        led: Called with the URL and the redirect target of a seed, if the target is a link.

    Attributes:
        recent: URLs that need not be judged again.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        judge: JudgeScopeStep,
        prepare: PrepareStep,
        overlay_of: Callable[[Subject], int],
        *,
        frontier: Frontier,
        speculation: Speculation,
        plans: Effective[CandidatePlan | None],
        ignored: Ignored,
        failed: Callable[[str, Exception], None],
        normalizing: Normalizing | None = None,
        timeouts: Timeouts | None = None,
        prospects: Prospects | None = None,
        redirects: Effective[SeedRedirects] = _SEEDS,
        led: Callable[[str, str], None] = _forget_target,
    ) -> None:
        self._scoping = judge
        self._prepare = prepare
        self._plans = plans
        self._failed = failed
        self._overlay_of = overlay_of
        self.recent = judge.recent
        self._normalizing = normalizing
        self._ignored = ignored
        self._timeouts = timeouts
        self._prospects = prospects
        self._redirects = redirects
        self._led = led
        self._frontier = frontier
        self._speculation = speculation

    @property
    def scope(self) -> Effective[Scope]:
        """The compiled rules, under each combination of sheets."""
        return self._scoping.scope

    def trace_scope(self, log: ScopeLog | None) -> None:
        """Write each decision to scope.log from now on; None stops this."""
        self._scoping.trace(log)

    def too_deep(self) -> Iterator[str]:
        """Return the URLs that only the number of their hops keeps out of the scope."""
        return self._scoping.too_deep(self._overlay_of)

    def promises_little(self, url: str) -> bool:
        """Whether a URL that was never scheduled is of a kind whose last pages had nothing new."""
        return self._prospects is not None and self._prospects.promises_little(url)

    def admit(self, visit: Visit, now: float) -> int:
        """Judge the outlinks of a visit; how many entered the frontier."""
        accepted = self._judge(visit.uri, visit.outlinks)
        if self._timeouts is not None:
            self._timeouts.annotate(visit)
        if not accepted:
            return 0
        if visit.status >= 300:
            accepted = through_walls(visit, accepted)
        accepted = with_charset(visit, accepted)
        for uri in accepted:
            self.recent.add(uri.url)
        if self._prospects is None:
            return sum(self._frontier.schedule(accepted, now))
        entered = self._frontier.schedule(self._prospects.met(accepted, visit.overlay), now)
        self._prospects.entered(entered)
        return sum(entered)

    def accepted(
        self, parent: CrawlURI, links: Sequence[Outlink]
    ) -> list[tuple[Outlink, CrawlURI]]:
        """Return each link that the scope accepts, with its CrawlURI for the frontier."""
        if self._normalizing is not None:
            links = self._normalize_links(self._normalizing, parent, links)
        pairs: list[tuple[Outlink, CrawlURI]] = []
        for link in links:
            path = extend_path(parent.path, link.hop)
            if self.recent.refuses(link.url, path):
                continue
            if link.hop is _SPECULATIVE and not self._speculation.worth_trying(link):
                continue
            uri = self._decide(parent, link, path)
            if uri is not None:
                pairs.append((link, uri))
        return pairs

    def judge_request(self, page: CrawlURI, link: Outlink) -> tuple[CrawlURI | None, str]:
        """Judge a request of a page; no URL is rewritten, and nothing enters the frontier.

        Returns:
            Its CrawlURI, and "" if it is accepted; else None, and the rule that refuses it.
        """
        uri = self._decide(page, link, extend_path(page.path, link.hop))
        return uri, "" if uri is not None else self._scoping.refused_by

    def _judge(self, parent: CrawlURI, links: Sequence[Outlink]) -> list[CrawlURI]:
        if self._normalizing is not None:
            links = self._normalize_links(self._normalizing, parent, links)
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

    def _normalize_links(
        self, normalizing: Normalizing, parent: CrawlURI, links: Sequence[Outlink]
    ) -> list[Outlink]:
        """The links in their normal forms; those that have none are remembered as refused."""
        links_normalized: list[Outlink] = []
        for link in links:
            url = normalizing.link(link.url, is_redirect=link.hop is _REDIRECT)
            if url is None:
                path = extend_path(parent.path, link.hop)
                subject = Subject(link.url, path, parent.url, link.context)
                self._scoping.refuse(subject, "uri.normalize")
            else:
                links_normalized.append(link if url == link.url else structs.replace(link, url=url))
        return links_normalized

    def _decide(self, parent: CrawlURI, link: Outlink, path: str) -> CrawlURI | None:
        of_seed = link.hop is _REDIRECT and is_seed_path(path)
        own = parent.heritable.get(OWN_SCOPE, "") if parent.heritable else ""
        subject = Subject(
            link.url, path, parent.url, link.context, of_seed and parent.is_seed, parent.source, own
        )
        ignored = self._ignored.matches
        if ignored is not None and ignored(link.url):
            self._scoping.refuse(subject, IGNORES)
            return None
        overlay = self._overlay_of(subject)
        if of_seed and self._redirects[overlay] == "link":
            subject = structs.replace(subject, is_seed=False)
            self._led(parent.url, link.url)
        plan = self._plans[overlay]
        if plan is not None:
            return self._along(plan, Candidate(link, parent, path, overlay), subject)
        accepted = self._scoping.accepts(subject, overlay)
        return self._prepare.prepare(parent, link, subject, overlay) if accepted else None

    def _along(
        self, plan: CandidatePlan, candidate: Candidate, subject: Subject
    ) -> CrawlURI | None:
        """Return a chain that is not the stock one."""
        if not self._pass(plan.before, candidate, subject):
            return None
        if candidate.link.url != subject.url:
            subject = structs.replace(subject, url=candidate.link.url)
        asks = plan.asks is True or (plan.asks is not False and plan.asks.opens(subject))
        if asks and not self._scoping.accepts(subject, candidate.overlay):
            return None
        if not self._pass(plan.between, candidate, subject):
            return None
        candidate.prepared(
            self._prepare.prepare(candidate.via, candidate.link, subject, candidate.overlay)
        )
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
            except Exception as error:  # noqa: BLE001 - a bug costs its link alone
                rule = f"{step.name} failed: {type(error).__name__}"
                self._failed(f"{step.name} with the link {candidate.link.url}", error)
            self._scoping.refuse(subject, rule, candidate.link.url)
            return False
        return True


def is_seed_path(path: str, redirects: SeedRedirects = "seed") -> bool:
    """Return whether a hop path is that of a seed, or of the target of a seed's redirects.

    The target of a seed's redirect is a seed, so that a site that moved is crawled.

    Args:
        path: The hop path; "" for a seed of the list.
        redirects: What the target is: with `link`, only a seed of the list is a seed.
    """
    if redirects == "link":
        return not path
    return len(path) <= MAX_SEED_REDIRECTS and not path.strip(_REDIRECT)


_ORIGIN = "_redirectedFrom"
"""Key in a URI's heritable data: the URL at which its chain of redirects began."""
_COOKIES = "_redirectedWithCookies"
"""Key in a URI's heritable data: one of those redirects set a cookie."""


def through_walls(visit: Visit, uris: list[CrawlURI]) -> list[CrawlURI]:
    """Return the target of a redirect; forced if it is the URL at which the redirects began.

    A browser that a redirect with a cookie sends back to where it began asks again, with the
    cookie, and gets the page. For a crawler that URL has been seen, so that only the redirect would
    be kept. Heritrix does not request it again; wget does.

    Args:
        visit: The visit with the redirect.
        uris: CrawlURIs of its outlinks.

    Returns:
        The same in the same order, those that a redirect led to marked.
    """
    uri = visit.uri
    if not 300 <= visit.status < 400 or COOKIE_WALL in uri.annotations or uri.is_prerequisite:
        return uris
    origin = uri.heritable.get(_ORIGIN, uri.url)
    has_cookies = visit.sets_cookies or _COOKIES in uri.heritable
    return [
        _mark_target(candidate, origin, has_cookies=has_cookies)
        if candidate.path.endswith(Hop.REDIRECT)
        else candidate
        for candidate in uris
    ]


def _mark_target(target: CrawlURI, origin: str, *, has_cookies: bool) -> CrawlURI:
    if target.url != origin:
        marks = {_ORIGIN: origin, _COOKIES: "1"} if has_cookies else {_ORIGIN: origin}
        return structs.replace(target, heritable={**target.heritable, **marks})
    if not has_cookies:
        return target
    return structs.replace(
        target,
        force_fetch=True,
        annotations=(*target.annotations, COOKIE_WALL),
    )
