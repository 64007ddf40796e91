"""`nacre status` as text."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from nacre.cli.meter import Rates
from nacre.cli.numbers_text import number_lines
from nacre.cli.output import duration, pairs, program, table
from nacre.cli.states import state_words
from nacre.job.operator.overview import Overview
from nacre.job.operator.recurring import Recurring
from nacre.report.forms import to_the_second
from nacre.wire.urltext import readable_url


def status_lines(answer: Mapping[str, Any], job: str, *, verbose: bool) -> Iterator[str]:
    """The lines of an answer to `status`.

    Args:
        answer: It.
        job: The job's directory, for commands to copy.
        verbose: With the policies that hold.
    """
    overview = msgspec.convert(answer["overview"], Overview)
    if overview.state == "NASCENT":
        yield state_words(overview)
        return
    name = f"run {overview.run}" if overview.run else "run"  # it has none before it has space
    yield f"{name}: {state_words(overview)}"
    seconds = max(overview.elapsed, 1e-3)
    rates = Rates(
        uris_average=overview.finished / seconds,
        kilobytes_average=overview.bytes / seconds / 1000,
    )
    shown = dict(number_lines(overview, rates, None))
    shown.pop("state")
    shown["speed"] = (
        f"{rates.uris_average:.1f} URIs/s, {rates.kilobytes_average:,.0f} KB/s on average, "
        f"in {duration(overview.elapsed)}"
    )
    if not overview.parallel:
        shown.pop("work")
    yield pairs(shown)
    yield from _passes(overview, answer.get("recurring"), job)
    if overview.policy and verbose:
        yield "policy"
        yield from (f"  {line}" for line in overview.policy)
    yield from _details(answer)


def _passes(overview: Overview, told: Mapping[str, Any] | None, job: str) -> Iterator[str]:
    """When the next pass of a crawl that never ends begins, and who waits for it."""
    again = msgspec.convert(told, Recurring) if told else None
    time, why = overview.next_pass, overview.next_why
    if again is not None:
        time, why = again.time or time, again.why or why or again.rhythm
    if again is None or (not again.waits and overview.started > time > 0):
        # Noted by a process that is gone; a later run makes it void.
        if time:
            yield f"next pass: planned for {_moment(time, why)}; no process waits for it"
        return
    if not again.waits:
        yield (
            f"next pass: no process waits for it any more (process {again.pid} was killed); "
            f"`{program()} recrawl {job} {again.rhythm}` goes on"
        )
        return
    if time:
        yield f"next pass: {_moment(time, why)}"
    else:
        yield f"next pass: planned when this one is over ({again.rhythm})"
    yield f"           process {again.pid} sees to it; `{program()} stop {job}` ends it"


def _moment(time: float, why: str) -> str:
    return f"{to_the_second(time)} UTC" + (f" ({why})" if why else "")


def _details(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer["slowest"]:
        yield "slowest queues"
        rows = [
            (q["name"], f"{q['pending']:,}", duration(q["delay"]), duration(q["needs"]))
            for q in answer["slowest"]
        ]
        yield table([("queue", "waiting URIs", "one every", "takes about"), *rows])
    if answer["fetching"]:
        yield "fetches"
        fetches = [(duration(f["seconds"]), readable_url(f["url"])) for f in answer["fetching"]]
        yield table([("for", "URL"), *fetches])
