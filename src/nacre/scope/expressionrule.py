"""The DecideRule that asks an expression: the place of Heritrix's scripts."""

from typing import Literal

from pydantic import field_validator

from nacre.config.component import setting
from nacre.scope.decide import Predicated
from nacre.scope.language.parser import parse_expression
from nacre.scope.rule import Need, Predicate
from nacre.scope.state import ScopeState


class ExpressionRule(Predicated):
    """The expression is true of the URI. Its language, in scope.md, cannot run code."""

    heritrix = "ExpressionDecideRule"
    rule: Literal["expression"] = "expression"
    expression: str = setting(
        ..., "Such as `host endswith '.example.org' and not path startswith '/old/'`."
    )

    @field_validator("expression")
    @classmethod
    def _understood(cls, value: str) -> str:
        parse_expression(value)
        return value

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return parse_expression(self.expression).needs

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return parse_expression(self.expression).asks_origin

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return parse_expression(self.expression).build(state)
