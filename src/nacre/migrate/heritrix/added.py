"""Processors of Heritrix that are not in Nacre's stock chains: they are inserted if active.

What they do is told in docs/chains.md.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from nacre.job.chain.table import AnyEntry
from nacre.migrate.draft import Noted
from nacre.migrate.fate import Fate, defaulted, mapped, to_check
from nacre.migrate.heritrix.beans import Bean, Setting
from nacre.migrate.heritrix.rules import Rule, flag, look, needless, seconds, to, whole
from nacre.migrate.heritrix.scope import RuleWriter, is_open
from nacre.migrate.heritrix.work import Work, becomes, unknown

_ADAPTER: TypeAdapter[AnyEntry] = TypeAdapter(AnyEntry)
_GATES = {"shouldProcessRule": "gate", "outlinkRule": "gate", "supplementaryRule": "rules"}
_MAPS = {"contentRegexes": "content_regexes"}


def _delay(text: str) -> float | None:
    return seconds(text) if seconds(text) >= 0 else None


class Added(NamedTuple):
    """What is inserted for a class.

    Attributes:
        chain: The chain.
        processor: The processor.
        properties: What becomes of plain properties; their paths are names of the entry's settings.
    """

    chain: str
    processor: str
    properties: Mapping[str, Rule] = MappingProxyType({})


_SIZE = {"maxSizeToParse": to("max_size", whole)}
_MAPPER = {
    "localName": to("local_name"),
    "rotationDigits": to("rotation_digits", whole),
    "diversionDir": needless("diversions are in the directory of the run"),
    "checkUri": look("true", "this is the entry in the fetch chain"),
    "checkOutlinks": look(
        "false", "insert the same entry into the candidate chain, behind prepare"
    ),
}

ADDED: dict[str, Added] = {
    "ExtractorSWF": Added("fetch", "extract-swf", _SIZE),
    "ExtractorPDF": Added("fetch", "extract-pdf", _SIZE),
    "ExtractorDOC": Added("fetch", "extract-doc", _SIZE),
    "ExtractorURI": Added("fetch", "extract-uri"),
    "ExtractorImpliedURI": Added("fetch", "extract-implied-uri", {
        "regex": to("regex"),
        "format": to("format"),
        "removeTriggerUris": to("remove_trigger_uris", flag),
    }),
    "ExtractorMultipleRegex": Added("fetch", "extract-multiple-regex", {
        "uriRegex": to("uri_regex"),
        "template": to("template"),
    }),
    "ExtractorUniversal": Added("fetch", "extract-universal", {
        "maxSizeToParse": to("max_size", whole),
    }),
    "TrapSuppressExtractor": Added("fetch", "trap-suppress"),
    "HTTPContentDigest": Added("fetch", "content-digest", {
        "stripRegex": to("strip_regex"),
        "maxSizeToDigest": to("max_size", whole),
    }),
    "SupplementaryLinksScoper": Added("disposition", "supplementary-links"),
    "ReschedulingProcessor": Added("disposition", "reschedule", {
        "rescheduleDelaySeconds": to("delay", _delay),
    }),
    "HashCrawlMapper": Added("fetch", "hash-crawl-mapper", {
        **_MAPPER,
        "crawlerCount": to("crawler_count", whole),
        "usePublicSuffixesRegex": to("reduce_by_domain", flag),
        "reducePrefixRegex": to("reduce_prefix_regex"),
    }),
    "LexicalCrawlMapper": Added("fetch", "lexical-crawl-mapper", {
        **_MAPPER,
        "mapPath": to("map_file"),
    }),
}  # fmt: skip
"""The classes, without package."""


def insert_added(work: Work) -> None:
    """Insert an entry for each of these processors that takes part."""
    order = _order(work)
    for chain in ("fetch", "disposition"):
        found = (bean for bean in work.beans.beans() if _belongs(bean, chain))
        beans = sorted(found, key=lambda bean: order.get(bean, len(order)))
        entries = [entry for bean in beans if (entry := _entry(work, bean)) is not None]
        if entries:
            # Each goes right behind the entry that it belongs to: so the last one comes first.
            work.draft.put(f"chains.{chain}.insert", entries[::-1])


def _order(work: Work) -> dict[Bean, int]:
    """The places of processors in the chains; without chains, in the table above."""
    chains = work.beans.of_kind("FetchChain", "DispositionChain")
    settings = [chain.settings.get("processors") for chain in chains]
    listed = [bean for setting in settings for bean in work.beans.beans_in(setting)]
    if not listed:
        kinds = list(ADDED)
        known = (bean for bean in work.beans.beans() if bean.kind in ADDED)
        listed = sorted(known, key=lambda bean: kinds.index(bean.kind))
    return {bean: place for place, bean in enumerate(listed)}


def property_of_entry(work: Work, bean: Bean, name: str) -> Rule | None:
    """What becomes of a property of an inserted processor, as a sheet says it; None for none."""
    rule = ADDED[bean.kind].properties.get(name)
    if rule is None or not rule.paths:
        return rule
    return rule._replace(paths=f"{work.entries[bean]}.{rule.paths}")


def _belongs(bean: Bean, chain: str) -> bool:
    added = ADDED.get(bean.kind)
    return bean.active and bean.fate is None and added is not None and added.chain == chain


def _entry(work: Work, bean: Bean) -> Noted | None:
    added = ADDED[bean.kind]
    path = f"chains.{added.chain}.insert"
    entry = Noted({"processor": added.processor}, {"processor": bean.place})
    name = added.processor
    if sum(one.active and one.kind == bean.kind for one in work.beans.beans()) > 1:
        name = entry["name"] = bean.name or f"{added.processor}-{len(work.entries)}"
    for said in bean.settings.values():
        _setting(work, added, entry, said)
    wrong = _problem(entry)
    if wrong:
        bean.fate = to_check(f"left out: {wrong}", path)
        for said in bean.settings.values():
            said.fate = bean.fate
        return None
    bean.fate = mapped(path)
    work.entries[bean] = f"chains.{added.chain}.{name}"
    return entry


def _setting(work: Work, added: Added, entry: Noted, said: Setting) -> None:
    """One property, as far as the entry takes it."""
    path = f"chains.{added.chain}.insert"
    fate, values = _values(work, added, said)
    wrong = _problem({**entry, **values}) if not _problem(entry) else ""
    if wrong:
        said.fate = to_check(f"left out: {wrong}", path)
        return
    entry.update(values)
    entry.reasons.update(dict.fromkeys(values, said.place))
    said.fate = mapped(path, fate.note) if values else fate


def _values(work: Work, added: Added, said: Setting) -> tuple[Fate, dict[str, Any]]:
    name = _GATES.get(said.name)
    if name is not None:
        rules = work.beans.beans_in(said)
        if name == "gate" and all(is_open(work, rule) for rule in rules):
            return defaulted("it accepts everything"), {}
        return mapped(""), {name: RuleWriter(work, f"chains.{added.chain}").rules(rules)}
    if said.name in _MAPS and isinstance(said.value, dict):
        return mapped(""), {_MAPS[said.name]: dict(said.value)}
    if said.name == "enabled":
        return defaulted("switched on"), {}
    rule = added.properties.get(said.name)
    if rule is None:
        return unknown(said.bean, said, added.properties), {}
    return becomes(rule, said)


def _problem(entry: Mapping[str, Any]) -> str:
    """What Nacre has against an entry; "" for nothing."""
    try:
        _ADAPTER.validate_python(dict(entry))
    except ValidationError as error:
        return " ".join(str(error.errors()[0]["msg"]).removeprefix("Value error, ").split())
    return ""
