"""What a class that is not known can stand for: the places of a configuration, and good guesses.

The parent of a class is inferred from its name, from the id of its bean, from the place that it
stands in and from its properties, in this order. A guess is only ever proposed.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from nacre.migrate.answers import DROP
from nacre.migrate.heritrix.added import ADDED
from nacre.migrate.heritrix.beans import Bean
from nacre.migrate.heritrix.chains import PROCESSORS
from nacre.migrate.heritrix.order_scope import OLD as OLD_SCOPES
from nacre.migrate.heritrix.rules import Kind
from nacre.migrate.heritrix.table_crawl import POLICIES
from nacre.scope.heritrix import CLASSES
from nacre.uri.canonical import RULES as CANONICAL

WORDS = {
    "warc-writer": "WARCWriterProcessor",
    "fetch-http": "FetchHTTP",
    "fetch-dns": "FetchDNS",
    "extract-headers": "ExtractorHTTP",
    "extract-html": "ExtractorHTML",
    "extract-css": "ExtractorCSS",
    "extract-javascript": "ExtractorJS",
    "extract-xml": "ExtractorXML",
    "extract-json": "ExtractorJson",
    "extract-sitemaps": "ExtractorSitemap",
    "scope": "DecideRuleSequence",
    "frontier": "BdbFrontier",
    "seeds": "TextSeedModule",
    "metadata": "CrawlMetadata",
    "canonicalization": "RulesCanonicalizationPolicy",
    "credentials": "CredentialStore",
}
"""Words that an answer may use in place of a class of Heritrix."""

_RULE_WORDS = {one.rule: name for name, one in reversed(CLASSES.items()) if not one.negated}
"""Nacre's names of rules, which an answer may use too."""

_IDS = {
    **dict.fromkeys(("metadata",), "CrawlMetadata"),
    "seeds": "TextSeedModule",
    "scope": "DecideRuleSequence",
    "frontier": "BdbFrontier",
    "crawlController": "CrawlController",
    "crawlLimiter": "CrawlLimitEnforcer",
    "canonicalizationPolicy": "RulesCanonicalizationPolicy",
    "queueAssignmentPolicy": "SurtAuthorityQueueAssignmentPolicy",
    "uriPrecedencePolicy": "CostUriPrecedencePolicy",
    "costAssignmentPolicy": "UnitCostAssignmentPolicy",
    "credentialStore": "CredentialStore",
    "candidateScoper": "CandidateScoper",
    "preparer": "FrontierPreparer",
    "preselector": "Preselector",
    "preconditions": "PreconditionEnforcer",
    "quotaEnforcer": "QuotaEnforcer",
    "fetchDns": "FetchDNS",
    "fetchHttp": "FetchHTTP",
    "extractorHttp": "ExtractorHTTP",
    "extractorRobotsTxt": "ExtractorRobotsTxt",
    "extractorSitemap": "ExtractorSitemap",
    "extractorHtml": "ExtractorHTML",
    "extractorCss": "ExtractorCSS",
    "extractorJs": "ExtractorJS",
    "extractorJson": "ExtractorJson",
    "extractorXml": "ExtractorXML",
    "extractorSwf": "ExtractorSWF",
    "extractorPdf": "ExtractorPDF",
    "warcWriter": "WARCWriterProcessor",
    "candidates": "CandidatesProcessor",
    "disposition": "DispositionProcessor",
}
"""Ids of beans in Heritrix's own profiles, and the classes that they have there."""


class Family(NamedTuple):
    """What a place of a configuration takes.

    Attributes:
        place: The place, for people, behind the name of the bean: `stands in the fetch chain`.
        classes: Classes of Heritrix that are known there.
        lost: What is lost when it is left out.
    """

    place: str
    classes: frozenset[str]
    lost: str


_NO_STEP = "what it does is not done"
_RULE = Family(
    "decides as a rule", frozenset(CLASSES), "the rule does not decide: more or less is crawled"
)
SCOPE = Family(
    "is the scope",
    frozenset(("DecideRuleSequence", *CLASSES, *OLD_SCOPES)),
    "Nacre's stock scope holds in its place",
)
_ROBOTS = ("CustomRobotsPolicy", "MostFavoredRobotsPolicy", "FirstNamedRobotsPolicy",
           "ObeyRobotsPolicy", "IgnoreRobotsPolicy", "RobotsTxtOnlyPolicy")  # fmt: skip
_LOGINS = ("HttpAuthenticationCredential", "Rfc2617Credential", "HtmlFormCredential")


def _policies(path: str) -> frozenset[str]:
    return frozenset(name for name, (its, _) in POLICIES.items() if its == path)


def chain(name: str) -> Family:
    """The processors of a chain, which is called by this name."""
    return Family(f"stands in {name}", PROCESSORS, _NO_STEP)


ONE_OF_A_KIND: dict[str, Family] = {
    "BdbFrontier": Family("is the frontier", frozenset(("BdbFrontier", "AdaptiveRevisitFrontier")),
                          "Nacre's frontier works as by default"),
    "TextSeedModule": Family("gives the seeds", frozenset(("TextSeedModule",)),
                             "there are no seeds but those that you give"),
    "CrawlMetadata": Family("says who crawls", frozenset(("CrawlMetadata",)),
                            "say who crawls with --contact"),
    "CrawlController": Family("controls the crawl", frozenset(("CrawlController",)),
                              "the defaults of `engine` hold"),
    "CrawlLimitEnforcer": Family("limits the crawl", frozenset(("CrawlLimitEnforcer",)),
                                 "the crawl has no limits"),
    "CredentialStore": Family("holds logins", frozenset(("CredentialStore",)),
                              "nothing logs in"),
    "RulesCanonicalizationPolicy": Family(
        "says which URLs are the same", frozenset(("RulesCanonicalizationPolicy",)),
        "Nacre's `uri.canonical` holds"),
}  # fmt: skip
"""Parts that a crawl has one of, by their classes."""

_ORDER_IN_CHAINS = {
    "preFetchProcessors": "the list of pre-fetch processors",
    "fetchProcessors": "the list of fetch processors",
    "extractProcessors": "the list of extract processors",
    "writeProcessors": "the list of write processors",
    "postProcessors": "the list of post processors",
}
_OF_PROPERTIES: dict[str, Family] = {
    **{name: chain(said) for name, said in _ORDER_IN_CHAINS.items()},
    **dict.fromkeys(
        ("shouldProcessRule", "outlinkRule", "supplementaryRule", "shouldFetchBodyRule",
         "decideRules", "rejectLogRule"), _RULE
    ),
    "scope": SCOPE,
    "frontier": ONE_OF_A_KIND["BdbFrontier"],
    "canonicalizationPolicy": ONE_OF_A_KIND["RulesCanonicalizationPolicy"],
    "credentialStore": ONE_OF_A_KIND["CredentialStore"],
    "credentials": Family("is a login", frozenset(_LOGINS), "nothing logs in by it"),
    "queueAssignmentPolicy": Family(
        "puts URIs into queues", _policies("frontier.queue_assignment"),
        "every host has a queue"),
    "uriPrecedencePolicy": Family(
        "orders URIs", _policies("frontier.uri_precedence") | {"PreloadedUriPrecedencePolicy"},
        "Nacre's order of URIs holds"),
    "queuePrecedencePolicy": Family(
        "orders queues", _policies("frontier.queue_precedence"), "Nacre's order of queues holds"),
    "costAssignmentPolicy": Family(
        "says what a fetch costs", _policies("frontier.cost"), "every fetch costs 1"),
    "robotsPolicyName": Family(
        "says how robots.txt is obeyed", frozenset(_ROBOTS), "robots.txt is obeyed"),
}  # fmt: skip


def family_of(owner: Bean, name: str) -> Family | None:
    """What a property of a bean takes; None where it is nothing that a crawl depends on."""
    if name == "processors" and owner.kind.endswith("Chain"):
        return chain(f"the {owner.kind.removesuffix('Chain').lower()} chain")
    if name == "rules":
        same = owner.kind in {"RulesCanonicalizationPolicy", "CrawlOrder"}
        return _CANONICAL if same else _RULE
    if name in _ORDER_IN_CHAINS and owner.kind != "CrawlOrder":
        return None
    return _OF_PROPERTIES.get(name)


_CANONICAL = Family(
    "makes URLs the same",
    frozenset((*CANONICAL, *(f"{name}Rule" for name in CANONICAL))),
    "more URLs count as different",
)

_KNOWN_ADDONS = {
    "is.hi.bok.deduplicator.DeDuplicator": (DROP, "Nacre finds duplicates itself: see dedup"),
    "dk.netarkivet.harvester.harvesting.ContentSizeAnnotationPostProcessor": (
        DROP, "it only annotates crawl.log with a size that it has anyway"),
    "dk.netarkivet.harvester.harvesting.DomainnameQueueAssignmentPolicy": (
        "TopmostAssignedSurtQueueAssignmentPolicy", "a queue for each registered domain"),
    "dk.netarkivet.harvester.harvesting.SeedUriDomainnameQueueAssignmentPolicy": (
        "TopmostAssignedSurtQueueAssignmentPolicy",
        "a queue for each registered domain; that of the seed is not known here"),
}  # fmt: skip
"""Classes of others that are widely used: what comes nearest, and why."""


def guess(bean: Bean, family: Family, kinds: Mapping[str, Kind]) -> tuple[str, str]:
    """What a class is taken for, and why; `drop` where nothing is like it.

    Args:
        bean: A bean of the class.
        family: What its place takes.
        kinds: The tables of properties.
    """
    known = _KNOWN_ADDONS.get(bean.package)
    if known is not None:
        return known
    found = (
        _by_name(bean.kind, family.classes)
        or _by_id(bean.name, family.classes)
        or _by_words(bean.kind, family.classes)
        or _by_properties(bean, family.classes, kinds)
    )
    if found is None and family.classes is PROCESSORS and _WRITES.search(bean.kind):
        found = ("WARCWriterProcessor", "its name says that it writes")
    if found is None and len(family.classes) <= 2:
        found = (min(family.classes, key=len), f"it {family.place}")
    if found is None:
        return DROP, f"nothing here is like it: {family.lost}"
    its = kinds.get(found[0])
    if its is not None and its.flagged == "missing":
        return DROP, f"{found[1]}, and {its.note}"
    return found[0] if family is _RULE else _word(found[0]), found[1]


def meaning(answer: str, family: Family | None) -> str:
    """The class that an answer means; "" where it means none that fits.

    Args:
        answer: A word, or a class with its package or without.
        family: What the place takes; None where the class stands in no place that matters.
    """
    plain = answer.rpartition(".")[2]
    kind = WORDS.get(answer.lower()) or _RULE_WORDS.get(answer, plain)
    if family is None:
        return kind
    return kind if kind in family.classes else ""


def by_top_level(bean: Bean) -> str:
    """The class that the id of a bean on its own, or the name of its class, speaks of; or ""."""
    named = _IDS.get(bean.name)
    if named is not None:
        return named
    found = _by_name(bean.kind, frozenset(_IDS.values()) | {"WARCWriterChainProcessor"})
    if found is not None:
        return found[0]
    return "BdbFrontier" if bean.kind.endswith("Frontier") else ""


def _word(kind: str) -> str:
    words = (word for word, its in WORDS.items() if its == kind)
    return next(words, kind)


def _by_name(kind: str, classes: Iterable[str]) -> tuple[str, str] | None:
    if kind.startswith("Annotation"):
        return None
    inside = sorted((one for one in classes if one in kind), key=lambda one: (-len(one), one))
    if not inside:
        return None
    if inside[0] == kind:
        return kind, "a class of Heritrix has this name"
    return inside[0], f"its name has {inside[0]} in it"


def _by_id(name: str, classes: frozenset[str]) -> tuple[str, str] | None:
    begun = sorted((one for one in _IDS if name.startswith(one)), key=len)
    if not begun or _IDS[begun[-1]] not in classes:
        return None
    return _IDS[begun[-1]], f"in Heritrix's profile `{begun[-1]}` is one"


_WRITES = re.compile(r"(?i)writer|archiver")
_COMMON_WORDS = frozenset(
    ("Decide", "Rule", "Processor", "Extractor", "Queue", "Assignment", "Policy", "Writer",
     "Uri", "URI", "Precedence", "Has", "Not", "On", "Too", "Many", "Matches")
)  # fmt: skip


def _by_words(kind: str, classes: Iterable[str]) -> tuple[str, str] | None:
    """The class whose words it shares most of."""
    if kind.startswith("Annotation"):
        return None  # annotations are nothing that a rule here could ask for
    said = _split(kind)
    best, share = "", 0.5
    for one in sorted(classes):
        words = _split(one)
        rare = (said & words) - _COMMON_WORDS
        now = len(said & words) / len(said | words)
        if rare and now > share:
            best, share = one, now
    return (best, f"its name is like {best}") if best else None


@cache
def _split(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+", name))


def _by_properties(
    bean: Bean, classes: Iterable[str], kinds: Mapping[str, Kind]
) -> tuple[str, str] | None:
    """The class that has at least two of its properties, and more of them than any other."""
    said = set(bean.settings) - {"enabled", "shouldProcessRule"}
    shared: set[str] = set()
    best = ""
    for one in sorted(classes, reverse=True):
        known = {*(kinds[one].properties if one in kinds else ()), *_BESIDE_TABLES.get(one, ())}
        known |= set(ADDED[one].properties if one in ADDED else ())
        if len(said & known) > max(len(shared), 1):
            best, shared = one, said & known
    return (best, f"it has properties of {best}: {', '.join(sorted(shared))}") if best else None


_BESIDE_TABLES = {
    "WARCWriterProcessor": ("storePaths", "directory", "chain"),
    "FetchHTTP": ("acceptHeaders", "httpProxyHost", "shouldFetchBodyRule"),
    "CrawlMetadata": ("jobName", "operator", "operatorContactUrl", "organization", "description"),
}
"""Properties that no table has, because they take more than one."""
