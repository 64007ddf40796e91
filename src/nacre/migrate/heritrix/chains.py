"""Which processors take part, and which links are looked for."""

from collections.abc import Iterator

from nacre.migrate.fate import defaulted, to_check
from nacre.migrate.heritrix.added import ADDED
from nacre.migrate.heritrix.beans import Bean, Setting
from nacre.migrate.heritrix.scope import RuleWriter, is_open
from nacre.migrate.heritrix.table_fetch import FETCH_KINDS
from nacre.migrate.heritrix.work import OFF, Work, decide_all, decide_inside

CHAINS = ("CandidateChain", "FetchChain", "DispositionChain")

PROCESSORS = (
    frozenset(FETCH_KINDS)
    | frozenset(ADDED)
    | {
        *(
            "FrontierScheduler",
            "CandidateScoper",
            "FrontierPreparer",
            "CandidatesProcessor",
            "DispositionProcessor",
        ),
        *("WARCWriterChainProcessor", "WARCWriterProcessor", "ARCWriterProcessor"),
        *("MirrorWriterProcessor", "Kw3WriterProcessor", "ReschedulingProcessor"),
        *("PersistLoadProcessor", "PersistStoreProcessor", "FetchHistoryProcessor"),
        *("PersistOnlineProcessor", "PersistLogProcessor", "ContentDigestHistoryLoader"),
        *("ContentDigestHistoryStorer", "FrontierScheduler", "LowDiskPauseProcessor"),
        *(
            "SupplementaryLinksScoper",
            "AMQPPublishProcessor",
            "KafkaCrawlLogFeed",
            "AMQPCrawlLogFeed",
            "WbmPersistLoadProcessor",
        ),
    }
)
_OTHER_WRITERS = ("MirrorWriterProcessor", "Kw3WriterProcessor")
_ALWAYS = frozenset(("DispositionProcessor", "FrontierPreparer"))

ENTRIES = {
    "CandidateScoper": "chains.candidate.scope",
    "Preselector": "chains.fetch.preselect",
    "RuntimeLimitEnforcer": "chains.fetch.runtime-limit",
    "QuotaEnforcer": "chains.fetch.quotas",
    "PreconditionEnforcer": "chains.fetch.preconditions",
    "FetchDNS": "chains.fetch.fetch-dns",
    "FetchHTTP": "chains.fetch.fetch-http",
    "FetchHTTP2": "chains.fetch.fetch-http",
    "WARCWriterChainProcessor": "chains.disposition.archive",
    "WARCWriterProcessor": "chains.disposition.archive",
    "ARCWriterProcessor": "chains.disposition.archive",
    "CandidatesProcessor": "chains.disposition.candidates",
    "FrontierScheduler": "chains.disposition.candidates",
}
"""Processors that are an entry of a chain, with a gate and a switch of their own."""

SCRIPTS = ("ExtractorJS", "ConfigurableExtractorJS", "KnowledgableExtractorJS")
"""Processors that search files of scripts."""

_SEARCH = {
    "extract.extract_headers": ("ExtractorHTTP",),
    "extract.extract_html": ("ExtractorHTML", "JerichoExtractorHTML", "AggressiveExtractorHTML"),
    "extract.extract_css": ("ExtractorCSS",),
    "extract.extract_javascript": SCRIPTS,
}  # fmt: skip
_SWITCHES = {
    **_SEARCH,
    "extract.extract_xml": ("ExtractorXML",),
    "extract.extract_json": ("ExtractorJson",),
    "extract.extract_sitemaps": ("ExtractorSitemap", "ExtractorRobotsTxt"),
}
_ALSO = {"XML and feeds": "ExtractorXML", "JSON": "ExtractorJson", "sitemaps": "ExtractorSitemap"}


def find_active(work: Work) -> None:
    """Note which processors no chain lists, and which are switched off."""
    chains = work.beans.of_kind(*CHAINS)
    listed: set[Bean] = set()
    for chain in chains:
        listed.update(work.beans.beans_in(chain.settings.get("processors")))
        chain.fate = defaulted("Nacre has its own order of these steps")
        decide_all_own(chain)
    disabled: list[Bean] = []
    for bean in work.beans.beans():
        if bean.kind in PROCESSORS and bean not in listed and chains and bean.owner is None:
            switch_off(bean, OFF)
        elif bean.kind in PROCESSORS and not bean.is_true("enabled", default=True):
            disabled.append(bean)
            bean.active = False
    for bean in disabled:
        _disable(work, bean)
    _without_processors(work)


def _disable(work: Work, bean: Bean) -> None:
    """A processor that says itself that it is off."""
    said = bean.settings["enabled"]
    if bean.kind in _ALWAYS:
        said.fate = to_check(f"{bean.kind} cannot be left out here")
        bean.active = True
        return
    entry = ENTRIES.get(bean.kind)
    if entry is not None and not of_entry(work, entry):
        work.put(said, f"{entry}.enabled", value=False)
        bean.fate = said.fate
    switch_off(bean, "switched off")


def of_entry(work: Work, entry: str) -> list[Bean]:
    """The processors that take part as an entry of a chain; several may share one."""
    beans = work.beans
    return [
        bean
        for bean in [*beans.extra, *beans.beans()]
        if bean.active and ENTRIES.get(bean.kind) == entry and beans.holds(bean)
    ]


def _without_processors(work: Work) -> None:
    """Nothing is written, or followed, where no processor does."""
    for place in _places(work, "DispositionChain", "writeProcessors"):
        active = {ENTRIES.get(bean.kind) for bean in work.beans.beans() if bean.active}
        if any(bean.active for bean in work.beans.of_kind(*_OTHER_WRITERS)):
            # WARC is written in place of what they write.
            active.add(ENTRIES["WARCWriterProcessor"])
        for entry in ("chains.disposition.archive", "chains.disposition.candidates"):
            path = f"{entry}.enabled"
            if entry not in active and path not in work.draft.settings:
                work.draft.put(path, value=False, reason=f"{place}: no such processor")


def _places(work: Work, chain: str, order: str) -> Iterator[str]:
    """Where a chain is said: a bean of Heritrix 3, a map in an order of Heritrix 1."""
    yield from (bean.place for bean in work.beans.of_kind(chain))
    for controller in work.beans.of_kind("CrawlOrder"):
        if order in controller.settings:
            yield controller.settings[order].place


def decide_all_own(chain: Bean) -> None:
    """The properties of a chain, but not the processors that it may hold itself."""
    for setting in chain.settings.values():
        setting.fate = setting.fate or chain.fate


def switch_off(bean: Bean, why: str) -> None:
    """It does nothing, whatever it says."""
    bean.active = False
    bean.fate = bean.fate or defaulted(why)
    decide_all(bean.settings.values(), defaulted(why))


def map_search(work: Work) -> None:
    """Documents that no extractor is there for are not searched."""
    place = next(_places(work, "FetchChain", "extractProcessors"), "")
    if not place:
        return
    active = {bean.kind for bean in work.beans.beans() if bean.active}
    for path, kinds in _SEARCH.items():
        if active.isdisjoint(kinds):
            work.draft.put(path, value=False, reason=f"{place}: no {kinds[0]}")
    more = [what for what, kind in _ALSO.items() if kind not in active]
    if more:
        work.report.advice.append(
            f"Nacre takes links from {', '.join(more)} too, which no extractor of this "
            "configuration does; `extract` in crawl.yaml switches that off."
        )


def map_gate(work: Work, setting: Setting) -> None:
    """`shouldProcessRule` of a processor."""
    rules = work.beans.beans_in(setting)
    entry = ENTRIES.get(setting.bean.kind, "")
    others = [bean for bean in of_entry(work, entry) if bean is not setting.bean]
    if all(is_open(work, rule) for rule in rules):
        setting.fate = defaulted("it accepts everything")
    elif entry and others:
        names = ", ".join(other.label for other in others)
        setting.fate = to_check(
            f"one step does the work of this and of {names}, with no gate: it takes what any of "
            f"them takes, and more; say {entry}.gate where that is too much",
            f"{entry}.gate",
        )
    elif entry:
        path = f"{entry}.gate"
        work.put(setting, path, RuleWriter(work, path).rules(rules))
    else:
        setting.fate = to_check(
            f"a rule for {setting.bean.kind} alone: say with a sheet where it holds"
        )
    decide_inside(setting.value, setting.fate or defaulted(OFF))


def entry_of(work: Work, bean: Bean) -> str:
    """The entry of a chain that is a processor; "" for none."""
    return work.entries.get(bean) or ENTRIES.get(bean.kind, "")


def switch_of(work: Work, bean: Bean) -> str:
    """The setting that switches a processor on and off; "" for none."""
    entry = entry_of(work, bean)
    if entry:
        return f"{entry}.enabled"
    return next((path for path, kinds in _SWITCHES.items() if bean.kind in kinds), "")
