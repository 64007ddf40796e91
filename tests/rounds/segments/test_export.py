"""Facts of visits as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from nacre.annotations import PARSER_FAILED, PARSER_TIMEOUT
from nacre.core.history import HistoryRecord
from nacre.crawldb.facts import ADDS, HOSTS, LINKS, VISITS
from nacre.crawldb.row import ONE, bucket_of
from nacre.crawldb.scoring import DepthScoring, NutchOpic, Opic, PageScore, Scoring
from nacre.rounds.segments.export import HostExtra, PartTables, depth_of_path
from nacre.rounds.visits.page_links import LinkFact, numbered
from nacre.rounds.visits.unit_visits import VisitFact

HOME = "http://a.test/"
SHA1 = "sha1:" + "A" * 32


def link(url: str, hop: str = "L") -> LinkFact:
    return url, hop, "", "a/@href", "文" * 150


def visit(url: str = HOME, links: Sequence[LinkFact] = (), **changes: Any) -> VisitFact:
    usual: dict[str, Any] = {
        "status": 200, "via": "", "path": "", "source": "", "began": 5_000_000, "duration": 3,
        "first_byte": 2, "size": 10, "digest": SHA1, "mime": "text/html", "lang": "zh",
        "modified": b"Sun, 06 Nov 1994 08:49:37 GMT", "address": "127.0.0.1",
        "retry_after": None, "robots": (), "redirect": "", "new_seed": False, "canonical": "",
        "outlinks": len(links), "stored": "novel", "warc": "x.warc.gz", "offset": 7,
        "attempts": 1, "error": "", "annotations": (), "signature": b"", "history": b"",
    }  # fmt: skip
    ranked = numbered((one, rank) for rank, one in enumerate(links))
    return VisitFact(url=url, links=ranked, **{**usual, **changes})


def tables(scoring: Sequence[Scoring] = (), **pages: PageScore) -> PartTables:
    known = {f"http://{name}.test/": page for name, page in pages.items()}
    return PartTables(
        lambda url: url.lower(), 16, rules=9, listed=known.get, scoring=tuple(scoring)
    )


def written(made: PartTables, folder: Path, name: str) -> list[dict[str, Any]]:
    made.write(folder, {})
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return rows


def test_all_files_have_the_schemas_of_facts_also_when_they_are_empty(tmp_path: Path):
    for folder, visits in ((tmp_path / "0", 0), (tmp_path / "1", 1)):
        folder.mkdir()
        made = tables()
        for _ in range(visits):
            made.take(visit(links=[link("http://b.test/")]))
        rows = made.write(folder, {})
        assert rows == dict.fromkeys(("visits", "links", "adds", "hosts"), visits)
        for name, schema in (
            ("visits", VISITS), ("links", LINKS), ("adds", ADDS), ("hosts", HOSTS),
        ):  # fmt: skip
            assert pq.read_schema(folder / f"{name}.parquet").equals(schema)


def test_a_visit_has_its_capture_and_what_it_is_compared_by(tmp_path: Path):
    known = HistoryRecord(HOME, 200, 5, 5, SHA1, "", "urn:uuid:1", b'"x"', b"y", 10, 1)
    made = tables()
    made.take(visit(history=msgspec.msgpack.encode(known), robots=("none",)))
    (row,) = written(made, tmp_path, "visits")
    assert (row["digest"], row["record_id"], row["etag"], row["warc_date"]) == (
        SHA1, "urn:uuid:1", b'"x"', 5,
    )  # fmt: skip
    assert (row["signature"], row["modified"]) == (bytes(20), 784_111_777_000)
    assert (row["noindex"], row["nofollow"]) == (True, True)
    assert (row["url"], row["bucket"]) == (None, bucket_of(HOME, 16))
    assert (row["soft_404"], row["parse_failed"], row["simhash"]) == (False, False, None)


def test_a_key_that_differs_from_its_url_keeps_both(tmp_path: Path):
    made = tables()
    made.take(visit("http://a.test/中?Q=1"))
    (row,) = written(made, tmp_path, "visits")
    assert (row["key"], row["url"]) == ("http://a.test/中?q=1", "http://a.test/中?Q=1")


def test_a_target_counts_once_for_each_page_and_keeps_the_first(tmp_path: Path):
    made = tables()
    made.take(visit("http://b.test/", [link("http://c.test/")], began=9_000_000, path="LL"))
    made.take(visit(HOME, [link("http://c.test/"), link("http://c.test/", "E")], began=4_000_000))
    (row,) = written(made, tmp_path, "adds")
    assert (row["inlinks"], row["depth"], row["via"], row["path"]) == (2, 2, HOME, "L")
    assert (row["first_seen"], row["last_inlink"], row["judged"]) == (4000, 9000, 9)
    assert len(written(made, tmp_path, "links")) == 3
    assert len(written(made, tmp_path, "links")[0]["anchor"]) == 100


@pytest.mark.parametrize(
    ("path", "depth"), [("", 1), ("R", 1), ("LLE", 4), ("LRR", 2), ("3+" + "L" * 50, 54)]
)
def test_depth_of_a_hop_path(path: str, depth: int):
    assert depth_of_path(path) == depth


def test_cash_is_neither_made_nor_lost(tmp_path: Path):
    made = tables([Opic()], a=PageScore(0, ONE, 1), b=PageScore(5, 7, 3))
    made.take(visit(HOME, [link("http://b.test/"), link("http://c.test/")]))
    made.take(visit("http://b.test/", []))
    rows = {row["key"]: row for row in written(made, tmp_path, "adds")}
    assert sum(int(row["cash"]) for row in rows.values()) + made.virtual == 0
    assert int(rows[HOME]["cash"]) == -ONE
    assert (int(rows[HOME]["score"]), rows[HOME]["inlinks"]) == (ONE, 0)
    # What a page hands out of its own is no link to it.
    assert rows[HOME]["last_inlink"] is None


def test_scores_are_divided_as_nutch_does(tmp_path: Path):
    made = tables([NutchOpic(internal=0.5)], a=PageScore(ONE, 0, 1))
    made.take(visit(HOME, [link("http://a.test/x"), link("http://b.test/")]))
    rows = {row["key"]: int(row["score"]) for row in written(made, tmp_path, "adds")}
    assert rows == {"http://a.test/x": ONE // 4, "http://b.test/": ONE // 2}


def test_links_beyond_the_depth_are_no_rows(tmp_path: Path):
    made = tables([DepthScoring(max=2)], a=PageScore(0, 0, 2))
    made.take(visit(HOME, [link("http://b.test/")]))
    assert written(made, tmp_path, "adds") == []


def test_what_was_not_attempted_is_a_row(tmp_path: Path):
    made = tables()
    made.take(visit())
    made.leave_out([("http://a.test/b", "http://a.test/B", "deadline")])
    rows = written(made, tmp_path, "visits")
    assert [(row["key"], row["status"], row["reason"]) for row in rows] == [
        (HOME, 200, None), ("http://a.test/b", 0, "deadline"),
    ]  # fmt: skip


def test_hosts_are_counted_and_known(tmp_path: Path):
    made = tables()
    for status in (200, 404, 503, -1, -2, -9998):
        made.take(visit(f"{HOME}{status}", status=status, first_byte=300))
    made.write(tmp_path, {"a.test": HostExtra(12.5, 2.0, 0.5, b"r", None)})
    (row,) = pq.read_table(tmp_path / "hosts.parquet").to_pylist()
    assert {name: row[name] for name in ("visits", "replies", "missing", "errors", "refused")} == {
        "visits": 6, "replies": 1, "missing": 1, "errors": 1, "refused": 1,
    }  # fmt: skip
    assert (row["dns_failures"], row["connection_failures"]) == (1, 1)
    assert (row["latency"], row["backoff"], row["robots"]) == (12.5, 2.0, b"r")
    assert row["latencies"][9] == 3
    assert made.origins == {"a.test": {"http://a.test"}}


def test_files_are_sorted_by_bucket_and_key(tmp_path: Path):
    made = tables()
    made.take(visit(HOME, [link(f"http://h{n % 40}.test/{n}") for n in range(400)]))
    for name, key in (("adds", "key"), ("links", "dst")):
        rows = [(row["bucket"], row[key]) for row in written(made, tmp_path, name)]
        assert rows == sorted(rows)
        assert len({bucket for bucket, _ in rows}) > 3


def test_what_stands_in_for_a_seed_takes_its_scores(tmp_path: Path):
    seed, plain = "https://a.test/", "http://a.test/"
    page = PageScore(ONE, ONE, 1, {})
    made = PartTables(str, 16, listed={seed: page}.get, scoring=(Opic(),), fallbacks={plain: seed})
    made.take(visit(seed, status=-2, source="a.test"))
    made.take(visit(plain, [link("http://a.test/b")], source="a.test"))
    made.take(visit(plain, path="R", via=seed))
    rows = {row["key"]: row for row in written(made, tmp_path, "adds")}
    assert (rows[seed]["cash"], rows[seed]["score"], rows[seed]["inlinks"]) == (-ONE, -ONE, 0)
    assert (rows[plain]["cash"], rows["http://a.test/b"]["cash"]) == (0, ONE // 2)
    assert sum(int(row["cash"]) for row in rows.values()) + made.virtual == 0


@pytest.mark.parametrize("said", ["err=RecursionError", PARSER_FAILED, PARSER_TIMEOUT])
def test_what_a_parser_gave_up_is_told(said: str, tmp_path: Path):
    made = tables()
    made.take(visit(annotations=("2t", said), soft_404=True, simhash=-7))
    made.take(visit("http://b.test/", status=-5, annotations=(said,)))
    rows = written(made, tmp_path, "visits")
    assert {row["key"]: row["parse_failed"] for row in rows} == {
        HOME: True,
        "http://b.test/": False,
    }
    assert [(row["soft_404"], row["simhash"]) for row in rows if row["key"] == HOME] == [(True, -7)]


def test_a_page_with_very_many_links_is_one_row_for_each_target(tmp_path: Path):
    made = tables([Opic()], a=PageScore(ONE, ONE, 1, {}))
    targets = [f"http://b.test/{number % 1_000}" for number in range(100_000)]
    made.take(visit(links=[link(target) for target in targets]))
    rows = made.write(tmp_path, {})
    assert (rows["links"], rows["adds"]) == (100_000, 1_001)
    adds = pq.read_table(tmp_path / "adds.parquet").to_pylist()
    assert {row["inlinks"] for row in adds} == {0, 1}
    assert sum(int(row["cash"]) for row in adds) + made.virtual == 0
