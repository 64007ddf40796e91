"""Chains ready to run: for each combination of sheets, the steps that do something under it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from nacre.config.effective import Effective
from nacre.core.processor import Candidate, FinalProcessor, LinkProcessor, Processor, Result, Visit
from nacre.engine.chain.entry import REPLY, ChainName, Entry, Kit
from nacre.report.statistics import ChainStatistics, StepCounts
from nacre.scope.compile import compile_gate
from nacre.scope.scope import Decision, Gate
from nacre.scope.state import ScopeState
from nacre.scope.subject import RulePlace, Subject, subject_of

P = TypeVar("P")


class Bound(NamedTuple, Generic[P]):
    """A processor in its chain, with its counts so far."""

    processor: P
    step: StepCounts


FetchPlan = tuple[Bound[Processor], ...]


class GatedProcessor:
    """A processor of the fetch chain with its gate."""

    def __init__(self, inner: Processor, gate: Gate, address: Callable[[Visit], str]) -> None:
        self._inner = inner
        self._gate = gate
        self._address = address

    def accepts(self, visit: Visit) -> bool:
        """Return whether the processor accepts the visit and its gate is open."""
        return self._inner.accepts(visit) and self._gate.opens(
            subject_of(visit, self._address(visit))
        )

    async def process(self, visit: Visit) -> Result:
        """See the processor."""
        return await self._inner.process(visit)


class GatedFinal:
    """A processor of the disposition chain with its gate."""

    def __init__(self, inner: FinalProcessor, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    def accepts(self, visit: Visit) -> bool:
        """Return whether the processor accepts the visit and its gate is open."""
        return self._inner.accepts(visit) and self._gate.opens(subject_of(visit))

    def process(self, visit: Visit) -> Result:
        """See the processor."""
        return self._inner.process(visit)


class GatedLinks:
    """A processor of the candidate chain with its gate."""

    def __init__(self, inner: LinkProcessor, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    def accepts(self, candidate: Candidate) -> bool:
        """Return whether the processor accepts the visit and its gate is open."""
        return self._inner.accepts(candidate) and self._gate.opens(link_subject(candidate))

    def process(self, candidate: Candidate) -> Result:
        """See the processor."""
        return self._inner.process(candidate)


def link_subject(candidate: Candidate) -> Subject:
    """Return the subject for rules about a link."""
    link, via = candidate.link, candidate.via
    return Subject(link.url, candidate.path, via.url, link.context, source=via.source)


class CandidatePlan(NamedTuple):
    """The candidate chain under one combination of sheets.

    Attributes:
        asks: Whether the scope is applied: None never, True always, else if the gate is open.
        before: Steps before the scope.
        between: Steps between scope and preparation.
        after: Steps after it.
    """

    asks: Gate | bool = True
    before: tuple[Bound[LinkProcessor], ...] = ()
    between: tuple[Bound[LinkProcessor], ...] = ()
    after: tuple[Bound[LinkProcessor], ...] = ()

    @property
    def is_stock(self) -> bool:
        """Whether nothing is added or left out."""
        return self.asks is True and not (self.before or self.between or self.after)


class DispositionPlan(NamedTuple):
    """The disposition chain under one combination of sheets.

    Attributes:
        archives: Captures are stored: always, never, or where the gate is open.
        follows: Outlinks are followed: likewise.
        before: Steps before `archive`.
        between: Steps between `archive` and `candidates`.
        late: Steps between `candidates` and `disposition`.
        after: Steps after it.
    """

    archives: Gate | bool = True
    follows: Gate | bool = True
    before: tuple[Bound[FinalProcessor], ...] = ()
    between: tuple[Bound[FinalProcessor], ...] = ()
    late: tuple[Bound[FinalProcessor], ...] = ()
    after: tuple[Bound[FinalProcessor], ...] = ()


def opens(gate: Gate | bool, visit: Visit) -> bool:  # noqa: FBT001 - a gate that is constant
    """Return whether a gate lets a visit through."""
    return gate is True or (gate is not False and gate.opens(subject_of(visit)))


class ChainBuilder:
    """Makes the processors of one chain, each once, and its plans.

    Args:
        name: The chain.
        entries: Its entries under each combination of sheets.
        steps: Counts the work of each processor.
        kit: What processors may use; chain and label are filled in.
        built: Makers of steps that the job's parts do themselves, by kind.
    """

    def __init__(
        self,
        name: ChainName,
        entries: Effective[tuple[Entry, ...]],
        steps: ChainStatistics,
        kit: Kit,
        built: Mapping[str, Callable[[], Any]],
    ) -> None:
        self._name = name
        self._entries = entries
        self._steps = [steps.add(name.title(), entry.label, entry) for entry in entries[0]]
        self._kit = kit._replace(chain=name)
        self._built = built
        self._made: dict[int, Bound[Any]] = {}

    def finish(self) -> None:
        """Close processors with resources, at the end of the run or a stop of the job."""
        self._call("finish")

    def time_passed(self) -> None:
        """Call processors with timed work; called about once a second."""
        self._call("time_passed")

    def _call(self, name: str) -> None:
        for bound in self._made.values():
            method = getattr(bound.processor, name, None)
            if method is not None:
                method()

    def step(self, kind: str) -> StepCounts:
        """Return the counts of an entry whose work other parts of the job do."""
        for entry, step in zip(self._entries[0], self._steps, strict=True):
            if entry.kind == kind:
                return step
        return StepCounts(self._name.title(), kind)

    def fetch(self) -> Effective[FetchPlan]:
        """Plans of the fetch chain."""
        return self._entries.then(self._fetch)

    def candidate(self) -> Effective[CandidatePlan | None]:
        """Plans of the candidate chain; None for the stock one."""
        return self._entries.then(self._candidate)

    def disposition(self) -> Effective[DispositionPlan]:
        """Plans of the disposition chain."""
        return self._entries.then(self._disposition)

    def _fetch(self, entries: tuple[Entry, ...]) -> FetchPlan:
        address = self._kit.address
        plan: list[Bound[Processor]] = []
        for number, gate in self._active(entries):
            bound = self._bound(number, entries[number])
            if gate is not True:
                bound = bound._replace(processor=GatedProcessor(bound.processor, gate, address))
            plan.append(bound)
        return tuple(plan)

    def _candidate(self, entries: tuple[Entry, ...]) -> CandidatePlan | None:
        groups, gates = self._group_steps(entries, ("scope", "prepare"), GatedLinks)
        plan = CandidatePlan(gates.get("scope", False), *groups)
        return None if plan.is_stock else plan

    def _disposition(self, entries: tuple[Entry, ...]) -> DispositionPlan:
        anchors = ("archive", "candidates", "disposition")
        groups, gates = self._group_steps(entries, anchors, GatedFinal)
        archives, follows = gates.get("archive", False), gates.get("candidates", False)
        return DispositionPlan(archives, follows, *groups)

    def _group_steps(
        self,
        entries: tuple[Entry, ...],
        anchors: Sequence[str],
        gated: Callable[[Any, Gate], Any],
    ) -> tuple[list[tuple[Bound[Any], ...]], dict[str, Gate | bool]]:
        """Return the steps before, between and after the steps of the parts, and its gates."""
        groups: list[list[Bound[Any]]] = [[] for _ in range(len(anchors) + 1)]
        gates: dict[str, Gate | bool] = {}
        kinds = [entry.kind for entry in entries]
        ends = [kinds.index(anchor) if anchor in kinds else -1 for anchor in anchors]
        for number, gate in self._active(entries):
            if kinds[number] in anchors:
                gates[kinds[number]] = gate
                continue
            bound = self._bound(number, entries[number])
            if gate is not True:
                bound = bound._replace(processor=gated(bound.processor, gate))
            passed = [n for n, end in enumerate(ends, 1) if -1 < end < number]
            groups[max(passed, default=0)].append(bound)
        return [tuple(group) for group in groups], gates

    def _active(self, entries: tuple[Entry, ...]) -> Iterator[tuple[int, Gate | Literal[True]]]:
        """Entries that may do something, by number, and their gates; True: always open."""
        for number, entry in enumerate(entries):
            if not entry.enabled:
                continue
            gate = entry_gate(self._name, entries, number, self._kit.state)
            if gate is not False:
                yield number, gate

    def _bound(self, number: int, entry: Entry) -> Bound[Any]:
        bound = self._made.get(number)
        if bound is None:
            factory = self._built.get(entry.kind)
            processor = factory() if factory is not None else self._make(number, entry)
            bound = self._made[number] = Bound(processor, self._steps[number])
        return bound

    def _make(self, number: int, entry: Entry) -> Any:  # noqa: ANN401 - by chain
        own = self._entries.then(lambda listed: listed[number])
        return type(entry).make(own, self._kit._replace(label=entry.label))


def entry_gate(
    chain: ChainName, entries: Sequence[Entry], number: int, state: ScopeState
) -> Gate | bool:
    """Return the gate of an entry: True if it is always open, False if it rejects everything."""
    gate = compile_gate(entries[number].gate, state, gate_place(chain, entries, number))
    if gate is None:
        return True
    constant = gate.scope.constant
    return gate if constant is None else constant is not Decision.REJECT


def gate_place(chain: ChainName, entries: Sequence[Entry], number: int) -> RulePlace:
    """Return the place of the gate of an entry, which determines the data that rules can use."""
    before = {gift for entry in entries[:number] if entry.enabled for gift in entry.gives}
    if chain is ChainName.CANDIDATE:
        return RulePlace.CANDIDATES
    if chain is ChainName.FETCH:
        return RulePlace.AFTER_FETCH if REPLY in before else RulePlace.BEFORE_FETCH
    archived = any(entry.kind == "archive" for entry in entries[:number])
    return RulePlace.DISPOSITION if archived else RulePlace.AFTER_FETCH
