"""The explanation of a URL for people: `nacre cycle DIR explain URL`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nacre.cli.output import count
from nacre.core.clock import duration
from nacre.core.status import FetchStatus, cause
from nacre.crawldb.row import GIVEN_UP, ONE, Status
from nacre.report.escape import flat
from nacre.report.formatting import time_text

if TYPE_CHECKING:
    from nacre.rounds.explain import RedirectTarget, TouchingVersion, UrlExplanation
    from nacre.rounds.last_list import ListVerdict


def explain_lines(explanation: "UrlExplanation") -> Iterator[str]:
    """Yield the explanation of a URL for people."""
    yield explanation.url
    if explanation.row is None and explanation.touched:
        yield from _forgotten(explanation)
        return
    if explanation.row is None:
        yield "  not known: no seed and no link that the scope accepts has named it"
        if explanation.refusal:
            yield f"  a link to it would be refused by {explanation.refusal}"
        yield from (f"  {text}" for text in _given_verdict(explanation))
        return
    row = explanation.row
    status = Status(row["status"]).label
    yield f"  {status}; next fetch {time_text(row['fetch_time'])}, every {_days(row['interval'])}"
    yield f"  {_score_text(row, explanation.sorted_by)}"
    for name, label in (("via", "found on"), ("path", "hop path"), ("source", "from the seed")):
        if row.get(name):
            yield f"  {label} {row[name]}"
    yield from _touched_lines(explanation)
    if explanation.said:
        code, message = int(row["last_status"]), flat(explanation.said)
        robots = code == FetchStatus.ROBOTS_PRECLUDED
        yield f"  why it was not got: {message if robots else cause(code, message)}"
    if explanation.soft_404:
        yield f"  why it is gone: {_SAID_MISSING}; {_SOFT_404[explanation.soft_404]}"
    if explanation.redirect is not None:
        yield f"  redirects to {_target_text(explanation.redirect)}"
    for text in _verdicts(explanation):
        yield f"  {text}"


def _forgotten(explanation: "UrlExplanation") -> Iterator[str]:
    """The lines of a URL whose row was purged."""
    yield "  forgotten (cycle.update.purge_gone, purge_orphans): a link or a seed brings it back"
    if explanation.refusal:
        yield f"  a link to it would be refused by {explanation.refusal}"
    yield from _touched_lines(explanation)
    yield from (f"  {text}" for text in _given_verdict(explanation))


def _touched_lines(explanation: "UrlExplanation") -> Iterator[str]:
    yield "  versions that touched it:"
    for version in explanation.touched:
        when = (
            f"{version.step} of {time_text(version.clock)}"
            if version.step
            else "a version removed since"
        )
        yield f"    {version.version}  {when}: {_changes(version)}"


def _score_text(row: Mapping[str, Any], sorted_by: Sequence[str]) -> str:
    """`score 0, cash 5; lists are sorted by cash (cycle.scoring)`."""
    values = ", ".join(f"{name} {int(row.get(name) or 0) / ONE:.6g}" for name in ("score", "cash"))
    order = f"; lists are sorted by {' and '.join(sorted_by)} (cycle.scoring)"
    return values + (order if sorted_by else "")


_SAID_MISSING = "its page says with status 200 that it is missing (a soft 404)"
_SOFT_404 = {
    "gone": "cycle.update.soft_404 is gone, and with success it would count as fetched",
    "success": "cycle.update.soft_404 is success now, so that its next visit counts as fetched",
}


def _target_text(target: "RedirectTarget") -> str:
    """`http://a.test/, which is db_fetched, status 200; next fetch 2026-12-03 10:15:00 UTC`."""
    row = target.row
    refused = f"the rules refuse it: {target.refusal}" if target.refusal else ""
    if row is None:
        return f"{flat(target.url)}, which is not known" + (f"; {refused}" if refused else "")
    listed = f"; in the list of {row['leased']}" if row.get("leased") else ""
    return f"{flat(target.url)}, which is {_state_text(row)}{listed}" + (
        f"; {refused}" if refused else ""
    )


def _days(seconds: int) -> str:
    return duration(float(seconds))


def _changes(version: "TouchingVersion") -> str:
    """Return the change of a version as text."""
    values = version.values
    if version.kind == "base":
        return "all that was known until then, merged"
    if version.kind == "add":
        links = values.get("inlinks", 0)
        parts = [count(links, "link")] if links else []
        parts += [f"found on {values['via']}"] if values.get("via") else []
        return ", ".join(parts) or ("a seed" if values.get("depth") == 1 else "scores")
    render = _GROUPS.get(version.group)
    return render(values) if render is not None else version.group


def _state_text(values: Mapping[str, Any]) -> str:
    last = values.get("last_status")
    reply = f", status {last}{_status_words(last)}" if last else ""
    reason = f", not attempted: {values['last_reason']}" if values.get("last_reason") else ""
    if values.get("last_reason") == GIVEN_UP:
        reason = ", after which the continuous crawl that it came from gave it up"
    status = Status(values.get("status", 1)).label
    return f"{status}{reply}{reason}; next fetch {time_text(values.get('fetch_time', 0))}"


def _status_words(status: int) -> str:
    """A failure in words behind its number; "" for a page."""
    return f" ({cause(status)})" if status <= 0 or status >= 400 else ""


def _lease_text(values: Mapping[str, Any]) -> str:
    return f"listed in {values['leased']}" if values.get("leased") else "no longer listed"


def _admission_text(values: Mapping[str, Any]) -> str:
    refused = values.get("excluded")
    return f"refused by {refused}" if refused else "let in by the rules"


def _capture_text(values: Mapping[str, Any]) -> str:
    return f"captured, {values.get('length', 0):,} bytes, {values.get('mime', 'no type')}"


def _duplicate_text(values: Mapping[str, Any]) -> str:
    original = values.get("dup_of")
    return f"a duplicate of {original}" if original else "no duplicate any more"


def _purge_text(values: Mapping[str, Any]) -> str:
    return "forgotten" if values.get("purged") else "no longer forgotten"


_GROUPS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "state": _state_text,
    "lease": _lease_text,
    "admission": _admission_text,
    "capture": _capture_text,
    "duplicate": _duplicate_text,
    "purge": _purge_text,
}


def _verdicts(explanation: "UrlExplanation") -> Iterator[str]:
    """Why a URL is not in the last list, or that it is; and what holds now."""
    last = explanation.last
    if last is not None:
        yield _of_list(last, "the last list", _reason_text(last))
    yield from _given_verdict(explanation)
    if explanation.refusal:
        yield f"now: the rules refuse it: {explanation.refusal}"
    elif explanation.now is not None and explanation.now.reason:
        yield f"now: {_reason_text(explanation.now)}"
    elif explanation.now is not None:
        yield "now: due, the next `generate` may list it"


def _of_list(verdict: "ListVerdict", name_of_list: str, text: str) -> str:
    place = f"{name_of_list} (version {verdict.version}, {time_text(verdict.clock)})"
    return f"in {place}: {text}" if verdict.reason == "listed" else f"not in {place}: {text}"


def _given_verdict(explanation: "UrlExplanation") -> Iterator[str]:
    verdict = explanation.given
    if verdict is not None:
        yield _of_list(verdict, "the list of given URLs", _given_text(verdict))


def _given_text(verdict: "ListVerdict") -> str:
    """The reason of a verdict on a list of given URLs."""
    if verdict.reason == "lost":
        return _VERDICTS["lost"]
    names = ", ".join(name or "the command line" for name in verdict.values["files"])
    if verdict.reason == "listed":
        return f"{verdict.segment}, by generate --urls {names}"
    if verdict.reason == "filter":
        return f"{names} has it, and {verdict.values['by']} refuses it (--filter)"
    text = f"it is none of the {count(verdict.values['urls'], 'URL')} of {names} (generate --urls)"
    refused = verdict.values["refused"]
    return text + (f", or one of {refused:,} more that filters refused" if refused else "")


def _reason_text(verdict: "ListVerdict") -> str:
    """Return the reason of a verdict as text, with the compared values."""
    if verdict.reason == "cap":
        unit = {
            "host": "URLs of the host",
            "hosts": "hosts of the domain",
            "domain": "URLs of the domain",
        }[verdict.values["what"]]
        rank = f"its host is number {verdict.values['rank']:,}"
        if verdict.values["what"] != "hosts":
            rank = f"it is number {verdict.values['rank']:,}"
        return f"cap of {verdict.values['most']:,} {unit} {verdict.values['name']}; {rank}"
    values = {
        "due": time_text(verdict.values.get("due") or 0),
        "until": time_text(verdict.values.get("until") or 0),
        **{name: value for name, value in verdict.values.items() if name not in {"due", "until"}},
    }
    if verdict.reason == "status":
        values |= {name: Status(values[name]).label for name in ("status", "wanted")}
    if verdict.reason == "interval":
        values |= {name: _days(values[name]) for name in ("interval", "longest")}
    return _VERDICTS[verdict.reason].format_map({**values, "segment": verdict.segment})


_VERDICTS = {
    "listed": "{segment}",
    "unknown": "it was not known yet",
    "lost": "nothing is kept of how its URLs were chosen",
    "rules": "excluded by {excluded}",
    "schedule": "not due before {due}",
    "lease": "it is out in {segment} until {until}",
    "host": "URLs of its host {host} are out in {segment}",
    "where": "this is not true of it: {where}",
    "status": "it is {status}, and only {wanted} was wanted (cycle.generate.status)",
    "score": "its sort value {sort:.6g} is below {least:.6g} (cycle.generate.min_score)",
    "interval": "its interval of {interval} is above {longest} (cycle.generate.max_interval)",
    "top": "its sort value {sort:.6g} is not among the best (--top): the list ends at {end:.6g}; "
    "of equal values a hash of the URL decides",
    "time": "number {rank:,} of its host {host}, of which {most:,} URLs fit into the time limit",
}
