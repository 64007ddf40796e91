"""The views of steps: the texts of their results, and their exit codes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from nacre.cli import output
from nacre.cli.cycle.step_commands import StepCall, StepView
from nacre.cli.cycle.texts import (
    fetch_lines,
    fetch_numbers,
    fetch_text,
    generate_text,
    given_text,
    inject_text,
    refilter_text,
    refused_text,
    result_numbers,
    tell_malformed,
    transitions_table,
    update_numbers,
    update_text,
)
from nacre.cli.output import count
from nacre.cli.search import document_numbers, document_text, index_text, tell_rebuild
from nacre.core.states import ExitCode
from nacre.core.status import cause
from nacre.ops.operation import Operation
from nacre.ops.round_tables import DEDUP, LINKS, PARSE, RANK, BestNodes
from nacre.ops.rounds import (
    FETCH,
    GENERATE,
    INDEX,
    INJECT,
    SITEMAPS,
    UPDATE,
    CheckedDocument,
    FilteredStep,
    WaitingSegment,
)
from nacre.report.formatting import size, time_text

if TYPE_CHECKING:
    from nacre.rounds.steps.dedup import DedupResult
    from nacre.rounds.steps.fetch import SegmentFetch
    from nacre.rounds.steps.generate import GenerateResult
    from nacre.rounds.steps.given import GivenResult
    from nacre.rounds.steps.index import IndexResult
    from nacre.rounds.steps.inject import InjectResult
    from nacre.rounds.steps.links import LinksResult
    from nacre.rounds.steps.parse import ParseResult
    from nacre.rounds.steps.rank import RankResult
    from nacre.rounds.steps.sitemaps import SitemapsResult
    from nacre.rounds.steps.update import UpdateResult


def _inject_text(result: "FilteredStep[InjectResult]", _call: StepCall) -> str:
    return "\n".join((inject_text(result.result), *_refilter_texts(result)))


def _refilter_texts(result: FilteredStep[Any]) -> list[str]:
    return [] if result.refilter is None else [refilter_text(result.refilter)]


def _inject_numbers(result: "FilteredStep[InjectResult]") -> dict[str, Any]:
    return {**result_numbers(result.result), **_refilter_numbers(result)}


def _refilter_numbers(result: FilteredStep[Any]) -> dict[str, Any]:
    return {} if result.refilter is None else {"refilter": result_numbers(result.refilter)}


def _generate_text(result: "GenerateResult | GivenResult", _call: StepCall) -> str:
    from nacre.rounds.steps.given import GivenResult

    text = given_text(result) if isinstance(result, GivenResult) else generate_text(result)
    return "\n".join((text, *(f"segment {name}" for name in result.segments)))


def _generate_code(result: "GenerateResult | GivenResult", _call: StepCall) -> ExitCode:
    return ExitCode.FINISHED if result.selected else ExitCode.NOTHING_DUE


def _fetch_text(result: "SegmentFetch | WaitingSegment", _call: StepCall) -> str:
    if not isinstance(result, WaitingSegment):
        return "\n".join(filter(None, (fetch_text(result), fetch_lines(result))))
    if result.state != "generated":
        return f"{result.segment} is fetched already"
    until = f", leased until {time_text(result.until)}" if result.until else ""
    urls, units = count(result.urls, "URL"), count(result.units, "unit")
    return f"{result.segment}: {urls} in {units}{until}"


def _fetch_code(result: "SegmentFetch | WaitingSegment | None", _call: StepCall) -> ExitCode:
    if result is None:
        return ExitCode.NOTHING_DUE
    if isinstance(result, WaitingSegment):
        return ExitCode.FINISHED
    if result.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.FAULTS if result.faults else ExitCode.FINISHED


def _tell_idle(result: object, call: StepCall) -> None:
    """Report that no segment waits for a fetch."""
    if result is None:
        output.tell(f"nacre: no segment waits: `nacre cycle {call.directory} generate`")


def _fetch_numbers(result: "SegmentFetch | WaitingSegment") -> dict[str, Any]:
    return result._asdict() if isinstance(result, WaitingSegment) else fetch_numbers(result)


def _update_text(result: "FilteredStep[UpdateResult]", _call: StepCall) -> str:
    matrix = [transitions_table(result.result)] if result.result.transitions else []
    return "\n".join((update_text(result.result), *matrix, *_refilter_texts(result)))


def _update_numbers(result: "FilteredStep[UpdateResult]") -> dict[str, Any]:
    return {**update_numbers(result.result), **_refilter_numbers(result)}


def sitemaps_code(result: "SitemapsResult", call: StepCall) -> ExitCode:
    """Return the exit code of `sitemaps`, and report lists without a URL."""
    lists = call.request.lists
    if result.interrupted:
        return ExitCode.INTERRUPTED
    if not lists or result.sitemaps or result.late or result.planned:
        return ExitCode.FINISHED
    if result.failed or result.unasked or result.left or result.refused:
        return ExitCode.NOTHING_FETCHED
    named = ", ".join(map(repr, lists))
    output.tell(f"nacre: no URL of a sitemap in {named}: name sitemaps, or files of their URLs")
    return ExitCode.USAGE


def tell_unread(result: "SitemapsResult") -> None:
    """Print each line that is no URL, and each unreadable sitemap, to stderr."""
    tell_malformed(result)
    for url, status, instead in result.unread:
        reason = cause(status)
        if 200 <= status < 300:
            reason = f"it is {instead or 'not in the archive'}"
        output.tell(f"nacre: the sitemap {url} could not be read: {reason}")


def sitemaps_text(result: "SitemapsResult") -> str:
    """`1 host asked; 3 sitemaps: 120 URLs, 100 new, 18 known; 2 refused by scope`."""
    parts = [f"{count(result.asked, 'host')} asked"] if result.asked else []
    text = count(result.sitemaps + result.planned, "sitemap")
    if result.planned:
        text += " to fetch"
    if result.sitemaps:
        named = ((result.new, "new"), (result.merged, "changed"), (result.known, "known"))
        counts = [count(result.urls, "URL")]
        counts += [f"{number:,} {label}" for number, label in named if number]
        text += f": {', '.join(counts)}"
    parts.append(text)
    if result.refused:
        parts.append(refused_text(result.refused))
    more = (
        (result.failed, "could not be read"),
        (result.too_deep, "behind too many indexes"),
        (result.left, "beyond cycle.sitemaps.max or max_count"),
        (result.unasked, "not asked for: the host failed"),
        (
            result.late,
            "not asked for: the time was over (the next round, or `sitemaps`, takes them along)",
        ),
    )
    parts += [f"{number:,} {label}" for number, label in more if number]
    return "; ".join([*parts, *(["interrupted"] if result.interrupted else [])])


def parse_text(result: "ParseResult") -> str:
    """`12 pages, 240 links of 1 segment; 1 URL is lost and due again`."""
    segments = count(len(result.segments), "segment")
    text = f"{count(result.pages, 'page')}, {count(result.links, 'link')} of {segments}"
    text += f"; {count(result.failed, 'page')} not parsed" if result.failed else ""
    if result.rebuilt:
        text += f"; the visits of {count(result.rebuilt, 'part')} are made of the archive"
    return text + (f"; {count(result.lost, 'URL')} lost, due again" if result.lost else "")


def links_text(result: "LinksResult") -> str:
    """`240 links of 2 segments, 180 rows written; 60 within a host left out (cycle.links.…)`."""
    mixed = "; other segments were taken by other settings: `links --rebuild` makes all again"
    if not result.segments:
        text = "nothing new: the links of all fetched segments are in the table"
        return text + (mixed if result.mixed else "")
    segments = count(len(result.segments), "segment")
    text = f"{count(result.facts, 'link')} of {segments}, {count(result.rows, 'row')} written"
    if result.internal:
        within = f"within a {result.within} left out (cycle.links.ignore_internal)"
        text += f"; {result.internal:,} {within}"
    if result.external:
        text += f"; {result.external:,} to other hosts left out (cycle.links.ignore_external)"
    if result.kept:
        text += f"; {count(result.kept, 'row')} of pages that no segment has stay"
    return text + (mixed if result.mixed else "")


def dedup_text(result: "DedupResult") -> str:
    """`12 pages in 5 groups: 7 duplicates, 1 no longer one`."""
    if not result.segments:
        return "nothing new: the pages of all updated segments were compared"
    text = ""
    if result.again:
        text = f"{count(result.again, 'segment')} compared again, with other options: "
    if not result.pages and not result.marked and not result.released:
        return f"{text}no duplicates"
    if result.pages:
        text += f"{count(result.pages, 'page')} in {count(result.groups, 'group')}: "
    text += count(result.marked, "new duplicate")
    text += f", {result.canonical:,} of them by their canonical link" if result.canonical else ""
    text += f", {result.near:,} of them by almost the same text" if result.near else ""
    return text + (f", {result.released:,} no longer one" if result.released else "")


def rank_text(result: "RankResult") -> str:
    """`12 hosts, 40 links between them; residual 0.31, 0.02; 900 scores changed`."""
    nodes = count(result.nodes, result.level)
    if not result.edges:
        return f"nothing to rank: no link joins two {result.level}s (see cycle.links)"
    if not result.residuals:
        return f"at most {count(result.edges, 'link')} to rank by"
    residuals = ", ".join(f"{residual:.2g}" for residual in result.residuals)
    text = f"{nodes}, {count(result.edges, 'link')} between them; residual {residuals}"
    return text + (f"; {count(result.applied, 'score')} changed" if result.applied else "")


def _parse_text(result: "ParseResult", call: StepCall) -> str:
    if call.is_dry:
        segments = count(len(call.request.segments), "segment")
        return f"{count(result.parts, 'part')} of {segments} to parse"
    return parse_text(result)


def _links_text(result: "LinksResult", _call: StepCall) -> str:
    return links_text(result) + (f"; {size(result.size)}" if result.size else "")


def _rank_text(result: "RankResult | BestNodes", _call: StepCall) -> str:
    if not isinstance(result, BestNodes):
        return rank_text(result)
    rows = [
        (f"{node.rank:.6g}", f"{node.num_in:,}", f"{node.num_out:,}", node.node)
        for node in result.nodes
    ]
    return output.table([("rank", "in", "out", result.level), *rows], indent="")


def _rank_numbers(result: "RankResult | BestNodes") -> object:
    if isinstance(result, BestNodes):
        return [node._asdict() for node in result.nodes]
    return result_numbers(result)


def _index_text(result: "Sequence[IndexResult] | CheckedDocument", _call: StepCall) -> str:
    if isinstance(result, CheckedDocument):
        return document_text(document_numbers(*result))
    return "\n".join(index_text(index, named=len(result) > 1) for index in result)


def _index_numbers(result: "Sequence[IndexResult] | CheckedDocument") -> object:
    if isinstance(result, CheckedDocument):
        return document_numbers(*result)
    numbers = [result_numbers(index) for index in result]
    return numbers[0] if len(numbers) == 1 else numbers


def _tell_rebuild(result: "Sequence[IndexResult] | CheckedDocument", call: StepCall) -> None:
    if not isinstance(result, CheckedDocument):
        tell_rebuild(call.directory)


def _tell_given(result: Any, _call: StepCall) -> None:  # noqa: ANN401 - of any step with lists
    if hasattr(result, "malformed"):
        tell_malformed(result)


STEPS: Final[tuple[tuple[Operation[Any, Any], StepView], ...]] = (
    (INJECT, StepView(
        _inject_text, _inject_numbers, tell=lambda done, _: tell_malformed(done.result))),
    (GENERATE, StepView(_generate_text, code_of=_generate_code, tell=_tell_given)),
    (FETCH, StepView(_fetch_text, _fetch_numbers, _fetch_code, _tell_idle, is_live=True)),
    (UPDATE, StepView(_update_text, _update_numbers)),
    (SITEMAPS, StepView(
        lambda result, _: sitemaps_text(result), code_of=sitemaps_code,
        tell=lambda result, _: tell_unread(result), is_live=True)),
    (PARSE, StepView(_parse_text)),
    (LINKS, StepView(_links_text)),
    (DEDUP, StepView(lambda result, _: dedup_text(result))),
    (RANK, StepView(_rank_text, _rank_numbers)),
    (INDEX, StepView(_index_text, _index_numbers, tell=_tell_rebuild)),
)  # fmt: skip
"""The commands of single steps, in the order of the help."""
