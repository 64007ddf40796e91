"""The section `cycle` of a configuration: batch rounds. `nacre crawl` uses none of it."""

from typing import Literal

from pydantic import field_validator

from nacre.config.component import Bytes, Component, FileName, Seconds, section, setting
from nacre.crawldb.scoring import AnyScoring, Opic
from nacre.search.settings import IndexSettings

OBJECT_SCHEMES = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "memory")
"""Schemes of the URLs of object stores."""
STORAGE_SCHEMES = (*OBJECT_SCHEMES, "file")

CountBy = Literal["host", "domain"]
"""The unit of counts: a host, or a registered domain."""


class InjectSettings(Component):
    """Seeds that are added to the CrawlDb."""

    score: float = setting(
        1.0,
        "Score of a seed that says none (`db.score.injected`).",
        ge=0,
        le=10**15,
        sheets=False,
    )
    interval: Seconds = setting(
        0.0,
        "Interval of a seed that says none. 0: that of the schedule "
        "(`recrawl.schedule.nutch.interval`).",
        unit="s",
        sheets=False,
    )


class GenerateSettings(Component):
    """Fetch lists: the choice of URLs, and their division into units."""

    top: int = setting(
        50_000, "URLs of a segment at most, the best first. 0: no limit.", unit="URLs", ge=0,
        sheets=False,
    )  # fmt: skip
    max_count: int = setting(
        0,
        "URLs of a host or domain in a segment at most (`generate.max.count`). 0: no limit.",
        unit="URLs",
        ge=0,
        sheets=False,
    )
    count: CountBy = setting("host", "What `max_count` counts: `host` or `domain`.", sheets=False)
    limits: FileName = setting(
        "",
        "File of limits by registered domain, relative to the job: domain, URLs, hosts, URLs of a "
        "host, separated by tabs; an empty field or -1 sets no limit. Empty: none.",
        sheets=False,
    )
    max_count_where: str = setting(
        "",
        "SQL of a number over `host.*` that replaces `max_count` where it is not null, as in "
        "`case when host.dns_failures > 3 then 0 end`. Empty: none.",
        sheets=False,
    )
    where: str = setting(
        "",
        "SQL condition over the columns that `sql` and `readdb` show and over `host.*`; a URL is "
        "fetched if it is true. Empty: all.",
        sheets=False,
    )
    min_score: float = setting(
        0.0, "Least sort value of a URL (`generate.min.score`).", sheets=False
    )
    max_interval: Seconds = setting(
        0.0,
        "Greatest interval of a URL (`generate.min.interval`, which is a maximum too). 0: any.",
        unit="s",
        sheets=False,
    )
    status: str = setting(
        "",
        "Status that a URL must have, such as `db_unfetched` (`generate.restrict.status`). Empty: "
        "any.",
        sheets=False,
    )
    partition: Literal["host", "domain", "address"] = setting(
        "host",
        "What is never in two units of a segment: a host, a registered domain, or all hosts of an "
        "address.",
        sheets=False,
    )
    lease: Seconds = setting(
        604_800.0,
        "How long a listed URL is in no other list unless `update` comes first "
        "(`crawl.gen.delay`).",
        unit="s",
        sheets=False,
    )
    segments: int = setting(
        1, "Segments that one generate makes at most.", unit="segments", ge=1, sheets=False
    )
    units: int = setting(
        0, "Units of a segment. 0: as many as cores.", unit="units", ge=0, sheets=False
    )
    slice: Seconds = setting(
        0.0,
        "Time after which a unit makes a part of its fetches: as much is fetched again if its "
        "machine is lost. 0: 60 s on a cluster or with an object store, else 600 s.",
        unit="s",
        ge=0,
        sheets=False,
    )


class CycleFetchSettings(Component):
    """Limits of a unit while it fetches its list."""

    follow: Literal["none", "redirects", "embeds"] = setting(
        "redirects",
        "What is fetched beyond the list at the hosts of the unit: nothing, targets of redirects, "
        "or with `embeds` also what pages need to be shown and no earlier round has fetched. "
        "Others are links.",
        sheets=False,
    )
    max_redirects: int = setting(
        5, "Redirects in a row that are followed.", unit="redirects", ge=0, sheets=False
    )
    max_failures: int = setting(
        5,
        "Failures in a row after which the rest of a host is not attempted. 0: no limit.",
        unit="URLs",
        ge=0,
        sheets=False,
    )
    max_wait: Seconds = setting(
        600.0,
        "Longest Retry-After that a unit waits for. With a longer one, the reply 429 or 503 is "
        "stored, `update` obeys it, and the rest of the host is not attempted. 0: no limit.",
        unit="s",
        sheets=False,
    )
    throughput: float = setting(
        0.0,
        "Pages a second below which a unit ends after five minutes "
        "(`fetcher.throughput.threshold.pages`). 0: no limit.",
        unit="pages/s",
        ge=0,
        sheets=False,
    )
    time_limit: Seconds = setting(
        10_800.0,
        "Time after which a unit ends; what a host cannot answer in it is not listed. 0: no limit.",
        unit="s",
        sheets=False,
    )


class UpdateSettings(Component):
    """The effect of visits on the CrawlDb."""

    additions: bool = setting(
        True,
        "Add URLs that are not known: those that links name, targets of redirects, and others that "
        "were fetched (`db.update.additions.allowed`).",
        sheets=False,
    )
    purge_gone: bool = setting(
        False,
        "Forget pages that are db_gone, until a link names them again (`db.update.purge.404`). "
        "Each update then reads the statuses of the whole table.",
        sheets=False,
    )
    purge_orphans: bool = setting(
        False,
        "The same for pages that are db_orphan (`db.update.purge.orphans`): those of scoring "
        "`orphan`.",
        sheets=False,
    )
    failed_parse: bool = setting(
        False,
        "A page that a parser gave up is db_parse_failed, and asked for less and less often "
        "(`parser.delete.failed.parse`). Else it is as any other page.",
        sheets=False,
    )
    soft_404: Literal["gone", "success"] = setting(
        "gone",
        "A page that says with status 200 that it is missing: `gone`, or a `success` as in Nutch.",
        sheets=False,
    )
    nutch_retry: bool = setting(
        False,
        "Try failures again a day later, as Nutch does. Else after a name that was not found 1 h, "
        "a time-out or lost connection 10 min, each doubled with every failure; a server's error "
        "1 h; 429 what its Retry-After says.",
        sheets=False,
    )
    retry_max: int = setting(
        3,
        "Failures in a row after which a page is db_gone (`db.fetch.retry.max`).",
        unit="visits",
        ge=1,
        le=255,
        sheets=False,
    )


class LinkDbSettings(Component):
    """The table of links."""

    max: int = setting(
        10_000, "Links to a page that are shown, the best first.", unit="links", ge=1, sheets=False
    )
    ignore_internal: Literal["none", "host", "domain"] = setting(
        "host",
        "Links that are left out: those within a `host` or a `domain`, or `none`.",
        sheets=False,
    )
    ignore_external: bool = setting(
        False, "Leave out links to other hosts (`linkdb.ignore.external.links`).", sheets=False
    )
    max_anchor: int = setting(
        100,
        "Characters of an anchor text that are kept (`linkdb.max.anchor.length`).",
        unit="characters",
        ge=0,
        sheets=False,
    )


DedupCriterion = Literal["score", "fetchTime", "httpsOverHttp", "urlLength"]
"""A criterion between two pages with the same signature, in Nutch's names."""


class CycleDedupSettings(Component):
    """The choice between several pages with the same content."""

    group: Literal["none", "host", "domain"] = setting(
        "none", "Only pages of the same `host` or `domain` are compared; `none`: all.", sheets=False
    )
    order: tuple[DedupCriterion, ...] = setting(
        ("score", "fetchTime", "urlLength"),
        "What decides, in order: the higher `score`, the later `fetchTime`, `httpsOverHttp`, the "
        "shorter URL (`urlLength`). Pages that are equal in all of them stay.",
        min_length=1,
        sheets=False,
    )
    rounds: bool = setting(
        True, "Rounds look for duplicates after `update`; else only the step `dedup` does.",
        sheets=False,
    )  # fmt: skip
    near: bool = setting(
        False,
        "A page whose text is almost that of a better one is a duplicate, too. Units then make a "
        "simhash of each page's text, which takes some milliseconds a page.",
        sheets=False,
    )
    canonical: bool = setting(
        False,
        "A page that names another known page as its canonical one is a duplicate of it.",
        sheets=False,
    )


class SitemapsSettings(Component):
    """Sitemaps whose URLs enter the CrawlDb."""

    from_hosts: Literal["never", "once", "always"] = setting(
        "never",
        "When rounds read the sitemaps that robots.txt of known hosts name: `never`, in the first "
        "round (`once`), or in every round (`always`).",
        sheets=False,
    )
    overwrite: bool = setting(
        False,
        "Known URLs take priority, changefreq and lastmod of a sitemap of their domain "
        "(`sitemap.url.overwrite.existing`).",
        sheets=False,
    )
    filter: bool = setting(
        True, "The scope and its filters judge what sitemaps list (`sitemap.url.filter`).",
        sheets=False,
    )  # fmt: skip
    max_count: int = setting(
        1_000, "Sitemaps of a host that are read in a step at most.", unit="sitemaps", ge=1,
        sheets=False,
    )  # fmt: skip
    max: int = setting(
        100_000, "Sitemaps that are fetched at once at most; others are counted.", unit="sitemaps",
        ge=1, sheets=False,
    )  # fmt: skip


def _default_scoring() -> tuple[AnyScoring, ...]:
    return (Opic(),)


class CycleSettings(Component):
    """Batch rounds (`nacre cycle`): tables, fetch lists, units, scores."""

    storage: FileName = setting(
        "",
        "Where tables, segments and archive lie: `s3://bucket/prefix`, or a directory. Empty: "
        "`cycle/` of the job.",
        sheets=False,
        sample="s3://crawls/docs",
    )

    @field_validator("storage")
    @classmethod
    def _known_scheme(cls, value: str) -> str:
        scheme, mark, _ = value.partition("://")
        if mark and scheme not in STORAGE_SCHEMES:
            schemes = ", ".join(f"{name}://" for name in ("s3", "gs", "az", "file"))
            raise ValueError(
                f"no storage has URLs of {scheme}://. It may be a path, or a URL of {schemes}. For "
                "HDFS mount it, or put a gateway with the protocol of S3 in front"
            )
        return value

    scratch: FileName = setting(
        "",
        "Directory where units work before their parts are in the storage, such as one on a larger "
        "disk; a relative path begins at the job, and on a cluster each machine has the path. "
        "Empty: `state/units` of the job, on a cluster the temporary directory.",
        sheets=False,
        sample="/data/units",
    )
    buckets: int = setting(
        64,
        "Parts of each table, a power of two; 4096 from 10^9 URLs on. It is fixed when the first "
        "version is written; `nacre cycle DIR compact --buckets N` changes it.",
        unit="buckets",
        ge=1,
        le=65_536,
        sheets=False,
    )
    keep_versions: int = setting(
        3, "Versions whose files are kept.", unit="versions", ge=1, sheets=False
    )
    memory: Bytes = setting(
        600_000_000,
        "Memory of a task over tables; what needs more is written to disk meanwhile.",
        unit="bytes",
        ge=100_000_000,
        sheets=False,
    )
    tasks: int = setting(
        0, "Parallel tasks over tables. 0: as many as cores.", unit="tasks", ge=0,
        sheets=False,
    )  # fmt: skip
    inject: InjectSettings = section(InjectSettings, "Seeds.", sheets=False)
    generate: GenerateSettings = section(GenerateSettings, "Fetch lists.", sheets=False)
    fetch: CycleFetchSettings = section(CycleFetchSettings, "Units.", sheets=False)
    update: UpdateSettings = section(UpdateSettings, "What visits change.", sheets=False)
    links: LinkDbSettings = section(LinkDbSettings, "The table of links.", sheets=False)
    dedup: CycleDedupSettings = section(CycleDedupSettings, "Duplicates.", sheets=False)
    index: IndexSettings = section(IndexSettings, "The index of words.", sheets=False)
    sitemaps: SitemapsSettings = section(SitemapsSettings, "Sitemaps.", sheets=False)
    scoring: tuple[AnyScoring, ...] = setting(
        _default_scoring,
        "Kinds of score in order: `opic`, `nutch-opic`, `rank`, `depth`, `orphan`, `urlmeta`, or "
        "those of plug-ins; a name, or a mapping with settings such as `{scoring: depth, max: 5}`.",
        sheets=False,
    )

    @field_validator("buckets")
    @classmethod
    def _power_of_two(cls, value: int) -> int:
        if value & (value - 1):
            raise ValueError(
                f"{value} is no power of two; the next ones: "
                f"{2 ** (value.bit_length() - 1)}, {2 ** value.bit_length()}"
            )
        return value

    @field_validator("scoring")
    @classmethod
    def _one_of_each(cls, value: tuple[AnyScoring, ...]) -> tuple[AnyScoring, ...]:
        kinds = [type(kind_of_score) for kind_of_score in value]
        for kind in kinds:
            if kinds.count(kind) > 1:
                name = kind.model_fields["scoring"].default
                raise ValueError(f"`{name}` stands twice in the list")
        return value
