"""`nacre status` as text."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from nacre.cli.meter import Rates
from nacre.cli.output import count, duration, pairs, table
from nacre.cli.states import state_words
from nacre.cli.terminal import number_lines
from nacre.job.operator.overview import Overview
from nacre.report.forms import to_the_second


def status_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """The lines of an answer to `status`."""
    overview = msgspec.convert(answer["overview"], Overview)
    if overview.state == "NASCENT":
        yield state_words(overview)
        return
    yield f"run {overview.run}: {state_words(overview)}"
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
    if overview.next_pass:
        why = f" ({overview.next_why})" if overview.next_why else ""
        yield f"next pass: {to_the_second(overview.next_pass)} UTC{why}"
    if overview.policy:
        yield "policy"
        yield from (f"  {line}" for line in overview.policy)
    yield from _details(answer)


def _details(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer["slowest"]:
        yield "slowest queues"
        yield table(
            [
                (q["name"], count(q["pending"], "URI"), f"every {duration(q['delay'])}")
                for q in answer["slowest"]
            ]
        )
    if answer["fetching"]:
        yield "fetches"
        yield table([(duration(f["seconds"]), f["url"]) for f in answer["fetching"]])
