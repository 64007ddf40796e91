"""States of a site over steps, and how much of them an archive holds (pure, but for the truth)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from bench.histories.figures import Share
from bench.histories.truth import Sight, Truth, linked_paths, mark

Kind = Literal["changed", "new", "gone"]
KINDS: tuple[Kind, ...] = ("changed", "new", "gone")


class PageState(NamedTuple):
    """A page at a step.

    Attributes:
        digest: Of its bytes, as they are served.
        sight: What a reader sees of it, without the site's frame.
        links: Paths that it leads to.
    """

    digest: bytes
    sight: Sight
    links: tuple[str, ...]


States = Mapping[str, PageState | None]
"""Pages by path; None for one that is known to be gone."""
Level = Literal["text", "less_numbers"]
_MOVED = Sight(b"moved", b"moved")


class StateReader:
    """Reads the pages that links reach; the same bytes of a path are read once."""

    def __init__(self, truth: Truth, root: str) -> None:
        self._truth = truth
        self._root = root
        self._known: dict[tuple[str, bytes], PageState] = {}

    def pages(self, now: float) -> dict[str, PageState]:
        """Return the HTML pages and redirects at a time, by path, from the start page on."""
        pages: dict[str, PageState] = {}
        waiting, met = ["/"], {"/"}
        while waiting:
            path = waiting.pop()
            state = self._page(path, now)
            if state is None:
                continue
            pages[path] = state
            fresh = [target for target in state.links if self._is_open(target, met)]
            met.update(fresh)
            waiting.extend(fresh)
        return pages

    def _is_open(self, path: str, met: set[str]) -> bool:
        return path not in met and not path.startswith(tuple(self._truth.plan.disallow))

    def _page(self, path: str, now: float) -> PageState | None:
        url = self._root + path
        answer = self._truth.reply(url, now)
        if answer.status == 301:
            return PageState(b"moved", _MOVED, (answer.kind,))
        if answer.status != 200 or not answer.kind.startswith("text/html"):
            return None
        key = path, mark(answer.body)
        if key not in self._known:
            own = self._truth.reply(url, now, frame=False).body
            links = tuple(linked_paths(answer.body, url, self._root))
            self._known[key] = PageState(key[1], self._truth.sight(own), links)
        return self._known[key]


def seen_at(states: States, path: str, level: Level) -> bytes | None:
    """What a reader sees of a page; None if it is not there."""
    state = states.get(path)
    return None if state is None else getattr(state.sight, level)


class HeldShares(NamedTuple):
    """How much of what differs from the step before an archive holds.

    Attributes:
        held: Pages held at the end of the same step, by kind.
        in_time: Pages held before their next state.
        late: Delay of those that are held in time, by kind.
    """

    held: dict[Kind, Share]
    in_time: Share
    late: dict[Kind, "DelayFigures"]

    @property
    def ecr(self) -> Share:
        """Changed, new and gone pages together."""
        shares = self.held.values()
        return Share(sum(s.hits for s in shares), sum(s.size for s in shares))

    def __str__(self) -> str:
        kinds = " | ".join(f"{kind} {share}" for kind, share in self.held.items())
        late = ", ".join(f"{kind} {delay}" for kind, delay in self.late.items())
        return f"{kinds} | ECR {self.ecr} | in time {self.in_time}; steps late: {late or '-'}"


class DelayFigures(NamedTuple):
    """Delays, in steps."""

    mean: float
    median: int
    p95: int

    def __str__(self) -> str:
        return f"{self.mean:.1f} (median {self.median}, p95 {self.p95})"


def delay_figures(steps: Sequence[int]) -> DelayFigures:
    """Return the figures of some delays; there is at least one."""
    line = sorted(steps)
    last = len(line) - 1
    return DelayFigures(sum(line) / len(line), line[last // 2], line[round(0.95 * last)])


class Delay(NamedTuple):
    """How many steps late a state was held; None if it was not held in time."""

    kind: Kind
    steps: int | None


def delays_of(
    path: str, states: Sequence[States], states_held: Sequence[States], level: Level
) -> list[Delay]:
    """Return the delay of each new state of a page."""
    line = [seen_at(state, path, level) for state in states]
    have = [seen_at(state, path, level) for state in states_held]
    delays = []
    for step in range(1, len(line)):
        if line[step] == line[step - 1]:
            continue
        kind: Kind = "changed" if path in states[step] else "gone"
        if path not in states[step - 1]:
            kind = "new"
        end = next((at for at in range(step, len(line)) if line[at] != line[step]), len(line))
        first = next((at for at in range(step, end) if have[at] == line[step]), None)
        delays.append(Delay(kind, None if first is None else first - step))
    return delays


def held_shares(
    states: Sequence[States], states_held: Sequence[States], level: Level
) -> HeldShares:
    """See `HeldShares`; `states` and `held` have an entry for each step, from 0."""
    size: Counter[Kind] = Counter()
    hits: Counter[Kind] = Counter()
    late: defaultdict[Kind, list[int]] = defaultdict(list)
    for path in sorted(set().union(*states)):
        for kind, steps in delays_of(path, states, states_held, level):
            size[kind] += 1
            hits[kind] += steps == 0
            if steps is not None:
                late[kind].append(steps)
    in_time = sum(map(len, late.values()))
    return HeldShares(
        {kind: Share(hits[kind], size[kind]) for kind in KINDS},
        Share(in_time, size.total()),
        {kind: delay_figures(late[kind]) for kind in sorted(late)},
    )


class Deletions(NamedTuple):
    """How soon deleted pages of an archive are noticed.

    Attributes:
        dropped: Pages whose link vanished from a page that was read: those that were noticed in
            that run or the next.
        other: Runs until other deletions were noticed; None if there were none.
        unnoticed: Other deletions that were not noticed.
    """

    dropped: Share
    other: DelayFigures | None
    unnoticed: int

    def __str__(self) -> str:
        other = "none" if self.other is None else f"{self.other} runs late"
        return (
            f"deletions: within two runs of a page that dropped their link {self.dropped}; others "
            f"{other}, {self.unnoticed} not noticed"
        )


Read = tuple[str, int, int]
"""A visit of a page: path, step of the visit before, step."""


def deletion_figures(
    states: Sequence[States],
    states_held: Sequence[States],
    read: Sequence[Read],
    is_gone: Callable[[str, int], bool],
) -> Deletions:
    """See `Deletions`.

    Args:
        states: The pages at each step.
        states_held: What the archive holds after each step.
        read: Visits of pages that were visited before.
        is_gone: Whether the server has no page at a path in a step; else no page links to it.
    """
    dropped = _dropped_links(states, read)
    prompt, delays, unnoticed = list[bool](), list[int](), 0
    for step in range(1, len(states)):
        for path in sorted(states[step - 1].keys() - states[step].keys()):
            if states_held[step - 1].get(path) is None or not is_gone(path, step):
                continue
            steps = range(step, len(states))
            end = next((at for at in steps if path in states[at]), len(states))
            noticed = next((at for at in range(step, end) if not states_held[at].get(path)), None)
            hints = [at for at in dropped[path] if step <= at < end]
            if hints:
                prompt.append(noticed is not None and noticed <= min(hints) + 1)
            elif noticed is None:
                unnoticed += 1
            else:
                delays.append(noticed - step)
    other = delay_figures(delays) if delays else None
    return Deletions(Share(sum(prompt), len(prompt)), other, unnoticed)


def _dropped_links(states: Sequence[States], read: Sequence[Read]) -> defaultdict[str, list[int]]:
    """Return the steps at which pages that were read had dropped a link, by its path."""
    dropped: defaultdict[str, list[int]] = defaultdict(list)
    for path, before, step in read:
        old, new = states[before].get(path), states[step].get(path)
        if old is not None and new is not None:
            for link in {*old.links} - {*new.links}:
                dropped[link].append(step)
    return dropped
