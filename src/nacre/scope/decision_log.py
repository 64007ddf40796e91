"""Scopes that log their decisions or mark URIs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nacre.scope.scope import Decision, Opinion, Scope, Verdict
from nacre.scope.subject import Subject

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
