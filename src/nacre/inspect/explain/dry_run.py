"""The dry run of a URL: scope, sheets, queue, order and politeness, before anything runs."""

from collections.abc import Sequence

import msgspec

from nacre.assembly.rules import open_rules
from nacre.config.check import Loaded
from nacre.config.seed_file import seed_lines
from nacre.core.crawluri import CrawlURI, Directive, Hop, Outlink
from nacre.engine.candidates.identity import Identity, Preloaded, canonicalizer
from nacre.engine.prerequisites import RobotsCache
from nacre.engine.seeding.seedbook import own_scope
from nacre.errors import URIError
from nacre.inspect.explain.answers import (
    RobotsAnswer,
    RuleOpinion,
    politeness_text,
    robots_answer,
    rule_opinions,
)
from nacre.machine.layout import Layout
from nacre.scope.robots_txt import RobotsPolicy
from nacre.scope.seeds import parse_seed, read_seeds
from nacre.scope.subject import OWN_SCOPE, Subject
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.typed import AmbiguousUrlError, is_host_text, is_whole, typed_url, without_login


class DryRunAnswer(msgspec.Struct, frozen=True):
    """The dry run of one URL.

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
        error: Why it is not a URL that can be crawled; "" when it is.
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
        rules = open_rules(settings, layout.root)
        self._sheets, self._scope = rules.sheets, rules.scope()
        canonical = canonicalizer(settings.uri)
        preloaded = Preloaded(canonical, rules.rule_files.read_lines)
        frontier = rules.effective.then(lambda s: s.frontier)
        self._identity = Identity(canonical, frontier, preloaded=preloaded)
        seeds = rules.add_seeds(read_seeds(seed_lines(settings.seeds, layout.root)))
        self._robots: RobotsCache | None = None
        self._owners = {seed.url: seed.owner for seed in seeds}
        self._first = self._seed(seeds[0].url) if seeds else None

    def know(self, store: Store) -> None:
        """Take what an earlier run, or this one so far, fetched of robots.txt."""
        effective = self._sheets.settings
        self._robots = RobotsCache(store, effective.then(lambda s: s.robots))

    def _typed(self, text: str) -> str:
        """The URL of a text, which may have the options of a seed, or be a path."""
        if is_whole(text) or is_host_text(text) or " " in text.strip():
            return parse_seed(text).url
        return typed_url(without_login(text), lambda: self._owners)

    def outlook(self, text: str) -> DryRunAnswer:
        """Make the dry run of a URL.

        Args:
            text: The URL; without a scheme, as in a seed list, or a path on the site of the seeds.

        Raises:
            AmbiguousUrlError: It may be on several hosts.
        """
        try:
            url = self._typed(text)
        except AmbiguousUrlError:
            raise
        except URIError as error:
            return DryRunAnswer(text, error=str(error))
        uri = self._uri(url)
        overlay = self._sheets.of(uri)
        uri = self._uri(url, overlay)
        settings = self._sheets.settings[overlay]
        scope, subject = self._scope[overlay], self._subject(uri)
        verdict = scope.decide(subject)
        return DryRunAnswer(
            url,
            uri.is_seed,
            str(verdict.decision),
            verdict.rule,
            rule_opinions(scope, subject),
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

    def _subject(self, uri: CrawlURI) -> Subject:
        owner = uri.heritable.get(OWN_SCOPE, "")
        return Subject(uri.url, uri.path, uri.via, uri.context, uri.is_seed, uri.source, owner)

    def _seed(self, url: str, overlay: int = 0) -> CrawlURI:
        heritable = own_scope(self._owners.get(url, ""))
        return self._identity.seed(url, heritable=heritable, overlay=overlay)

    def _uri(self, url: str, overlay: int = 0) -> CrawlURI:
        if url in self._owners or self._first is None:
            return self._seed(url, overlay)
        return self._identity.child(self._first, Outlink(url, Hop.LINK, "a/@href"), overlay)
