"""The scope: ordered rules with three-valued opinions. The last opinion decides.

Neighbouring rules that match lists of expressions are evaluated together, as one set
(`merge_steps`). A `WatchedScope` logs its decisions, or marks URIs.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

from nacre.scope.patterns.matching import PatternList
from nacre.scope.subject import Subject, is_embed


class Decision(StrEnum):
    """A rule's opinion. A final NONE is not accepted."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    NONE = "NONE"


_ACCEPT = Decision.ACCEPT  # the way to a member of an enumeration is long
Predicate = Callable[[Subject], bool]


def always(_: Subject) -> bool:
    """Return True: the test of a rule that always decides, so that earlier rules do not matter."""
    return True


def never(_: Subject) -> bool:
    """The test of a rule that is disabled, or that cannot speak as it is configured."""
    return False


class Opinion(NamedTuple):
    """One rule, built.

    Attributes:
        name: Its name for logs and explanations.
        decision: Its decision if its test is true; NONE for the head of a sequence.
        test: The test.
        depth: The number of sequences around it.
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
        """The head of a sequence, whose members come after it, one level deeper."""
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

    Args:
        opinions: The rules, built.
        asks_origin: An answer depends on where the URI was found.
        logs: It writes decisions down, so that each has to be made.

    Attributes:
        opinions: Every rule that was configured, in order; those that never speak too.
        asks_origin: An answer depends on where the URI was found, and holds for no other way to it.
        logs: As given.
    """

    def __init__(
        self, opinions: Sequence[Opinion], *, asks_origin: bool = False, logs: bool = False
    ) -> None:
        self.opinions: tuple[Opinion, ...] = ()
        self.logs = logs
        self.replace(opinions, asks_origin=asks_origin)

    def replace(self, opinions: Sequence[Opinion], *, asks_origin: bool) -> None:
        """Judge by these rules from now on; for `asks_origin` see the class."""
        self.opinions = tuple(opinions)
        self.asks_origin = asks_origin
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
        self._steps = merge_steps(steps)

    def decide(self, subject: Subject) -> Verdict:
        """Return the last opinion that is not NONE, and its rule."""
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
        """The decision on every URI; None when that depends on the URI."""
        return None if self._steps else self._default.decision

    def judge(self, subject: Subject) -> Verdict:
        """Decide as `decide`, without logs and without changes of state."""
        return Scope.decide(self, subject)

    def is_first(self, verdict: Verdict) -> bool:
        """It was given by the first rule of the list: no rule speaks of this URI in particular."""
        return verdict is self._first

    def trace(self, subject: Subject) -> list[Verdict]:
        """Each rule's opinion, one for each of `opinions`, NONE included, for `nacre explain`."""
        verdicts = [
            Verdict(opinion.decision if opinion.test(subject) else Decision.NONE, opinion.name)
            for opinion in self.opinions
        ]
        for place, opinion in enumerate(self.opinions):
            if opinion.is_head:
                opinions = [
                    verdicts[member].decision
                    for member in members(self.opinions, place)
                    if verdicts[member].decision is not Decision.NONE
                ]
                verdicts[place] = Verdict(opinions[-1] if opinions else Decision.NONE, opinion.name)
        return verdicts


def members(opinions: Sequence[Opinion], head: int) -> range:
    """Return the places of the members of the sequence whose head is at a place."""
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


class UrlMatch:
    """A predicate; lists of neighbours can be evaluated together (`merge_steps`).

    Args:
        patterns: The expressions.
        negate: True when nothing of it matches.
        spare: Never true of seeds, prerequisites and embeds.
    """

    __slots__ = ("_matches", "negate", "patterns", "spare")

    def __init__(self, patterns: PatternList, *, negate: bool = False, spare: bool = False) -> None:
        self.patterns = patterns
        self.negate = negate
        self.spare = spare
        self._matches = patterns.matches

    def __call__(self, subject: Subject) -> bool:
        """See the class."""
        if self._matches(subject.url) is self.negate:
            return False
        return not self.spare or not (subject.is_seed or is_embed(subject.path))

    @property
    def is_mergeable(self) -> bool:
        """It is true only where one of its expressions matches, all of them in linear time."""
        return not self.negate and self.patterns.is_any_linear


Steps = list[tuple[Any, Any]]


class AnyUrlMatch:
    """Return whether one of several lists may match: only then are they evaluated one by one."""

    __slots__ = ("_matches",)

    def __init__(self, tests: Sequence[UrlMatch], *, search: bool) -> None:
        together = [pattern for test in tests for pattern in test.patterns.patterns]
        self._matches = PatternList(list(dict.fromkeys(together)), search=search).matches

    def __call__(self, subject: Subject) -> bool:
        """See the class."""
        return self._matches(subject.url)


def merge_steps(steps: Steps) -> tuple[tuple[Any, Any], ...]:
    """Steps of a scope, in the order they are tried, with neighbouring lists as one step.

    Each keeps its own answer, and the first that is true gives it, so that names stay right.
    """
    result: Steps = []
    for kind, run in groupby(steps, key=_kind):
        together = list(run)
        if kind is None or len(together) == 1:
            result += together
        else:
            tests = [test for test, _ in together]
            result.append((AnyUrlMatch(tests, search=kind), tuple(together)))
    return tuple(result)


def _kind(step: tuple[Any, Any]) -> bool | None:
    """Return whether the lists of a run search (True) or match whole; None: not a pattern list."""
    test = step[0]
    if isinstance(test, UrlMatch) and test.is_mergeable:
        return test.patterns.search
    return None


UNDECIDED = -1
"""Number of the deciding rule when none spoke."""


class SequenceLog(NamedTuple):
    """A sequence that logs its decisions.

    Attributes:
        name: Name of its log, without `.log`.
        extra: With host, via, seed and hop path.
        feed: As one JSON object a line, to `<name>.jsonl`.
        opinions: Its opinions, those of nested sequences included.
        owners: For each, number and class name of the rule of the sequence that it belongs to.
    """

    name: str
    extra: bool
    feed: bool
    opinions: tuple[Opinion, ...]
    owners: tuple[tuple[int, str], ...]


class Logged(NamedTuple):
    """One decision to be written down.

    Attributes:
        log: The sequence.
        subject: What was judged.
        decision: The decision.
        number: Number of the rule that decided, from 0; `UNDECIDED` when none did.
        kind: Class name of that rule; "" when none did.
    """

    log: SequenceLog
    subject: Subject
    decision: Decision
    number: int
    kind: str


Write = Callable[[Logged], None]


def whole(name: str, opinions: Sequence[Opinion], *, extra: bool) -> SequenceLog:
    """Return the log of a whole scope, whose rules have numbers already."""
    owners: list[tuple[int, str]] = []
    kind = ""
    for opinion in opinions:
        kind = opinion.kind if not opinion.depth else kind
        owners.append((opinion.number, kind))
    return SequenceLog(name, extra, feed=False, opinions=tuple(opinions), owners=tuple(owners))


def decided(log: SequenceLog, subject: Subject) -> Logged:
    """Return the decision of a sequence by itself, and the rule that made it."""
    for opinion, (number, kind) in zip(reversed(log.opinions), reversed(log.owners), strict=True):
        if not opinion.is_head and opinion.test(subject):
            return Logged(log, subject, opinion.decision, number, kind)
    return Logged(log, subject, Decision.NONE, UNDECIDED, "")


class WatchedScope(Scope):
    """A scope with rules that mark URIs, or sequences that log.

    Args:
        opinions: See `Scope`.
        marks: Tests that mark URIs. They always run, and first.
        logs: Sequences that log.
        write: Writes a decision down.
        asks_origin: See `Scope`.
    """

    def __init__(
        self,
        opinions: Sequence[Opinion],
        marks: Sequence[Callable[[Subject], bool]],
        logs: Sequence[SequenceLog],
        write: Write,
        *,
        asks_origin: bool = False,
    ) -> None:
        super().__init__(opinions, asks_origin=asks_origin, logs=bool(logs))
        self._marks = tuple(marks)
        self._logs = tuple(logs)
        self._write = write

    def decide(self, subject: Subject) -> Verdict:
        """See `Scope.decide`."""
        for mark in self._marks:
            mark(subject)
        verdict = super().decide(subject)
        for log in self._logs:
            self._write(decided(log, subject))
        return verdict
