"""The rule protocol: three-valued opinions, the last one wins, and the answer names its rule."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from nacre.uri.surt import scope_surt


class Decision(StrEnum):
    """A rule's opinion. A final NONE is not accepted."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    NONE = "NONE"


class Subject:
    """What a rule may know of a URI before it is fetched.

    Attributes:
        url: Absolute and normalised.
        path: Hop path, its own hop included; "" for a seed.
        via: The page that it was found on; "" for a seed.
        context: Link context.
        is_seed: A seed, or the redirect target of one.
        source: Source tag.
    """

    __slots__ = ("_surt", "context", "is_seed", "path", "source", "url", "via")

    def __init__(
        self,
        url: str,
        path: str = "",
        via: str = "",
        context: str = "",
        is_seed: bool = False,  # noqa: FBT001, FBT002 - a record
        source: str = "",
    ) -> None:
        self.url = url
        self.path = path
        self.via = via
        self.context = context
        self.is_seed = is_seed
        self.source = source
        self._surt: str | None = None

    @property
    def surt(self) -> str:
        """SURT for prefix matching (https counts as http); made on first use."""
        if self._surt is None:
            self._surt = scope_surt(self.url)
        return self._surt


Predicate = Callable[[Subject], bool]


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
    """

    def __init__(self, opinions: Sequence[Opinion]) -> None:
        self.opinions = tuple(opinions)
        self._reverse = tuple(
            (opinion.test, Verdict(opinion.decision, opinion.name))
            for opinion in reversed(opinions)
        )
        self._default = Verdict(Decision.NONE, NO_RULE)

    def decide(self, subject: Subject) -> Verdict:
        """The last opinion that is not NONE, and its rule."""
        for test, verdict in self._reverse:
            if test(subject):
                return verdict
        return self._default

    def trace(self, subject: Subject) -> list[Verdict]:
        """Each rule's opinion in order, NONE included, for `nacre explain`."""
        return [
            Verdict(opinion.decision if opinion.test(subject) else Decision.NONE, opinion.name)
            for opinion in self.opinions
        ]
