"""The last lines of a crawl: what it got, where it is, and how to look at it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from nacre.cli.next_steps import archives, next_steps
from nacre.cli.numbers_text import got_text, timeouts_text
from nacre.cli.output import count, duration, pairs, program, say, say_json, shown, typed
from nacre.cli.running import Result
from nacre.cli.seeds_text import not_got_lines, seeds_fact, skipped_fact
from nacre.job.clock import SystemClock
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.offline import reading
from nacre.job.operator.overview import Overview
from nacre.job.runs.budget import Unit, parse_budget
from nacre.job.runs.newrun import INCREMENTAL
from nacre.job.runs.runs import read_run
from nacre.job.states import ExitCode, ExitStatus
from nacre.report.stats import rows
from nacre.report.units import size

_ENDS = {
    ExitStatus.FINISHED: "Finished: everything in scope was tried.",
    ExitStatus.INTERRUPTED: "Interrupted.",
    ExitStatus.ABORTED: "Stopped.",
    ExitStatus.TIME_LIMIT: "Stopped at the time limit (limits.time).",
    ExitStatus.DATA_LIMIT: "Stopped at the limit of bytes (limits.bytes or novel_bytes).",
    ExitStatus.DOCUMENT_LIMIT: "Stopped at the limit of documents (limits.documents).",
    ExitStatus.WRITE_LIMIT: "Stopped at the limit of WARC bytes (limits.warc_bytes).",
    ExitStatus.QUEUE_BUDGET: (
        "Stopped: queues with URIs left have used up their budget or quota, or were retired by the "
        "operator."
    ),
    ExitStatus.DISK_WAIT: "Stopped: no free space for too long (disk.max_wait).",
    ExitStatus.ABNORMAL: "Ended by an error.",
}
_FOUND = {
    "none": "unchanged",
    "markup": "other markup only",
    "noise": "noise only",
    "template": "other template only",
    "minor": "minor changes",
    "major": "major changes",
    "missing": "newly missing",
    "never there": "dead links",
    "silent": "no answer or refused",
}
"""Verdicts in words; those that are not here are words already."""


def summarize(layout: Layout, settings: JobSettings, result: Result, *, as_json: bool) -> None:
    """Print how a run ended."""
    overview = result.overview
    if overview is None or result.statuses is not None:
        got = Got(result.statuses or {}, {})
    else:
        got = _what_was_got(layout, settings)
    if as_json:
        say_json(_data(layout, result, got))
        return
    say(_how_it_ended(result, got))
    for line in not_got_lines(result.seeds, layout.root, SystemClock().now()):
        say(line)
    if overview is not None:
        say(pairs(dict(_facts(layout, settings, result, got))))
    say()
    for line in next_steps(layout, settings, result, again=bool(got.again), noise=got.noise):
        say(line)


def _how_it_ended(result: Result, got: "Got") -> str:
    if result.exit is ExitStatus.FINISHED and not result.fetched:
        return "Nothing could be fetched."
    if result.code is ExitCode.SEEDS_ERRONEOUS:
        return "Finished, but no seed was there: each answered with an error, or not at all."
    if result.code is ExitCode.NOTHING_ARCHIVED:
        return "Replies were received, and nothing was archived: `nacre check` may say why."
    if result.exit is ExitStatus.FINISHED and result.overview and result.overview.endless:
        return "Finished: everything in scope was tried, but for the rest of endless places."
    if result.exit is ExitStatus.FINISHED and got.again:
        return f"Finished: {got.again}."
    return _ENDS.get(result.exit, str(result.exit))


class Got(NamedTuple):
    """What the store counted.

    Attributes:
        statuses: Replies by status.
        found: What a recrawl found, by verdict.
        again: Why a recrawl ended, when nothing hindered it; "" for other runs.
        noise: Share of what a recrawl stored that differs in noise alone; 0 where `--keep` is not
            `strict`.
    """

    statuses: dict[int, int]
    found: dict[str, int]
    again: str = ""
    noise: float = 0.0


def _what_was_got(layout: Layout, settings: JobSettings) -> Got:
    with reading(layout, settings) as view:
        by_status = ((int(status), tally.urls) for status, tally in rows(view.store, "status"))
        run = read_run(view.store)
        statuses = {status: number for status, number in by_status if status >= 100}
        if run is None or run.mode != INCREMENTAL:
            return Got(statuses, {})
        from nacre.job.incremental.recrawl import CUT
        from nacre.job.studies.lookback import found_by, stored_noise

        found = found_by(view.store, run)
        if view.store.counter(CUT):
            again = f"the budget of {_budget(run.budget)} is spent; more would be worth a visit"
        else:
            again = "nothing more is due" if found else "nothing was due"
        noise = stored_noise(view.store, run) if run.keep == "strict" else 0.0
        return Got(statuses, found, again, noise)


def _budget(text: str) -> str:
    """`500 requests a day`, of a budget as it was typed."""
    unit, amount, daily = parse_budget(text)
    each = {Unit.REQUESTS: count(int(amount), "request"), Unit.BYTES: size(amount)}
    return each.get(unit, duration(amount)) + (" a day" if daily else "")


def _data(layout: Layout, result: Result, got: Got) -> dict[str, Any]:
    numbers = msgspec.to_builtins(result.overview) if result.overview else {}
    return {
        **numbers,
        "exit": str(result.exit),
        "exit_code": int(result.code),
        **({"found": got.found} if got.found else {}),
        **({"ended": got.again} if got.again else {}),
        "seeds": msgspec.to_builtins(result.seeds),
        "statuses": {str(status): number for status, number in sorted(got.statuses.items())},
        "job": str(layout.root),
    }


def _facts(
    layout: Layout, settings: JobSettings, result: Result, got: Got
) -> Iterator[tuple[str, str]]:
    overview = result.overview or Overview("")
    if seeds := seeds_fact(result.seeds):
        yield "seeds", seeds
    if skipped := skipped_fact(result.seeds):
        yield "skipped", skipped
    finished = result.exit is ExitStatus.FINISHED
    yield "got", got_text(overview)
    if got.statuses:
        replies = ", ".join(f"{s}: {n:,}" for s, n in sorted(got.statuses.items()))
        needed = overview.prerequisites
        yield "replies", replies + (f" ({needed:,} of them for robots.txt)" if needed else "")
    if got.found:
        yield "found", ", ".join(f"{_FOUND.get(k, k)} {n:,}" for k, n in got.found.items())
    if overview.saved_documents:
        saved = count(
            overview.saved_documents,
            "reply whose content was there",
            "replies whose content was there",
        )
        yield "saved", f"{size(overview.saved_bytes)} by dedup ({saved})"
    troubles = f"{overview.failed_pages:,} failed, {overview.refused:,} disregarded"
    troubles += " (robots.txt and the like)"
    yield "not got", troubles + (f", {overview.deleted:,} deleted" if overview.deleted else "")
    if overview.timeouts:
        yield "regexes", timeouts_text(overview.timeouts)
    if overview.alerts:
        yield "alerts", f"{overview.alerts:,}, in {shown(layout.latest / 'logs/alerts.log')}"
    if left := _left(overview, finished=finished):
        yield "left", left
    if overview.endless:
        urls = count(overview.endless, "URL of endless places is", "URLs of endless places are")
        yield "traps", f"{urls} left; `{program()} run {typed(layout.root)} --traps` goes on"
    yield "time", duration(overview.elapsed)
    places = " and ".join(f"{place}/" for place in archives(layout, settings, every=False))
    yield "archive", f"{size(overview.warc_bytes)} of WARC in {places}"


def _left(overview: Overview, *, finished: bool) -> str:
    """What waits; the URIs of retired queues are not counted, endless places are told apart."""
    parts = [count(overview.queued, "URI")] if overview.queued else []
    if not finished and (retired := overview.queues.get("retired")):
        parts.append(f"what waits in {count(retired, 'retired queue')}")
    return " and ".join(parts)
