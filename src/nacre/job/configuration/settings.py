"""The settings of a job: what `crawl.yaml` may say."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from nacre.archive.settings import WarcSettings
from nacre.config.component import Bytes, Component, Seconds, section, setting
from nacre.extract.settings import ExtractSettings
from nacre.fetch.cookies import CookieSettings
from nacre.fetch.dns import DnsSettings
from nacre.fetch.guard import NetworkSettings
from nacre.fetch.settings import FetchSettings
from nacre.frontier.bandwidth import BandwidthSettings
from nacre.frontier.quota import QuotaSettings
from nacre.frontier.settings import FrontierSettings, PolitenessSettings, TrapSettings
from nacre.history.dedup import DedupSettings
from nacre.history.keeping import KeepSettings
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.verdict.change import ChangeSettings
from nacre.job.chain.settings import ChainSettings
from nacre.job.configuration.association import SheetAssociation
from nacre.job.configuration.operation import ActionSettings, AlertSettings, CheckpointSettings
from nacre.job.seeding.seeds import seed_line
from nacre.scope.coercion import ScopeKind
from nacre.scope.normalize.chain import AnyNormalizer
from nacre.scope.robots import RobotsSettings
from nacre.scope.rules import AnyRule, stock_rules


class CanonicalRule(Component):
    """One step of the canonicalisation, by name."""

    rule: str = setting(..., "Name of the rule, such as `StripSessionIDs`.")
    regex: str = setting("", "For `Regex`: what to look for.")
    format: str = setting("", "For `Regex`: what to put in its place.")


class UriSettings(Component):
    """How URLs are read, and when two count as the same."""

    max_length: int = setting(
        2083, "Longer URLs are refused.", unit="characters", ge=16, live=False, sheets=False
    )
    canonical: tuple[CanonicalRule, ...] | Literal["default", "heritrix"] = setting(
        "default",
        "Rules for the seen key only, in order: `default`, `heritrix` (its stock list), or a list.",
        live=False,
        sheets=False,
    )
    normalize: tuple[AnyNormalizer, ...] = setting(
        (),
        "Normalizers of Nutch that rewrite seeds, links and redirects before anything else.",
        live=False,
        sheets=False,
    )
    normalize_loops: int = setting(
        1,
        "Passes over the normalizers at most; they end with the first pass that changes nothing.",
        ge=1,
        le=100,
        live=False,
        sheets=False,
    )


class EngineSettings(Component):
    """How much is done at the same time."""

    parallel: int = setting(
        25, "Fetches at the same time.", unit="fetches", ge=1, le=10_000, sheets=False
    )
    pause_at_start: bool = setting(
        False,
        "Wait, paused, for `nacre resume` before the first fetch of each start.",
        sheets=False,
        live=False,
    )
    follow_error_pages: bool = setting(
        False, "Follow the outlinks of pages with a status under 200 or from 400 on."
    )
    outside_kept: int = setting(
        100_000,
        "Refused URLs remembered for `nacre explain`; 0 keeps none.",
        unit="URLs",
        ge=0,
        sheets=False,
    )
    source_tags: bool = setting(
        False, "Tag each URI with the seed that it descends from.", live=False, sheets=False
    )
    scope_log: bool = setting(False, "Write every scope decision to scope.log.", sheets=False)
    scope_log_extra: bool = setting(
        False,
        "Append hop path, via, seed and host to each line of scope.log, as JSON.",
        sheets=False,
    )
    log_extra_info: bool = setting(
        False, "Append WARC name, offset and size to crawl.log, as JSON.", live=False, sheets=False
    )


class RuntimeSettings(Component):
    """A limit of running time, looked at for each URI; a sheet can give a site its own."""

    after: Seconds = setting(0.0, "Time running, pauses left out; 0: no limit.", unit="s")
    action: Literal["pause", "terminate", "block"] = setting(
        "pause",
        "`pause` the crawl until `nacre resume`; `terminate` it (FINISHED_TIME_LIMIT); `block`: "
        "fetch no more of these URIs (-5004).",
    )


class LimitSettings(Component):
    """When the crawl ends by itself. 0 everywhere: no limit."""

    documents: int = setting(
        0,
        "Documents fetched, robots.txt left out.",
        unit="documents",
        ge=0,
        sheets=False,
    )
    bytes: Bytes = setting(0, "Bytes received.", unit="bytes", sheets=False)
    novel_bytes: Bytes = setting(0, "Bytes stored in full.", unit="bytes", sheets=False)
    novel_documents: int = setting(
        0, "Documents stored in full.", unit="documents", ge=0, sheets=False
    )
    time: Seconds = setting(0.0, "Time running, pauses left out.", unit="s", sheets=False)
    runtime: RuntimeSettings = section(RuntimeSettings, "Time running, for each URI.")
    warc_bytes: Bytes = setting(0, "Bytes of WARC written.", unit="bytes", sheets=False)


class DiskSettings(Component):
    """What happens when space runs out: the crawl pauses, and goes on by itself."""

    reserve: Bytes = setting(
        0,
        "Free space to keep on every file system used, beside what Nacre itself needs.",
        unit="bytes",
        sheets=False,
    )
    max_wait: Seconds | None = setting(
        None,
        "Longest pause for space before the crawl stops (exit 5); none: for ever on a terminal, "
        "1 h without one.",
        unit="s",
        sheets=False,
    )


class StoreSettings(Component):
    """The store."""

    memory: Bytes = setting(
        96_000_000,
        "Cache and buffers of the store together.",
        unit="bytes",
        live=False,
        sheets=False,
        ge=16_000_000,
    )


class SeedWords(Component):
    """A seed with a scope of its own, as a list of seeds may say it."""

    url: str = setting(..., "The seed.")
    scope: ScopeKind = setting(ScopeKind.PREFIX, "How far its descendants may go.")
    depth: int = setting(0, "Navigational hops from it.", unit="hops", ge=0)


SeedText = Annotated[str, BeforeValidator(seed_line, json_schema_input_type=str | SeedWords)]


class JobSettings(Component):
    """Everything that one job may say."""

    name: str = setting(
        "", "Name of the job; empty: that of its directory.", live=False, sheets=False
    )
    seeds: tuple[SeedText, ...] | str = setting(
        "seeds.txt",
        "File of seeds, of any length, relative to the job (`.gz`: compressed), or a list of them: "
        "URLs, or `{url: URL, scope: host, depth: 2}` for a seed with a scope of its own.",
        live=False,
        sheets=False,
    )
    scope: tuple[AnyRule, ...] = setting(
        stock_rules, "DecideRules in order; the last opinion wins."
    )
    uri: UriSettings = section(UriSettings, "URLs.")
    engine: EngineSettings = section(EngineSettings, "The engine.")
    chains: ChainSettings = section(ChainSettings, "What is done with a URI, in order.")
    frontier: FrontierSettings = section(FrontierSettings, "The frontier.")
    traps: TrapSettings = section(TrapSettings, "Places without end.")
    politeness: PolitenessSettings = section(PolitenessSettings, "Politeness.")
    robots: RobotsSettings = section(RobotsSettings, "robots.txt.")
    fetch: FetchSettings = section(FetchSettings, "Fetching.")
    network: NetworkSettings = section(NetworkSettings, "Addresses.")
    dns: DnsSettings = section(DnsSettings, "Names.")
    cookies: CookieSettings = section(CookieSettings, "Cookies.")
    extract: ExtractSettings = section(ExtractSettings, "Extraction.")
    dedup: DedupSettings = section(DedupSettings, "Deduplication.")
    recrawl: RecrawlSettings = section(RecrawlSettings, "Incremental runs.")
    keep: KeepSettings = section(KeepSettings, "What incremental runs write to WARC.")
    change: ChangeSettings = section(ChangeSettings, "When a page counts as changed.")
    archive: WarcSettings = section(WarcSettings, "WARC files.")
    bandwidth: BandwidthSettings = section(BandwidthSettings, "Bandwidth.")
    quotas: QuotaSettings = section(QuotaSettings, "Quotas.")
    limits: LimitSettings = section(LimitSettings, "Limits.")
    disk: DiskSettings = section(DiskSettings, "Disk space.")
    store: StoreSettings = section(StoreSettings, "The store.")
    action: ActionSettings = section(ActionSettings, "The action directory.")
    checkpoint: CheckpointSettings = section(CheckpointSettings, "Checkpoints.")
    alerts: AlertSettings = section(AlertSettings, "Who is told of what happens.")
    sheets: dict[str, dict[str, Any]] = setting(
        dict, "Sheets by name: other values for some URIs, by property path.", sheets=False
    )
    sheet_associations: tuple[SheetAssociation, ...] = setting(
        (), "Which sheets apply to which URIs.", sheets=False
    )
