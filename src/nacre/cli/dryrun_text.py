"""`nacre check --dry-run` as text."""

from collections.abc import Iterator

from nacre.cli.explain_text import robots_lines
from nacre.job.explaining.dryrun import Outlook


def outlook_lines(what: Outlook) -> Iterator[str]:
    """The lines of one URL, the answer first."""
    if what.error:
        yield f"{what.url}"
        yield f"  no URL      {what.error}"
        return
    yield what.url
    accepted = what.decision == "ACCEPT"
    yield f"  scope       {'in' if accepted else 'out'}, by the rule {what.decider}"
    if what.is_seed:
        yield "  found       it is a seed" + ("" if accepted else ", and fetched all the same")
    else:
        yield "  found       by a link on the first seed, as is assumed"
    yield f"  sheets      {', '.join(what.sheets) or 'none'}"
    order = f"{what.directive.lower()}, precedence {what.precedence}, cost {what.cost}"
    yield f"  queue       {what.queue} ({order})"
    yield f"  politeness  {what.politeness}"
    lines = robots_lines(what.robots) if what.robots else ["not fetched yet"]
    for number, line in enumerate(lines):
        yield f"  {'' if number else 'robots.txt':<11} {line}"
