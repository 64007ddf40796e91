"""The settings of a job: everything that `crawl.yaml` may contain.

Sections with a separate worker (`fetch`, `archive` …) are defined in the worker's package; this
module adds the sections of the job itself, and `JobSettings` contains them all.
"""

from ipaddress import ip_address
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, field_validator, model_validator

from nacre.archive.settings import WarcSettings
from nacre.browser.settings import BrowserSettings
from nacre.config.component import (
    Bytes,
    Component,
    FileName,
    ListenAddress,
    NamedKind,
    Seconds,
    ServerAddress,
    section,
    setting,
)
from nacre.config.secret import Secret
from nacre.crawldb.settings import CycleSettings
from nacre.engine.keeping import KeepSettings
from nacre.engine.settings import (
    EngineSettings,
    LimitSettings,
    RightsSettings,
    UriSettings,
    WallSettings,
)
from nacre.errors import URIError
from nacre.extract.settings import ExtractSettings
from nacre.fetch.cookie_jar import CookieSettings
from nacre.fetch.dns import DnsSettings
from nacre.fetch.guard import NetworkSettings
from nacre.fetch.identity import IdentitySettings
from nacre.fetch.settings import FetchSettings
from nacre.frontier.bandwidth import BandwidthSettings
from nacre.frontier.quota import QuotaSettings
from nacre.frontier.settings import FrontierSettings, PolitenessSettings, TrapSettings
from nacre.history.dedup import DedupSettings
from nacre.messages import error_text, message
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.settings import RecrawlSettings
from nacre.scope.robots_txt import RobotsSettings
from nacre.scope.rules.stock import AnyRule, stock_rules
from nacre.scope.seed_scope import ScopeKind
from nacre.scope.seeds import seed_line
from nacre.settings.chains import ChainSettings
from nacre.uri.parse import parse
from nacre.uri.surt import implied_prefix

WebhookEvent = Literal[
    "alert", "started", "paused", "resumed", "finished", "limit", "disk", "quota", "schedule",
    "changes",
]  # fmt: skip
"""Events that a webhook may receive."""


_LAST_PORT = 65_535


class ActionSettings(Component):
    """The action directory, `action/` of the job."""

    interval: Seconds = setting(
        30.0,
        "How often the action directory is read: first after 10 s at most, and once more before "
        "the crawl ends. 0: never.",
        unit="s",
        sheets=False,
    )


class CheckpointSettings(Component):
    """Automatic checkpoints; `nacre checkpoint` makes one at any time."""

    interval: Seconds = setting(
        0.0,
        "Time between two checkpoints; without a change since the last one, no checkpoint is "
        "made. 0: no timer.",
        unit="s",
        sheets=False,
    )
    on_stop: bool = setting(
        False, "Make a checkpoint when the crawl ends and can be resumed.", sheets=False
    )
    rotate_logs: bool = setting(
        False,
        "Begin new logs at each checkpoint, as Heritrix does: the old ones are renamed to "
        "`crawl.log.cp00001-20261120151100` and so on. The crawl waits meanwhile.",
        sheets=False,
    )
    keep: int = setting(
        0,
        "How many of the latest checkpoints are kept, besides those with a name. 0: all.",
        unit="checkpoints",
        ge=0,
        sheets=False,
    )


class WebhookSettings(Component):
    """Settings of the webhook that events are posted to, as JSON."""

    url: ServerAddress = setting(
        "", "http or https; an address in a private network is allowed. Empty: nowhere.",
        sheets=False, sample="https://ops.example/hooks/crawls",
    )  # fmt: skip
    secret: Secret = setting(
        Secret(),
        "Key of the signature (HMAC-SHA256), preferably `{env: NAME}` or `{file: PATH}`. Empty: "
        "none.",
        sheets=False,
        sample="{env: NACRE_WEBHOOK_SECRET}",
    )

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError(
                message(
                    "settings.webhook-scheme",
                    "the address of a webhook begins with http:// or https://",
                )
            )
        try:
            return parse(value) if value else value
        except URIError as error:
            raise ValueError(error_text(error)) from None


class AlertSettings(Component):
    """Settings of where alerts and other events are sent, besides alerts.log."""

    webhook: WebhookSettings = section(WebhookSettings, "Where it is posted.", sheets=False)
    on: tuple[WebhookEvent, ...] = setting(
        ("alert", "paused", "finished", "limit", "disk", "quota", "schedule"),
        "What is posted: every `alert`; `started`, `paused`, `resumed`, `finished`; the end at a "
        "`limit`; a pause or the end for lack of `disk` space; a pause for the reason `quota` or "
        "`schedule` (`nacre pause --reason`); `changes`: at the end of a run, its new, "
        "changed and deleted pages, if there are any.",
        sheets=False,
    )


class MetricsSettings(Component):
    """Metrics of a running crawl for Prometheus, at `/metrics` of a separate port."""

    listen: ListenAddress = setting(
        "",
        "Address and port, such as `127.0.0.1:9464`; a port alone is one of the loopback. Empty: "
        "none. Needs `prometheus-client`.",
        live=False,
        sheets=False,
        sample="127.0.0.1:9464",
    )
    public: Annotated[bool, NamedKind.LISTENER] = setting(
        False,
        "Other machines may read them: then `listen` may name an address that they reach. There "
        "is neither a login nor encryption.",
        live=False,
        sheets=False,
    )

    @property
    def address(self) -> tuple[str, int]:
        """Address and port of `listen`."""
        place, _, port = self.listen.rpartition(":")
        return place.strip("[]") or "127.0.0.1", int(port)

    @model_validator(mode="after")
    def _is_an_address(self) -> "MetricsSettings":
        if not self.listen:
            return self
        try:
            place, port = self.address
            is_loopback = ip_address(place).is_loopback
        except ValueError:
            raise ValueError(
                message(
                    "settings.listen-is-address-and-port",
                    "`listen` is an address and a port: 127.0.0.1:9464",
                )
            ) from None
        if not 1 <= port <= _LAST_PORT:
            raise ValueError(
                message(
                    "settings.ports-go",
                    "ports go from 1 to {last_port}; `listen` has {port}",
                    last_port=_LAST_PORT,
                    port=port,
                )
            )
        if not is_loopback and not self.public:
            raise ValueError(
                message(
                    "settings.public-metrics",
                    "other machines reach {listen}, and everybody there could read the metrics; "
                    "listen "
                    "at 127.0.0.1, or say `public: true`",
                    listen=self.listen,
                )
            )
        return self


class SheetAssociation(Component):
    """Sheets, and the URIs that they apply to: by SURT prefixes, or by rules that say ACCEPT.

    All prefixes that match count, the shortest first; then come the rules, in their order. For each
    property the last sheet wins. https counts as http.
    """

    sheets: tuple[str, ...] = setting(
        ..., "Names of the sheets, the strongest last.", min_length=1, sheets=False
    )
    surts: tuple[str, ...] = setting(
        (),
        "SURT prefixes, or URLs that imply them: `http://example.org` is the domain with all below "
        "it, `http://example.org/` this host only, `http://example.org/a/` all paths below it.",
        sheets=False,
    )
    surts_file: FileName = setting(
        "", "File with such prefixes, one a line, relative to the job. Empty: none.", sheets=False
    )
    rule: AnyRule | None = setting(None, "A DecideRule.", sheets=False)
    rules: tuple[AnyRule, ...] = setting(
        (), "Several: the last opinion wins, as in the scope.", sheets=False
    )
    order: int = setting(
        0, "Of associations by rules: later ones are stronger; equal ones as listed.", sheets=False
    )

    @property
    def all_rules(self) -> tuple[AnyRule, ...]:
        """`rule` or `rules`; empty for an association by prefixes."""
        return self.rules if self.rule is None else (self.rule,)

    @field_validator("surts")
    @classmethod
    def _readable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            try:
                implied_prefix(text.lstrip("+"))
            except URIError as error:
                raise ValueError(
                    message(
                        "settings.surt-prefix-format",
                        "{text!r} is neither a SURT prefix nor a URL: {error}",
                        text=text,
                        error=error,
                    )
                ) from None
        return value

    @model_validator(mode="after")
    def _one_kind(self) -> "SheetAssociation":
        has_kinds = [bool(self.surts or self.surts_file), self.rule is not None, bool(self.rules)]
        if sum(has_kinds) != 1:
            raise ValueError(
                message(
                    "settings.scope-part-missing", "needs one of: surts or surts_file; rule; rules"
                )
            )
        return self


class DiskSettings(Component):
    """Free disk space: without it the crawl pauses, and it resumes when there is space again."""

    reserve: Bytes = setting(
        0,
        "Free space to keep on every file system used, in addition to what Nacre needs.",
        unit="bytes",
        sheets=False,
    )
    max_wait: Seconds | None = setting(
        None,
        "Longest pause for space before the crawl stops (exit 5); none: no limit on a terminal, "
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
    """A seed with its own scope, as an item of a list of seeds."""

    url: str = setting(..., "The seed.")
    scope: ScopeKind = setting(ScopeKind.PREFIX, "How far its descendants may go.")
    depth: int = setting(0, "Navigational hops from it.", unit="hops", ge=0)


SeedText = Annotated[str, BeforeValidator(seed_line, json_schema_input_type=str | SeedWords)]


class JobSettings(Component):
    """All settings of a job."""

    name: str = setting(
        "", "Name of the job; empty: that of its directory.", live=False, sheets=False
    )
    seeds: tuple[SeedText, ...] | FileName = setting(
        "seeds.txt",
        "File of seeds, of any length, relative to the job (`.gz`: compressed), or a list of them: "
        "URLs, or `{url: URL, scope: host, depth: 2}` for a seed with its own scope.",
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
    traps: TrapSettings = section(TrapSettings, "Crawler traps.")
    politeness: PolitenessSettings = section(PolitenessSettings, "Politeness.")
    robots: RobotsSettings = section(RobotsSettings, "robots.txt.")
    fetch: FetchSettings = section(FetchSettings, "Fetching.")
    identity: IdentitySettings = section(IdentitySettings, "Signed requests.")
    network: NetworkSettings = section(NetworkSettings, "Addresses.")
    dns: DnsSettings = section(DnsSettings, "Names.")
    cookies: CookieSettings = section(CookieSettings, "Cookies.")
    extract: ExtractSettings = section(ExtractSettings, "Extraction.")
    browser: BrowserSettings = section(BrowserSettings, "Pages in a browser.")
    walls: WallSettings = section(WallSettings, "Replies that are no page of the site.")
    rights: RightsSettings = section(RightsSettings, "Preferences of sites.")
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
    alerts: AlertSettings = section(
        AlertSettings, "Notifications: events of the job that are posted to a webhook."
    )
    metrics: MetricsSettings = section(MetricsSettings, "Metrics.", sheets=False)
    cycle: CycleSettings = section(CycleSettings, "Batch rounds.", sheets=False)
    sheets: dict[str, dict[str, Any]] = setting(
        dict, "Sheets by name: other values for some URIs, by property path.", sheets=False
    )
    sheet_associations: tuple[SheetAssociation, ...] = setting(
        (), "Which sheets apply to which URIs.", sheets=False
    )
