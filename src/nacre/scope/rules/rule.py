"""The base of all DecideRules, their registry, and the two rules that always speak."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema, field_validator

from nacre.config.component import Component, ComponentRegistry, setting
from nacre.messages import message
from nacre.scope.heritrix import short_form
from nacre.scope.scope import Decision, Opinion, Predicate, SequenceLog, always, never
from nacre.scope.seed_scope import ScopeKind
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need, Subject


class Build:
    """One compilation of rules.

    Args:
        state: What changes while they run.
        offers: Facts that the place of the rules has.

    Attributes:
        marks: Tests that mark URIs.
        logs: Sequences that log.
    """

    def __init__(self, state: ScopeState, offers: Need = Need.NOTHING) -> None:
        self.state = state
        self.offers = offers
        self.marks: list[Callable[[Subject], bool]] = []
        self.logs: list[SequenceLog] = []


class Rule(Component):
    """The settings of one rule. `build` makes its test for a running scope."""

    heritrix: ClassVar[str] = ""
    """Heritrix's class name; "" if it has no such rule."""

    enabled: bool = setting(True, "False leaves the rule out.")
    comment: str = setting("", "Free text for the operator.")
    name: str = setting(
        "",
        "Its name in paths, `scope.NAME.max_hops`, and in logs. Empty: the word of its kind where "
        "no other rule of the list has it, else its number from 0.",
        pattern=r"^[^.]*$",
        live=False,
        sheets=False,
    )

    @classmethod
    def chosen(cls, value: object) -> "type[Component]":
        """Return the rule that a mapping of a configuration means; this one when it names none."""
        name = value.get("rule") if isinstance(value, Mapping) else None
        return (RULES.find(name) if isinstance(name, str) else None) or cls

    @property
    def label(self) -> str:
        """The name of the rule in logs and explanations."""
        name = self.name or self.rule_name
        return name + (f" ({self.comment})" if self.comment else "")

    @property
    def rule_name(self) -> str:
        """The short name by which a configuration chooses it."""
        return str(getattr(self, "rule", ""))

    @property
    def kind(self) -> str:
        """Heritrix's class name, for logs; the rule's short name if there is none."""
        return self.heritrix or self.rule_name

    @property
    def needs(self) -> Need:
        """The data that the rule needs beside the URI."""
        return Need.NOTHING

    @property
    def asks_origin(self) -> bool:
        """Its answer depends on where the URI was found, not only on the URL and its hop path."""
        return False

    @property
    def parts(self) -> "Sequence[Rule]":
        """Rules within this one."""
        return ()

    @property
    def seed_scope(self) -> ScopeKind | None:
        """The reach of descendants of every seed by the rule; None when it is about other things.

        After the first such rule of a scope, the own scopes of seeds apply.
        """
        return None

    @property
    @abstractmethod
    def says(self) -> Decision:
        """The decision of the rule when its test is true; NONE when it may be either."""

    @abstractmethod
    def build(self, state: ScopeState) -> Predicate:
        """Return the rule's test; `always` or `never` where that is so."""

    def test(self, build: Build) -> Predicate:
        """Build the test: never true if the rule is disabled or a fact that it needs is missing."""
        if not self.enabled or self.needs not in build.offers:
            return never
        return self.build(build.state)

    def opinions(self, build: Build, depth: int = 0) -> list[Opinion]:
        """Build the rule; a disabled rule never decides."""
        return [Opinion(self.label, self.says, self.test(build), depth, self.kind)]


class Predicated(Rule):
    """A rule that decides `decision` if its test is true, and has no opinion otherwise."""

    decision: Decision = setting(Decision.ACCEPT, "The decision of the rule: ACCEPT or REJECT.")

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return self.decision

    @field_validator("decision", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("decision")
    @classmethod
    def _an_answer(cls, value: Decision) -> Decision:
        if value is Decision.NONE:
            raise ValueError(
                message(
                    "scope.rule-says-accept-or-reject",
                    "a rule says ACCEPT or REJECT; to silence it write `enabled: false`",
                )
            )
        return value


class Accept(Rule):
    """Accepts every URI."""

    heritrix = "AcceptDecideRule"
    rule: Literal["accept"] = "accept"

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return Decision.ACCEPT

    @property
    def seed_scope(self) -> ScopeKind | None:
        """See `Rule.seed_scope`."""
        return ScopeKind.ANY

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return always


class Reject(Rule):
    """Rejects every URI. Put it first in a scope that lists accepted URIs."""

    heritrix = "RejectDecideRule"
    rule: Literal["reject"] = "reject"

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return Decision.REJECT

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return always


class RuleRegistry(ComponentRegistry[Rule]):
    """Rules by their short names; Heritrix's classes and settings become Nacre's."""

    def __init__(self) -> None:
        shape = message(
            "scope.rule-shape", "it is a mapping that begins with its name, such as `rule: accept`"
        )
        # `Rule` is abstract; it is used for `isinstance` only.
        super().__init__(Rule, "rule", shape)  # type: ignore[type-abstract]

    def spelled(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        """See `ComponentRegistry.spelled`."""
        return short_form(value)


RULES = RuleRegistry()
"""The rules of this process."""


IN_SCHEMA = "x-nacre-rule"
"""Placeholder of a rule in a JSON Schema, until its maker puts all rules there."""

AnyRule = Annotated[
    Rule,
    PlainValidator(RULES.read),
    SerializeAsAny(),
    WithJsonSchema({IN_SCHEMA: True}),
]
"""A rule of a configuration, chosen by its short name or Heritrix's class name."""
