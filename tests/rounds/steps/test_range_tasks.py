"""Ranges of keys as tasks: lists, counts and hashes are those of a bucket that is not divided."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.crawldb import facts
from nacre.crawldb.row import bucket_of
from nacre.rounds.segments import compaction
from nacre.rounds.segments.compaction import compact
from nacre.rounds.steps import update as update_step
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import GenerateOptions, GenerateResult, generate
from nacre.rounds.steps.inject import InjectOptions, inject
from nacre.rounds.steps.update import UpdateOptions, update
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView
from nacre.rounds.tables.tables import CRAWLDB, buckets_of, key_ranges
from nacre.scope.seeds import SeedList
from tests.rounds.steps.test_generate import NOW, opened
from tests.rounds.steps.test_update import add, fetched, visit

HOSTS = ("http://a.large.test", "https://a.large.test", "http://b.large.test:81", "http://国.test")
URLS = [f"{host}/{path}" for host in HOSTS for path in ("", "1", "2", "书", "4")]
LIMITS = "large.test\t5\t1\t2\nxn--tqq.test\t1\n"
DAY = 86_400_000


class Crawl(NamedTuple):
    """Two rounds, and what decides their lists."""

    seeds: Sequence[tuple[str, int]]
    later: Sequence[tuple[str, int]]
    caps: dict[str, Any]
    first: GenerateOptions
    second: GenerateOptions
    statuses: Sequence[int]
    excluded: bool


CAPS: list[dict[str, Any]] = [
    {},
    {"generate.max_count": 2},
    {"generate.max_count": 3, "generate.count": "domain"},
    {"generate.max_count": 1, "generate.max_count_where": "host.fetched + 1"},
    {"generate.limits": "limits.tsv", "generate.max_count": 3},
]
ONE = st.tuples(st.sampled_from(URLS), st.integers(0, 3))
SEEDS = st.lists(ONE, unique_by=lambda one: one[0], min_size=4)
OPTIONS = st.builds(
    GenerateOptions,
    add_days=st.just(0.0),
    top=st.sampled_from((0, 3, 6)),
    units=st.sampled_from((1, 2)),
    segments=st.sampled_from((1, 2)),
    where=st.sampled_from(("", "host.unfetched > 1 or score > 1")),
    time_limit=st.sampled_from((0.0, 9.0)),
)
STATUSES = st.lists(st.sampled_from((200, 404, 301)), min_size=1, max_size=3)
CRAWLS = st.builds(
    Crawl, SEEDS, SEEDS, st.sampled_from(CAPS), OPTIONS, OPTIONS, STATUSES, st.booleans()
)
ALL = [(url, number % 4) for number, url in enumerate(URLS)]


def crawled(root: Path, crawl: Crawl, buckets: int, rows: int) -> list[object]:
    """Two rounds with base files of so many rows; all that the steps say and write."""
    root.mkdir()
    (root / "limits.tsv").write_text(LIMITS)
    config = {**crawl.caps, "fetch.follow": "embeds", "update.purge_gone": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compaction, "FILE_ROWS", rows)
        patch.setattr(update_step, "_GROUP_ROWS", 2)
        with opened(root, cycle={**config, "buckets": buckets}) as context:
            inject(context, [lines(crawl.seeds)], InjectOptions())
            compact(context.cycle, context.engine, context.place, NOW, keep=3)
            divided = any(len(key_ranges(one)) > 1 for one in known(context))
            assert divided or len(crawl.seeds) <= rows * buckets
            first = generate(context, crawl.first)
        for segment in first.segments:
            visits = [row["key"] for row in files(root, segment, "lists")]
            came(root, segment, visits, crawl.statuses, buckets)
        if crawl.excluded:
            (root / "regex-urlfilter.txt").write_text("-4$\n+.\n")
        with opened(root, NOW + 5, config) as context:
            # Of two lists one is not updated: its hosts are out.
            done = update(context, UpdateOptions(), first.segments[:1])
            hashes = [hashed(context)]
            inject(context, [lines(crawl.later)], InjectOptions(overwrite=True))
        with opened(root, NOW + DAY, config, dry=True) as context:
            dry = generate(context, crawl.second)
        with opened(root, NOW + DAY, config) as context:
            second = generate(context, crawl.second)
            hashes.append(hashed(context))
            compact(context.cycle, context.engine, context.place, NOW, keep=3)
            hashes.append(hashed(context))
    told = [one._replace(version=None) for one in (first, done, dry, second)]
    return [*told, *hashes, listed(root, first), listed(root, second)]


def lines(seeds: Sequence[tuple[str, int]]) -> SeedList:
    return SeedList("", [f"{url}\tnutch.score={score}" for url, score in seeds])


def known(context: StepContext) -> list[Any]:
    return buckets_of(context.cycle, context.cycle.newest(), CRAWLDB)


def hashed(context: StepContext) -> list[str]:
    newest = context.cycle.newest()
    view = TableView(context.cycle, newest, context.engine, context.place, context.interval)
    return [table_hash(view, table) for table in ("crawldb", "hosts")]


def files(root: Path, segment: str, kind: str) -> list[dict[str, Any]]:
    """The rows of all files of a kind of a segment, each with its file."""
    folder = root / "cycle/segments" / segment / kind
    paths = sorted(folder.iterdir()) if folder.exists() else []
    return [{**row, "file": path.name} for path in paths for row in pq.read_table(path).to_pylist()]


def listed(root: Path, found: GenerateResult) -> list[list[dict[str, Any]]]:
    return [
        files(root, segment, kind)
        for segment in found.segments
        for kind in ("lists", "hosts", "fetched")
    ]


def came(
    root: Path, segment: str, keys: Sequence[str], statuses: Sequence[int], buckets: int
) -> None:
    """Let the pages of a list have come, each with a link, and something seen of its host."""
    visits = [
        visit(key, statuses[number % len(statuses)], bucket=bucket_of(key, buckets))
        for number, key in enumerate(keys)
    ]
    targets = sorted({f"{key.rpartition('/')[0]}/new" for key in keys} | set(keys[:2]))
    adds = [add(key, bucket=bucket_of(key, buckets), score=7) for key in targets]
    fetched(root, segment, (visits, adds), virtual=1000)
    seen = dict.fromkeys(facts.HOSTS.names, 1) | {"latencies": [1] * 20, "robots": None}
    hosts = [
        {**seen, "answer": None, "bucket": bucket_of(key, buckets), "host": "a.large.test"}
        for key in targets[:1]
    ]
    path = root / "cycle" / f"segments/{segment}/parts/u0001/1-000/hosts.parquet"
    pq.write_table(pa.Table.from_pylist(hosts, facts.HOSTS), path)


def differences(crawl: Crawl, rows: int, buckets: int) -> list[tuple[Any, Any]]:
    """Crawl with ranges of so many rows, and with one; return what differs."""
    with tempfile.TemporaryDirectory() as folder:
        whole = crawled(Path(folder, "whole"), crawl, buckets, 100)
        divided = crawled(Path(folder, "divided"), crawl, buckets, rows)
    return [pair for pair in zip(divided, whole, strict=True) if pair[0] != pair[1]]


@pytest.mark.slow
def test_no_division_changes_what_steps_say_and_write():
    lists = GenerateOptions(top=4, segments=2), GenerateOptions(top=6, time_limit=9.0)
    crawl = Crawl(ALL, ALL[::3], CAPS[1], *lists, (200, 404), excluded=True)
    assert differences(crawl, 6, 1) == []


@pytest.mark.slow
def test_buckets_without_a_url_in_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compaction, "FILE_ROWS", 2)
    root = tmp_path / "j"
    with opened(root, cycle={"buckets": 2}) as context:
        inject(context, [lines([*ALL, ("http://b.large.test/best", 9)])], InjectOptions())
        compact(context.cycle, context.engine, context.place, NOW, keep=3)
        assert [len(key_ranges(one)) > 1 for one in known(context)] == [True, True]
        found = generate(context, GenerateOptions(top=1))
    assert [row["key"] for row in files(root, found.segments[0], "lists")] == [
        "http://b.large.test/best"
    ]


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(CRAWLS, st.sampled_from((1, 2, 3, 5)), st.sampled_from((1, 2)))
def test_no_division_changes_anything_in_many_crawls(crawl: Crawl, rows: int, buckets: int):
    assert differences(crawl, rows, buckets) == []
