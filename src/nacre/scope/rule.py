"""The rule protocol: three-valued opinions, the last one wins, and the answer names its rule."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from nacre.uri.surt import scope_surt


class Decision(StrEnum):
    """A rule's opinion. A final NONE is not accepted."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    NONE = "NONE"


class Subject(msgspec.Struct, gc=False):
    """What a rule may know of a URI before it is fetched.

    Attributes:
        url: Absolute and normalised.
        path: Hop path, its own hop included; "" for a seed.
        via: The page that it was found on; "" for a seed.
        context: Link context.
        is_seed: A seed, or the redirect target of one.
        source: Source tag.
    """

    url: str
    path: str = ""
    via: str = ""
    context: str = ""
    is_seed: bool = False
    source: str = ""

    @property
    def surt(self) -> str:
        """SURT for prefix matching; https counts as http."""
        return scope_surt(self.url)


Predicate = Callable[[Subject], bool]


def always(_: Subject) -> bool:
    """The test of a rule that always speaks: what stands before it does not matter."""
    return True


def never(_: Subject) -> bool:
    """The test of a rule that is disabled, or that cannot speak as it is configured."""
    return False


class Opinion(NamedTuple):
    """One rule, built: its name for logs, what it says when its test is true, and the test."""

    name: str
    decision: Decision
    test: Predicate


class Verdict(NamedTuple):
    """The answer of a scope: the decision, and the name of the rule that gave it."""

    decision: Decision
    rule: str

    @property
    def accepted(self) -> bool:
        """Only ACCEPT lets a URI in."""
        return self.decision is Decision.ACCEPT


NO_RULE = "(no rule)"


class Scope:
    """An ordered list of rules; the last opinion wins.

    The rules are tried from the last to the first, which gives the same answer and stops early.

    Attributes:
        opinions: Every rule that was configured, in order; those that never speak too.
    """

    def __init__(self, opinions: Sequence[Opinion]) -> None:
        self.opinions = tuple(opinions)
        self._default = Verdict(Decision.NONE, NO_RULE)
        steps: list[tuple[Predicate, Verdict]] = []
        for name, decision, test in reversed(self.opinions):
            if test is always:
                self._default = Verdict(decision, name)
                break
            if test is not never:
                steps.append((test, Verdict(decision, name)))
        self._steps = tuple(steps)

    def decide(self, subject: Subject) -> Verdict:
        """The last opinion that is not NONE, and its rule."""
        for test, verdict in self._steps:
            if test(subject):
                return verdict
        return self._default

    def trace(self, subject: Subject) -> list[Verdict]:
        """Each rule's opinion, one for each of `opinions`, NONE included, for `nacre explain`."""
        return [
            Verdict(opinion.decision if opinion.test(subject) else Decision.NONE, opinion.name)
            for opinion in self.opinions
        ]
