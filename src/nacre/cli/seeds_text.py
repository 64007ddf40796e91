"""What became of the seeds, for the end of a run and for `explain`."""

from collections.abc import Iterator
from pathlib import Path

from nacre.cli.output import count, duration, program, safe, typed
from nacre.core.cause import with_tries
from nacre.job.reports.seedends import SeedEnd, SeedState, SeedTally
from nacre.wire.urltext import readable_url

_SHOWN = 10
"""Seeds that are named at the end of a run."""
_SOON = 1.0


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
    if seeds.refused:
        parts.append(f"{seeds.refused:,} not asked for")
    if seeds.waiting:
        parts.append(f"{seeds.waiting:,} waiting")
    if seeds.not_due:
        parts.append(f"{seeds.not_due:,} not due")
    return ", ".join(parts)


def skipped_fact(seeds: SeedTally) -> str:
    """The lines that were no seed; "" for none."""
    if not seeds.skipped:
        return ""
    verb = "is" if seeds.skipped == 1 else "are"
    lines = count(seeds.skipped, "line")
    return f"{lines} of the seed list that {verb} no seed: named in job.log"


def not_got_lines(seeds: SeedTally, job: Path, now: float) -> Iterator[str]:
    """Each seed that was not got, and why; of many the first."""
    shown = seeds.not_got[:_SHOWN]
    for end in shown:
        wait = None if end.next_try is None else end.next_try - now
        yield f"  {safe(readable_url(end.url))}: {reason(end, wait)}"
    if left := seeds.errors + seeds.no_reply + seeds.refused + seeds.waiting - len(shown):
        yield f"  and {left:,} more: {program()} report {typed(job)} seeds"


def reason(end: SeedEnd, wait: float | None) -> str:
    """Why a seed was not got, how often it was tried, and when it is tried again.

    Args:
        end: It.
        wait: Seconds until then; None when nothing says so.
    """
    again = ""
    if end.state is SeedState.WAITS and end.tries:
        soon = wait is None or wait < _SOON
        again = "next when its turn comes" if soon else f"next in {duration(wait or 0.0)}"
    text = with_tries(safe(end.cause), end.tries, again)
    if end.target:
        text = f"redirects to {safe(readable_url(end.target))}: {text}"
    return f"{text} ({end.status})" if end.status < 0 else text
