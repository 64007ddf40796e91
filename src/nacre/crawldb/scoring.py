"""Scores: initial scores of seeds, shares of links, and the order of fetches.

`SCORINGS` has all kinds by name; `cycle.scoring` lists those of a job, which are a chain like
Nutch's scoring filters. A plug-in subclasses `Scoring` and is an entry point, like rules. Scores
and cash are whole numbers of 2^-32 (`row.ONE`). Sources: Nutch, `ScoringFilter` and its plug-ins
(reference N 1.11); Abiteboul, Preda, Cobena, "Adaptive on-line page importance computation", 2003.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import add
from typing import Annotated, ClassVar, Literal, NamedTuple, overload

from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema

from nacre.config.component import Component, ComponentRegistry, Seconds, setting
from nacre.messages import message

ONE = 2**32
"""A score of 1.0."""

MAX_DEPTH = "_maxdepth_"
"""Metadata of a seed: the depth to which its links are followed (Nutch, `DepthScoringFilter`)."""


class PageScore(NamedTuple):
    """The scores of a page when it is injected or visited.

    Attributes:
        score: Its score, in 2^-32.
        cash: Its cash, in 2^-32.
        depth: Its depth; 1 for a seed; 0 if unknown.
        md: Its metadata.
    """

    score: int = 0
    cash: int = 0
    depth: int = 0
    md: Mapping[str, str] = {}


class LinkShare(NamedTuple):
    """The share of a link in the scores of its page.

    Attributes:
        internal: It leads to the same host.
        score: Score, in 2^-32.
        cash: Cash, in 2^-32.
        depth: Depth of its target; 0 if unknown.
        md: Metadata.
    """

    internal: bool
    score: int = 0
    cash: int = 0
    depth: int = 0
    md: Mapping[str, str] = {}


class ScoreChange(NamedTuple):
    """The change of a page, and of the virtual page, which gives cash to all seeds, in 2^-32."""

    score: int = 0
    cash: int = 0
    virtual: int = 0


_UNCHANGED = ScoreChange()


class Scoring(Component):
    """The settings and the rule of one kind of score."""

    columns: ClassVar[tuple[str, ...]] = ()
    """Columns of a row that `sort_sql` and `boost_sql` use."""
    alike: ClassVar[bool] = False
    """`distribute` only counts and iterates over links, and gives equal shares to equal links: then
    it gets one link of each kind (`AlikeLinks`)."""

    def injected(self, seed: PageScore) -> PageScore:
        """Return the initial scores of a seed.

        Args:
            seed: Its score by the seed list or `inject.score`, depth 1, its metadata.
        """
        return seed

    def sort_sql(self, inner: str) -> str:
        """Return SQL of a DOUBLE by which rows are sorted for a fetch list, the greatest first.

        Args:
            inner: The SQL of the kinds before this one; 1.0 for the first.
        """
        return inner

    def distribute(
        self, page: PageScore, links: Sequence[LinkShare], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        """Return the shares of the links of a visited page.

        Args:
            page: The page as it was listed.
            links: Its accepted links with the shares of the kinds before this one.
            total: All links of the page, including those that filters refused.

        Returns:
            The links, as many as before, or () if none is followed; and the change of the page.
        """
        return links, ScoreChange()

    def orphan_sql(self, now: int) -> str:
        """Return SQL of the status of a row without links to it; "" if this kind has none.

        Args:
            now: The time, ms since the epoch.
        """
        return ""

    def boost_sql(self, inner: str) -> str:
        """Return SQL of a DOUBLE: the `boost` of a document of an index, by the row of its page.

        Null, numbers below 0 and numbers that are not finite are replaced by the default.
        Source: Nutch, `ScoringFilter.indexerScore`.

        Args:
            inner: The SQL of the kinds before this one; for the first kind score and cash of the
                page, 1.0 being 2^32, to the power `cycle.index.score_power`.
        """
        return inner


SCORINGS = ComponentRegistry(
    Scoring,
    "scoring",
    message("crawldb.scoring-shape", "write the name of a kind, or a mapping with `scoring`"),
)
"""Kinds of score by name, including those of plug-ins."""

AnyScoring = Annotated[
    SerializeAsAny[Scoring],
    PlainValidator(SCORINGS.read),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "required": ["scoring"]}]}),
]
"""A kind of score with its settings, by its name or as a mapping."""


def injected(chain: Sequence[Scoring], seed: PageScore) -> PageScore:
    """Return the initial scores of a seed with several kinds."""
    for kind in chain:
        seed = kind.injected(seed)
    return seed


def follows_seed(chain: Sequence[Scoring], seed: PageScore) -> tuple[bool, bool]:
    """Return whether score and cash of a page depend on its seed with several kinds.

    A rank or a history, for example, does not depend on the seed.

    Args:
        chain: The kinds in order.
        seed: As for `injected`.
    """
    mine, raised = injected(chain, seed), injected(chain, seed._replace(score=seed.score + ONE))
    return mine.score != raised.score, mine.cash != raised.cash


def sort_sql(chain: Sequence[Scoring]) -> str:
    """Return SQL of a DOUBLE by which rows are sorted for a fetch list."""
    sql = "1.0::DOUBLE"
    for kind in chain:
        sql = kind.sort_sql(sql)
    return sql


class BoostRule(NamedTuple):
    """The rule by which documents of an index get their `boost`.

    Attributes:
        sql: SQL of a DOUBLE over the columns of the row of a page.
        columns: Columns that kinds of score use.
    """

    sql: str = "1.0::DOUBLE"
    columns: tuple[str, ...] = ()


def boost_rule(chain: Sequence[Scoring], power: float) -> BoostRule:
    """Return the rule of a chain of kinds.

    Args:
        chain: The kinds in order.
        power: `cycle.index.score_power`.
    """
    importance = f"(coalesce(score, 0)::DOUBLE + coalesce(cash, 0)::DOUBLE) / {ONE}"
    default = f"pow(greatest({importance}, 0), {power!r}::DOUBLE)"
    kinds = [kind for kind in chain if type(kind).boost_sql is not Scoring.boost_sql]
    if not kinds:
        return BoostRule(default)
    sql = default
    for kind in kinds:
        sql = kind.boost_sql(sql)
    sql = f"({sql})::DOUBLE"
    return BoostRule(
        f"case when isfinite({sql}) and {sql} >= 0 then {sql} else {default} end",
        sort_columns(kinds),
    )


def sort_columns(chain: Sequence[Scoring]) -> tuple[str, ...]:
    """Return the columns of a row that `sort_sql` and `boost_sql` use."""
    return tuple(dict.fromkeys(name for kind in chain for name in kind.columns))


def distribute(
    chain: Sequence[Scoring], page: PageScore, internal: Sequence[bool], total: int
) -> tuple[Sequence[LinkShare], ScoreChange]:
    """Return the shares of the links of a visited page with several kinds.

    Args:
        chain: The kinds in order.
        page: The page as it was listed.
        internal: For each accepted link whether it leads to the same host.
        total: All links of the page, including those that filters refused.

    Returns:
        A share for each link, or () if none is followed; and the change of the page.
    """
    depth = page.depth + 1 if page.depth else 0
    links: Sequence[LinkShare] = [LinkShare(inside, depth=depth) for inside in internal]
    score = cash = virtual = 0
    for kind in chain:
        links, gets = kind.distribute(page, links, total)
        score, cash, virtual = score + gets.score, cash + gets.cash, virtual + gets.virtual
    return links, ScoreChange(score, cash, virtual)


class AlikeLinks(Sequence[LinkShare]):
    """The links of a page, of which many are equal: iterating gives one of each kind.

    Args:
        kinds: One of each kind.
        number: Number of all links, which is the length.
    """

    def __init__(self, kinds: Sequence[LinkShare], number: int) -> None:
        self._kinds = kinds
        self._number = number

    def __len__(self) -> int:
        """Number of all links."""
        return self._number

    def __iter__(self) -> Iterator[LinkShare]:
        """One of each kind."""
        return iter(self._kinds)

    @overload
    def __getitem__(self, place: int) -> LinkShare: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[LinkShare]: ...

    def __getitem__(self, place: int | slice) -> LinkShare | Sequence[LinkShare]:
        """One of the kinds by its number."""
        return self._kinds[place]


def distribute_alike(
    chain: Sequence[Scoring], page: PageScore, inside: int, outside: int, total: int
) -> tuple[tuple[LinkShare, LinkShare] | None, ScoreChange]:
    """Return the shares of an internal and an external link in `distribute`, if all are alike.

    Args:
        chain: The kinds in order, of which all are `alike`.
        page: The page as it was listed.
        inside: Number of its accepted links to the same host.
        outside: Number of its other accepted links.
        total: All links of the page, including those that filters refused.

    Returns:
        Both shares, None if no link is followed; and the change of the page.
    """
    number = inside + outside
    kinds: Sequence[LinkShare] = _nothing_yet(page.depth + 1 if page.depth else 0)
    change = _UNCHANGED
    for kind in chain:
        links: Sequence[LinkShare] = AlikeLinks(kinds, number) if number else ()
        shares, gets = kind.distribute(page, links, total)
        change = gets if change is _UNCHANGED else ScoreChange(*map(add, change, gets))
        pair = tuple(shares)
        number, kinds = (number, pair) if pair else (0, kinds)
    return (kinds[0], kinds[1]) if number else None, change


@lru_cache(maxsize=256)
def _nothing_yet(depth: int) -> tuple[LinkShare, LinkShare]:
    """Return an internal and an external link without shares."""
    return LinkShare(internal=True, depth=depth), LinkShare(internal=False, depth=depth)


def orphan_sql(chain: Sequence[Scoring], now: int) -> str:
    """Return SQL of the status of a row without links to it; "" if no kind has one."""
    sqls = [sql for kind in chain if (sql := kind.orphan_sql(now))]
    return f"coalesce({', '.join(sqls)})" if len(sqls) > 1 else "".join(sqls)


def virtual_share(total: int, seeds: int) -> tuple[int, int]:
    """Return the share of each seed in the virtual page, and the indivisible remainder.

    Args:
        total: Cash of the virtual page, in 2^-32.
        seeds: Number of seeds; without seeds it keeps all cash.
    """
    return divmod(total, seeds) if seeds else (0, total)


# ---- the kinds


class NutchOpic(Scoring):
    """The score of Nutch's plug-in scoring-opic: a page gives its score to its links and keeps it.

    Scores only grow, and those of often visited pages most. Migrated crawls use it;
    `opic` is the algorithm of the paper. Source: Nutch, `OPICScoringFilter`.
    """

    columns: ClassVar[tuple[str, ...]] = ("score",)
    alike: ClassVar[bool] = True
    scoring: Literal["nutch-opic"] = "nutch-opic"
    internal: float = setting(
        1.0, "Factor of a link to the same host (`db.score.link.internal`).", ge=0, sheets=False
    )
    external: float = setting(
        1.0, "Factor of a link to another host (`db.score.link.external`).", ge=0, sheets=False
    )
    count_filtered: bool = setting(
        False,
        "Divide by all links of a page, also those that filters refuse "
        "(`db.score.count.filtered`).",
        sheets=False,
    )

    def sort_sql(self, inner: str) -> str:
        """See `Scoring.sort_sql`."""
        return f"(score::DOUBLE / {ONE}.0 * {inner})"

    def distribute(
        self, page: PageScore, links: Sequence[LinkShare], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        """See `Scoring.distribute`."""
        count = max(total if self.count_filtered else len(links), 1)
        # The factor is a whole number of 2^-32 too, so that every machine has the same quotient.
        inside, outside = (
            page.score * round(factor * ONE) // (count * ONE)
            for factor in (self.internal, self.external)
        )
        return [
            link._replace(score=link.score + (inside if link.internal else outside))
            for link in links
        ], ScoreChange()


class Opic(Scoring):
    """Importance by cash: a visited page hands all its cash to its links and a virtual page.

    The virtual page gives its cash to all seeds, so that cash neither appears nor vanishes: the sum
    over all rows and the virtual page stays exactly that of the seeds. `score` is the sum of the
    cash that a page has distributed. Pages with most cash are fetched first. Source: Abiteboul,
    Preda, Cobena, 2003.
    """

    columns: ClassVar[tuple[str, ...]] = ("cash",)
    alike: ClassVar[bool] = True
    scoring: Literal["opic"] = "opic"

    def injected(self, seed: PageScore) -> PageScore:
        """See `Scoring.injected`."""
        return seed._replace(score=0, cash=seed.score)

    def sort_sql(self, inner: str) -> str:
        """See `Scoring.sort_sql`."""
        return f"(cash::DOUBLE / {ONE}.0 * {inner})"

    def distribute(
        self, page: PageScore, links: Sequence[LinkShare], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        """See `Scoring.distribute`."""
        cash, number = max(page.cash, 0), len(links)
        share = cash // (number + 1)
        remainder = cash - share * number
        shares = [LinkShare(k.internal, k.score, k.cash + share, k.depth, k.md) for k in links]
        return shares, ScoreChange(score=cash, cash=-cash, virtual=remainder)


class RankScoring(Scoring):
    """The rank that the step `rank --apply` computed for the host, domain or page; 0 without one.

    Source: Nutch, `LinkAnalysisScoringFilter`, `ScoreUpdater`.
    """

    columns: ClassVar[tuple[str, ...]] = ("score",)
    alike: ClassVar[bool] = True
    scoring: Literal["rank"] = "rank"

    def injected(self, seed: PageScore) -> PageScore:
        """See `Scoring.injected`; a seed has no rank yet."""
        return seed._replace(score=0)

    def sort_sql(self, inner: str) -> str:
        """See `Scoring.sort_sql`."""
        return f"(score::DOUBLE / {ONE}.0 * {inner})"


class DepthScoring(Scoring):
    """Links are followed to a depth, and pages nearer to a seed are fetched first.

    Metadata `_maxdepth_` of a seed is the depth for its descendants. In a list with `opic` it comes
    first: cash of links that are not followed goes to the virtual page. Source: Nutch,
    `DepthScoringFilter`.
    """

    columns: ClassVar[tuple[str, ...]] = ("depth", "md")
    alike: ClassVar[bool] = True
    scoring: Literal["depth"] = "depth"
    max: int = setting(
        1000,
        "Depth of the farthest pages, a seed having 1 (`scoring.depth.max`).",
        unit="links",
        ge=1,
        le=65_535,
        sheets=False,
    )

    def sort_sql(self, inner: str) -> str:
        """See `Scoring.sort_sql`; a row without a depth comes last."""
        most = f"coalesce(try_cast(md['{MAX_DEPTH}'] as INTEGER), {self.max})"
        return f"({inner} * greatest(1 + {most} - coalesce(depth, {self.max}), 0))"

    def distribute(
        self, page: PageScore, links: Sequence[LinkShare], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        """See `Scoring.distribute`."""
        own = page.md.get(MAX_DEPTH, "")
        most = int(own) if own.isdecimal() else self.max
        if (page.depth or self.max) >= most:
            return [], ScoreChange()
        if own.isdecimal():
            links = [link._replace(md={**link.md, MAX_DEPTH: own}) for link in links]
        return links, ScoreChange()


class OrphanScoring(Scoring):
    """Pages without a recent link to them become db_gone, later db_orphan.

    Seeds without a link to them do not change. Source: Nutch, `OrphanScoringFilter`.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    alike: ClassVar[bool] = True
    scoring: Literal["orphan"] = "orphan"
    gone_after: Seconds = setting(
        2_592_000.0,
        "Time without a link after which a page is db_gone (`scoring.orphan.mark.gone.after`).",
        unit="s",
        sheets=False,
    )
    orphan_after: Seconds = setting(
        3_456_000.0,
        "Time without a link after which it is db_orphan (`scoring.orphan.mark.orphan.after`).",
        unit="s",
        sheets=False,
    )

    def orphan_sql(self, now: int) -> str:
        """See `Scoring.orphan_sql`."""
        gone, orphan = (now - round(after * 1000) for after in (self.gone_after, self.orphan_after))
        cases = f"when last_inlink < {orphan} then 8 when last_inlink < {gone} then 3"
        return f"case {cases} end::UTINYINT"


class InheritedMetadata(Scoring):
    """Metadata that links inherit from their pages, beginning with seeds.

    Source: Nutch, `URLMetaScoringFilter`, `MetadataScoringFilter`.
    """

    alike: ClassVar[bool] = True
    scoring: Literal["urlmeta"] = "urlmeta"
    tags: tuple[str, ...] = setting(
        (), "Names of the metadata (`urlmeta.tags`, `scoring.db.md`).", sheets=False
    )

    def distribute(
        self, page: PageScore, links: Sequence[LinkShare], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        """See `Scoring.distribute`."""
        own = {tag: page.md[tag] for tag in self.tags if tag in page.md}
        if own:
            links = [link._replace(md={**link.md, **own}) for link in links]
        return links, ScoreChange()


SCORINGS.add(NutchOpic, Opic, RankScoring, DepthScoring, OrphanScoring, InheritedMetadata)
