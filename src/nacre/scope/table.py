"""The rules that a configuration can name: Nacre's own, and those of plug-ins."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema

from nacre.config.kinds import KindTable
from nacre.scope.decide import Rule
from nacre.scope.heritrix import short_form


class RuleTable(KindTable[Rule]):
    """Rules by their short names; Heritrix's classes and settings become Nacre's."""

    def __init__(self) -> None:
        shape = "it is a mapping that begins with its name, such as `rule: accept`"
        # `Rule` is abstract; it is only asked whether something is one.
        super().__init__(Rule, Rule.kinds, "rule", shape)  # type: ignore[type-abstract]

    def spelled(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        """See `KindTable.spelled`."""
        return short_form(value)


RULES = RuleTable()
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
