"""Classes of Heritrix that order, keep and report, and what becomes of their properties."""

from nacre.migrate.heritrix.rules import (
    Kind,
    Rule,
    flag,
    lacking,
    look,
    mebibytes,
    ms,
    needless,
    not_negative,
    seconds,
    to,
    whole,
)

_NO_THREADS = "fetches need no threads or buffers of their own"
_ON_DISK = "queues lie on disk"
_PLACES = "every run has its own directory: logs, reports and WARC are in it"
_DEDUP = Kind("dedup", "revisits are found without it")
_STORE = "the store does this by itself"
_REPORT = Kind("", "reports are written at the end, and `nacre status` shows them")
_FEED = Kind("", "no message queue is fed; crawl.log can be followed", "missing")


def kib_a_second(text: str) -> int:
    """KiB a second as bytes a second; a negative number is no limit."""
    return max(whole(text), 0) * 1024


def robots_policy(text: str) -> str:
    """The name of a policy that is no bean of its own."""
    names = {"obey": "obey", "classic": "obey", "robotstxtonly": "obey", "ignore": "ignore"}
    return names[text.lower()]


def minutes(text: str) -> float:
    """Minutes as seconds; a negative number is none."""
    return max(float(text), 0.0) * 60


def increments(text: str) -> list[int]:
    """`100,1000`."""
    return [int(number) for number in text.split(",")]


_FRONTIER: dict[str, Rule] = {
    "queueTotalBudget": to("frontier.queue_total_budget", whole, "-1"),
    "balanceReplenishAmount": to("frontier.balance_replenish", not_negative, "3000"),
    "errorPenaltyAmount": to("frontier.error_penalty", not_negative, "100"),
    "precedenceFloor": to("frontier.precedence_floor", whole, "255"),
    "retryDelaySeconds": to(
        "frontier.retry_delay frontier.retry_delay_max", seconds,
        note="the same wait before each retry; Nacre's own begins at 60 s and doubles",
    ),
    "maxRetries": to("frontier.max_retries", whole, "30"),
    "maxOutlinks": to("extract.max_outlinks", whole, "6000"),
    "extract404s": to("extract.extract_error_pages", flag, note="all pages of status 400 and up"),
    "extractIndependently": needless("each kind of document has its own extractor"),
    "snoozeLongMs": needless(_ON_DISK),
    "recoveryLogEnabled": to("frontier.recovery_log", flag),
    "dumpPendingAtClose": look("false", "`nacre frontier` lists what is left"),
    "largestQueuesCount": needless("`nacre frontier` lists as many as asked for"),
    "maxQueuesPerReportCategory": needless("`nacre frontier` lists as many as asked for"),
    "outbound": needless("it does nothing in Heritrix 3 either"),
    "inbound": needless("it does nothing in Heritrix 3 either"),
    "maxQueuesPerReclaim": needless("it does nothing in Heritrix 3 either"),
}  # fmt: skip

_QUEUES = "frontier.queue_assignment"
_ASSIGNMENT: dict[str, Rule] = {
    "forceQueueAssignment": to(f"{_QUEUES}.force"),
    "deferToPrevious": to(f"{_QUEUES}.defer_to_previous", flag, "true"),
    "parallelQueues": to(f"{_QUEUES}.parallel_queues", whole, "1"),
    "parallelQueuesRandomAssignment": to(
        f"{_QUEUES}.parallel_by", lambda text: "url" if flag(text) else "path", "false"
    ),
    "limit": to(f"{_QUEUES}.labels", not_negative, "-1"),
}

POLICIES: dict[str, tuple[str, str]] = {
    "SurtAuthorityQueueAssignmentPolicy": (_QUEUES, "surt-authority"),
    "SurtAuthorityQueueAssignmentPolicyWithLimits": (_QUEUES, "surt-authority"),
    "HostnameQueueAssignmentPolicy": (_QUEUES, "hostname"),
    "HostnameQueueAssignmentPolicyWithLimits": (_QUEUES, "hostname"),
    "AssignmentLevelSurtQueueAssignmentPolicy": (_QUEUES, "assignment-level-surt"),
    "TopmostAssignedSurtQueueAssignmentPolicy": (_QUEUES, "assignment-level-surt"),
    "IPQueueAssignmentPolicy": (_QUEUES, "ip"),
    "BucketQueueAssignmentPolicy": (_QUEUES, "bucket"),
    "CostUriPrecedencePolicy": ("frontier.uri_precedence", "cost"),
    "BaseUriPrecedencePolicy": ("frontier.uri_precedence", "base"),
    "HopsUriPrecedencePolicy": ("frontier.uri_precedence", "hops"),
    "BaseQueuePrecedencePolicy": ("frontier.queue_precedence", "base"),
    "HighestUriQueuePrecedencePolicy": ("frontier.queue_precedence", "highest-uri"),
    "SuccessCountsQueuePrecedencePolicy": ("frontier.queue_precedence", "success-counts"),
    "UnitCostAssignmentPolicy": ("frontier.cost", "unit"),
    "ZeroCostAssignmentPolicy": ("frontier.cost", "zero"),
    "WagCostAssignmentPolicy": ("frontier.cost", "wag"),
    "AntiCalendarCostAssignmentPolicy": ("frontier.cost", "anti-calendar"),
}
"""Policies: the setting that each is, and its name there."""

_OF_POLICY = {
    _QUEUES: _ASSIGNMENT,
    "frontier.uri_precedence": {
        "basePrecedence": to("frontier.uri_precedence.base", whole),
        "navlinksOnly": to("frontier.uri_precedence.navlinks_only", flag, "true"),
    },
    "frontier.queue_precedence": {
        "basePrecedence": to("frontier.queue_precedence.base", whole, "3"),
        "incrementCounts": to("frontier.queue_precedence.increments", increments, "100,1000"),
    },
    "frontier.cost": {},
}

_WRITER: dict[str, Rule] = {
    "compress": to("archive.compress", flag, "true"),
    "prefix": to("archive.prefix"),
    "template": to("archive.template"),
    "maxFileSizeBytes": to("archive.max_file_size", whole, "1000000000"),
    "maxTotalBytesToWrite": to("archive.max_total", not_negative, "0"),
    "poolMaxActive": needless("one writer is fast enough, and the order of records is certain"),
    "poolMaxWait": needless("there is no pool of writers"),
    "maxWaitForIdleMs": needless("there is no pool of writers"),
    "skipIdenticalDigests": lacking("false", "a revisit is always recorded; it takes few bytes"),
    "frequentFlushes": needless("files are synced before the crawl goes on"),
    "writeBufferSize": needless("files are synced before the crawl goes on"),
    "startNewFilesOnCheckpoint": needless("a checkpoint needs no new file"),
    "writeRequests": look("true", "requests are always archived"),
    "writeMetadata": look("true", "metadata is always archived"),
    "writeRevisitForIdenticalDigests": look("true", "revisits are recorded; see dedup.mode"),
    "writeRevisitForNotModified": look("true", "revisits are recorded; see dedup.conditional"),
    "warcVersion": needless("WARC/1.1 is what Nacre writes"),
}

CRAWL_KINDS: dict[str, Kind] = {
    "CrawlMetadata": Kind("fetch", properties={
        "date": needless("of the day it was written"),
        "robotsPolicyName": to("robots.policy", robots_policy, "obey"),
        "userAgentTemplate": look("", "see fetch.user_agent"),
        "availableRobotsPolicies": needless("the one that is used counts"),
    }),
    "TextSeedModule": Kind("seeds"),
    **dict.fromkeys(
        ("CustomRobotsPolicy", "MostFavoredRobotsPolicy", "FirstNamedRobotsPolicy",
         "ObeyRobotsPolicy", "IgnoreRobotsPolicy", "RobotsTxtOnlyPolicy"),
        Kind("", "the robots policy that is used counts", properties={
            "customRobots": needless("this policy is not used"),
            "candidateUserAgents": needless("this policy is not used"),
            "shouldMasquerade": needless("one crawl has one User-Agent"),
            "obeyMetaRobotsNofollow": needless("see extract.obey_meta_robots"),
        }),
    ),
    "CrawlController": Kind("engine", properties={
        "maxToeThreads": to("engine.parallel", whole, "25"),
        "pauseAtStart": to("engine.pause_at_start", flag, "false"),
        "runWhileEmpty": look("false", "a crawl ends when nothing is left"),
        "recorderInBufferBytes": needless(_NO_THREADS),
        "recorderOutBufferBytes": needless(_NO_THREADS),
        "scratchDir": needless("long bodies are kept in the run's own directory meanwhile"),
    }),
    "BdbFrontier": Kind("frontier", properties=_FRONTIER),
    "CandidateScoper": Kind("engine", properties={
        "logToFile": to("engine.scope_log", flag, "false"),
    }),
    "FrontierPreparer": Kind("frontier", properties={
        "preferenceDepthHops": to("frontier.preference_depth_hops", whole, "-1"),
        "preferenceEmbedHops": to("frontier.preference_embed_hops", whole, "1"),
        "canonicalizationPolicy": needless("see that bean"),
        "queueAssignmentPolicy": needless("see that bean"),
        "uriPrecedencePolicy": needless("see that bean"),
        "costAssignmentPolicy": needless("see that bean"),
    }),
    "CandidatesProcessor": Kind("frontier", properties={
        "seedsRedirectNewSeeds": look("true", "where a seed leads is a seed"),
        "seedsRedirectNewSeedsAllowTLDs": look("true", "where a seed leads is a seed"),
        "processErrorOutlinks": to("engine.follow_error_pages", flag, "false"),
    }),
    "DispositionProcessor": Kind("politeness", properties={
        "delayFactor": to("politeness.delay_factor", float, "5.0"),
        "minDelayMs": to("politeness.min_delay", ms, "3000"),
        "maxDelayMs": to("politeness.max_delay", ms, "30000"),
        "respectCrawlDelayUpToSeconds": to(
            "politeness.respect_crawl_delay_up_to", seconds, "300"
        ),
        "maxPerHostBandwidthUsageKbSec": to("bandwidth.per_host", kib_a_second, "0"),
        "forceRetire": to("frontier.force_retire", flag, "false"),
    }),
    "LowDiskPauseProcessor": Kind("disk", properties={
        "pauseThresholdKb": to("disk.reserve", lambda text: whole(text) * 1024),
        "recheckThresholdKb": needless("free space is looked at all the time"),
        "monitorMounts": needless("every file system used is looked at"),
    }),
    "DiskSpaceMonitor": Kind("disk", properties={
        "pauseThresholdMiB": to("disk.reserve", mebibytes),
        "monitorConfigPaths": needless("every file system used is looked at"),
        "monitorPaths": needless("every file system used is looked at"),
    }),
    "CrawlLimitEnforcer": Kind("limits", properties={
        "maxBytesDownload": to("limits.bytes", not_negative, "0"),
        "maxDocumentsDownload": to("limits.documents", not_negative, "0"),
        "maxTimeSeconds": to("limits.time", seconds, "0"),
        "maxNovelBytes": to("limits.novel_bytes", not_negative, "0"),
        "maxNovelUrls": to("limits.novel_documents", not_negative, "0"),
        "maxWarcNovelBytes": to("limits.warc_bytes", not_negative, "0", "all bytes of WARC"),
        "maxWarcNovelUrls": to("limits.novel_documents", not_negative, "0"),
    }),
    "WARCWriterChainProcessor": Kind("archive", properties=_WRITER),
    "WARCWriterProcessor": Kind("archive", properties=_WRITER),
    "ARCWriterProcessor": Kind("archive", "WARC is written in place of ARC", properties=_WRITER),
    "MirrorWriterProcessor": Kind("", "WARC is written, no tree of files", "missing"),
    "Kw3WriterProcessor": Kind("", "WARC is written, no files of their own", "missing"),
    **dict.fromkeys(
        ("PersistLoadProcessor", "PersistStoreProcessor", "FetchHistoryProcessor",
         "PersistOnlineProcessor", "PersistLogProcessor", "ContentDigestHistoryLoader",
         "ContentDigestHistoryStorer", "BdbContentDigestHistory"),
        _DEDUP._replace(properties={
            "historyLength": needless(_STORE),
            "historyDbName": needless(_STORE),
            "onlyStoreIfWriteTagPresent": needless(_STORE),
            "useSparseRange": needless(_STORE),
            "contentDigestHistory": needless(_STORE),
            "preloadSource": look("", "the history of another crawl is not read"),
            "logFilename": needless(_STORE),
        }),
    ),
    "TroughContentDigestHistory": Kind("", "digests are not looked up elsewhere", "missing"),
    "WbmPersistLoadProcessor": Kind("", "digests are not looked up elsewhere", "missing"),
    **{
        name: Kind("frontier", properties=_OF_POLICY[path])
        for name, (path, _) in POLICIES.items()
    },
    "PreloadedUriPrecedencePolicy": Kind("", "precedences are not loaded", "missing"),
    "StatisticsTracker": Kind("", "statistics are always kept", properties={
        "reports": needless("all reports are written"),
        "reportsDir": look("${launchId}/reports", _PLACES),
        "liveHostReportSize": needless("reports list all hosts"),
        "intervalSeconds": needless("progress is logged as it goes"),
        "keepSnapshotsCount": needless("progress is logged as it goes"),
        "trackSeeds": needless("seeds are always tracked"),
        "trackSources": needless("see engine.source_tags"),
    }),
    **dict.fromkeys(
        ("CrawlSummaryReport", "SeedsReport", "HostsReport", "SourceTagsReport",
         "MimetypesReport", "ResponseCodeReport", "ProcessorsReport", "FrontierSummaryReport",
         "FrontierNonemptyReport", "ToeThreadsReport", "XmlCrawlSummaryReport"),
        _REPORT._replace(properties={
            "maxSortSize": needless("reports list all hosts"),
            "suppressEmptyHosts": needless("reports list all hosts"),
        }),
    ),
    "CrawlerLoggerModule": Kind("engine", properties={
        "path": look("${launchId}/logs", _PLACES),
        "crawlLogPath": look("crawl.log", _PLACES),
        "alertsLogPath": look("alerts.log", _PLACES),
        "progressLogPath": look("progress-statistics.log", _PLACES),
        "uriErrorsLogPath": look("uri-errors.log", _PLACES),
        "runtimeErrorsLogPath": look("runtime-errors.log", _PLACES),
        "nonfatalErrorsLogPath": look("nonfatal-errors.log", _PLACES),
        "logExtraInfo": to("engine.log_extra_info", flag, "false"),
    }),
    "BdbModule": Kind("store", properties={
        "cacheSize": to("store.memory", lambda text: whole(text) if whole(text) > 0 else None),
        "dir": look("state", "the store lies in the job's directory"),
        **dict.fromkeys(
            ("cachePercent", "useSharedCache", "maxLogFileSize", "expectedConcurrency",
             "cleanerThreads", "evictorCoreThreads", "evictorMaxThreads",
             "useHardLinkCheckpoints"),
            needless("the store is RocksDB; see store.memory"),
        ),
    }),
    **dict.fromkeys(("BdbCookieStore", "SimpleCookieStore", "BdbCookieStorage"), Kind(
        "cookies", properties={
            "cookiesLoadFile": to("cookies.load_file"),
            "cookiesSaveFile": to("cookies.save_file"),
        },
    )),
    **dict.fromkeys(
        ("BdbUriUniqFilter", "BloomUriUniqFilter", "MemFPMergeUriUniqFilter",
         "DiskFPMergeUriUniqFilter", "FPUriUniqFilter", "MemUriUniqFilter"),
        Kind("", "which URLs were seen the store knows, without false positives"),
    ),
    "NoopUriUniqFilter": Kind("", "a URL is fetched once in a crawl", "missing"),
    **dict.fromkeys(
        ("BdbServerCache", "DefaultServerCache", "SheetOverlaysManager", "ConfigPathConfigurer",
         "DecideRuledSheetAssociationComparator", "CrawlJob", "UriProcessingFormatter"),
        Kind("", "part of how Heritrix is put together; nothing need be said"),
    ),
    "ActionDirectory": Kind("action", properties={
        "actionDir": look("action", "the directory is always JOB/action"),
        "doneDir": needless("what is done is kept in the directory of its run"),
        "initialDelaySeconds": needless("the first look comes after 10 s"),
        "delaySeconds": to("action.interval", seconds, "30"),
        "engineName": needless("a script cannot run"),
    }),
    "CheckpointService": Kind("checkpoint", properties={
        "checkpointIntervalMinutes": to("checkpoint.interval", minutes, "-1"),
        "checkpointOnShutdown": to("checkpoint.on_stop", flag),
        "checkpointsDir": look("checkpoints", "checkpoints lie in the job's directory"),
        "forgetAllButLatest": to("checkpoint.keep", lambda text: 1 if flag(text) else 0),
        "recoveryCheckpoint": look("", "a checkpoint of Heritrix cannot be read"),
    }),
    "CredentialStore": Kind("fetch"),
    **dict.fromkeys(
        ("AMQPUrlReceiver", "AMQPPublishProcessor", "AMQPUrlWaiter", "AMQPCrawlLogFeed",
         "KafkaCrawlLogFeed", "TroughCrawlLogFeed"), _FEED,
    ),
}  # fmt: skip
"""What becomes of the beans of a class, by its name without package."""
