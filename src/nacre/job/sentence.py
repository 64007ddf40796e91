"""The sentence: what a job does, why it is not faster, and what the operator can do (pure).

`sentence_of` takes the first of its rules that holds. A `Sentence` is a code with numbers, which
programs read; `words` makes the text of it, in the language of a catalogue of messages. So the
terminal (`nacre status`) and the console say the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from nacre.core.clock import duration
from nacre.job.overview import JobOverview, SlowQueue
from nacre.report.formatting import size, to_the_second
from nacre.wire.urltext import readable_url

Value = str | int | float
Translate = Callable[[str], str]
"""Gives the text of a catalogue for an English one."""
WriteParam = Callable[[str, Value], str]
"""Writes a param, by its name and value."""

FEW: Final = 3
"""Queues that count as few."""
MOST: Final = 0.9
"""Share of what waits that makes the few the reason. Both are guesses of what a person would call
"waits for one host"."""
REFUSED: Final = 0.2
"""Share of refusals and failures among the last fetches that is worth a word."""
GAP: Final = 200.0
"""Gap of the event loop above which the machine is busy, ms: a person notices it."""
COMMIT_AGE: Final = 5.0
"""Age of the last commit above which the disk is slow, seconds: a group is sealed after 0.2 s."""


class Sentence(msgspec.Struct, frozen=True):
    """A sentence before it is worded.

    Attributes:
        code: Which it is: a key of `MESSAGES`.
        params: Its numbers and names; durations in seconds, sizes in bytes, times in seconds since
            the epoch, shares from 0 to 1.
        lever: Names of what would change it, the best first: a key of `LEVERS` each; () for none.
    """

    code: str
    params: dict[str, Value] = {}
    lever: tuple[str, ...] = ()


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


class SentenceFacts(msgspec.Struct, frozen=True):
    """The facts that the sentence is made of; None where a fact is not known.

    Attributes:
        overview: The numbers of the job.
        slowest: The queues that take longest.
        now: Seconds since the epoch.
        rate: URIs finished a second, lately.
        left: Seconds that the rest takes about.
        committed: When the last commit was, seconds since the epoch.
        gap: Longest gap of the event loop in the last ten seconds, ms.
        free: Free space of the disk, bytes.
        reserve: Space that is kept free, bytes.
        problems: Number of problems that keep a job from starting.
        first_problem: The first of them.
        troubled: The host that refuses most.
        trap: The place that looks like a trap.
    """

    overview: JobOverview
    slowest: tuple[SlowQueue, ...] = ()
    now: float = 0.0
    rate: float | None = None
    left: float | None = None
    committed: float | None = None
    gap: float | None = None
    free: int | None = None
    reserve: int | None = None
    problems: int | None = None
    first_problem: str = ""
    troubled: TroubledHost | None = None
    trap: SuspectedTrap | None = None


def sentence_of(facts: SentenceFacts) -> Sentence:
    """The sentence of a job: the first rule that holds."""
    for rule in _RULES:
        found = rule(facts)
        if found is not None:
            return found
    raise AssertionError("the last rule always holds")


class _Status(msgspec.Struct, frozen=True):
    """The parts of an answer to `status` that the sentence needs."""

    overview: JobOverview
    slowest: tuple[SlowQueue, ...] = ()
    committed: float | None = None
    gap: float | None = None
    free: int | None = None
    reserve: int | None = None
    problems: int | None = None
    first_problem: str = ""


def sentence_of_status(answer: Mapping[str, Any], now: float) -> Sentence:
    """The sentence of one answer to `status`, without what only several of them show.

    Args:
        answer: It.
        now: Seconds since the epoch.
    """
    status = msgspec.convert(answer, _Status)
    return sentence_of(
        SentenceFacts(
            status.overview,
            status.slowest,
            now,
            committed=status.committed,
            gap=status.gap,
            free=status.free,
            reserve=status.reserve,
            problems=status.problems,
            first_problem=status.first_problem,
        )
    )


def rounds_sentence(rounds: Mapping[str, Any]) -> Sentence:
    """The sentence of a batch crawl.

    Args:
        rounds: Its `version`, `step`, `at` and `round`, as of `cycle.status.rounds_status`.
    """
    if not rounds["version"]:
        return Sentence("rounds-new")
    if rounds["at"]:
        params = {"version": rounds["version"], "round": rounds["round"], "step": rounds["at"]}
        return Sentence("rounds-at", params)
    return Sentence("rounds", {"version": rounds["version"], "step": rounds["step"]})


def _never_ran(facts: SentenceFacts) -> Sentence | None:
    if facts.overview.state != "NASCENT":
        return None
    if facts.problems:
        params: dict[str, Value] = {"problems": facts.problems, "first": facts.first_problem}
        return Sentence("problems", params, ("fix",))
    return Sentence("ready", {}, ("start",))


_PASSING = {"PREPARING": "preparing", "STOPPING": "stopping"}


def _passing(facts: SentenceFacts) -> Sentence | None:
    """States that go by themselves."""
    overview = facts.overview
    code = _PASSING.get(overview.state)
    if code == "preparing" and overview.why:
        return Sentence("waiting", {"why": overview.why})
    return Sentence(code, {"busy": overview.busy}) if code else None


_HELD: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "operator": ("paused-operator", ("resume",)),
    "control/pause": ("paused-file", ("resume",)),
    "runtime limit": ("paused-runtime", ("resume", "limits")),
    "quota": ("paused-quota", ("free-space",)),
}


def _held(facts: SentenceFacts) -> Sentence | None:
    overview = facts.overview
    if overview.state not in {"PAUSING", "PAUSED"}:
        return None
    if overview.state == "PAUSING":
        return Sentence("pausing", {"busy": overview.busy}, ("resume",))
    reasons = overview.why.split(", ")
    if "disk" in reasons:
        levers = ("free-space", "disk.reserve")
        if facts.free is None or facts.reserve is None:
            return Sentence("paused-disk", {}, levers)
        return Sentence("paused-space", {"free": facts.free, "reserve": facts.reserve}, levers)
    code, named = _HELD.get(reasons[0], ("paused", ("resume",)))
    return Sentence(code, {"why": overview.why} if code == "paused" else {}, named)


def _over(facts: SentenceFacts) -> Sentence | None:
    overview = facts.overview
    if overview.parallel or overview.state in _LIVE:
        return None
    params: dict[str, Value] = {"documents": overview.documents, "failed": overview.failed_pages}
    if overview.state == "FINISHED":
        if overview.ended_at:
            params["at"] = overview.ended_at
        levers = ("seeds", "recrawl") if overview.failed_pages else ("recrawl",)
        if overview.endless or overview.deleted:
            params.update(endless=overview.endless, deleted=overview.deleted)
        code = "finished-left" if "endless" in params else "finished"
        return Sentence(code if overview.ended_at else f"{code}-some-time", params, levers)
    return _cut_short(overview)


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


def _cut_short(overview: JobOverview) -> Sentence:
    if overview.closed:
        return Sentence("closed", {"documents": overview.documents}, ("recrawl",))
    code, levers = _ENDS.get(overview.state, ("ended", ("go-on",)))
    if code == "ended":
        return Sentence(code, {"why": overview.state}, levers)
    return Sentence(code, {"queued": overview.queued, "documents": overview.documents}, levers)


def _only_retries(facts: SentenceFacts) -> Sentence | None:
    overview = facts.overview
    if not overview.trouble:
        return None
    params: dict[str, Value] = {"trouble": overview.trouble}
    levers = ("wake", "stop")
    if overview.gives_up <= facts.now:
        return Sentence("retries", params, levers)
    return Sentence("retries-until", {**params, "until": overview.gives_up}, levers)


def _few_hosts(facts: SentenceFacts) -> Sentence | None:
    """One or few queues hold what waits, and their delay is the reason."""
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
    code = "one-host-crawl-delay" if first.alone else "one-host"
    if len(few) > 1 and first.pending < MOST * waiting:
        code, params["hosts"] = "few-hosts", len(few)
    more = () if first.alone else ("in_flight",)
    levers = ("delay", *more, "retire", "limits")
    return Sentence(code, params, levers)


def _all_busy(facts: SentenceFacts) -> Sentence | None:
    overview = facts.overview
    ready = overview.queues.get("ready", 0)
    if not overview.parallel or overview.busy < overview.parallel or not ready:
        return None
    return Sentence("slots-busy", {"parallel": overview.parallel, "hosts": ready}, ("parallel",))


def _refusals(facts: SentenceFacts) -> Sentence | None:
    host = facts.troubled
    if host is None or host.share <= REFUSED:
        return None
    params: dict[str, Value] = {"host": host.host, "status": host.status, "delay": host.delay}
    code = "refuses" if host.status > 0 else "fails"
    return Sentence(code, params, ("retire", "delay", "contact"))


def _slow_machine(facts: SentenceFacts) -> Sentence | None:
    if facts.gap is not None and facts.gap > GAP:
        return Sentence("busy-machine", {"gap": facts.gap / 1000.0}, ("watch",))
    if facts.committed is not None and facts.now - facts.committed > COMMIT_AGE:
        return Sentence("slow-disk", {"age": facts.now - facts.committed}, ("watch",))
    return None


def _trap(facts: SentenceFacts) -> Sentence | None:
    """A trap stands before a slow host: on a crawl of one site both hold, and this is the cause."""
    trap = facts.trap
    if trap is None:
        return None
    return Sentence("trap", {"prefix": trap.prefix, "share": trap.share}, ("exclude",))


def _goes_on(facts: SentenceFacts) -> Sentence:
    overview = facts.overview
    if overview.state == "EMPTY":
        return Sentence("empty", {})
    rate = facts.rate
    if rate is None:
        rate = overview.ended_at / overview.elapsed if overview.elapsed > 0.0 else 0.0
    params: dict[str, Value] = {"rate": rate, "queued": overview.queued}
    if facts.left is not None:
        return Sentence("running-left", {**params, "left": facts.left})
    return Sentence("running", params)


_RULES: tuple[Callable[[SentenceFacts], Sentence | None], ...] = (
    _never_ran,
    _passing,
    _held,
    _over,
    _only_retries,
    _trap,
    _few_hosts,
    _all_busy,
    _refusals,
    _slow_machine,
    _goes_on,
)


# ---- in words


def _(text: str) -> str:
    """Marks a message for the catalogues."""
    return text


MESSAGES: Final = {
    "ready": _("ready to start"),
    "problems": _("{problems} problems keep it from starting; the first: {first}"),
    "preparing": _("preparing"),
    "waiting": _("not running yet: {why}"),
    "stopping": _("stopping: {busy} fetches are finished first"),
    "pausing": _("pausing: {busy} fetches are finished first"),
    "paused-operator": _("paused by the operator"),
    "paused-file": _("paused by the file control/pause"),
    "paused-runtime": _("paused at the runtime limit"),
    "paused-quota": _("paused: the quota of disk space is used up"),
    "paused-disk": _("paused for lack of disk space; it goes on by itself"),
    "paused-space": _(
        "paused: {free} are free, {reserve} are kept in reserve; it goes on by itself"
    ),
    "paused": _("paused: {why}"),
    "finished": _("finished {at}: {documents} documents, {failed} pages failed"),
    "finished-some-time": _("finished: {documents} documents, {failed} pages failed"),
    "finished-left": _(
        "finished {at}: {documents} documents, {failed} pages failed; not fetched: {endless} URLs "
        "of endless places (traps.budget), {deleted} deleted by the operator"
    ),
    "finished-left-some-time": _(
        "finished: {documents} documents, {failed} pages failed; not fetched: {endless} URLs "
        "of endless places (traps.budget), {deleted} deleted by the operator"
    ),
    "stopped": _("stopped by the operator; {queued} URIs wait"),
    "interrupted": _("interrupted; {queued} URIs wait"),
    "crashed": _("cut off without an end; {queued} URIs wait"),
    "limit-time": _("stopped at the time limit; {queued} URIs wait"),
    "limit-bytes": _("stopped at the limit of bytes; {queued} URIs wait"),
    "limit-documents": _("stopped at the limit of documents; {queued} URIs wait"),
    "limit-written": _("stopped at the limit of WARC bytes; {queued} URIs wait"),
    "limit-budget": _("stopped: queues with URIs left are over budget or retired"),
    "disk-wait": _("stopped: no free disk space for too long; {queued} URIs wait"),
    "error": _("ended by an error; {queued} URIs wait"),
    "closed": _("ended for good by the operator: {documents} documents"),
    "ended": _("ended: {why}"),
    "retries": _("nothing but retries: {trouble}"),
    "retries-until": _("nothing but retries: {trouble}; given up {until} at the latest"),
    "one-host": _(
        "waits for one host: {host} gets a fetch each {delay}; {queued} URIs there need {needs}"
    ),
    "one-host-crawl-delay": _(
        "waits for one host: {host} allows a fetch each {delay} (Crawl-delay); "
        "{queued} URIs there need {needs}"
    ),
    "few-hosts": _(
        "waits for {hosts} hosts; the slowest, {host}, gets a fetch each {delay}, "
        "and {queued} URIs there need {needs}"
    ),
    "slots-busy": _("all {parallel} fetch slots are busy; {hosts} hosts are ready"),
    "refuses": _("{host} answers {status}; its delay is {delay} now"),
    "fails": _("{host} fails with {status}; its delay is {delay} now"),
    "busy-machine": _("the machine is busy: the crawler was held up for {gap}"),
    "slow-disk": _("the disk is slow: nothing was committed for {age}"),
    "trap": _("looks like a trap: {prefix} gave {share} of the new URLs"),
    "empty": _("nothing is left to fetch"),
    "running": _("{rate} URIs/s; {queued} URIs wait"),
    "running-left": _("{rate} URIs/s; about {left} left"),
    "rounds": _("crawled in rounds; version {version}: {step}"),
    "rounds-at": _("crawled in rounds; version {version}; round {round}, at {step}"),
    "rounds-new": _("crawled in rounds; no version yet"),
    "reading": _("being read"),
    "unreadable": _("cannot be read: {why}"),
    "no-answer": _("it runs, but does not answer: {why}"),
}
"""The text of each code, with its params in braces."""

LEVERS: Final = {
    "start": _("Start"),
    "fix": _("put the first problem right"),
    "resume": _("Resume"),
    "free-space": _("free disk space"),
    "disk.reserve": _("lower disk.reserve"),
    "limits": _("other limits"),
    "go-on": _("Go on"),
    "unretire": _("bring retired queues back"),
    "log": _("look at the log"),
    "wake": _("try now"),
    "stop": _("Stop"),
    "delay": _("another delay for this host"),
    "in_flight": _("more fetches at a time for this host"),
    "retire": _("retire the queue"),
    "parallel": _("more fetch slots"),
    "contact": _("check what the crawler says of itself"),
    "watch": _("look at it working"),
    "exclude": _("exclude it"),
    "seeds": _("look at the seeds"),
    "recrawl": _("Recrawl"),
}
"""The text of each lever."""


def words(sentence: Sentence, translate: Translate = _, write: WriteParam | None = None) -> str:
    """The text of a sentence, in one line.

    Args:
        sentence: It.
        translate: Gives the template of another language.
        write: Writes the params for that language; None for English.
    """
    write = write or write_param
    template = translate(MESSAGES[sentence.code])
    return template.format_map({name: write(name, v) for name, v in sentence.params.items()})


_WRITERS: Final[Mapping[str, Callable[[float], str]]] = {
    **dict.fromkeys(("delay", "needs", "gap", "age", "left"), duration),
    **dict.fromkeys(("free", "reserve"), size),
    **dict.fromkeys(("at", "until"), lambda seconds: f"{to_the_second(seconds)} UTC"),
    "share": lambda share: f"{share * 100:.0f} %",
    "status": lambda status: f"{status:.0f}",
}
"""Functions that write the params of these names; other numbers are counts and rates."""


def write_param(name: str, value: Value) -> str:
    """A param in English, as the terminal has it."""
    if isinstance(value, str):
        return readable_url(value)
    if name in _WRITERS:
        return _WRITERS[name](value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"
