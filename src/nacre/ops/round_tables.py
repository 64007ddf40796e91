"""The operations on the tables of batch rounds: links, duplicates, ranks, facts made again."""

from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from nacre.ops.fields import Natural, ShortText, Typed, Whole
from nacre.ops.operation import OperationContext
from nacre.ops.round_requests import NO_RUN, StepRequest
from nacre.ops.rounds import Segments, open_for_step, open_tables, step_operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nacre.rounds.steps.dedup import DedupResult
    from nacre.rounds.steps.links import LinksResult
    from nacre.rounds.steps.parse import ParseResult
    from nacre.rounds.steps.rank import RankedNode, RankResult


class LinksRequest(StepRequest, frozen=True):
    """The options of a step for links.

    Attributes:
        rebuild: Take the links of all segments again, by the settings of now.
    """

    rebuild: bool = False


def _links(context: OperationContext, request: LinksRequest) -> "LinksResult":
    from nacre.rounds.steps.links import links

    with open_for_step(context, request) as step:
        return links(step, rebuild=request.rebuild)


class ParseRequest(StepRequest, frozen=True, kw_only=True):
    """The options of a parse.

    Attributes:
        segments: Which ones.
    """

    segments: Segments


def _parse(context: OperationContext, request: ParseRequest) -> "ParseResult":
    from nacre.rounds.steps.parse import parse

    with open_for_step(context, request) as step:
        parts: dict[str, list[str]] = {name: [] for name in request.segments}
        return parse(step.cycle, step.engine, step.place, step.clock, parts, dry=step.dry)


class DedupRequest(StepRequest, frozen=True):
    """The options of a search for duplicates.

    Attributes:
        group: Compare pages of the same host or domain only: host, domain; none: all. Default:
            cycle.dedup.group.
        order: The criteria, separated by commas: score, fetchTime, httpsOverHttp, urlLength.
            Default: cycle.dedup.order.
        canonical: Pages are copies of what they declare as canonical.
        near: Pages are copies of what has almost the same text; cycle.dedup.near lets units make
            the simhashes that this needs.
    """

    group: Annotated[ShortText, Typed("NAME")] = ""
    order: Annotated[ShortText, Typed("LIST")] = ""
    canonical: bool = False
    near: bool = False


def _dedup(context: OperationContext, request: DedupRequest) -> "DedupResult":
    from nacre.ops.round_steps import dedup_settings
    from nacre.rounds.steps.dedup import dedup

    with open_for_step(context, request) as step:
        settings = dedup_settings(
            step.settings.cycle.dedup, request.group, request.order, canonical=request.canonical
        )
        if request.near and not settings.near:
            (context.step or NO_RUN).warn(
                "pages that were fetched without `cycle.dedup.near: true` have no simhash: --near "
                "cannot compare them"
            )
        settings = settings.model_copy(update={"near": request.near or settings.near})
        return dedup(step, settings)


class RankRequest(StepRequest, frozen=True):
    """The options of a computation of ranks.

    Attributes:
        level: Whose ranks.
        iterations: How often they are computed.
        damping: Share that links give.
        per_domain: Of a page one link to each domain; with --level page.
        apply: Make the ranks the scores of URLs: for `scoring: rank`.
        show: Print the best N of the last computation, and compute nothing.
    """

    level: Annotated[Literal["host", "domain", "page"], Typed("")] = "host"
    iterations: Annotated[Natural, Typed("N")] = 10
    damping: Annotated[float, Meta(ge=0, le=1), Typed("D")] = 0.85
    per_domain: bool = False
    apply: bool = False
    show: Annotated[Whole, Typed("N")] = 0


class BestNodes(NamedTuple):
    """The hosts, domains or pages with the best ranks.

    Attributes:
        level: Their kind.
        nodes: The nodes, the best first.
    """

    level: str
    nodes: "Sequence[RankedNode]"


def _rank(context: OperationContext, request: RankRequest) -> "RankResult | BestNodes":
    from nacre.rounds.steps.rank import RankOptions, best_nodes, rank

    if request.show:
        with open_tables(context, request) as view:
            return BestNodes(request.level, best_nodes(view, request.level, request.show))
    options = RankOptions(
        request.level, request.iterations, request.damping, request.per_domain, request.apply
    )
    with open_for_step(context, request) as step:
        return rank(step, options)


PARSE: Final = step_operation(
    "parse", "Make the facts of fetched segments again, out of their WARC files.",
    ParseRequest, _parse,
    "Links are taken while a page is fetched. This is for facts that were damaged.",
)  # fmt: skip
LINKS: Final = step_operation(
    "links", "Take the links of fetched segments into the table of links.", LinksRequest, _links
)
DEDUP: Final = step_operation(
    "dedup", "Mark pages with the same content as duplicates of the best one.",
    DedupRequest, _dedup,
)  # fmt: skip
RANK: Final = step_operation(
    "rank", "Compute how important hosts, domains or pages are by the links to them.",
    RankRequest, _rank,
    "Each iteration is kept, so that a command that was interrupted goes on behind the last one.",
)  # fmt: skip
