"""What all DecideRules have, and the two that always speak. Source: reference/heritrix.md 1.3."""

from abc import abstractmethod
from typing import Literal

from pydantic import field_validator

from nacre.config.component import Component, setting
from nacre.scope.rule import Decision, Opinion, Predicate, always, never
from nacre.scope.state import ScopeState


class Rule(Component):
    """The settings of one rule. `opinion` builds it for a running scope."""

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

    @property
    def label(self) -> str:
        """How the rule is named in logs and explanations."""
        name = self.name or str(getattr(self, "rule", ""))
        return name + (f" ({self.comment})" if self.comment else "")

    @property
    @abstractmethod
    def says(self) -> Decision:
        """What the rule says when its test is true."""

    @abstractmethod
    def build(self, state: ScopeState) -> Predicate:
        """The rule's test; `always` or `never` where that is so."""

    def opinion(self, state: ScopeState) -> Opinion:
        """The rule, built; one that is disabled never speaks."""
        return Opinion(self.label, self.says, self.build(state) if self.enabled else never)


class Predicated(Rule):
    """A rule that says `decision` when its test is true, and nothing otherwise."""

    decision: Decision = setting(Decision.ACCEPT, "What it says: ACCEPT or REJECT.")

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return self.decision

    @field_validator("decision", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value


class Accept(Rule):
    """Says ACCEPT to everything."""

    rule: Literal["accept", "AcceptDecideRule"] = "accept"

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return Decision.ACCEPT

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return always


class Reject(Rule):
    """Says REJECT to everything: the start of a scope that lists what it wants."""

    rule: Literal["reject", "RejectDecideRule"] = "reject"

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return Decision.REJECT

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return always
