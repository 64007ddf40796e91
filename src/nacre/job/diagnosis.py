"""The diagnosis of a job: its activity, the limit of its speed, and the remedies (pure).

`diagnose` applies the first of its rules that matches. A `Diagnosis` is a code with numbers, which
programs read; `diagnosis_text` makes its message. `diagnosis_facts` alone collects the facts, so
`nacre status` and the console print the same diagnosis.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from nacre.frontier.policy import DelayCause
from nacre.job.overview import JobOverview, SlowQueue

Value = str | int | float

FEW: Final = 3
"""Queues that count as few."""
MOST: Final = 0.9
"""Share of the queued URIs from which the few queues are the reason. Both are guesses of what
people would call "waits for one host"."""
REFUSED: Final = 0.2
"""Share of refusals and failures among the last fetches that is worth a word."""
GAP: Final = 200.0
"""Gap of the event loop above which the machine is busy, ms: a person notices it."""
COMMIT_AGE: Final = 5.0
"""Age of the last commit above which the disk is slow, seconds: a group is sealed after 0.2 s."""


class Diagnosis(msgspec.Struct, frozen=True, rename={"remedies": "lever"}):
    """A diagnosis as a code with parameters.

    Attributes:
        code: A key of `diagnosis_text.TEXTS`.
        params: Numbers and names; durations in seconds, sizes in bytes, times in seconds since the
            epoch, shares from 0 to 1.
        remedies: Names of the remedies, the best first: keys of `diagnosis_text.REMEDIES`. Answers
            to programs call them `lever`.
        also: Codes of further facts, which the text lists after the first.
    """

    code: str
    params: dict[str, Value] = {}
    remedies: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class TroubledHost(msgspec.Struct, frozen=True):
    """A host that refuses or fails most of the last fetches.

    Attributes:
        host: Its name.
        status: The status that it answers most, as in crawl.log.
        share: Share of its refusals and failures among all last fetches, 0 to 1.
        delay: Its politeness delay now, seconds.
    """

    host: str
    status: int
    share: float
    delay: float = 0.0


class SuspectedTrap(msgspec.Struct, frozen=True):
    """A place that gave most of the new URLs, while these grew faster than the finished ones.

    Attributes:
        prefix: The prefix of their URLs.
        share: Its share of the new URLs, 0 to 1.
    """

    prefix: str
    share: float


class CrowdedKind(msgspec.Struct, frozen=True):
    """A directory or program of a host that most queued URIs belong to.

    Attributes:
        queue: Key of the queue of the host.
        prefix: Beginning of its URLs, with a slash or a question mark at the end.
        number: URIs of it that wait, among those that were looked at.
        looked: URIs of the queue that were looked at: all, or the first thousands.
    """

    queue: str
    prefix: str
    number: int
    looked: int

    @property
    def share(self) -> float:
        """Its share of the inspected URIs, 0 to 1."""
        return self.number / self.looked


class DiagnosisFacts(msgspec.Struct, frozen=True):
    """The facts that the diagnosis is made of; None where a fact is not known.

    Attributes:
        overview: The numbers of the job.
        slowest: The queues that take longest.
        now: Seconds since the epoch.
        rate: URIs finished a second, lately.
        seconds_left: Seconds that the rest takes about.
        grows: More URIs were queued than finished, lately.
        committed: When the last commit was, seconds since the epoch.
        gap: Longest gap of the event loop in the last ten seconds, ms.
        free: Free space of the disk, bytes.
        reserve: Space that is kept free, bytes.
        problems: Number of problems that keep a job from starting.
        first_problem: The first of them.
        troubled: The host that refuses most.
        trap: The place that looks like a trap.
        crowded: The kind that most queued URIs are of; None for none.
        paused_by: Name of the user who paused it; "" if it is not known.
    """

    overview: JobOverview
    slowest: tuple[SlowQueue, ...] = ()
    now: float = 0.0
    rate: float | None = None
    seconds_left: float | None = None
    grows: bool = False
    committed: float | None = None
    gap: float | None = None
    free: int | None = None
    reserve: int | None = None
    problems: int | None = None
    first_problem: str = ""
    troubled: TroubledHost | None = None
    trap: SuspectedTrap | None = None
    crowded: CrowdedKind | None = None
    paused_by: str = ""


def diagnose(facts: DiagnosisFacts) -> Diagnosis:
    """The diagnosis of a job: the first rule that holds."""
    for rule in _RULES:
        diagnosis = rule(facts)
        if diagnosis is not None:
            return diagnosis
    raise AssertionError("the last rule always holds")


def crowd_diagnosis(kind: CrowdedKind, *, grows: bool) -> Diagnosis:
    """The diagnosis of the kind that most queued URIs are of.

    Args:
        kind: The kind.
        grows: More URIs were queued than finished, lately.
    """
    params: dict[str, Value] = {"prefix": kind.prefix, "share": kind.share}
    remedies = ("exclude", "look-waiting", "traps")
    return Diagnosis("crowded-grows" if grows else "crowded", params, remedies)


def rounds_diagnosis(rounds: Mapping[str, Any]) -> Diagnosis:
    """The diagnosis of a batch crawl.

    Args:
        rounds: Its `version`, `step`, `at` and `round`, as of `rounds.rounds_mark.rounds_status`.
    """
    if not rounds["version"]:
        return Diagnosis("rounds-new")
    if rounds["at"]:
        params = {"version": rounds["version"], "round": rounds["round"], "step": rounds["at"]}
        return Diagnosis("rounds-at", params)
    return Diagnosis("rounds", {"version": rounds["version"], "step": rounds["step"]})


def delay_diagnosis(cause: str, most: float) -> Diagnosis | None:
    """The diagnosis that says why a politeness delay is as long as it is; None if not known.

    Args:
        cause: What decided the delay: a value of `DelayCause`.
        most: Longest delay of this cause, seconds; see `delay_limit`.
    """
    return Diagnosis(f"delay-{cause}", {"most": most}) if cause else None


def progress_diagnosis(progress: Mapping[str, Any]) -> Diagnosis:
    """The diagnosis of the progress of a step of rounds.

    Args:
        progress: It, as plain data of `rounds.rounds_mark.StepProgress`.
    """
    params: dict[str, Value] = {"done": progress["done"], "of": progress["of"]}
    if progress["unit"] == "tasks":
        return Diagnosis("step-tasks", params)
    seconds_left = progress["left"]
    clauses: tuple[tuple[str, dict[str, Value]], ...] = (
        ("step-received", {"received": progress["bytes"]}),
        ("step-hosts", {"hosts": progress["hosts"]}),
        ("step-left", {"rest": 0.0 if seconds_left is None or seconds_left < 1 else seconds_left}),
        ("step-units", {"ready": progress["ready"], "units": progress["units"]}),
    )
    named = [(code, numbers) for code, numbers in clauses if next(iter(numbers.values()))]
    also = [code for code, _ in named]
    if 0 < progress["units"] == progress["ready"]:
        also.append("step-checked")
    for _, numbers in named:
        params.update(numbers)
    return Diagnosis("step-pages", params, also=tuple(also))


def _never_ran(facts: DiagnosisFacts) -> Diagnosis | None:
    if facts.overview.state != "NASCENT":
        return None
    if facts.problems:
        params: dict[str, Value] = {"problems": facts.problems, "first": facts.first_problem}
        return Diagnosis("problems", params, ("fix",))
    if facts.free is not None and facts.reserve is not None and facts.free < facts.reserve:
        space: dict[str, Value] = {"free": facts.free, "reserve": facts.reserve}
        return Diagnosis("ready-space", space, ("free-space", "disk.reserve", "start"))
    return Diagnosis("ready", {}, ("start",))


_PASSING = {"PREPARING": "preparing", "STOPPING": "stopping"}


def _passing(facts: DiagnosisFacts) -> Diagnosis | None:
    """States that go by themselves."""
    overview = facts.overview
    code = _PASSING.get(overview.state)
    if code == "preparing" and overview.why:
        return Diagnosis("waiting", {"why": overview.why})
    return Diagnosis(code, {"busy": overview.busy}) if code else None


_HELD: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "operator": ("paused-operator", ("resume",)),
    "control/pause": ("paused-file", ("resume",)),
    "runtime limit": ("paused-runtime", ("resume", "limits")),
    "quota": ("paused-quota", ("free-space",)),
}


def _paused(facts: DiagnosisFacts) -> Diagnosis | None:
    overview = facts.overview
    if overview.state not in {"PAUSING", "PAUSED"}:
        return None
    if overview.state == "PAUSING":
        return Diagnosis("pausing", {"busy": overview.busy}, ("resume",))
    reasons = overview.why.split(", ")
    if "disk" in reasons:
        remedies = ("free-space", "disk.reserve")
        if facts.free is None or facts.reserve is None:
            return Diagnosis("paused-disk", {}, remedies)
        return Diagnosis("paused-space", {"free": facts.free, "reserve": facts.reserve}, remedies)
    code, named = _HELD.get(reasons[0], ("paused", ("resume",)))
    if code == "paused-operator" and facts.paused_by:
        return Diagnosis("paused-by", {"by": facts.paused_by}, named)
    return Diagnosis(code, {"why": overview.why} if code == "paused" else {}, named)


def _over(facts: DiagnosisFacts) -> Diagnosis | None:
    overview = facts.overview
    if overview.parallel or overview.state in _LIVE:
        return None
    if overview.state != "FINISHED":
        return _cut_short(overview)
    params: dict[str, Value] = {"documents": overview.documents}
    also: tuple[str, ...] = ()
    # More hops would only lead deeper into a trap.
    is_poor = 2 * overview.too_deep_poor > overview.too_deep
    clauses: tuple[tuple[str, dict[str, Value]], ...] = (
        ("seeds", {"got": overview.seeds_got, "seeds": overview.seeds}),
        ("withheld", {"withheld": overview.withheld}),
        ("failed", {"failed": overview.failed_pages}),
        ("faults", {"faults": overview.faults}),
        ("unparsed", {"unparsed": overview.unparsed}),
        ("trapped", {"trapped": overview.trapped}),
        ("endless", {"endless": overview.endless}),
        ("deleted", {"deleted": overview.left_deleted}),
        ("deep-poor" if is_poor else "deep", {"deep": overview.too_deep}),
        ("unvisited", {"unvisited": overview.unvisited}),
        ("held", {"held": overview.held}),
        ("repeated", {"repeated": overview.repeated}),
    )
    for name, numbers in clauses:
        if any(numbers.values()):
            params.update(numbers)
            also = (*also, name)
    if overview.ended_at:
        params["at"] = overview.ended_at
    remedies = (
        *(("seeds",) if overview.seeds_got < overview.seeds else ()),
        *(("failed",) if overview.failed_pages else ()),
        *(("traps",) if is_poor or overview.endless or overview.trapped else ()),
        *(("deeper",) if overview.too_deep and not is_poor else ()),
        *(("trap-share", "traps") if overview.held else ()),
        "recrawl",
    )
    code = "finished" if overview.ended_at else "finished-some-time"
    return Diagnosis(code, params, tuple(dict.fromkeys(remedies)), also)


_ENDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "ABORTED": ("stopped", ("go-on",)),
    "INTERRUPTED": ("interrupted", ("go-on",)),
    "CRASHED": ("crashed", ("go-on",)),
    "FINISHED_TIME_LIMIT": ("limit-time", ("limits", "go-on")),
    "FINISHED_DATA_LIMIT": ("limit-bytes", ("limits", "go-on")),
    "FINISHED_DOCUMENT_LIMIT": ("limit-documents", ("limits", "go-on")),
    "FINISHED_WRITE_LIMIT": ("limit-written", ("limits", "go-on")),
    "FINISHED_QUEUE_BUDGET": ("limit-budget", ("unretire", "go-on")),
    "FINISHED_DISK_WAIT": ("disk-wait", ("free-space", "go-on")),
    "FINISHED_ABNORMAL": ("error", ("log", "go-on")),
}
_LIVE = frozenset(("RUNNING", "EMPTY", "PAUSING", "PAUSED", "PREPARING", "STOPPING"))


def _cut_short(overview: JobOverview) -> Diagnosis:
    if overview.closed:
        return Diagnosis("closed", {"documents": overview.documents}, ("recrawl",))
    code, remedies = _ENDS.get(overview.state, ("ended", ("go-on",)))
    if code == "ended":
        return Diagnosis(code, {"why": overview.state}, remedies)
    params: dict[str, Value] = {"queued": overview.queued, "documents": overview.documents}
    return _with_waiting(code, params, remedies)


def _with_waiting(code: str, params: dict[str, Value], remedies: tuple[str, ...] = ()) -> Diagnosis:
    """Return a diagnosis that ends with the number of queued URIs, if there are any."""
    return Diagnosis(code, params, remedies, ("queued",) if params["queued"] else ())


def _only_retries(facts: DiagnosisFacts) -> Diagnosis | None:
    overview = facts.overview
    if not overview.trouble:
        return None
    params: dict[str, Value] = {"trouble": overview.trouble, "queue": overview.trouble_queue}
    also: tuple[str, ...] = ()
    if overview.next_try > facts.now:
        params["wait"] = overview.next_try - facts.now
        also = ("next-try",)
    if overview.gives_up > facts.now:
        params["until"] = overview.gives_up
        also = (*also, "given-up")
    return Diagnosis("retries", params, ("wake", "stop"), also)


_RAISED: Final = frozenset((DelayCause.SLOW, DelayCause.REFUSED, DelayCause.RETRY_AFTER))
"""Causes of delays that are longer than the settings alone make them."""


def _few_hosts(facts: DiagnosisFacts) -> Diagnosis | None:
    """One or few queues hold most queued URIs, and their delay is the reason."""
    overview, waiting = facts.overview, facts.overview.queued
    few = [queue for queue in facts.slowest[:FEW] if queue.delay > 0.0]
    if not few or not waiting or overview.busy >= overview.parallel:
        return None
    if overview.queues.get("ready", 0) > len(few) or sum(q.pending for q in few) < MOST * waiting:
        return None
    first = few[0]
    params: dict[str, Value] = {
        "host": first.host,
        "delay": first.delay,
        "queued": first.pending,
        "needs": first.needs,
    }
    # A job that an older version left running has no cause.
    is_crawl_delay = first.alone and first.cause in {DelayCause.CRAWL_DELAY, DelayCause.UNKNOWN}
    code = "one-host-crawl-delay" if is_crawl_delay else "one-host"
    if len(few) > 1 and first.pending < MOST * waiting:
        code, params["hosts"] = "few-hosts", len(few)
    also: tuple[str, ...] = ("grows",) if facts.grows else ("needs",)
    if first.cause in _RAISED:
        params["most"] = first.most
        also = (f"delay-{first.cause}", *also)
    if facts.crowded is not None:
        params["prefix"] = facts.crowded.prefix
        return Diagnosis(code, params, ("exclude", "look-waiting", "limits"), also)
    if facts.grows:
        # Nobody knows how long it takes, and more speed may only lead deeper into a trap.
        return Diagnosis(code, params, ("look-waiting", "limits"), also)
    more = () if first.alone else ("in_flight",)
    # Without its only queue the crawl would end.
    queue_remedy = "exclude-part" if _is_only_queue(overview) else "retire"
    return Diagnosis(code, params, ("delay", *more, queue_remedy, "limits"), also)


_EMPTY: Final = frozenset(("exhausted", "retired"))


def _is_only_queue(overview: JobOverview) -> bool:
    """Whether one queue alone has all that is left to fetch."""
    return sum(number for name, number in overview.queues.items() if name not in _EMPTY) == 1


def _all_busy(facts: DiagnosisFacts) -> Diagnosis | None:
    overview = facts.overview
    ready = overview.queues.get("ready", 0)
    if not overview.parallel or overview.busy < overview.parallel or not ready:
        return None
    params: dict[str, Value] = {"parallel": overview.parallel, "hosts": ready}
    return Diagnosis("slots-busy", params, ("parallel",), ("ready-hosts",))


def _refusals(facts: DiagnosisFacts) -> Diagnosis | None:
    host = facts.troubled
    if host is None or host.share <= REFUSED:
        return None
    params: dict[str, Value] = {"host": host.host, "status": host.status, "delay": host.delay}
    code = "refuses" if host.status > 0 else "fails"
    retire = () if _is_only_queue(facts.overview) else ("retire",)
    return Diagnosis(code, params, (*retire, "delay", "contact"))


def _slow_machine(facts: DiagnosisFacts) -> Diagnosis | None:
    if facts.gap is not None and facts.gap > GAP:
        return Diagnosis("busy-machine", {"gap": facts.gap / 1000.0}, ("watch",))
    if facts.committed is not None and facts.now - facts.committed > COMMIT_AGE:
        return Diagnosis("slow-disk", {"age": facts.now - facts.committed}, ("watch",))
    return None


def _trap(facts: DiagnosisFacts) -> Diagnosis | None:
    """This rule precedes that of a slow host: if both hold, the trap is the cause."""
    trap = facts.trap
    if trap is None:
        return None
    return Diagnosis("trap", {"prefix": trap.prefix, "share": trap.share}, ("exclude", "traps"))


def _goes_on(facts: DiagnosisFacts) -> Diagnosis:
    overview = facts.overview
    if overview.state == "EMPTY":
        return Diagnosis("empty", {})
    rate = facts.rate
    if rate is None:
        processed = overview.finished - overview.deleted
        rate = processed / overview.elapsed if overview.elapsed > 0.0 else 0.0
    params: dict[str, Value] = {"rate": rate, "queued": overview.queued}
    if facts.seconds_left is not None:
        return Diagnosis("running", {**params, "left": facts.seconds_left}, (), ("left",))
    return _with_waiting("running", params)


_RULES: tuple[Callable[[DiagnosisFacts], Diagnosis | None], ...] = (
    _never_ran,
    _passing,
    _paused,
    _over,
    _only_retries,
    _trap,
    _few_hosts,
    _all_busy,
    _refusals,
    _slow_machine,
    _goes_on,
)
