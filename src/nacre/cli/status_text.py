"""The numbers of a job in words, for `nacre status`, the live view and the summary.

`RateMeter` measures URIs and bytes a second. `Eta` estimates the time that is left, and says
nothing until the queue shrinks steadily.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from nacre.cli.output import count, pairs, program, safe, table, to_copy
from nacre.core.clock import duration
from nacre.inspect.other_jobs import QueueSharer, sharing_text
from nacre.job.diagnosis import delay_diagnosis
from nacre.job.diagnosis_text import diagnosis_text
from nacre.job.overview import JobOverview
from nacre.report.formatting import size, to_the_second
from nacre.runs.passes import RecurringCrawl
from nacre.wire.urltext import readable_url

_WINDOW = 5.0
_GOES_ON = "; `nacre run JOB` resumes it"
_HIGHER = "; `nacre run JOB` resumes it with another limit"
_ENDS = {
    "NASCENT": "not run yet",
    "CRASHED": "cut off without an end" + _GOES_ON,
    "INTERRUPTED": "interrupted" + _GOES_ON,
    "ABORTED": "stopped" + _GOES_ON,
    "FINISHED": "finished",
    "FINISHED_TIME_LIMIT": "stopped at the time limit (limits.time)" + _HIGHER,
    "FINISHED_DATA_LIMIT": "stopped at the limit of bytes (limits.bytes or novel_bytes)" + _HIGHER,
    "FINISHED_DOCUMENT_LIMIT": "stopped at the limit of documents (limits.documents)" + _HIGHER,
    "FINISHED_WRITE_LIMIT": "stopped at the limit of WARC bytes" + _HIGHER,
    "FINISHED_QUEUE_BUDGET": "stopped: queues with URIs left are over budget or retired" + _GOES_ON,
    "FINISHED_DISK_WAIT": "stopped: no free space for too long (disk.max_wait)" + _GOES_ON,
    "FINISHED_ABNORMAL": "ended by an error" + _GOES_ON,
}
_LIVE = {
    "NASCENT": "not begun",
    "PREPARING": "preparing",
    "RUNNING": "running",
    "PAUSING": "pausing: running fetches are finished first",
    "PAUSED": "paused",
    "EMPTY": "nothing left to fetch",
    "STOPPING": "stopping",
    "FINISHED": "finished",
}
_WHY = {
    "operator": "by the operator",
    "runtime limit": "at the runtime limit",
    "disk": "for lack of disk space",
    "FINISHED": "everything was tried",
    "INTERRUPTED": "interrupted",
    "ABORTED": "by the operator",
}
WINDOW = 60.0
"""Seconds that are looked back on."""
_ENOUGH = 20.0
_STEPS = 8


class MeasuredRates(NamedTuple):
    """URIs and KB a second: now, and since the start of this process.

    Attributes:
        uris: URIs finished, now.
        kilobytes: KB received, now.
        uris_average: URIs finished, on average.
        kilobytes_average: KB received, on average.
    """

    uris: float = 0.0
    kilobytes: float = 0.0
    uris_average: float = 0.0
    kilobytes_average: float = 0.0


class RateMeter:
    """Takes samples and computes rates."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque()
        self._first: tuple[float, int, int] | None = None

    def rates(self, overview: JobOverview) -> MeasuredRates:
        """Rates at this sample.

        Args:
            overview: The numbers of now.
        """
        sample = (overview.elapsed, _worked_on(overview), overview.bytes)
        self._first = self._first or sample
        self._samples.append(sample)
        while len(self._samples) > 2 and sample[0] - self._samples[0][0] > _WINDOW:
            self._samples.popleft()
        return MeasuredRates(*_rate(self._samples[0], sample), *_rate(self._first, sample))


def _worked_on(overview: JobOverview) -> int:
    """The URIs and recorded requests that are done; deletions by the operator are no speed."""
    return overview.finished - overview.deleted + overview.recorded


def _rate(old: tuple[float, int, int], new: tuple[float, int, int]) -> tuple[float, float]:
    spent = new[0] - old[0]
    if spent <= 0:
        return 0.0, 0.0
    return (new[1] - old[1]) / spent, (new[2] - old[2]) / spent / 1000


def state_words(overview: JobOverview) -> str:
    """The state of a job in words, without names of the program's own."""
    if not overview.parallel:
        plain = overview.state.lower().replace("_", " ")
        return to_copy(_ENDS.get(overview.state, plain))
    return live_words(overview)


def live_words(overview: JobOverview) -> str:
    """The state of a running job in words."""
    state = _LIVE.get(overview.state, overview.state.lower())
    reasons = (reason for reason in overview.why.split(", ") if reason)
    texts = ", ".join(_WHY.get(reason) or _plain(reason) for reason in reasons)
    return f"{state} ({texts})" if texts else state


def _plain(reason: str) -> str:
    return _ENDS.get(reason, reason).partition(";")[0]


def number_lines(
    overview: JobOverview, rates: MeasuredRates, eta: float | None, job: str
) -> list[tuple[str, str]]:
    """The numbers as names and texts.

    Args:
        overview: The numbers.
        rates: The rates.
        eta: Remaining seconds; None if unknown.
        job: Directory of the job, for commands.
    """
    state = safe(live_words(overview))
    remaining = f", about {duration(eta)} to go" if eta is not None else ""
    if remaining and overview.retrying:
        remaining += ", and then the retries"
    saved = f"{size(overview.saved_bytes)} in {overview.saved_documents:,}"
    lines = [
        ("state", f"{state}, {duration(overview.elapsed)} of crawling{remaining}"),
        ("done", done_text(overview)),
        (
            "got",
            f"{got_text(overview)}; saved by dedup {saved}",
        ),
        (
            "speed",
            f"{rates.uris:.1f} URIs/s, {rates.kilobytes:,.0f} KB/s "
            f"(average {rates.uris_average:.1f}, {rates.kilobytes_average:,.0f})",
        ),
        (
            "work",
            f"{overview.busy} of {overview.parallel} fetches, "
            f"{count(overview.active_hosts, 'host')} active, "
            f"{count(overview.queues.get('inactive', 0), 'host')} in waiting",
        ),
        (
            "trouble",
            f"{overview.failed_pages:,} failed, {overview.refused:,} disregarded, "
            + (f"{overview.left_deleted:,} deleted, " if overview.left_deleted else "")
            + count(overview.alerts, "alert"),
        ),
    ]
    if overview.browser_pages:
        lines.append(("browser", browser_text(overview)))
    if overview.timeouts:
        lines.append(("regexes", timeouts_text(overview.timeouts)))
    if overview.trouble:
        lines.append(("waits", safe(overview.trouble)))
    if overview.gives_up:
        lines.append(("ends", to_copy(end_text(overview.gives_up, job))))
    return lines


def end_text(until: float, job: str) -> str:
    """The text when only retries are left: how long they may take, and how not to wait."""
    return (
        f"at {to_the_second(until)} UTC at the latest: nothing but further tries is left; "
        f"`nacre stop {job}`, or Ctrl-C, ends now and keeps them for later; "
        f"`nacre frontier {job} delete --all` gives them up"
    )


def done_text(overview: JobOverview) -> str:
    """The part that is done. URIs that come again (forced ones) are more visits than URIs."""
    if overview.recorded:
        return f"{count(overview.recorded, 'request')} recorded"
    finished, visits = overview.finished, overview.finished + overview.queued
    if not overview.discovered and not visits:
        return "nothing so far"
    of = f"{overview.discovered:,} found"
    if visits > overview.discovered:
        of = f"{visits:,} visits ({overview.discovered:,} URIs found)"
    text = f"{finished:,} of {of}, {overview.queued:,} waiting"
    retrying = overview.retrying
    return f"{text} ({retrying:,} for another try)" if retrying else text


def got_text(overview: JobOverview) -> str:
    """The replies by kind: `9 documents (4 HTML, 3 of traps), 2 redirects, 1 error, 1.2 MB`.

    Replies that are not in the archive follow: `; 9 replies withheld (rights.enforce)`.
    """
    traps = f", {overview.trapped:,} of traps" if overview.trapped else ""
    parts = [f"{count(overview.documents, 'document')} ({overview.html:,} HTML{traps})"]
    if overview.unchanged:
        parts.append(f"{overview.unchanged:,} not modified")
    if overview.redirects:
        parts.append(count(overview.redirects, "redirect"))
    if overview.errors:
        parts.append(count(overview.errors, "error"))
    text = ", ".join([*parts, size(overview.bytes)])
    if overview.withheld:
        replies = count(overview.withheld, "reply", "replies")
        text += f"; {replies} withheld, not in the archive (rights.enforce)"
    return text


def browser_text(overview: JobOverview) -> str:
    """The pages that were run in a browser: `3 pages run, 47 replies to their requests, 1.2 MB`."""
    pages, replies = overview.browser_pages, overview.browser_requests
    replied = f"{count(replies, 'reply', 'replies')} to {'its' if pages == 1 else 'their'} requests"
    return f"{count(pages, 'page')} run, {replied}, {size(overview.browser_bytes)}"


def timeouts_text(number: int) -> str:
    """The text of `nacre status` and the summary about expressions that took too long."""
    return f"{count(number, 'match', 'matches')} took too long and counted as none"


def status_lines(
    answer: Mapping[str, Any], job: str, *, verbose: bool, is_recording: bool = False
) -> Iterator[str]:
    """The lines of an answer to `status`.

    Args:
        answer: The answer of the job.
        job: The job's directory, for commands to copy.
        verbose: With the policies that hold.
        is_recording: It is resumed by `nacre record`.
    """
    overview = msgspec.convert(answer["overview"], JobOverview)
    if overview.state == "NASCENT":
        yield state_words(overview)
        yield from _sentence_lines(answer)
        return
    # A run has no number until there is space on the disk.
    name = f"run {overview.run}" if overview.run else "run"
    words = state_words(overview)
    if is_recording:
        words = words.replace("run JOB", "record --out JOB")
    yield f"{name}: {words.replace('JOB', job)}"
    yield from _sentence_lines(answer)
    seconds = max(overview.elapsed, 1e-3)
    rates = MeasuredRates(
        uris_average=_worked_on(overview) / seconds,
        kilobytes_average=overview.bytes / seconds / 1000,
    )
    numbers = dict(number_lines(overview, rates, None, job))
    numbers.pop("state")
    numbers["speed"] = (
        f"{rates.uris_average:.1f} URIs/s, {rates.kilobytes_average:,.0f} KB/s on average, "
        f"in {duration(overview.elapsed)}"
    )
    if not overview.parallel:
        numbers.pop("work")
    yield pairs(numbers)
    yield from _passes(overview, answer.get("recurring"), job)
    if overview.policy and verbose:
        yield "policy"
        yield from (f"  {line}" for line in overview.policy)
    yield from _details(answer)


def _sentence_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """What the console says too: the diagnosis, the kind of most queued URIs, and the remedy."""
    for sentence in filter(None, (answer["sentence"], answer.get("crowded"))):
        yield f"  {safe(sentence['text'])}"
        for number, helps in enumerate(sentence["helps"]):
            yield to_copy(f"  {'or' if number else 'what helps:'} {safe(helps)}")


def _passes(overview: JobOverview, answer: Mapping[str, Any] | None, job: str) -> Iterator[str]:
    """When the next pass of a crawl that never ends begins, and who waits for it."""
    again = msgspec.convert(answer, RecurringCrawl) if answer else None
    time, reason = overview.next_pass, overview.next_why
    if again is not None:
        time, reason = again.time or time, again.why or reason or again.rhythm
    if again is None or (not again.waits and overview.started > time > 0):
        # Noted by a process that is gone; a later run makes it void.
        if time:
            yield f"next pass: planned for {_moment(time, reason)}; no process waits for it"
        return
    if not again.waits:
        yield (
            f"next pass: no process waits for it any more (process {again.pid} was killed); "
            f"`{program()} recrawl {job} {again.rhythm}` resumes it"
        )
        return
    if time:
        yield f"next pass: {_moment(time, reason)}"
    else:
        yield f"next pass: planned when this one is over ({again.rhythm})"
    yield f"           process {again.pid} sees to it; `{program()} stop {job}` ends it"


def _moment(time: float, reason: str) -> str:
    return f"{to_the_second(time)} UTC" + (f" ({reason})" if reason else "")


def _details(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer["slowest"]:
        yield "slowest queues"
        rows = [
            (
                q["name"],
                f"{q['pending']:,}",
                duration(q["delay"]),
                duration(q["needs"]),
                _why_so_slow(q),
            )
            for q in answer["slowest"]
        ]
        yield table([("queue", "waiting URIs", "one every", "takes about", "why"), *rows])
    if answer["fetching"]:
        yield "fetches"
        fetches = [(duration(f["seconds"]), readable_url(f["url"])) for f in answer["fetching"]]
        yield table([("for", "URL"), *fetches])


def _why_so_slow(queue: Mapping[str, Any]) -> str:
    """Why the delay of a queue is so long, and who else fetches from its host; "" if unknown."""
    reason = delay_diagnosis(queue.get("cause", ""), queue.get("most", 0.0))
    sharers = msgspec.convert(queue.get("sharers", ()), tuple[QueueSharer, ...])
    reasons = (diagnosis_text(reason) if reason else "", *map(sharing_text, sharers))
    return "; ".join(filter(None, reasons))


class Eta:
    """Looks at the number of waiting URIs from time to time."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, elapsed: float, queued: int) -> None:
        """Take a sample.

        Args:
            elapsed: Seconds that the crawl ran; it does not go on in a pause.
            queued: URIs that wait.
        """
        if self._seen and elapsed - self._seen[-1][0] < WINDOW / (_STEPS * 4):
            return
        self._seen.append((elapsed, queued))
        while elapsed - self._seen[0][0] > WINDOW:
            self._seen.popleft()

    def seconds(self, slowest: float = 0.0) -> float | None:
        """Seconds to go; None when they cannot be estimated.

        Args:
            slowest: Seconds that the slowest queue needs at its delay: it cannot be sooner.
        """
        if len(self._seen) < _STEPS or self._seen[-1][0] - self._seen[0][0] < _ENOUGH:
            return None
        steps = [self._seen[round(i * (len(self._seen) - 1) / _STEPS)] for i in range(_STEPS + 1)]
        falls = [a[1] - b[1] for a, b in pairwise(steps)]
        if min(falls) <= 0:
            return None
        rate = sum(falls) / (steps[-1][0] - steps[0][0])
        return max(steps[-1][1] / rate, slowest)
