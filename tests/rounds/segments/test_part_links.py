"""Links of a part and their sums, beside sums made link by link."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from nacre.core.crawluri import extend_path
from nacre.crawldb.scoring import (
    DepthScoring,
    InheritedMetadata,
    NutchOpic,
    Opic,
    PageScore,
    Scoring,
    distribute,
)
from nacre.rounds.segments.export import PartTables, depth_of_path
from nacre.rounds.visits.page_links import LinkFact
from nacre.rounds.visits.unit_visits import VisitFact
from nacre.uri.parse import host
from tests.rounds.segments.test_export import visit

HOSTS = ("a.test", "b.test", "书.test")


class EachAlone(InheritedMetadata):
    """A kind that looks at each link."""

    alike = False


def some_url(draw: random.Random) -> str:
    return f"http://{draw.choice(HOSTS)}/{draw.choice('abcdAB文')}"


def some_visit(draw: random.Random) -> VisitFact:
    links: list[LinkFact] = [
        (some_url(draw), draw.choice("LLER"), draw.choice(("", "nofollow")), "a/@href", "文" * 150)
        for _ in range(draw.randint(0, 6))
    ]
    return visit(
        some_url(draw), links, status=draw.choice((200, 200, 404, -1)), via=some_url(draw),
        path=draw.choice(("", "L", "LL", "3+LL")), began=draw.randint(1, 4) * 1000,
        source=draw.choice(("", "s")), outlinks=9,
    )  # fmt: skip


def summed(
    visits: Sequence[VisitFact], pages: dict[str, PageScore], scoring: Sequence[Scoring]
) -> dict[str, dict[str, Any]]:
    """The additions of visits, one link after the other."""
    found: dict[str, dict[str, Any]] = {}

    def add(key: str, first: tuple[Any, ...], more: dict[str, Any], *, is_link: bool) -> None:
        row = found.setdefault(key, {"first": None, "score": 0, "cash": 0, "inlinks": 0})
        row["score"], row["cash"] = row["score"] + more["score"], row["cash"] + more["cash"]
        if is_link:
            row["inlinks"] += 1
            row["depth"] = min(row.get("depth", 65_535), more["depth"])
            row["last"] = max(row.get("last", 0), first[0])
        if row["first"] is None or (is_link and first[:2] < row["first"][:2]):
            row["first"] = first

    for fact in visits:
        key, time = fact.url.lower(), fact.began // 1000
        page = pages.get(key) or PageScore(depth=depth_of_path(fact.path))
        targets: dict[str, LinkFact] = {}
        for link in fact.links.new:
            targets.setdefault(link[0].lower(), link)
        if fact.status <= 0:
            continue
        inside = [host(one) == host(key) for one in targets]
        shares, change = distribute(scoring, page, inside, fact.outlinks)
        links = list(targets.items()) if shares else []
        for (dst, (url, hop, *_)), share in zip(links, shares, strict=True):
            depth = (page.depth or depth_of_path(fact.path)) + (hop != "R")
            first = (time, fact.url, extend_path(fact.path, hop), fact.source, url, dict(share.md))
            more = {"score": share.score, "cash": share.cash, "depth": depth}
            add(dst, first, more, is_link=True)
        if change.score or change.cash:
            first = (time, fact.via, fact.path, fact.source, fact.url, {})
            add(key, first, {"score": change.score, "cash": change.cash}, is_link=False)
    return found


@pytest.mark.parametrize("few", [0, 1_000_000])
@pytest.mark.parametrize(
    "scoring",
    [
        (),
        (Opic(),),
        (NutchOpic(internal=0.5),),
        (DepthScoring(max=3), Opic()),
        (EachAlone(tags=("x",)), NutchOpic()),
        (InheritedMetadata(tags=("x",)), Opic()),
    ],
)
@pytest.mark.slow
def test_sums_are_those_of_the_links_one_after_the_other(
    scoring: tuple[Scoring, ...], few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nacre.rounds.segments.part_links._FEW_TEXTS", few)
    draw = random.Random(7)
    for _ in range(12):
        visits = [some_visit(draw) for _ in range(draw.randint(1, 25))]
        pages = {
            some_url(draw).lower(): PageScore(
                draw.choice((0, 5, 2**70)), draw.choice((0, 2**32)), draw.randint(0, 4), {"x": "1"}
            )
            for _ in range(6)
        }
        made = PartTables(str.lower, 16, rules=9, listed=pages.get, scoring=scoring)
        for fact in visits:
            made.take(fact)
        made.write(tmp_path, {})
        rows = pq.read_table(tmp_path / "adds.parquet").to_pylist()
        assert {row["key"]: _told(row) for row in rows} == {
            key: _expected(key, row) for key, row in summed(visits, pages, scoring).items()
        }
        links = pq.read_table(tmp_path / "links.parquet").to_pylist()
        wanted = [
            (link[0].lower(), fact.url.lower(), *link[1:4], link[4][:100], rank)
            for fact in visits
            for rank, link in enumerate(fact.links.new)
        ]
        names = ("dst", "src", "hop", "rel", "context", "anchor", "rank")
        assert sorted(tuple(row[name] for name in names) for row in links) == sorted(wanted)
        # Links to the same stay in the order of the visits.
        assert [row["src"] for row in links if row["dst"] == wanted[0][0]] == [
            row[1] for row in wanted if row[0] == wanted[0][0]
        ]  # fmt: skip


def _told(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("first_seen", "via", "path", "source", "url", "md", "inlinks", "depth", "last_inlink")
    assert row["judged"] == (9 if row["inlinks"] else None)
    return (*(row[name] for name in names), int(row["score"]), int(row["cash"]))


def _expected(key: str, row: dict[str, Any]) -> tuple[Any, ...]:
    time, via, path, source, url, md = row["first"]
    return (
        time, via or None, path, source or None, None if url == key else url,
        list(md.items()) or None, row["inlinks"], row.get("depth"), row.get("last"),
        row["score"], row["cash"],
    )  # fmt: skip


@pytest.mark.parametrize("few", [0, 1_000_000])
def test_row_groups_are_chosen_by_the_targets_that_they_have(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nacre.rounds.segments.part_links._FEW_TEXTS", few)
    monkeypatch.setattr("nacre.rounds.segments.export._ROWS", 1)
    made = PartTables(str.lower, 16)
    for number in range(9):
        links = [(f"http://{host}/{number}", "L", "", "a/@href", "text") for host in HOSTS]
        made.take(visit(f"http://a.test/page{number}", links))
    made.write(tmp_path, {})
    with pq.ParquetFile(tmp_path / "links.parquet") as file:
        column = file.schema_arrow.names.index("dst")
        assert file.num_row_groups == len({made.key(f"http://{one}/")[1] for one in HOSTS}) > 1
        for number in range(file.num_row_groups):
            rows = file.read_row_group(number, ["dst"]).column(0).to_pylist()
            known = file.metadata.row_group(number).column(column).statistics
            assert (known.min, known.max) == (min(rows), max(rows))
