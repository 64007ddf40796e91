"""The rules that a configuration can name: Nacre's own, and those of plug-ins."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema

from nacre.scope.decide import Rule
from nacre.scope.heritrix import short_form


class RuleTable:
    """Rules by their short names."""

    def __init__(self) -> None:
        self._kinds = Rule.kinds
        self._more: Callable[[], Iterable[type[Rule] | str]] | None = None
        self._faults: list[str] = []

    def __iter__(self) -> Iterator[type[Rule]]:
        return iter(self._kinds.values())

    def add(self, *kinds: type[Rule]) -> None:
        """Let configurations name these rules.

        Raises:
            ValueError: One has no `rule` with a default, or its name is taken.
        """
        for kind in kinds:
            field = kind.model_fields.get("rule")
            name = field.default if field is not None else None
            if not isinstance(name, str):
                raise _no_rule(f'{kind.__qualname__} needs a field `rule: Literal["…"] = "…"`')
            if self._kinds.get(name, kind) is not kind:
                raise ValueError(f"there is a rule {name!r} already")
            self._kinds[name] = kind

    def when_missing(self, more: Callable[[], Iterable[type[Rule] | str]]) -> None:
        """Ask for the rules of plug-ins once a configuration names a rule that is not known.

        Args:
            more: The rules; a text says why a plug-in cannot be used.
        """
        self._more = more
        self._faults.clear()

    def load(self) -> None:
        """Ask for them now."""
        more, self._more = self._more, None
        for offer in more() if more is not None else ():
            try:
                if isinstance(offer, str):
                    self._faults.append(offer)
                else:
                    self.add(offer)
            except ValueError as error:
                self._faults.append(f"the plug-in {offer}: {error}")

    def _found(self, name: object) -> type[Rule] | None:
        if not isinstance(name, str):
            return None
        if name not in self._kinds:
            self.load()
        return self._kinds.get(name)

    def read(self, value: object) -> Rule:
        """A rule from what a configuration says.

        Raises:
            ValueError: It is none, or its settings are wrong.
        """
        if isinstance(value, Rule):
            return value
        if isinstance(value, str):
            value = {"rule": value}
        if not isinstance(value, Mapping):
            raise _no_rule("it is a mapping that begins with its name, such as `rule: accept`")
        said: dict[str, Any] = short_form(value)
        name = said.get("rule")
        kind = self._found(name)
        if kind is None:
            raise ValueError(self._unknown(name))
        return kind.model_validate(said)

    def _unknown(self, name: object) -> str:
        if name is None:
            return "it says no `rule`, the name of the rule"
        near = difflib.get_close_matches(str(name), self._kinds, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "one of: " + ", ".join(sorted(self._kinds))
        return "; ".join((f"there is no rule {str(name)!r}; {hint}", *self._faults))


def _no_rule(why: str) -> ValueError:
    # Pydantic collects ValueErrors; a TypeError would end the whole check.
    return ValueError(f"not a rule: {why}")


RULES = RuleTable()
"""The rules of this process."""


IN_SCHEMA = "x-nacre-rule"
"""What stands for a rule in a JSON Schema, until whoever makes it puts all rules in its place."""

AnyRule = Annotated[
    Rule,
    PlainValidator(RULES.read),
    SerializeAsAny(),
    WithJsonSchema({IN_SCHEMA: True}),
]
"""A rule of a configuration, chosen by its short name or Heritrix's class name."""
