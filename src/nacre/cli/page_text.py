"""A page that was run in a browser, as text."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from nacre.cli.output import count, safe
from nacre.core.clock import duration
from nacre.inspect.reports.browser_report import end_text, refusal_text
from nacre.report.browser_tally import by_number
from nacre.report.formatting import size

if TYPE_CHECKING:
    from nacre.ops.rendered_page import RenderedPageFacts

_ONE: Final = re.compile(r"^1 (click|step|URL|route|element)s\b")
"""A count of one thing, which behaviours write in the plural."""


def page_lines(facts: "RenderedPageFacts") -> Iterator[str]:
    """Yield lines on how a page ended, its requests, and the rules that refused some."""
    for number, line in enumerate(_page_texts(facts)):
        yield f"  {'' if number else 'in browser':<11} {safe(line)}"


def _page_texts(facts: "RenderedPageFacts") -> Iterator[str]:
    time = f"{duration(facts.seconds)}, {duration(facts.cpu_seconds)} of its processor"
    ended = "whole" if facts.ended == "settled" else end_text(facts.ended) or "not known"
    yield f"run {_reason(facts.sign)}: {ended}; {time}"
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
        acts = {name: _shorten(text) for name, text in facts.behaviors.items()}
        texts = [f"{name} {text}" for name, text in acts.items() if text]
        yield f"behaviours: {', '.join(texts) or 'nothing to do'}"
    if facts.console_errors:
        yield (
            f"{count(len(facts.console_errors), 'error')} of its scripts, such as: "
            + (facts.console_errors[0])
        )
    if facts.browser:
        yield f"browser: {facts.browser}"


def _reason(sign: str) -> str:
    """Say why a page was run; another crawler gives no sign."""
    if sign == "always":
        return "because browser.use is always"
    return f"by the sign {sign}" if sign else "by another crawler"


def _shorten(text: str) -> str:
    """Shorten what a behaviour did: `0 details, 1 clicks` is `1 click`."""
    parts = (part for part in text.split(", ") if not part.startswith("0 "))
    return ", ".join(_ONE.sub(r"1 \1", part) for part in parts)
