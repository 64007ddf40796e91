"""The rule protocol: three-valued opinions, the last one wins, and the answer names its rule."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from nacre.scope.merge import merged
from nacre.scope.subject import NO_FACTS, Facts, Need, Place, Subject

__all__ = [
    "NO_FACTS",
    "NO_RULE",
    "Decision",
    "Facts",
    "Gate",
    "Need",
    "Opinion",
    "Place",
    "Predicate",
    "Scope",
    "Subject",
    "Verdict",
    "always",
    "never",
]


class Decision(StrEnum):
    """A rule's opinion. A final NONE is not accepted."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    NONE = "NONE"


_ACCEPT = Decision.ACCEPT  # the way to a member of an enumeration is long


Predicate = Callable[[Subject], bool]


def always(_: Subject) -> bool:
    """The test of a rule that always speaks: what stands before it does not matter."""
    return True


def never(_: Subject) -> bool:
    """The test of a rule that is disabled, or that cannot speak as it is configured."""
    return False


class Opinion(NamedTuple):
    """One rule, built.

    Attributes:
        name: Its name for logs and explanations.
        decision: What it says when its test is true; NONE for the head of a sequence.
        test: The test.
        depth: In how many sequences it stands.
        kind: Heritrix's class name, or the rule's own name where Heritrix has none.
        number: Number of the rule in the whole list, from 0; members have that of their sequence.
    """

    name: str
    decision: Decision
    test: Predicate
    depth: int = 0
    kind: str = ""
    number: int = 0

    @property
    def is_head(self) -> bool:
        """The head of a sequence, whose members stand behind it, one deeper."""
        return self.decision is Decision.NONE


class Verdict(NamedTuple):
    """The answer of a scope: the decision, and the name of the rule that gave it."""

    decision: Decision
    rule: str

    @property
    def accepted(self) -> bool:
        """Only ACCEPT lets a URI in."""
        return self.decision is _ACCEPT


NO_RULE = "(no rule)"

Step = tuple[Predicate, "Verdict | tuple[Step, ...]"]
"""A test and the answer when it is true: a verdict, or steps of which one may have it."""


class Scope:
    """An ordered list of rules; the last opinion wins.

    The rules are tried from the last to the first, which gives the same answer and stops early. A
    nested sequence is the same as its members in its place, so nothing is left of it here.

    Attributes:
        opinions: Every rule that was configured, in order; those that never speak too.
        logs: It writes decisions down, so that each has to be made.
        asks_origin: An answer depends on where the URI was found, and holds for no other way to it.
    """

    logs: bool = False
    asks_origin: bool = False

    def __init__(self, opinions: Sequence[Opinion]) -> None:
        self.opinions: tuple[Opinion, ...] = ()
        self.replace(opinions)

    def replace(self, opinions: Sequence[Opinion]) -> None:
        """Judge by these from now on."""
        self.opinions = tuple(opinions)
        self._default = Verdict(Decision.NONE, NO_RULE)
        self._first: Verdict | None = None
        steps: list[Step] = []
        for place, opinion in reversed(list(enumerate(self.opinions))):
            if opinion.test is never:
                continue
            verdict = Verdict(opinion.decision, opinion.name)
            if not place:
                self._first = verdict
            if opinion.test is always:
                self._default = verdict
                break
            steps.append((opinion.test, verdict))
        self._steps = merged(steps)

    def decide(self, subject: Subject) -> Verdict:
        """The last opinion that is not NONE, and its rule."""
        for test, answer in self._steps:
            if test(subject):
                if answer.__class__ is Verdict:
                    return answer
                for inner, verdict in answer:
                    if inner(subject):
                        return verdict  # type: ignore[no-any-return]  # a pair of these
        return self._default

    @property
    def constant(self) -> Decision | None:
        """What it says of every URI; None when that depends on the URI."""
        return None if self._steps else self._default.decision

    def judge(self, subject: Subject) -> Verdict:
        """As `decide`, for one who only asks: nothing is logged or changed by it."""
        return Scope.decide(self, subject)

    def is_first(self, verdict: Verdict) -> bool:
        """It was given by the first rule of the list: no rule speaks of this URI in particular."""
        return verdict is self._first

    def trace(self, subject: Subject) -> list[Verdict]:
        """Each rule's opinion, one for each of `opinions`, NONE included, for `nacre explain`."""
        heard = [
            Verdict(opinion.decision if opinion.test(subject) else Decision.NONE, opinion.name)
            for opinion in self.opinions
        ]
        for place, opinion in enumerate(self.opinions):
            if opinion.is_head:
                said = [
                    heard[member].decision
                    for member in members(self.opinions, place)
                    if heard[member].decision is not Decision.NONE
                ]
                heard[place] = Verdict(said[-1] if said else Decision.NONE, opinion.name)
        return heard


def members(opinions: Sequence[Opinion], head: int) -> range:
    """The places of what stands in the sequence whose head stands at a place."""
    end = head + 1
    while end < len(opinions) and opinions[end].depth > opinions[head].depth:
        end += 1
    return range(head + 1, end)


class Gate:
    """Rules that can only close: a final NONE leaves it open, as Heritrix's `shouldProcessRule`."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def opens(self, subject: Subject) -> bool:
        """False when the last opinion is REJECT."""
        return self.scope.decide(subject).decision is not Decision.REJECT
