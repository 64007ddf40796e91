"""What an operator may choose about order: queue assignment, precedences.

Each is a name alone, or a mapping of a `policy` and its parameters. Heritrix's class names are
understood. Source: Heritrix 3.
"""

from typing import Any, ClassVar, Literal

from pydantic import GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from nacre.config.component import Component, setting


class Choice(Component):
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
    def _check_uses(self) -> "Choice":
        special = frozenset().union(*self.uses.values()) if self.uses else frozenset()
        chosen = str(self.__dict__["policy"])
        idle = sorted((self.model_fields_set & special) - self.uses.get(chosen, frozenset()))
        idle = [name for name in idle if self._differs(name)]
        if idle:
            raise ValueError(f"{', '.join(idle)}: means nothing to the policy {chosen}")
        return self

    def _differs(self, name: str) -> bool:
        """A default written out is no mistake."""
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """A name alone will do."""
        full = handler.resolve_ref_schema(handler(schema))
        names = full.get("properties", {}).get("policy", {}).get("enum", [])
        return {"anyOf": [{"type": "string", "enum": [*names, *cls.aliases]}, {**full}]}


class QueueAssignment(Choice):
    """Which queue a URI goes to: what shares a queue is fetched one after the other."""

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
        "suffixes play no part: `assignment-level-surt` knows them.",
        unit="labels",
        ge=0,
    )
    buckets: int = setting(1021, "Number of buckets.", unit="queues", ge=1, le=65536)
    force: str = setting(
        "",
        "Put every URI into this queue, whatever the policy says; meant for sheets. Empty: "
        "the policy decides.",
    )
    defer_to_previous: bool = setting(
        True,
        "A URI stays in the queue it was put into, also when the settings change later; false "
        "moves it when its turn comes. `ip` and `bucket` always move it once the address is "
        "known.",
    )
    parallel_queues: int = setting(
        1,
        "Split each queue into this many, each with its own politeness: the site is asked that "
        "many times as often. Only where its owner agrees.",
        unit="queues",
        ge=1,
        le=1024,
    )
    parallel_by: Literal["path", "url"] = setting(
        "path", "What the split goes by: first directory of the path, or the whole URL."
    )

    @field_validator("force")
    @classmethod
    def _check_force(cls, value: str) -> str:
        if value and not value.isprintable():
            raise ValueError("a queue key has printable characters only")
        if any(character.isspace() for character in value):
            raise ValueError("a queue key has no spaces")
        return value


class UriPrecedence(Choice):
    """Where a URI stands in its queue, within its directive: lower goes first."""

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
        "`cost`: its cost; `base`: always `base`; `hops`: `base` and its hops; `preloaded`: what "
        "`file` gives it, else `base`.",
    )
    base: int = setting(1, "Where the count begins.", ge=0, le=127)
    file: str = setting(
        "",
        "For `preloaded`: a file of lines `URL precedence`, relative to the job; .gz and .bz2 too. "
        "It is read once, when the crawl starts or the setting changes.",
    )
    navlinks_only: bool = setting(True, "Count links (L) only, not embeds and redirects.")


class QueuePrecedence(Choice):
    """When a queue has its turn: lower ones are activated first."""

    aliases: ClassVar[dict[str, str]] = {
        "BaseQueuePrecedencePolicy": "base",
        "HighestUriQueuePrecedencePolicy": "highest-uri",
        "SuccessCountsQueuePrecedencePolicy": "success-counts",
    }
    uses: ClassVar[dict[str, frozenset[str]]] = {"success-counts": frozenset({"increments"})}

    policy: Literal["base", "highest-uri", "success-counts"] = setting(
        "base",
        "`base`: always `base`; `highest-uri`: `base` and the lowest precedence of its URIs; "
        "`success-counts`: `base`, and one more for each of `increments`.",
    )
    base: int = setting(3, "Where the count begins.", ge=0, le=255)
    increments: tuple[int, ...] = setting(
        (100, 1000),
        "Successes after which a queue steps back by one; the last number repeats.",
        unit="URIs",
        min_length=1,
    )

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        return {"base": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("increments", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:  # noqa: ANN401 - what YAML gives
        return value.split(",") if isinstance(value, str) else value

    @field_validator("increments")
    @classmethod
    def _check_increments(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if min(value) < 1:
            raise ValueError("each step takes one success at least")
        return value
