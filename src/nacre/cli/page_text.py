"""A page that was run in a browser, as text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nacre.cli.output import count, safe
from nacre.core.clock import duration
from nacre.inspect.reports.browser_report import end_text, refusal_text
from nacre.report.browser_tally import by_number
from nacre.report.formatting import size

if TYPE_CHECKING:
    from nacre.ops.rendered_page import RenderedPageFacts


def page_lines(facts: "RenderedPageFacts") -> Iterator[str]:
    """Yield lines on how a page ended, its requests, and what was refused by which rule."""
    for number, line in enumerate(_page_texts(facts)):
        yield f"  {'' if number else 'in browser':<11} {safe(line)}"


def _page_texts(facts: "RenderedPageFacts") -> Iterator[str]:
    time = f"{duration(facts.seconds)}, {duration(facts.cpu_seconds)} of its processor"
    ended = "whole" if facts.ended == "settled" else end_text(facts.ended) or "not known"
    yield f"run by the sign {facts.sign or 'of another crawler'}: {ended}; {time}"
    if facts.title:
        yield f"title: {facts.title}"
    if facts.final_url:
        yield f"its URL at the end: {facts.final_url}"
    requests = [f"{count(facts.requests, 'request')} sent, {size(facts.bytes)}"]
    if facts.reused:
        requests.append(f"{len(facts.reused):,} answered from the archive")
    failed = sum(1 for _ in facts.failures())
    if failed:
        requests.append(f"{failed:,} failed")
    yield "; ".join(requests)
    for rule, number in by_number(facts.refused_by):
        of_rule = [request for request in facts.refused if request.rule == rule]
        detail = next((request.detail for request in of_rule if request.detail), "")
        example = f", such as {of_rule[0].url}" if of_rule else ""
        reason = f"{refusal_text(rule)} ({detail})" if detail else refusal_text(rule)
        yield f"{count(number, 'request')} not sent, {rule}: {reason}{example}"
    if facts.behaviors:
        acts = {name: _without_zeros(text) for name, text in facts.behaviors.items()}
        texts = [f"{name} {text}" for name, text in acts.items() if text]
        yield f"behaviours: {', '.join(texts) or 'nothing to do'}"
    if facts.console_errors:
        yield (
            f"{count(len(facts.console_errors), 'error')} of its scripts, such as: "
            + (facts.console_errors[0])
        )
    if facts.browser:
        yield f"browser: {facts.browser}"


def _without_zeros(text: str) -> str:
    """Leave out the counts of a behaviour that are zero: `0 clicks, 1 details` is `1 details`."""
    return ", ".join(part for part in text.split(", ") if not part.startswith("0 "))
