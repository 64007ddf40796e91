"""Seeds and what is known of their URLs: Nutch's merge rules, and the files that they make."""

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq
import pytest

from nacre.cli.cycle.texts import inject_text
from nacre.crawldb.fold import fold_query
from nacre.crawldb.row import ONE, bucket_of
from nacre.crawldb.scoring import NutchOpic, Opic, PageScore, RankScoring, Scoring
from nacre.crawldb.seeds import SEEDS
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.inject import (
    InjectDefaults,
    InjectOptions,
    InjectSpec,
    NewSeed,
    inject,
    inject_task,
    merge_seed,
)
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import (
    CRAWLDB,
    ROW_GROUP,
    BucketFiles,
    TaskPlace,
    added_files,
    buckets_of,
    local_bucket,
)
from nacre.rounds.tables.versions import Cycle, CycleChanges
from nacre.scope.seeds import SeedList
from tests.rounds.steps.test_generate import opened

DEFAULTS = InjectDefaults()
OUTSIDE = """
name: x
seeds: []
scope:
  - accept
  - {rule: matches-regex, decision: REJECT, regex: '.*/%E4%B9%A6/.*'}
  - {rule: nutch-regex, file: regex-urlfilter.txt}
"""
NOW = 1_800_000_000_000
URL = "http://example.org/书"


def seed(url: str = URL, **more):
    values = {"score": None, "interval": None, "fixed": None, "metadata": {}} | more
    return NewSeed(url, url, url, 7, **values)


def known(**more):
    return {
        "key": URL, "status": 2, "fetch_time": NOW - 5, "interval": 60, "retries": 1,
        "score": 3 * ONE, "seed_md": [("a", "1")], "first_seen": 5, "via": "http://b/", **more,
    }  # fmt: skip


def test_a_new_seed_is_due_now_with_the_default_score():
    merged = merge_seed(seed(), None, InjectOptions(), DEFAULTS, NOW)
    assert merged.outcome == "new"
    assert merged.add is not None
    assert (merged.add["score"], merged.add["first_seen"], merged.add["depth"]) == (ONE, NOW, 1)
    assert merged.state is None


def test_under_opic_the_score_of_a_seed_is_cash():
    defaults = InjectDefaults(scoring=(Opic(),))
    merged = merge_seed(seed(score=2 * ONE), None, InjectOptions(), defaults, NOW)
    assert merged.add is not None
    assert (merged.add["score"], merged.add["cash"]) == (0, 2 * ONE)


def test_an_interval_makes_a_state():
    merged = merge_seed(seed(interval=60, fixed=60.0), None, InjectOptions(), DEFAULTS, NOW)
    assert merged.state is not None
    assert (merged.state["interval"], merged.state["fixed_interval"]) == (60, 60.0)
    assert (merged.state["status"], merged.state["fetch_time"]) == (1, NOW)


def test_a_known_row_wins_without_options():
    merged = merge_seed(seed(score=9 * ONE), known(), InjectOptions(), DEFAULTS, NOW)
    assert merged == ("known", None, None, None)


def test_overwrite_replaces_state_score_and_metadata():
    options = InjectOptions(overwrite=True)
    merged = merge_seed(seed(metadata={"b": "2"}), known(), options, DEFAULTS, NOW)
    assert merged.outcome == "merged"
    assert merged.add is not None
    assert merged.state is not None
    assert merged.add["score"] == ONE - 3 * ONE
    assert (merged.add["via"], merged.add["first_seen"]) == ("http://b/", 5)
    assert (merged.state["status"], merged.state["retries"]) == (1, 0)
    assert merged.seed == {"key": URL, "seed_md": [("b", "2")]}


class Named(Scoring):
    """A kind of score of a plug-in: a number of the metadata of a seed, whatever its score is."""

    scoring: Literal["named"] = "named"

    def injected(self, seed: PageScore) -> PageScore:
        return seed._replace(score=int(seed.md.get("weight", 0)) * ONE)


@pytest.mark.parametrize("options", [InjectOptions(overwrite=True), InjectOptions(update=True)])
@pytest.mark.parametrize(
    ("kinds", "more", "changed"),
    [
        ((), {"score": 0}, (-3 * ONE, 0)),
        ((NutchOpic(),), {"score": 0}, (-3 * ONE, 0)),
        ((NutchOpic(),), {"score": 3 * ONE}, None),
        # The score of `opic` is what the page has handed out, that of `rank` is computed.
        ((Opic(),), {"score": 0}, (0, -2 * ONE)),
        ((Opic(),), {"score": 2 * ONE}, None),
        ((RankScoring(),), {"score": 0}, None),
        ((RankScoring(),), {"score": 9 * ONE}, None),
        ((Named(),), {"score": 0, "metadata": {"weight": "4"}}, (ONE, 0)),
    ],
)
def test_a_seed_changes_what_its_score_is_by_the_kind_of_score(kinds, more, changed, options):
    row = known(cash=2 * ONE)
    merged = merge_seed(seed(**more), row, options, InjectDefaults(scoring=kinds), NOW)
    if changed is None:
        assert merged.add is None
    else:
        assert merged.add is not None
        assert (merged.add["score"], merged.add["cash"]) == changed


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        ({}, set()),
        ({"score": ONE}, set()),  # the default of Nutch says nothing
        ({"score": 5 * ONE}, {"add"}),
        ({"interval": 3600}, {"state"}),
        ({"interval": DEFAULTS.interval}, set()),
        ({"metadata": {"a": "1"}}, set()),
        ({"metadata": {"b": "2"}}, {"seed"}),
    ],
)
def test_update_keeps_the_state_and_takes_what_the_seed_says(more, changes):
    merged = merge_seed(seed(**more), known(), InjectOptions(update=True), DEFAULTS, NOW)
    assert {name for name in ("add", "state", "seed") if getattr(merged, name)} == changes
    assert merged.outcome == ("merged" if changes else "known")
    if merged.state is not None:
        assert (merged.state["status"], merged.state["retries"]) == (2, 1)
        assert merged.state["fetch_time"] == NOW - 5
    if merged.seed is not None:
        assert dict(merged.seed["seed_md"]) == {"a": "1", "b": "2"}


def run(cycle: Cycle, seeds: list[NewSeed], options: InjectOptions, clock: int) -> dict[str, int]:
    version = cycle.newest()
    files = {one.bucket: one for one in buckets_of(cycle, version, CRAWLDB)}
    by_bucket: dict[int, list[NewSeed]] = {}
    for one in seeds:
        by_bucket.setdefault(bucket_of(one.key, 4), []).append(one)
    work = tuple((files.get(n, BucketFiles(n)), tuple(s)) for n, s in sorted(by_bucket.items()))
    place = TaskPlace(cycle.storage.place)
    spec = InjectSpec(place, version.number + 1, work, options, DEFAULTS, clock)
    [result] = LocalEngine(1).map(inject_task, [spec])
    changes = CycleChanges(
        step="inject", clock=clock, added=added_files([result.files]), buckets={CRAWLDB: 4}
    )
    cycle.commit(version, changes)
    return result.counts


def table(cycle: Cycle, tmp_path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    with TaskPlace(cycle.storage.place).open() as work:
        for bucket in buckets_of(cycle, cycle.newest(), CRAWLDB):
            local = local_bucket(work.storage, bucket, tmp_path)
            rows = work.kernel.arrow(fold_query(*local, interval=100)).to_pylist()
            found |= {row["key"]: row for row in rows}
    return found


def test_the_table_after_several_lists(tmp_path):
    cycle = Cycle(open_storage(str(tmp_path / "cycle")))
    urls = [f"http://h{number}.example/" for number in range(40)]
    assert run(cycle, [seed(url) for url in urls], InjectOptions(), NOW) == {"new": 40}
    again = [seed(urls[0], score=4 * ONE, interval=60), seed(urls[1]), seed("http://new.example/")]
    counts = run(cycle, again, InjectOptions(update=True), NOW + 1)
    assert counts == {"merged": 1, "known": 1, "new": 1, "scored": 1}
    rows = table(cycle, tmp_path)
    assert len(rows) == 41
    assert (rows[urls[0]]["score"], rows[urls[0]]["interval"]) == (4 * ONE, 60)
    assert (rows[urls[1]]["score"], rows[urls[1]]["interval"]) == (ONE, 100)
    assert rows[urls[1]]["status"] == 1
    assert rows[urls[1]]["fetch_time"] == NOW
    assert rows["http://new.example/"]["fetch_time"] == NOW + 1


def test_seeds_out_of_the_scope_are_counted_and_those_that_a_filter_refuses_left_out(
    tmp_path: Path,
):
    tmp_path.joinpath("crawl.yaml").write_text(OUTSIDE)
    tmp_path.joinpath("regex-urlfilter.txt").write_text("-bad\n+.\n")
    seeds = ["http://a.test/", "http://a.test/书/x", "http://bad.test/书/", "http://b.test/书/"]
    with opened(tmp_path) as context:
        found = inject(context, [SeedList("", seeds)], InjectOptions())
        listed = generate(context, GenerateOptions())
    assert (found.new, found.refused) == (3, {"regex-urlfilter.txt:1": 1})
    assert found.outside == {"matches-regex": 2}
    assert inject_text(found) == (
        "4 seeds, 3 new; 1 refused by regex-urlfilter.txt:1; 2 out of scope by matches-regex, "
        "fetched all the same"
    )
    assert listed.selected == 3


@pytest.mark.parametrize(
    ("scoring", "said"),
    [
        ("opic", "; scores of 2 seeds are in the column cash (cycle.scoring)"),
        ("rank", "; scores of 2 seeds have no effect (cycle.scoring)"),
        ("nutch-opic", ""),
    ],
)
@pytest.mark.slow
def test_where_the_score_of_a_seed_goes_is_told(tmp_path: Path, scoring: str, said: str):
    tmp_path.joinpath("crawl.yaml").write_text(
        f"name: x\nseeds: []\ncycle: {{scoring: [{scoring}]}}"
    )
    lines = ["http://a.test/\tnutch.score=5", "http://b.test/\tnutch.score=2", "http://书.test/"]
    with opened(tmp_path) as context:
        found = inject(context, [SeedList("", lines)], InjectOptions())
        again = inject(context, [SeedList("", lines)], InjectOptions())
    assert inject_text(found) == f"3 seeds, 3 new{said}"
    assert inject_text(again) == "3 seeds, 3 known", "what is known keeps its score"


def test_tasks_on_seeds_share_a_bounded_memory(tmp_path: Path):
    (tmp_path / "crawl.yaml").write_text("name: x\nseeds: []\n")
    with opened(tmp_path) as context:
        one, two, many = (
            replace(context, engine=LocalEngine(workers)).shared_place for workers in (1, 2, 16)
        )
        assert [place.memory for place in (one, two, many)] == [200 * 10**6] + 2 * [100 * 10**6]
        assert two._replace(memory=context.place.memory) == replace(
            context, engine=LocalEngine(2)
        ).place._replace(scratch=two.scratch)


@pytest.mark.slow
def test_files_of_long_lists_have_short_row_groups(tmp_path: Path):
    """A kernel holds a row group while it writes, and a reader of a key unpacks one."""
    (tmp_path / "crawl.yaml").write_text("name: x\nseeds: []\ncycle: {buckets: 1}\n")
    lines = [f"http://a.example/{number}" for number in range(ROW_GROUP + 1)]
    with opened(tmp_path) as context:
        version = inject(context, [SeedList("", lines)], InjectOptions()).version
        assert version is not None
        for table in (CRAWLDB, SEEDS):
            [file] = [file for one in buckets_of(context.cycle, version, table) for file in one.all]
            read = pq.ParquetFile(tmp_path / "cycle" / file.path)
            assert max(read.metadata.row_group(n).num_rows for n in range(read.num_row_groups)) <= (
                ROW_GROUP
            )


@pytest.mark.parametrize("is_frozen", [True, False])
@pytest.mark.slow
def test_objects_that_the_process_froze_before_stay_frozen(tmp_path: Path, *, is_frozen: bool):
    frozen = gc.get_freeze_count()
    try:
        if is_frozen:
            gc.freeze()
        else:
            gc.unfreeze()
        with opened(tmp_path / "j") as context:
            inject(context, [SeedList("", ("http://a.test/",))], InjectOptions())
        assert (gc.get_freeze_count() > 0) is is_frozen
    finally:
        if frozen:
            gc.freeze()
        else:
            gc.unfreeze()
