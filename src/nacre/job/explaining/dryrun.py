"""What would be done with a URL, before anything runs: scope, sheets, queue, order, politeness."""

from collections.abc import Sequence

import msgspec

from nacre.config.check import Loaded
from nacre.core.crawluri import CrawlURI, Directive, Hop, Outlink
from nacre.errors import URIError
from nacre.job.admission.identity import Identity, canonicalizer
from nacre.job.admission.preloaded import Preloaded
from nacre.job.admission.rulefiles import RuleFiles
from nacre.job.admission.scoping import scope_state
from nacre.job.configuration.preview import make_sheets
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheet_list import sheet_list
from nacre.job.configuration.sheets import basis
from nacre.job.explaining.explain import politeness_text
from nacre.job.explaining.explanation import RobotsAnswer, RuleOpinion
from nacre.job.explaining.robots_answer import robots_answer
from nacre.job.layout import Layout
from nacre.job.seeding.seedfile import seed_lines
from nacre.job.seeding.seeds import Directive as SeedDirective
from nacre.job.seeding.seeds import Seed, parse_seed, read_seeds
from nacre.job.visit.robots_cache import RobotsCache
from nacre.scope.compile import compile_scope
from nacre.scope.robots import RobotsPolicy
from nacre.scope.rule import Scope, Subject
from nacre.store.store import Store


class Outlook(msgspec.Struct, frozen=True):
    """What would be done with one URL.

    Attributes:
        url: As it would be requested.
        is_seed: It is a seed of the job; else a link on its first seed is assumed.
        decision: Of the scope.
        decider: The rule that decides.
        opinions: Of each rule, in order.
        sheets: Names of the sheets that apply, the strongest last.
        queue: Key of its queue.
        directive: `NORMAL` and so on.
        precedence: Within its queue; lower goes first.
        cost: What its queue pays for it.
        politeness: How long its queue waits.
        robots: What robots.txt says, as far as a run fetched it; None before any run.
        error: Why it is no URL that can be crawled; "" when it is.
    """

    url: str
    is_seed: bool = False
    decision: str = ""
    decider: str = ""
    opinions: Sequence[RuleOpinion] = ()
    sheets: Sequence[str] = ()
    queue: str = ""
    directive: str = ""
    precedence: int = 0
    cost: int = 0
    politeness: str = ""
    robots: RobotsAnswer | None = None
    error: str = ""


class DryRun:
    """Answers from the configuration and its seed list alone.

    Args:
        layout: The job's directories.
        loaded: Its settings, without problems.
    """

    def __init__(self, layout: Layout, loaded: Loaded[JobSettings]) -> None:
        settings = loaded.settings
        state = scope_state(layout.root, RuleFiles(layout.root))
        self._sheets = make_sheets(settings, sheet_list(settings, layout.root), state)
        effective = self._sheets.overlays.settings
        self._scope = effective.then(lambda s: s.scope).then(
            lambda rules: compile_scope(rules, state)
        )
        canonical = canonicalizer(settings.uri)
        preloaded = Preloaded(canonical, RuleFiles(layout.root).read_lines)
        frontier = effective.then(lambda s: s.frontier)
        self._identity = Identity(canonical, frontier, preloaded=preloaded)
        entries = list(read_seeds(seed_lines(settings.seeds, layout.root)))
        seeds = [entry for entry in entries if isinstance(entry, Seed)]
        state.add_seeds([seed.text for seed in seeds])
        state.add_directives(one.text for one in entries if isinstance(one, SeedDirective))
        self._robots: RobotsCache | None = None
        self._known = {seed.url for seed in seeds}
        self._first = self._identity.seed(seeds[0].url) if seeds else None

    def know(self, store: Store) -> None:
        """Take what an earlier run, or this one so far, fetched of robots.txt."""
        effective = self._sheets.overlays.settings
        self._robots = RobotsCache(store, effective.then(lambda s: s.robots))

    def outlook(self, text: str) -> Outlook:
        """What would be done with a URL.

        Args:
            text: The URL; without a scheme, as in a seed list.
        """
        try:
            url = parse_seed(text).url
        except URIError as error:
            return Outlook(text, error=str(error))
        uri = self._uri(url)
        overlay = self._sheets.of(uri)
        uri = self._uri(url, overlay)
        settings = self._sheets.overlays.settings[overlay]
        scope, subject = self._scope[overlay], basis(uri)
        verdict = scope.decide(subject)
        return Outlook(
            url,
            uri.is_seed,
            str(verdict.decision),
            verdict.rule,
            _opinions(scope, subject),
            self._sheets.names(overlay),
            uri.queue,
            Directive(uri.directive).name,
            uri.precedence,
            uri.cost,
            politeness_text(settings.politeness),
            self._robots_of(url, overlay, settings.robots.policy),
        )

    def _robots_of(self, url: str, overlay: int, policy: RobotsPolicy) -> RobotsAnswer | None:
        if self._robots is None:
            return None
        return robots_answer(self._robots, url, policy, overlay)

    def _uri(self, url: str, overlay: int = 0) -> CrawlURI:
        if url in self._known or self._first is None:
            return self._identity.seed(url, overlay=overlay)
        return self._identity.child(self._first, Outlink(url, Hop.LINK, "a/@href"), overlay)


def _opinions(scope: Scope, subject: Subject) -> list[RuleOpinion]:
    return [
        RuleOpinion(opinion.name, str(verdict.decision), str(opinion.decision))
        for opinion, verdict in zip(scope.opinions, scope.trace(subject), strict=True)
    ]
