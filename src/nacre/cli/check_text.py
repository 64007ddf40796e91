"""The output of `nacre check` with --explain, --dry-run, --survey and --browser."""

from collections.abc import Iterator, Sequence

from nacre.browser.checking import BrowserFact
from nacre.cli.explain_text import robots_lines
from nacre.inspect.explain.dry_run import DryRunAnswer
from nacre.job.start_survey import StartSurvey
from nacre.report.formatting import size


def shown_as_list(facts: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    """Setting, value and origin of each, for a section."""
    return [(fact["setting"], fact["value"], fact["from"]) for fact in facts]


def outlook_lines(answer: DryRunAnswer) -> Iterator[str]:
    """Yield the lines of one URL, the answer first."""
    if answer.error:
        yield f"{answer.url}"
        yield f"  no URL      {answer.error}"
        return
    yield answer.url
    accepted = answer.decision == "ACCEPT"
    yield f"  scope       {'in' if accepted else 'out'}, by the rule {answer.decider}"
    if answer.is_seed:
        yield "  found       it is a seed" + ("" if accepted else ", and fetched all the same")
    else:
        yield "  found       by a link on the first seed, as is assumed"
    yield f"  sheets      {', '.join(answer.sheets) or 'none'}"
    order = f"{answer.directive.lower()}, precedence {answer.precedence}, cost {answer.cost}"
    yield f"  queue       {answer.queue} ({order})"
    yield f"  politeness  {answer.politeness}"
    lines = robots_lines(answer.robots) if answer.robots else ["not fetched yet"]
    for number, line in enumerate(lines):
        yield f"  {'' if number else 'robots.txt':<11} {line}"


def survey_lines(survey: StartSurvey) -> Iterator[str]:
    """Yield the lines of a survey before a start: seeds, hosts, refusals, space."""
    more = f", {survey.bad} lines that are none" if survey.bad else ""
    directives = f", {survey.directives} directives" if survey.directives else ""
    yield f"seeds: {survey.seeds}{directives}{more}"
    for host in survey.hosts:
        yield f"  {host.name} ({host.seeds}): {host.trouble or ', '.join(host.addresses)}"
    if survey.more_hosts:
        yield f"  and {survey.more_hosts} more hosts, which were not looked up"
    for refused in survey.refused:
        yield f"refused by the scope: {refused.url} ({refused.rule})"
    if survey.more_refused:
        yield f"and {survey.more_refused} more seeds"
    for place in survey.space:
        lacks = "" if place.free >= place.needed else "; a start waits for more"
        yield f"space: {place.place}: {size(place.free)} free, {size(place.needed)} needed{lacks}"


def browser_lines(facts: Sequence[BrowserFact]) -> Iterator[str]:
    """Yield the lines of a check of the browser: a fact and its remedy, then the verdict."""
    for fact in facts:
        state = "" if fact.state == "ok" else f"{fact.state}: "
        yield f"{fact.subject:<8} {state}{fact.text}"
        if fact.remedy and fact.remedy not in fact.text:
            yield f"{'':<8} try: {fact.remedy}"
    if any(fact.state == "missing" for fact in facts):
        yield "pages cannot be run in a browser here"
    else:
        yield "pages can be run in a browser here"
