"""The last lines of a crawl: its results, the seeds that failed, and the next commands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nacre.cli.output import (
    count,
    format_path,
    pairs,
    program,
    safe,
    say,
    say_json,
    typed,
)
from nacre.cli.status_text import got_text, timeouts_text
from nacre.core.clock import Clock, duration
from nacre.core.message_data import to_plain
from nacre.core.states import ExitCode, ExitStatus, SeedsEnd
from nacre.core.status import with_tries
from nacre.inspect.analysis.wording import changes_text, counts_text
from nacre.inspect.reports.seed_outcomes import (
    SeedOutcome,
    SeedState,
    SeedTally,
)
from nacre.job.overview import JobOverview
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.run_end import RunFindings, RunResult, read_findings
from nacre.report.browser_tally import BrowserTally, by_number
from nacre.report.formatting import share, size
from nacre.runs.budget import BudgetUnit, parse_budget
from nacre.settings.settings import JobSettings
from nacre.wire.urltext import readable_url

_MOSTLY = 0.5
"""Share of noise from which on another way of keeping is pointed to."""
_LIMITS: dict[ExitStatus, tuple[tuple[str, str], ...]] = {
    ExitStatus.TIME_LIMIT: (("limits.time", "0"), ("limits.runtime.after", "0")),
    ExitStatus.DATA_LIMIT: (("limits.bytes", "0"), ("limits.novel_bytes", "0")),
    ExitStatus.DOCUMENT_LIMIT: (("limits.documents", "0"), ("limits.novel_documents", "0")),
    ExitStatus.WRITE_LIMIT: (("limits.warc_bytes", "0"), ("archive.max_total", "0")),
    ExitStatus.QUEUE_BUDGET: (("frontier.queue_total_budget", "-1"),),
}
"""What may have ended the run, and the value that lifts it, for the command that resumes."""
_SHOWN = 10
"""Seeds that are named at the end of a run."""
_SOON = 1.0
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


def next_steps(
    layout: Layout, settings: JobSettings, result: RunResult, *, again: bool, noise: float = 0.0
) -> Iterator[str]:
    """One command a line.

    Args:
        layout: The job's directories.
        settings: Its settings.
        result: How the run ended.
        again: It was a recrawl.
        noise: Share of what that stored that differs in noise alone.
    """
    nacre, job = program(), typed(layout.root)
    if result.exit is not ExitStatus.FINISHED:
        run = f"{nacre} record --out {job}" if layout.is_recording else f"{nacre} run {job}"
        yield from _going_on(run, f"{nacre} frontier {job}", settings, result)
    elif result.counts.seeds is not SeedsEnd.GOT:
        first = result.seeds.not_got[0].url if result.seeds.not_got else "URL"
        yield f"Why:       {nacre} explain {job} {typed(first)}"
        if not result.fetched:
            return
    yield f"Look:      {nacre} report {job}"
    yield f"           {nacre} explain {job} URL"
    if result.browser.pages:
        yield f"           {nacre} report {job} browser"
    if result.exit is ExitStatus.FINISHED:
        yield f"Hand on:   {nacre} report {job} run --html run.html"
    if again:
        yield f"Worth:     {nacre} report {job} savings"
    if result.overview and (result.overview.failed_pages or result.overview.refused):
        yield f"Not got:   {nacre} report {job} responsecode"
    yield from _archived(layout, result)
    if result.exit is ExitStatus.FINISHED:
        yield f"Again:     {nacre} recrawl {job}"
    if noise > _MOSTLY:
        yield f"Smaller:   {nacre} recrawl {job} --keep lean"
        yield f"           {share(noise)} of the bytes stored differ in noise only; it keeps notes"


def _archived(layout: Layout, result: RunResult) -> Iterator[str]:
    """What to do with the archive; where a run has written none, what says why."""
    nacre, job = program(), typed(layout.root)
    if result.code is ExitCode.NOTHING_ARCHIVED:
        yield f"Why:       {nacre} check {job}"
        return
    yield f"Verify:    {nacre} archive {job} check"
    if result.exit is ExitStatus.FINISHED:
        yield f"Search:    {nacre} index {job}"
        yield f"           {nacre} search {job} WORDS"
    if result.exit is ExitStatus.FINISHED or layout.is_recording:
        yield f"Browse:    {nacre} replay {job}"


def _going_on(run: str, frontier: str, settings: JobSettings, result: RunResult) -> Iterator[str]:
    """The command, with what lifts the limit; queues may also rest by quotas or by order."""
    resting = result.exit is ExitStatus.QUEUE_BUDGET
    if resting:
        yield f"Left:      {frontier} queues"
    if resting and settings.frontier.queue_total_budget < 0:
        yield f"Resume:    {frontier} unretire; {run}"
    else:
        yield f"Resume:    {run}{_lifted(settings, result.exit)}"


def _lifted(settings: JobSettings, ended: ExitStatus) -> str:
    """Options that lift the limits that are set; those without a value are not limits."""
    limits = _LIMITS.get(ended, ())
    in_effect = [(path, free) for path, free in limits if _is_set(settings, path, free)]
    return "".join(f" --set {path}={free}" for path, free in in_effect or limits[:1])


def _is_set(settings: JobSettings, path: str, free: str) -> bool:
    value: Any = settings
    for name in path.split("."):
        value = getattr(value, name)
    return bool(value != float(free))


def collection(name: str) -> str:
    """A name that pywb takes for a collection: letters, digits, `_` and `-`."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "crawl"


def archives(layout: Layout, settings: JobSettings) -> list[str]:
    """The places of the WARCs of the latest run."""
    run, named = layout.latest.resolve().name, settings.archive.directories
    return [format_path(layout.latest / name.replace("${launchId}", run)) for name in named]


def say_finished(layout: Layout, *, as_json: bool) -> None:
    """`nacre run` on a finished job changes nothing."""
    nacre, job = program(), typed(layout.root)
    if as_json:
        say_json({"exit": "FINISHED", "exit_code": 0, "changed": False, "job": str(layout.root)})
        return
    say(f"{format_path(layout.root)} is finished; nothing was changed.")
    say(f"Look:      {nacre} report {job}")
    say(f"Again:     {nacre} recrawl {job}")


def seeds_fact(seeds: SeedTally) -> str:
    """The seeds in one line; "" when there is nothing to say of them."""
    if seeds.not_due == seeds.total:
        return ""
    parts = []
    if seeds.total > 1 or seeds.got < seeds.total:
        parts.append(f"{seeds.got:,} of {seeds.total:,} got")
    if seeds.errors:
        parts.append(f"{seeds.errors:,} answered with an error")
    if seeds.no_reply:
        parts.append(f"{seeds.no_reply:,} without a reply")
    if seeds.withheld:
        parts.append(f"{seeds.withheld:,} withheld")
    if seeds.refused:
        parts.append(f"{seeds.refused:,} not asked for")
    if seeds.waiting:
        parts.append(f"{seeds.waiting:,} waiting")
    if seeds.not_due:
        parts.append(f"{seeds.not_due:,} not due")
    return ", ".join(parts)


def skipped_fact(seeds: SeedTally) -> str:
    """The lines that were not seeds; "" for none."""
    if not seeds.skipped:
        return ""
    complaint = "is not a seed" if seeds.skipped == 1 else "are not seeds"
    lines = count(seeds.skipped, "line")
    return f"{lines} of the seed list that {complaint}: named in job.log"


def not_got_lines(seeds: SeedTally, job: Path, now: float) -> Iterator[str]:
    """Each seed that was not got, and why; of many the first."""
    listed = seeds.not_got[:_SHOWN]
    for end in listed:
        wait = None if end.next_try is None else end.next_try - now
        yield f"  {safe(readable_url(end.url))}: {reason(end, wait)}"
    number = seeds.errors + seeds.no_reply + seeds.withheld + seeds.refused + seeds.waiting
    if more := number - len(listed):
        yield f"  and {more:,} more: {program()} report {typed(job)} seeds"


def reason(end: SeedOutcome, wait: float | None) -> str:
    """The reason why a seed was not fetched, the number of tries, and the time of the next.

    Args:
        end: The outcome of the seed.
        wait: Seconds until then; None when nothing says so.
    """
    again = ""
    if end.state is SeedState.WAITS and end.tries:
        soon = wait is None or wait < _SOON
        again = "next when its turn comes" if soon else f"next in {duration(wait or 0.0)}"
    text = with_tries(safe(end.cause), end.tries, again)
    if end.dead_text:
        text = f"{text}; {end.dead_text}"
    if end.target:
        text = f"redirects to {safe(readable_url(end.target))}: {text}"
    return f"{text} ({end.status})" if end.status < 0 else text


def summarize(
    layout: Layout,
    settings: JobSettings,
    result: RunResult,
    clock: Clock | None = None,
    *,
    as_json: bool,
) -> None:
    """Print how a run ended, by the clock of the job; None: the machine's."""
    overview = result.overview
    if overview is None or result.statuses is not None:
        findings = RunFindings(result.statuses or {}, changes=result.changes)
    else:
        findings = read_findings(layout, settings)
    if as_json:
        say_json(_data(layout, result, findings))
        return
    say(_how_it_ended(result, _why_it_ended(findings)))
    for line in not_got_lines(result.seeds, layout.root, (clock or SystemClock()).now()):
        say(line)
    if overview is not None:
        say(pairs(dict(_facts(layout, settings, result, findings))))
    say()
    for line in next_steps(
        layout, settings, result, again=findings.is_recrawl, noise=findings.noise
    ):
        say(line)


def _left_out(result: RunResult) -> str:
    """Describe the URLs that a finished run did not try; "" for none."""
    overview = result.overview
    if overview is None:
        return ""
    parts = ["the rest of the crawler traps"] * bool(overview.endless)
    parts += ["what the operator deleted"] * bool(overview.left_deleted)
    if overview.too_deep:
        urls = count(overview.too_deep, "URL", "URLs")
        parts.append(f"{urls} too many hops from a seed, with all links from there")
    if overview.held:
        urls = count(overview.held, "known URL")
        parts.append(f"{urls} in likely traps (recrawl.trap_share), with all links from there")
    if overview.repeated:
        urls = count(overview.repeated, "new URL")
        parts.append(f"{urls} of idle parameters (recrawl.idle_parameters)")
    return " and ".join(parts)


def _how_it_ended(result: RunResult, again: str) -> str:
    """How a run ended; `again`: why a recrawl ended, "" for none."""
    if result.exit is ExitStatus.FINISHED and not result.fetched:
        return "Nothing could be fetched."
    if result.code is ExitCode.SEEDS_ERRONEOUS:
        return "Finished, but no seed was there: each answered with an error, or not at all."
    if result.code is ExitCode.NOTHING_ARCHIVED:
        return "Replies were received, and nothing was archived: `nacre check` may say why."
    if result.code is ExitCode.FAULTS:
        return "Finished, but URLs were lost by errors of Nacre's own."
    if result.exit is ExitStatus.FINISHED:
        return _how_it_finished(_left_out(result), again)
    return _ENDS.get(result.exit, str(result.exit))


def _how_it_finished(rest: str, again: str) -> str:
    """Describe how a run finished, its `rest` and why a recrawl ended (`again`)."""
    if again:
        return f"Finished: {again}; left out: {rest}." if rest else f"Finished: {again}."
    if rest:
        return f"Finished: everything in scope was tried, except {rest}."
    return _ENDS[ExitStatus.FINISHED]


def _why_it_ended(findings: RunFindings) -> str:
    """Why a recrawl ended, if nothing hindered it; "" for other runs."""
    if not findings.is_recrawl:
        return ""
    if not findings.is_cut:
        return "nothing more is due" if findings.verdicts else "nothing was due"
    unvisited = findings.unvisited
    more = f"{count(unvisited, 'due page')} not visited" if unvisited else "more is worth a visit"
    return f"the budget of {_budget(findings.budget)} is spent; {more}"


def _budget(text: str) -> str:
    """`500 requests a day`, of a budget as it was typed."""
    unit, amount, daily = parse_budget(text)
    texts = {BudgetUnit.REQUESTS: count(int(amount), "request"), BudgetUnit.BYTES: size(amount)}
    return texts.get(unit, duration(amount)) + (" a day" if daily else "")


def _data(layout: Layout, result: RunResult, findings: RunFindings) -> dict[str, Any]:
    numbers = to_plain(result.overview) if result.overview else {}
    return {
        **numbers,
        "exit": str(result.exit),
        "exit_code": int(result.code),
        **({"found": findings.verdicts} if findings.verdicts else {}),
        **({"changes": findings.changes} if findings.changes else {}),
        **({"ended": again} if (again := _why_it_ended(findings)) else {}),
        "seeds": to_plain(result.seeds),
        "browser": to_plain(result.browser),
        "statuses": {str(status): number for status, number in sorted(findings.statuses.items())},
        "job": str(layout.root),
    }


def _facts(
    layout: Layout, settings: JobSettings, result: RunResult, findings: RunFindings
) -> Iterator[tuple[str, str]]:
    overview = result.overview or JobOverview("")
    if seeds := seeds_fact(result.seeds):
        yield "seeds", seeds
    if skipped := skipped_fact(result.seeds):
        yield "skipped", skipped
    finished = result.exit is ExitStatus.FINISHED
    yield "got", got_text(overview)
    if findings.statuses:
        replies = ", ".join(f"{s}: {n:,}" for s, n in sorted(findings.statuses.items()))
        needed = overview.prerequisites
        yield "replies", replies + (f" ({needed:,} of them for robots.txt)" if needed else "")
    if findings.verdicts:
        yield "found", changes_text(findings.verdicts)
    elif findings.changes:
        yield "found", f"{counts_text(findings.changes)}, by their bytes"
    if overview.saved_documents:
        saved = count(
            overview.saved_documents,
            "reply whose content was there",
            "replies whose content was there",
        )
        yield "saved", f"{size(overview.saved_bytes)} by dedup ({saved})"
    troubles = f"{overview.failed_pages:,} failed, {overview.refused:,} disregarded"
    troubles += " (robots.txt and the like)"
    deleted = overview.left_deleted
    yield "not got", troubles + (f", {deleted:,} deleted" if deleted else "")
    yield from browser_facts(result.browser)
    yield from _troubles(layout, overview)
    if remaining := _queued_text(overview, finished=finished):
        yield "left", remaining
    if overview.endless:
        urls = count(overview.endless, "URL of endless places is", "URLs of endless places are")
        yield "traps", f"{urls} left; `{program()} run {typed(layout.root)} --traps` fetches more"
    yield "time", duration(overview.elapsed)
    places = " and ".join(f"{place}/" for place in archives(layout, settings))
    yield "archive", f"{size(overview.warc_bytes)} of WARC in {places}"


def browser_facts(tally: BrowserTally) -> Iterator[tuple[str, str]]:
    """Pages in a browser: why they were run and at which cost; pages that none was there for."""
    if tally.pages:
        signs = ", ".join(f"{name} {n:,}" for name, n in by_number(tally.signs))
        yield "browser", f"{count(tally.pages, 'page')} run ({signs})"
        yield (
            "",
            f"{duration(tally.cpu)} of its processor, {count(tally.requests, 'request')}, "
            f"{size(tally.bytes)}; {tally.reused:,} answered from the archive",
        )
        if tally.refused:
            rules = ", ".join(f"{name} {n:,}" for name, n in by_number(tally.refused))
            yield "refused", f"{count(sum(tally.refused.values()), 'request')} of pages ({rules})"
        if tally.robots_pages:
            yield (
                "robots",
                f"{tally.refused.get('robots', 0):,} of {tally.robots_requests:,} requests of "
                f"{count(tally.robots_pages, 'page')}, which may lack content",
            )
    if tally.unrun:
        pages = count(tally.unrun, "page looks", "pages look")
        text = f"{pages} as if they needed a browser; none is installed, or it does not start"
        yield "not run", f"{text}: `{program()} check --browser`"


def _troubles(layout: Layout, overview: JobOverview) -> Iterator[tuple[str, str]]:
    """What went wrong within Nacre, or needs a look of the operator."""
    if overview.faults:
        urls = count(overview.faults, "URL")
        named = format_path(layout.latest / "logs/runtime-errors.log")
        yield "errors", f"{urls} ended by an error of Nacre's own (-5): see {named}; report it"
    if overview.unparsed:
        documents = count(overview.unparsed, "document")
        reason = "parserFailed or parserTimeout in crawl.log"
        yield "unread", f"{documents} too much for the parser, without links: {reason}"
    if overview.timeouts:
        yield "regexes", timeouts_text(overview.timeouts)
    if overview.alerts:
        yield "alerts", f"{overview.alerts:,}, in {format_path(layout.latest / 'logs/alerts.log')}"


def _queued_text(overview: JobOverview, *, finished: bool) -> str:
    """What waits; the URIs of retired queues are not counted, endless places are counted apart."""
    parts = [count(overview.queued, "URI")] if overview.queued else []
    if not finished and (retired := overview.queues.get("retired")):
        parts.append(f"the URIs in {count(retired, 'retired queue')}")
    return " and ".join(parts)
