"""Names of Heritrix 1 that Heritrix 3 writes differently, and modules that only Heritrix 1 has."""

from nacre.migrate.heritrix.rules import (
    Kind,
    Rule,
    flag,
    lacking,
    look,
    needless,
    seconds,
    to,
    whole,
)
from nacre.migrate.heritrix.table_crawl import CRAWL_KINDS, POLICIES, kib_a_second
from nacre.migrate.heritrix.table_fetch import FETCH_KINDS

CLASSES = {
    "FixupQueryStr": "FixupQueryString",
    "ExperimentalWARCWriterProcessor": "WARCWriterProcessor",
    "ExperimentalV10WARCWriterProcessor": "WARCWriterProcessor",
    "ExtractorHTML2": "ExtractorHTML",
    "DomainSensitiveFrontier": "BdbFrontier",
    "JerichoExtractorHTML": "ExtractorHTML",
}
"""Classes."""

NAMES = {
    "regexp": "regex",
    "regexpList": "regexList",
    "listLogic": "listLogicalOr",
    "usePresetPattern": "usePreset",
    "matchingRegex": "regex",
    "sotimeoutMs": "soTimeoutMs",
    "trustLevel": "sslTrustLevel",
    "fetchBandwidth": "maxFetchKBSec",
    "loadCookiesFromFile": "cookiesLoadFile",
    "saveCookiesToFile": "cookiesSaveFile",
    "blockByRegexp": "blockByRegex",
    "allowByRegexp": "allowByRegex",
    "robotValidityDurationSeconds": "robotsValidityDurationSeconds",
    "respectCrawlDelayUpToSecs": "respectCrawlDelayUpToSeconds",
    "seedRedirectsNewSeeds": "seedsRedirectNewSeeds",
    "maxDocumentDownload": "maxDocumentsDownload",
    "maxTimeSec": "maxTimeSeconds",
    "maxSizeBytes": "maxFileSizeBytes",
    "totalBytesToWrite": "maxTotalBytesToWrite",
    "maxPerHostBandwidthUsageKBSec": "maxPerHostBandwidthUsageKbSec",
    "totalBandwidthUsageKBSec": "totalBandwidthUsageKbSec",
    "uriCanonicalizationRules": "rules",
    "maxCostPolicy": "costPolicy",
}
"""Properties of any class."""

OF_CLASS = {
    "ARCWriterProcessor": {"path": "storePaths"},
    "WARCWriterProcessor": {"path": "storePaths"},
    "HttpHeaders": {"from": "from"},
}
"""Properties of one class."""


def _policy(setting: str) -> Rule:
    """A policy by the name of its class."""
    path = setting.removesuffix(".policy")

    def named(text: str) -> str:
        found, ours = POLICIES[text.strip().rpartition(".")[2]]
        if found != path:
            raise ValueError("it is a policy for something else")
        return ours

    return to(setting, named)


_FRONTIER: dict[str, Rule] = {
    **CRAWL_KINDS["BdbFrontier"].properties,
    **CRAWL_KINDS["DispositionProcessor"].properties,
    "preferenceEmbedHops": to("frontier.preference_embed_hops", whole, "1"),
    "totalBandwidthUsageKbSec": to("bandwidth.total", kib_a_second, "0"),
    "queueAssignmentPolicy": _policy("frontier.queue_assignment.policy"),
    "costPolicy": _policy("frontier.cost"),
    "forceQueueAssignment": to("frontier.queue_assignment.force"),
    "pauseAtStart": to("engine.pause_at_start", flag, "false"),
    "pauseAtFinish": look("false", "a crawl ends when nothing is left"),
    "sourceTagSeeds": to("engine.source_tags", flag, "false"),
    "holdQueues": needless("queues wait for their turn"),
    "snoozeDeactivateMs": needless("queues lie on disk"),
    "targetReadyBacklog": needless("queues lie on disk"),
    "uriIncludedStructure": needless("which URLs were seen the store knows"),
    "hostValence": to("politeness.in_flight", whole, "1"),
    "useUriUniqFilter": needless("which URLs were seen the store knows"),
    "stripReg": lacking("", "see uri.canonical"),
}
_SCOPE: dict[str, Rule] = {
    "rereadSeedsOnConfig": needless("seeds are read at the start of each run"),
    "enabled": needless("a crawl has a scope"),
}
_OWN_DIRECTORY = "every run has its own directory: logs, WARC and state are in it"
_LIMITS = CRAWL_KINDS["CrawlLimitEnforcer"].properties

ORDER_KINDS: dict[str, Kind] = {
    **FETCH_KINDS,
    **CRAWL_KINDS,
    "CrawlOrder": Kind("engine", properties={
        **_LIMITS,
        **CRAWL_KINDS["CrawlController"].properties,
        "settingsDirectory": needless("settings of hosts become sheets"),
        "diskPath": look("", _OWN_DIRECTORY),
        "logsPath": look("logs", _OWN_DIRECTORY),
        "checkpointsPath": look("checkpoints", _OWN_DIRECTORY),
        "statePath": look("state", _OWN_DIRECTORY),
        "scratchPath": look("scratch", _OWN_DIRECTORY),
        "bdbCachePercent": needless("the store is RocksDB; see store.memory"),
        "recoverPath": look("", "`nacre frontier JOB import --recover` takes a crawl over"),
        "recoverRetainFailures": needless("see recover-path"),
        "recoverScopeIncludes": needless("see recover-path"),
        "recoverScopeEnqueues": needless("see recover-path"),
        "checkpointCopyBdbjeLogs": needless("a checkpoint shares its files"),
        "robotsHonoringPolicy": needless("see that module"),
        "scope": needless("see that module"),
        "frontier": needless("see that module"),
        "credentialStore": needless("see that module"),
        "rules": needless("see uri.canonical"),
        **dict.fromkeys(
            ("preFetchProcessors", "fetchProcessors", "extractProcessors", "writeProcessors",
             "postProcessors", "loggers"),
            needless("Nacre has its own order of these steps"),
        ),
    }),
    "BdbFrontier": Kind("frontier", properties=_FRONTIER),
    "AdaptiveRevisitFrontier": Kind("frontier", properties=_FRONTIER),
    "WaitEvaluator": Kind("recrawl"),
    "ContentBasedWaitEvaluator": Kind("recrawl"),
    "ChangeEvaluator": Kind("dedup", "what did not change becomes a revisit record"),
    "HTTPMidFetchUnchangedFilter": Kind("dedup", "what did not change becomes a revisit record"),
    "FetchHTTP": Kind("fetch", properties={
        **FETCH_KINDS["FetchHTTP"].properties,
        **CRAWL_KINDS["BdbCookieStore"].properties,
        "useBdbForCookies": needless("cookies are in the store"),
    }),
    "FetchDNS": Kind("dns", properties=FETCH_KINDS["FetchDNS"].properties),
    "ExtractorHTML": Kind("extract", properties={
        **FETCH_KINDS["ExtractorHTML"].properties,
        "overlyEagerLinkDetection": needless("what is very likely a URI is taken"),
    }),
    "CrawlStateUpdater": Kind("politeness", "the end of a visit updates what is known"),
    "FrontierScheduler": Kind("frontier", "links go to the frontier"),
    "LinksScoper": Kind("engine", properties={
        **CRAWL_KINDS["CandidatesProcessor"].properties,
        "preferenceDepthHops": to("frontier.preference_depth_hops", whole, "-1"),
        "overrideLogger": to("engine.scope_log", flag, "false"),
    }),
    "AcceptRevisitFilter": Kind("", "a crawl fetches a page once", "missing"),
    "RobotsHonoringPolicy": Kind("robots", properties={
        "masquerade": lacking("false", "one crawl has one User-Agent"),
    }),
    **dict.fromkeys(
        ("DecidingScope", "BroadScope", "DomainScope", "HostScope", "PathScope",
         "SurtPrefixScope", "ClassicScope"),
        Kind("scope", properties=_SCOPE),
    ),
    **dict.fromkeys(
        ("OrFilter", "PathDepthFilter", "PathologicalPathFilter", "URIRegexFilter",
         "URIListRegexFilter", "FilePatternFilter", "TransclusionFilter", "SeedFilter",
         "ContentTypeRegexFilter", "HopsFilter", "SurtPrefixFilter"),
        Kind("scope", "no part of the scope"),
    ),
    "ARCWriterProcessor": Kind("archive", "WARC is written in place of ARC", properties={
        **CRAWL_KINDS["ARCWriterProcessor"].properties,
        "suffix": needless("archive.template has the host's name"),
    }),
    "WARCWriterProcessor": Kind("archive", properties={
        **CRAWL_KINDS["WARCWriterProcessor"].properties,
        "suffix": needless("archive.template has the host's name"),
    }),
    "QuotaEnforcer": FETCH_KINDS["QuotaEnforcer"],
    "RuntimeLimitEnforcer": Kind("limits", properties={
        **FETCH_KINDS["RuntimeLimitEnforcer"].properties,
        "runtimeSec": to("limits.runtime.after", seconds),
        "endOperation": to("limits.runtime.action", {
            "Pause job": "pause", "Terminate job": "terminate", "Block URIs": "block",
        }.__getitem__, "Pause job"),
    }),
    "HttpHeaders": Kind("fetch"),
}  # fmt: skip
"""What becomes of the modules of a class, by its name in Heritrix 3 where it has one."""
