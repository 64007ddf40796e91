"""DecideRules made of rules: a negation, and a sequence within a sequence."""

import re
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Literal

from pydantic import field_validator

from nacre.config.component import setting
from nacre.messages import message
from nacre.scope.rules.rule import AnyRule, Build, Rule
from nacre.scope.scope import Decision, Opinion, Predicate, SequenceLog, always, never
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need

_LOG_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Not(Rule):
    """Has the decision of its rule for URIs that its rule does not match."""

    rule: Literal["not"] = "not"
    of: AnyRule = setting(..., "The rule whose test is turned round; it keeps its `decision`.")

    @field_validator("of")
    @classmethod
    def _has_a_test(cls, value: Rule) -> Rule:
        if value.says is Decision.NONE:
            raise ValueError(
                message(
                    "scope.can-accept-and-reject",
                    "`{rule_name}` can accept and reject, so it cannot be negated; negate the "
                    "rules "
                    "within it",
                    rule_name=value.rule_name,
                )
            )
        return value

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return self.of.says

    @property
    def label(self) -> str:
        """See `Rule.label`."""
        name = self.name or f"not {self.of.label}"
        return name + (f" ({self.comment})" if self.comment else "")

    @property
    def kind(self) -> str:
        """See `Rule.kind`."""
        below = self.of.kind
        return f"Not{below}" if below[:1].isupper() else f"not {below}"

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return self.of.needs

    @property
    def parts(self) -> Sequence[Rule]:
        """See `Rule.parts`."""
        return (self.of,)

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        if not self.of.enabled:
            return never
        test = self.of.build(state)
        if test is always:
            return never
        return always if test is never else lambda subject: not test(subject)


class RuleSequence(Rule):
    """A list of rules as one rule: its decision is the last decision in the list."""

    heritrix = "DecideRuleSequence"
    rule: Literal["sequence"] = "sequence"
    rules: tuple[AnyRule, ...] = setting((), "The rules, in order; an empty list never matches.")
    log_to_file: bool = setting(False, "Write its decisions to `logs/<name>.log`.")
    log_extra_info: bool = setting(
        False, "Append host, via, seed and hop path to each line of that log, as JSON."
    )
    feed: bool = setting(
        False, "Write its decisions to `logs/<name>.jsonl`, one JSON object a line."
    )

    @field_validator("name")
    @classmethod
    def _names_a_file(cls, value: str) -> str:
        if value and not _LOG_NAME.fullmatch(value):
            raise ValueError(
                message(
                    "scope.sequence-name",
                    "the name of a sequence names its log: letters, digits, `.`, `_`, `-`",
                )
            )
        return value

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return Decision.NONE

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return reduce(or_, (rule.needs for rule in self.rules if rule.enabled), Need.NOTHING)

    @property
    def parts(self) -> Sequence[Rule]:
        """See `Rule.parts`."""
        return self.rules

    def build(self, state: ScopeState) -> Predicate:
        """Only its rules have tests."""
        return never

    def opinions(self, build: Build, depth: int = 0) -> list[Opinion]:
        """Return its head, and the opinions of its rules, one deeper."""
        head = Opinion(self.label, Decision.NONE, never, depth, self.kind)
        numbered = sequence_of(self.rules, build, depth + 1)
        if not self.enabled:
            numbered = [(number, opinion._replace(test=never)) for number, opinion in numbered]
        elif self.log_to_file or self.feed:
            name = self.name or self.rule_name
            build.logs += [
                sequence_log(name, self.rules, numbered, extra=self.log_extra_info, feed=feed)
                for feed, is_enabled in ((False, self.log_to_file), (True, self.feed))
                if is_enabled
            ]
        return [head, *(opinion for _, opinion in numbered)]


def sequence_of(rules: Sequence[Rule], build: Build, depth: int = 0) -> list[tuple[int, Opinion]]:
    """Return the opinions of rules in order, each with the number of its rule."""
    return [
        (number, opinion)
        for number, rule in enumerate(rules)
        for opinion in rule.opinions(build, depth)
    ]


def sequence_log(
    name: str,
    rules: Sequence[Rule],
    opinions: Sequence[tuple[int, Opinion]],
    *,
    extra: bool,
    feed: bool = False,
) -> SequenceLog:
    """Return the log of a sequence, from its rules and their opinions of `sequence_of`."""
    owners = tuple((number, rules[number].kind) for number, _ in opinions)
    return SequenceLog(name, extra, feed, tuple(opinion for _, opinion in opinions), owners)
