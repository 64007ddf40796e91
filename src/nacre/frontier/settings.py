"""The settings of the frontier: politeness, traps, order, budgets and retries.

A policy of queue assignment or precedence is a name alone, or a mapping of a `policy` and its
parameters; Heritrix's class names are understood. Source: Heritrix 3.
"""

from typing import Any, ClassVar, Literal

from pydantic import GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from nacre.config.component import Component, FileName, Seconds, section, setting
from nacre.messages import message

CostPolicy = Literal["unit", "zero", "wag", "anti-calendar"]
"""Names of the cost policies (`policy.cost_of`)."""


class PolicyChoice(Component):
    """A policy by name, with its parameters.

    Attributes:
        aliases: Heritrix's class names, and the names here.
        uses: For each policy the parameters that mean something to it, of those that not all have.
    """

    kind_key: ClassVar[str] = "policy"
    aliases: ClassVar[dict[str, str]] = {}
    uses: ClassVar[dict[str, frozenset[str]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if isinstance(value, str):
            value = {"policy": value}
        if isinstance(value, dict) and isinstance(value.get("policy"), str):
            return {**value, "policy": cls.aliases.get(value["policy"], value["policy"])}
        return value

    @model_validator(mode="after")
    def _check_uses(self) -> "PolicyChoice":
        special = frozenset().union(*self.uses.values()) if self.uses else frozenset()
        chosen = str(self.__dict__["policy"])
        idle = sorted((self.model_fields_set & special) - self.uses.get(chosen, frozenset()))
        idle = [name for name in idle if self._differs(name)]
        if idle:
            raise ValueError(
                message(
                    "frontier.means-nothing-to-policy",
                    "{names}: means nothing to the policy {chosen}",
                    names=", ".join(idle),
                    chosen=chosen,
                )
            )
        return self

    def _differs(self, name: str) -> bool:
        """A default written out is not a mistake."""
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a name alone will do."""
        full = handler.resolve_ref_schema(handler(schema))
        names = full.get("properties", {}).get("policy", {}).get("enum", [])
        return {"anyOf": [{"type": "string", "enum": [*names, *cls.aliases]}, {**full}]}


class QueueAssignment(PolicyChoice):
    """The queue of a URI: the URIs of a queue are fetched one after the other."""

    aliases: ClassVar[dict[str, str]] = {
        "SurtAuthorityQueueAssignmentPolicy": "surt-authority",
        "SurtAuthorityQueueAssignmentPolicyWithLimits": "surt-authority",
        "HostnameQueueAssignmentPolicy": "hostname",
        "HostnameQueueAssignmentPolicyWithLimits": "hostname",
        "AssignmentLevelSurtQueueAssignmentPolicy": "assignment-level-surt",
        "TopmostAssignedSurtQueueAssignmentPolicy": "assignment-level-surt",
        "IPQueueAssignmentPolicy": "ip",
        "BucketQueueAssignmentPolicy": "bucket",
    }
    uses: ClassVar[dict[str, frozenset[str]]] = {
        "surt-authority": frozenset({"labels"}),
        "hostname": frozenset({"labels"}),
        "bucket": frozenset({"buckets"}),
    }

    policy: Literal["surt-authority", "hostname", "assignment-level-surt", "ip", "bucket"] = (
        setting(
            "surt-authority",
            "`surt-authority`: host and explicit port; `hostname`: the same, but https apart from "
            "http; `assignment-level-surt`: registered domain; `ip`: address, once it is known; "
            "`bucket`: hash of the address.",
        )
    )
    labels: int = setting(
        0,
        "Labels of the host that count, from the top (2: `com,example,`); 0 for all. Public "
        "suffixes are not considered; `assignment-level-surt` considers them.",
        unit="labels",
        ge=0,
    )
    buckets: int = setting(1021, "Number of buckets.", unit="queues", ge=1, le=65536)
    force: str = setting(
        "",
        "Put every URI into this queue, whatever the policy; meant for sheets. Empty: the "
        "policy decides.",
    )
    defer_to_previous: bool = setting(
        True,
        "A URI stays in its queue when the settings change later; false: it is moved when its "
        "turn comes. `ip` and `bucket` always move it once the address is known.",
    )
    parallel_queues: int = setting(
        1,
        "Split each queue into this many, each with its own politeness: the site gets that many "
        "times as many requests. Use it only if the owner of the site agrees.",
        unit="queues",
        ge=1,
        le=1024,
    )
    parallel_by: Literal["path", "url"] = setting(
        "path",
        "The part of the URL that is hashed: the first directory of the path, or the whole URL.",
    )

    @field_validator("force")
    @classmethod
    def _check_force(cls, value: str) -> str:
        if value and not value.isprintable():
            raise ValueError(
                message(
                    "frontier.queue-key-characters",
                    "a queue key has printable characters only",
                )
            )
        if any(character.isspace() for character in value):
            raise ValueError(
                message("frontier.queue-key-has-no-spaces", "a queue key has no spaces")
            )
        return value


class UriPrecedence(PolicyChoice):
    """The place of a URI in its queue, within its directive: lower goes first."""

    aliases: ClassVar[dict[str, str]] = {
        "CostUriPrecedencePolicy": "cost",
        "BaseUriPrecedencePolicy": "base",
        "HopsUriPrecedencePolicy": "hops",
        "PreloadedUriPrecedencePolicy": "preloaded",
    }
    uses: ClassVar[dict[str, frozenset[str]]] = {
        "base": frozenset({"base"}),
        "hops": frozenset({"base", "navlinks_only"}),
        "preloaded": frozenset({"base", "file"}),
    }

    policy: Literal["cost", "base", "hops", "preloaded"] = setting(
        "cost",
        "`cost`: its cost; `base`: always `base`; `hops`: `base` and its hops; `preloaded`: its "
        "precedence in `file`, else `base`.",
    )
    base: int = setting(1, "The precedence to start from.", ge=0, le=127)
    file: FileName = setting(
        "",
        "For `preloaded`: a file of lines `URL precedence`, relative to the job; .gz and .bz2 too. "
        "It is read once, when the crawl starts or the setting changes.",
    )
    navlinks_only: bool = setting(True, "Count links (L) only, not embeds and redirects.")


class QueuePrecedence(PolicyChoice):
    """The precedence of a queue: queues with lower values are activated first."""

    aliases: ClassVar[dict[str, str]] = {
        "BaseQueuePrecedencePolicy": "base",
        "HighestUriQueuePrecedencePolicy": "highest-uri",
        "SuccessCountsQueuePrecedencePolicy": "success-counts",
    }
    uses: ClassVar[dict[str, frozenset[str]]] = {"success-counts": frozenset({"increments"})}

    policy: Literal["base", "highest-uri", "success-counts"] = setting(
        "base",
        "`base`: always `base`; `highest-uri`: `base` plus the lowest precedence of its URIs; "
        "`success-counts`: `base`, and one more for each of `increments`.",
    )
    base: int = setting(3, "The precedence to start from.", ge=0, le=255)
    increments: tuple[int, ...] = setting(
        (100, 1000),
        "Successes after which the precedence of a queue increases by one; the last number "
        "repeats.",
        unit="URIs",
        min_length=1,
    )

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        return {"base": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("increments", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:  # noqa: ANN401 - any YAML value
        return value.split(",") if isinstance(value, str) else value

    @field_validator("increments")
    @classmethod
    def _check_increments(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if min(value) < 1:
            raise ValueError(
                message("frontier.one-success-a-step", "each step takes one success at least")
            )
        return value


class PolitenessSettings(Component):
    """Settings of how long a queue waits between two fetches."""

    delay_factor: float = setting(
        5.0, "The wait is this many times the duration of the last fetch.", ge=0
    )
    min_delay: Seconds = setting(3.0, "Shortest wait computed from the duration.", unit="s")
    max_delay: Seconds = setting(
        30.0,
        "Longest wait computed from the duration, also when the latency rises; it takes "
        "precedence over min_delay.",
        unit="s",
    )
    delay: Seconds | None = setting(
        None,
        "Fixed wait between two fetches from a host; None: `delay_factor`, `min_delay` and "
        "`max_delay` apply. Use 0 only with the consent of the site.",
        unit="s",
    )
    respect_crawl_delay_up_to: Seconds = setting(
        300.0, "Crawl-delay of robots.txt increases the wait, up to this; 0 ignores it.", unit="s"
    )
    respect_retry_after_up_to: Seconds = setting(
        3600.0, "Retry-After of a reply increases the wait, up to this; 0 ignores it.", unit="s"
    )
    backoff_up_to: Seconds = setting(
        300.0,
        "429 and 503 increase the wait, up to this. Rising latency increases it, too, but only up "
        "to max_delay. 0 switches both off.",
        unit="s",
    )
    group_by: Literal["address", "domain", "none"] = setting(
        "address",
        "Queues that wait for each other as if they were one: those whose hosts have an `address` "
        "in common, those of one registered `domain`, or `none`.",
    )
    shared_slots: bool = setting(
        True,
        "Jobs of one user on one machine that fetch from the same host take turns, by "
        "`~/.cache/nacre/slots`, and observe the delay together. Queues with a delay of 0 do "
        "not.",
        live=False,
        sheets=False,
    )
    in_flight: int = setting(1, "Parallel fetches of one queue.", unit="URIs", ge=1)


class TrapSettings(Component):
    """Crawler traps: calendars, sessions in URLs, all combinations of a shop's filters."""

    learn: bool = setting(
        True,
        "Learn while crawling which links lead to nothing new, and fetch them after all others. "
        "No link is rejected for this. Incremental runs have `recrawl.trap_share`.",
    )
    budget: int = setting(
        100,
        "URLs of endless kinds that each queue fetches when nothing else is left; then the run "
        "ends. 0 for none, -1 for no limit (`nacre run --traps`).",
        unit="URLs",
        ge=-1,
    )


class FrontierSettings(Component):
    """Order, budgets and retries."""

    balance_replenish: int = setting(
        3000,
        "Cost that a queue may spend in a turn, before the next inactive queue is activated; 0 "
        "for no rotation.",
        unit="cost",
        ge=0,
    )
    queue_total_budget: int = setting(
        -1, "Cost that a queue may spend in all before it is retired; -1 for no limit.", unit="cost"
    )
    force_retire: bool = setting(
        False, "Retire the queue: nothing in it is fetched. Meant for sheets."
    )
    error_penalty: int = setting(
        100,
        "Cost of a final failure for its queue, in addition to the cost of the fetch.",
        unit="cost",
        ge=0,
    )
    cost: CostPolicy = setting(
        "unit",
        "Cost of a fetch. `unit`: 1; `zero`: 0, which switches the budgets off; `wag`: 1, 1 "
        "more for a query, another 1 more if the page with the link begins the same; "
        "`anti-calendar`: 1, 1 more for a URL that looks like a calendar's.",
    )
    queue_assignment: QueueAssignment = section(QueueAssignment, "Which queue a URI goes to.")
    uri_precedence: UriPrecedence = section(UriPrecedence, "The place of a URI in its queue.")
    queue_precedence: QueuePrecedence = section(QueuePrecedence, "When a queue has its turn.")
    precedence_floor: int = setting(
        255, "Queues of this precedence and above are never activated.", sheets=False, ge=0, le=255
    )
    preference_embed_hops: int = setting(
        1,
        "URIs at most this many embed hops from a page are fetched before its links; 0 for none.",
        ge=0,
    )
    preference_depth_hops: int = setting(
        -1,
        "URIs within this many hops are fetched first; 0 for all, depth first; -1 for none.",
        ge=-1,
    )
    max_retries: int = setting(
        30, "Tries of a URI without a connection (-1 to -4).", unit="tries", ge=1
    )
    retry_delay: Seconds = setting(
        60.0, "Wait before the first retry; doubled each time.", unit="s"
    )
    retry_delay_max: Seconds = setting(900.0, "Longest wait before a retry.", unit="s")
    throttled_retries: int = setting(
        5, "Retries after a reply 429 or 503, before the reply is stored.", unit="tries", ge=0
    )
    throttled_wait_max: Seconds = setting(
        3600.0, "Longest wait of a queue that answered 429 or 503.", unit="s"
    )
    truncated_retries: int = setting(
        2, "Retries of a truncated body, before it is stored.", unit="tries", ge=0
    )
    last_tries: int = setting(
        3, "Further tries when only retries are left.", unit="tries", sheets=False, ge=1
    )
    last_tries_within: Seconds = setting(
        600.0,
        "Time for the last tries; URIs without success by then have failed.",
        unit="s",
        sheets=False,
    )
    last_extras_within: Seconds = setting(
        30.0,
        "Time for one more try of embeds and guesses, and of the robots.txt that only they "
        "need, when only retries are left.",
        unit="s",
        sheets=False,
    )
    recovery_log: bool = setting(
        False,
        "Write what happens to each URI to frontier.recover.gz, as Heritrix does, for other "
        "crawlers; Nacre itself does not need it.",
        live=False,
        sheets=False,
    )
    max_queues_in_memory: int = setting(
        50_000,
        "Queues kept in memory; the others stay in the store.",
        unit="queues",
        live=False,
        sheets=False,
        ge=16,
    )
    recent_keys: int = setting(
        16_777_216,
        "URIs remembered in memory to avoid look-ups, 7 bytes each; the memory grows with the "
        "number of known URIs. 0 for almost none.",
        unit="URIs",
        live=False,
        sheets=False,
        ge=0,
    )
