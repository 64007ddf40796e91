"""The results of steps, as a line for people and as plain data for programs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nacre.cli import output
from nacre.cli.cycle.display import bar
from nacre.cli.output import count, table, tell
from nacre.core.clock import duration
from nacre.core.status import cause
from nacre.report.formatting import size, time_text

if TYPE_CHECKING:
    from nacre.rounds.runner import FetchSoFar, RoundsResult
    from nacre.rounds.steps.fetch import SegmentFetch
    from nacre.rounds.steps.generate import GenerateResult
    from nacre.rounds.steps.given import GivenResult
    from nacre.rounds.steps.inject import InjectResult
    from nacre.rounds.steps.refilter import RefilterResult
    from nacre.rounds.steps.sitemaps import SitemapsResult
    from nacre.rounds.steps.update import UpdateResult


_NAMED = 3
"""Reasons that a line lists; further reasons are summed."""
_LINES = 20
"""Malformed lines that are printed one by one."""


def result_numbers(result: Any) -> dict[str, Any]:  # noqa: ANN401 - a named tuple of a step
    """Return the result of a step for JSON: its version as a number, wrong lines as objects."""
    numbers: dict[str, Any] = result._asdict()
    for name, value in numbers.items():
        if isinstance(value, Mapping):
            numbers[name] = dict(value)
        elif name == "version":
            numbers[name] = getattr(value, "number", value)
        elif name == "malformed":
            numbers[name] = [line._asdict() for line in value]
    return numbers


def inject_text(result: "InjectResult") -> str:
    """`3 seeds, 2 new, 1 known; 1 refused by regex-urlfilter.txt:12; 2 lines malformed`."""
    parts = [count(result.seeds, "seed")]
    named = (
        (result.new, "new"),
        (result.merged, "changed"),
        (result.known, "known"),
        (result.twice, "listed twice"),
    )
    parts += [f"{number:,} {label}" for number, label in named if number]
    text = ", ".join(parts)
    if result.refused:
        text += f"; {refused_text(result.refused)}"
    for rule, number in sorted(result.outside.items()):
        text += f"; {number:,} out of scope by {rule}, fetched all the same"
    if result.malformed_count:
        text += f"; {count(result.malformed_count, 'line')} malformed"
    if result.scored and tuple(result.scored_in) != ("score",):
        columns = " and ".join(result.scored_in)
        put = f"are in the column {columns}" if columns else "have no effect"
        text += f"; scores of {count(result.scored, 'seed')} {put} (cycle.scoring)"
    return text


def refused_text(refused: Mapping[str, int]) -> str:
    """`4 refused by regex-urlfilter.txt:12, 2 by scope`; the most first."""
    ranked = sorted(refused.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{number:,} by {rule}" for rule, number in ranked[:_NAMED]]
    others_count = sum(number for _, number in ranked[_NAMED:])
    parts += [f"{others_count:,} by others"] if others_count else []
    first, *further = parts
    number, _, by = first.partition(" by ")
    return ", ".join([f"{number} refused by {by}", *further])


def tell_malformed(result: "InjectResult | GivenResult | SitemapsResult") -> None:
    """Print the first lines that are wrong, with their numbers, to stderr."""
    total: int = getattr(result, "malformed_count", len(result.malformed))
    for bad in result.malformed[:_LINES]:
        tell(f"nacre: {bad}" if bad.file else f"nacre: line {bad.line}: {bad}")
    more = total - min(len(result.malformed), _LINES)
    if more:
        tell(f"nacre: and {count(more, 'more line')} that are wrong")


def refilter_text(result: "RefilterResult") -> str:
    """`all known URLs: 12 asked again, 4 refused by regex-urlfilter.txt:12; 3 moved`."""
    text = f"all known URLs: {result.asked:,} asked again"
    text += f", {refused_text(result.excluded)}" if result.excluded else ""
    text += f", {result.readmitted:,} let in again" if result.readmitted else ""
    text += f"; {result.moved:,} moved to their normal form" if result.moved else ""
    return text + (f"; {result.left:,} that are in a list did not move" if result.left else "")


_REASONS = {
    "rules": "by rules",
    "schedule": "not due",
    "lease": "in a list",
    "host": "of hosts with URLs in another list",
    "where": "by the condition (--where, cycle.generate.where)",
    "status": "of another status",
    "score": "with too low a score",
    "interval": "with too long an interval",
}
"""Reasons of refusals for people; rules are named by file and line instead."""


def generate_text(result: "GenerateResult") -> str:
    """`132 known (131 new): 131 due, 4 refused by regex-urlfilter.txt:12; 127 in 2 units, …`."""
    text = f"{result.known:,} known"
    if result.fresh:
        text += f" ({result.fresh:,} new)" if result.fresh != result.known else ""
    due = result.known - result.refused.get("schedule", 0) - result.refused.get("rules", 0)
    text += f": {due:,} due"
    refusals = list(_refusals(result))
    if refusals:
        text += f", {', '.join(refusals)}"
    text += f"; {judged_text(result)}" if result.judged else ""
    if not result.selected:
        text += "".join(f"; {part}" for part in _left_out(result))
        return f"{text}; nothing to fetch{_next_due_text(result)}"
    text += f"; {result.selected:,} in {count(result.units, 'unit')}"
    if len(result.segments) > 1:
        text += f" of {count(len(result.segments), 'segment')}"
    text += f", {result.at_once:,} at a time" if result.at_once else ""
    if result.longest >= 1:
        decider = ""
        if result.slowest_urls > 1 and result.slowest_delay:
            spacing = _seconds_text(result.slowest_delay)
            decider = f" ({result.slowest}, {result.slowest_urls:,} x {spacing})"
        text += f", at most {duration(result.longest)}{decider}"
    return text + "".join(f"; {part}" for part in _left_out(result))


def _seconds_text(seconds: float) -> str:
    """`3.2 s`, `0.042 s`, `30 s`: no more digits than an expected time has."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def judged_text(result: "GenerateResult") -> str:
    """`3 URLs judged again: 2 excluded, 1 let in again`."""
    named = ((result.newly_excluded, "excluded"), (result.readmitted, "let in again"))
    parts = [f"{number:,} {label}" for number, label in named if number]
    text = f"{count(result.judged, 'URL')} judged again"
    return f"{text}: {', '.join(parts)}" if parts else f"{text}, all as before"


def _left_out(result: "GenerateResult") -> Iterator[str]:
    """The candidates that are in no list, by what left them out."""
    if result.cut:
        hosts = count(result.cut_hosts, "host")
        yield f"{count(result.cut, 'URL')} of {hosts} would need longer than the time limit"
    if result.capped:
        yield f"{count(result.capped, 'URL')} beyond the limits of hosts or domains"
    if result.beyond:
        yield f"{count(result.beyond, 'URL')} beyond --top"


def given_text(result: "GivenResult") -> str:
    """`12 URLs, 1 listed twice; 2 refused by regex-urlfilter.txt:12; 9 in 2 units`."""
    text = count(result.urls, "URL")
    text += f", {result.twice:,} listed twice" if result.twice else ""
    text += f"; {refused_text(result.refused)}" if result.refused else ""
    if result.malformed_count:
        text += f"; {count(result.malformed_count, 'line')} malformed"
    if not result.selected:
        return f"{text}; nothing to fetch"
    text += f"; {result.selected:,} in {count(result.units, 'unit')}"
    return text + (f", at most {duration(result.longest)}" if result.longest >= 1 else "")


def _refusals(result: "GenerateResult") -> Iterator[str]:
    if result.excluded:
        yield refused_text(result.excluded)
    for reason, number in result.refused.items():
        if reason not in ("rules", "schedule") and number:
            yield f"{number:,} {_REASONS.get(reason, reason)}"


def _next_due_text(result: "GenerateResult") -> str:
    if result.next_due is None:
        return ""
    return f"; the next is due {time_text(result.next_due)}"


def fetch_text(result: "SegmentFetch") -> str:
    """`127 pages, 3.1 MB, 2 hosts; 3 not found; 4 not attempted (deadline 3, failures 1)`."""
    if result.done_before:
        return f"{result.segment} is fetched already"
    text = f"{count(result.pages, 'page')}, {size(result.bytes)}, {count(result.hosts, 'host')}"
    text += "".join(f"; {part}" for part in _statuses(result))
    if result.not_attempted:
        not_attempted = sum(result.not_attempted.values())
        ranked = _most(result.not_attempted)
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in ranked)
        text += f"; {not_attempted:,} not attempted ({reasons})"
    text += "; its time was over, so that they are due again" if result.late else ""
    return text + ("; interrupted, this is kept" if result.interrupted else "")


def _statuses(result: "SegmentFetch") -> Iterator[str]:
    tallies = Counter[str]()
    for status, number in result.statuses.items():
        if status in (404, 410):
            tallies["not found"] += number
        elif 400 <= status < 500:
            tallies["refused by servers"] += number
        elif status >= 500:
            tallies["errors of servers"] += number
        elif status == _ROBOTS:
            tallies["forbidden by robots.txt"] += number
        elif status == _FAULT:
            tallies["lost by errors of Nacre's own"] += number
        elif status <= 0:
            tallies["without a reply"] += number
    for label, number in tallies.items():
        yield f"{number:,} {label}"


_ROBOTS, _FAULT = -9998, -5


def fetch_numbers(result: "SegmentFetch") -> dict[str, Any]:
    """The same as plain data."""
    return {
        "segment": result.segment,
        "pages": result.pages,
        "statuses": {str(status): number for status, number in sorted(result.statuses.items())},
        "not_attempted": dict(result.not_attempted),
        "hosts": result.hosts,
        "by_host": dict(result.by_host),
        "bytes": result.bytes,
        "warc_bytes": result.warc_bytes,
        "units": result.units,
        "parts": result.parts,
        "interrupted": result.interrupted,
        "done_before": result.done_before,
        "version": result.version.number if result.version is not None else None,
    }


def fetch_lines(result: "SegmentFetch") -> str:
    """Return visits by status and by host, and unattempted URLs by reason; "" for none."""
    groups: list[tuple[str, list[tuple[int, str]]]] = [
        ("by status", [(n, _status_text(status)) for status, n in _most(result.statuses)]),
        ("by host", [(n, name) for name, n in result.by_host.items()]),
        ("not attempted", [(n, reason) for reason, n in _most(result.not_attempted)]),
    ]
    other_hosts = result.hosts - len(result.by_host)
    if other_hosts > 0:
        visits = sum(result.statuses.values()) - sum(result.by_host.values())
        groups[1][1].append((visits, count(other_hosts, "other host")))
    rows = [
        (name if not p else "", n, text)
        for name, listed in groups
        for p, (n, text) in enumerate(listed)
    ]
    return table(rows) if rows else ""


def _most(counted: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """Items by their number, the most first."""
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


def _status_text(status: int) -> str:
    """Return a fetch status, with a text if there was no reply: `-2 (no connection)`."""
    return f"{status} ({cause(status)})" if status <= 0 else str(status)


def fetch_progress_text(numbers: Mapping[str, Any]) -> str:
    """`[#####-----] 61/127 pages, 3.1 MB, 2 hosts, 4 min left`."""
    from nacre.core.message_data import to_plain
    from nacre.job.diagnosis_text import progress_text
    from nacre.rounds.rounds_mark import fetch_step

    progress = fetch_step("", numbers)
    return f"{bar(progress.done, progress.of)} {progress_text(to_plain(progress))}"


def update_text(result: "UpdateResult") -> str:
    """`148 links to 131 URLs; 1 fetched`."""
    if not result.segments:
        return (
            "; ".join(_before(result))
            or "nothing to do: every segment that was fetched is in the table"
        )
    text = "".join(f"{text_before}; " for text_before in _before(result))
    text += f"{count(result.links, 'link')} to {count(result.targets, 'URL')}"
    ends: Counter[str] = Counter()
    for (_, new), number in result.transitions.items():
        ends[new.removeprefix("db_")] += number
    parts = [f"{number:,} {_ENDS.get(name, name)}" for name, number in ends.most_common()]
    text += f"; {', '.join(parts)}" if parts else ""
    text += f"; {result.purged:,} forgotten" if result.purged else ""
    if result.unknown:
        text += f"; {count(result.unknown, 'visit')} of URLs that are not known left out"
    moved = len(result.moved)
    return text + (f"; {count(moved, 'new seed')}, where seeds moved to" if moved else "")


def _before(result: "UpdateResult") -> Iterator[str]:
    """The segments that were in the table before: `update of 20261122T101500.123Z is in …`."""
    for segment, version in result.done_before.items():
        where = f"version {version}" if version else "a version that is not kept any more"
        yield f"update of {segment} is in {where}"


_ENDS = {
    "unfetched": "to be tried again",
    "redir_temp": "redirected",
    "redir_perm": "moved",
    "notmodified": "not modified",
    "parse_failed": "not parsed",
}
"""Statuses in words, where their names are not."""


def update_numbers(result: "UpdateResult") -> dict[str, Any]:
    """The same as plain data."""
    transitions = [
        {"old": old, "new": new, "rows": rows}
        for (old, new), rows in sorted(result.transitions.items())
    ]
    return {**result_numbers(result), "transitions": transitions}


def transitions_table(result: "UpdateResult") -> str:
    """The matrix of old and new statuses."""
    news = sorted({new for _, new in result.transitions})
    olds = sorted({old for old, _ in result.transitions})
    rows: list[tuple[object, ...]] = [("from \\ to", *news)]
    rows += [(old, *(result.transitions.get((old, new), 0) for new in news)) for old in olds]
    return table(rows)


def so_far_text(fetch: "FetchSoFar") -> str:
    """`the fetch of round 1: 37 pages, 1.2 MB of WARC so far`."""
    so_far = f"{count(fetch.pages, 'page')}, {size(fetch.warc_bytes)} of WARC so far"
    has_parts = fetch.pages or fetch.warc_bytes
    return f"the fetch of round {fetch.round}: {so_far if has_parts else 'nothing is kept so far'}"


def rounds_text(result: "RoundsResult") -> str:
    """`3 rounds: 5,412 pages, 118 MB of WARC; 61,220 URLs known, 41,002 wait`."""
    fetch, generated = result.interrupted, result.generated
    text = count(result.rounds, "round")
    if result.rounds or result.pages or result.warc_bytes or fetch is None:
        text += f": {count(result.pages, 'page')}, {size(result.warc_bytes)} of WARC"
    if fetch is not None:
        return f"{text}; interrupted in {so_far_text(fetch)}"
    if result.why == "nothing due" and generated is not None:
        text += f"; {generate_text(generated)}"
    elif result.known is not None:
        waits = f"{result.waiting:,} {'waits' if result.waiting == 1 else 'wait'}"
        text += f"; {count(result.known, 'URL')} known, {waits}"
    return text + {"interrupted": "; interrupted", "stopped": "; stopped"}.get(result.why, "")


def rounds_numbers(result: "RoundsResult") -> dict[str, Any]:
    """The same as plain data."""
    fetch, generated = result.interrupted, result.generated
    return {
        "why": result.why,
        "rounds": result.rounds,
        "pages": result.pages,
        "warc_bytes": result.warc_bytes,
        "known": result.known,
        "waiting": result.waiting,
        "interrupted": fetch._asdict() if fetch is not None else None,
        "version": result.version,
        "generate": result_numbers(generated) if generated is not None else None,
    }


def rounds_lines(facts: dict[str, Any], place: str) -> list[str]:
    """Return the lines of `nacre status` for a batch crawl.

    Args:
        facts: The state of the crawl, as `rounds_mark.rounds_status` returns it.
        place: The directory, as it is typed.
    """
    from nacre.job.diagnosis import rounds_diagnosis
    from nacre.job.diagnosis_text import diagnosis_text, progress_text

    lines = [diagnosis_text(rounds_diagnosis(facts))]
    if facts["version"]:
        lines.append(f"  version     {facts['version']}, of {time_text(facts['clock'])}")
    if facts["segments"]:
        states = (f"{number:,} {state}" for state, number in sorted(facts["segments"].items()))
        lines.append(f"  segments    {', '.join(states)}")
    if facts["at"]:
        lines.append(f"  round       {facts['round']}, at {facts['at']}")
    if facts["progress"] and facts["progress"]["step"] == facts["at"]:
        progress = facts["progress"]
        lines.append(f"  step        {progress['step']}: {progress_text(progress)}")
    command = f"{output.program()} cycle {place}"
    return [
        *lines,
        f"Look:  {command} readdb --stats",
        f"Go on: {command} --rounds {facts['rounds'] if facts['at'] else 1}",
    ]
