"""The processors of a Heritrix job: those that take part, and their entries in chains.

Some are not in Nacre's stock chains: these are inserted if they are active (docs/chains.md). The
documents that no active processor searches are not searched here either.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nacre.engine.chain.entry import AnyEntry
from nacre_migrate.draft import CommentedMapping
from nacre_migrate.heritrix.beans import Bean, Setting, decide_all, decide_inside
from nacre_migrate.heritrix.mappings import (
    FETCH_CLASSES,
    INSERTED,
    InsertedProcessor,
    PropertyMapping,
)
from nacre_migrate.heritrix.scope import RuleWriter, is_open
from nacre_migrate.heritrix.work import OFF, Migration, becomes, unknown
from nacre_migrate.report import Conversion, defaulted, mapped, to_check

_ADAPTER: TypeAdapter[AnyEntry] = TypeAdapter(AnyEntry)
_GATES = {"shouldProcessRule": "gate", "outlinkRule": "gate", "supplementaryRule": "rules"}
_MAPS = {"contentRegexes": "content_regexes"}


def insert_added(work: Migration) -> None:
    """Insert an entry for each of these processors that takes part."""
    order = _order(work)
    for chain in ("fetch", "disposition"):
        candidates = (bean for bean in work.beans.beans() if _belongs(bean, chain))
        beans = sorted(candidates, key=lambda bean: order.get(bean, len(order)))
        entries = [entry for bean in beans if (entry := _entry(work, bean)) is not None]
        if entries:
            # Each goes right behind the entry that it belongs to: so the last one comes first.
            work.draft.put(f"chains.{chain}.insert", entries[::-1])


def _order(work: Migration) -> dict[Bean, int]:
    """The places of processors in the chains; without chains, in the table above."""
    chains = work.beans.of_kind("FetchChain", "DispositionChain")
    settings = [chain.settings.get("processors") for chain in chains]
    listed = [bean for setting in settings for bean in work.beans.beans_in(setting)]
    if not listed:
        kinds = list(INSERTED)
        beans = (bean for bean in work.beans.beans() if bean.kind in INSERTED)
        listed = sorted(beans, key=lambda bean: kinds.index(bean.kind))
    return {bean: place for place, bean in enumerate(listed)}


def property_of_entry(work: Migration, bean: Bean, name: str) -> PropertyMapping | None:
    """The mapping of a property of an inserted processor, for a sheet; None for none."""
    rule = INSERTED[bean.kind].properties.get(name)
    if rule is None or not rule.paths:
        return rule
    return rule._replace(paths=f"{work.entries[bean]}.{rule.paths}")


def _belongs(bean: Bean, chain: str) -> bool:
    added = INSERTED.get(bean.kind)
    return bean.active and bean.conversion is None and added is not None and added.chain == chain


def _entry(work: Migration, bean: Bean) -> CommentedMapping | None:
    added = INSERTED[bean.kind]
    path = f"chains.{added.chain}.insert"
    entry = CommentedMapping({"processor": added.processor}, {"processor": bean.place})
    name = added.processor
    if (
        sum(candidate.active and candidate.kind == bean.kind for candidate in work.beans.beans())
        > 1
    ):
        name = entry["name"] = bean.name or f"{added.processor}-{len(work.entries)}"
    for setting in bean.settings.values():
        _setting(work, added, entry, setting)
    wrong = _problem(entry)
    if wrong:
        bean.decide(to_check(f"left out: {wrong}", path))
        for setting in bean.settings.values():
            setting.decide(bean.conversion)
        return None
    bean.decide(mapped(path))
    work.entries[bean] = f"chains.{added.chain}.{name}"
    return entry


def _setting(
    work: Migration, added: InsertedProcessor, entry: CommentedMapping, setting: Setting
) -> None:
    """One property, as far as the entry takes it."""
    path = f"chains.{added.chain}.insert"
    conversion, values = _values(work, added, setting)
    wrong = _problem({**entry, **values}) if not _problem(entry) else ""
    if wrong:
        setting.decide(to_check(f"left out: {wrong}", path))
        return
    entry.update(values)
    entry.reasons.update(dict.fromkeys(values, setting.place))
    setting.decide(mapped(path, conversion.note) if values else conversion)


def _values(
    work: Migration, added: InsertedProcessor, setting: Setting
) -> tuple[Conversion, dict[str, Any]]:
    name = _GATES.get(setting.name)
    if name is not None:
        rules = work.beans.beans_in(setting)
        if name == "gate" and all(is_open(work, rule) for rule in rules):
            return defaulted("it accepts everything"), {}
        return mapped(""), {name: RuleWriter(work, f"chains.{added.chain}").rules(rules)}
    if setting.name in _MAPS and isinstance(setting.value, dict):
        return mapped(""), {_MAPS[setting.name]: dict(setting.value)}
    if setting.name == "enabled":
        return defaulted("switched on"), {}
    rule = added.properties.get(setting.name)
    if rule is None:
        return unknown(setting.bean, setting, added.properties), {}
    return becomes(rule, setting)


def _problem(entry: Mapping[str, Any]) -> str:
    """What Nacre has against an entry; "" for nothing."""
    try:
        _ADAPTER.validate_python(dict(entry))
    except ValidationError as error:
        return " ".join(str(error.errors()[0]["msg"]).removeprefix("Value error, ").split())
    return ""


CHAINS = ("CandidateChain", "FetchChain", "DispositionChain")

PROCESSORS = (
    frozenset(FETCH_CLASSES)
    | frozenset(INSERTED)
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
    "BrowserProcessor": "chains.fetch.render",
    "WARCWriterChainProcessor": "chains.disposition.archive",
    "WARCWriterProcessor": "chains.disposition.archive",
    "ARCWriterProcessor": "chains.disposition.archive",
    "CandidatesProcessor": "chains.disposition.candidates",
    "FrontierScheduler": "chains.disposition.candidates",
}
"""Processors that are an entry of a chain, with their own gate and switch."""

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


def find_active(work: Migration) -> None:
    """Note which processors no chain lists, and which are switched off."""
    chains = work.beans.of_kind(*CHAINS)
    listed: set[Bean] = set()
    for chain in chains:
        listed.update(work.beans.beans_in(chain.settings.get("processors")))
        chain.decide(defaulted("Nacre has its own order of these steps"))
        decide_all_own(chain)
    disabled: list[Bean] = []
    for bean in work.beans.beans():
        if bean.kind in PROCESSORS and bean not in listed and chains and bean.owner is None:
            switch_off(bean, OFF)
        elif bean.kind in PROCESSORS and not bean.is_true("enabled", default=True):
            disabled.append(bean)
            bean.switch_off()
    for bean in disabled:
        _disable(work, bean)
    _without_processors(work)


def _disable(work: Migration, bean: Bean) -> None:
    """A processor with `enabled`, which is off."""
    setting = bean.settings["enabled"]
    if bean.kind in _ALWAYS:
        setting.decide(to_check(f"{bean.kind} cannot be left out here"))
        bean.switch_on()
        return
    entry = ENTRIES.get(bean.kind)
    if entry is not None and not of_entry(work, entry):
        work.put(setting, f"{entry}.enabled", value=False)
        bean.decide(setting.conversion)
    switch_off(bean, "switched off")


def of_entry(work: Migration, entry: str) -> list[Bean]:
    """The processors that take part as an entry of a chain; several may share one."""
    beans = work.beans
    return [
        bean
        for bean in [*beans.extra, *beans.beans()]
        if bean.active and ENTRIES.get(bean.kind) == entry and beans.holds(bean)
    ]


def _without_processors(work: Migration) -> None:
    """Nothing is written, or followed, where no processor does."""
    for place in _places(work, "DispositionChain", "writeProcessors"):
        active = {ENTRIES.get(bean.kind) for bean in work.beans.beans() if bean.active}
        if any(bean.active for bean in work.beans.of_kind(*_OTHER_WRITERS)):
            # WARC is written in place of their formats.
            active.add(ENTRIES["WARCWriterProcessor"])
        for entry in ("chains.disposition.archive", "chains.disposition.candidates"):
            path = f"{entry}.enabled"
            if entry not in active and path not in work.draft.settings:
                work.draft.put(path, value=False, reason=f"{place}: no such processor")


def _places(work: Migration, chain: str, order: str) -> Iterator[str]:
    """Where a chain is said: a bean of Heritrix 3, a map in an order of Heritrix 1."""
    yield from (bean.place for bean in work.beans.of_kind(chain))
    for controller in work.beans.of_kind("CrawlOrder"):
        if order in controller.settings:
            yield controller.settings[order].place


def decide_all_own(chain: Bean) -> None:
    """The properties of a chain, but not the processors that it may hold itself."""
    for setting in chain.settings.values():
        setting.decide_if_undecided(chain.conversion)


def switch_off(bean: Bean, reason: str) -> None:
    """It does nothing, whatever its value."""
    bean.switch_off()
    bean.decide_if_undecided(defaulted(reason))
    decide_all(bean.settings.values(), defaulted(reason))


def map_search(work: Migration) -> None:
    """Documents that no extractor is there for are not searched."""
    place = next(_places(work, "FetchChain", "extractProcessors"), "")
    if not place:
        return
    active = {bean.kind for bean in work.beans.beans() if bean.active}
    for path, kinds in _SEARCH.items():
        if active.isdisjoint(kinds):
            work.draft.put(path, value=False, reason=f"{place}: no {kinds[0]}")
    more = [name for name, kind in _ALSO.items() if kind not in active]
    if more:
        work.advise(
            f"Nacre takes links from {', '.join(more)} too, which no extractor of this "
            "configuration does; `extract` in crawl.yaml switches that off."
        )


def map_gate(work: Migration, setting: Setting) -> None:
    """`shouldProcessRule` of a processor."""
    rules = work.beans.beans_in(setting)
    entry = ENTRIES.get(setting.bean.kind, "")
    others = [bean for bean in of_entry(work, entry) if bean is not setting.bean]
    if all(is_open(work, rule) for rule in rules):
        setting.decide(defaulted("it accepts everything"))
    elif entry and others:
        names = ", ".join(processor.label for processor in others)
        note = (
            f"one step does the work of this and of {names}, with no gate: it takes what any of "
            f"them takes, and more; say {entry}.gate where that is too much"
        )
        setting.decide(to_check(note, f"{entry}.gate"))
    elif entry:
        path = f"{entry}.gate"
        work.put(setting, path, RuleWriter(work, path).rules(rules))
    else:
        setting.decide(
            to_check(f"a rule for {setting.bean.kind} alone: say with a sheet where it holds")
        )
    decide_inside(setting.value, setting.conversion or defaulted(OFF))


def entry_of(work: Migration, bean: Bean) -> str:
    """The entry of a chain that is a processor; "" for none."""
    return work.entries.get(bean) or ENTRIES.get(bean.kind, "")


def switch_of(work: Migration, bean: Bean) -> str:
    """The setting that switches a processor on and off; "" for none."""
    entry = entry_of(work, bean)
    if entry:
        return f"{entry}.enabled"
    return next((path for path, kinds in _SWITCHES.items() if bean.kind in kinds), "")
