"""Generate on a job: refusals by rule and line, lists, leases, caps, units, the cut of the tail."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from nacre.crawldb.kernels import UserSqlError
from nacre.cycle.engine.local import LocalEngine
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.generate import GenerateOptions, GenerateResult, generate, segment_names
from nacre.cycle.steps.inject import InjectOptions, inject
from nacre.cycle.versions import Cycle, CycleVersion, SegmentState
from nacre.engine.seeding.seeds import SeedList
from nacre.errors import JobError
from nacre.settings.load import load_job
from nacre.store.layout import Layout

NOW = 1_800_000_000_000
RULES = """
name: x
seeds: []
scope:
  - rule: accept
  - {rule: nutch-filters, chain: [{filter: regex, file: regex-urlfilter.txt}]}
politeness: {delay: 3}
"""


@contextmanager
def opened(
    root: Path, clock: int = NOW, cycle: dict[str, Any] | None = None, *, dry: bool = False
) -> Iterator[StepContext]:
    root.mkdir(exist_ok=True)
    layout = Layout(root)
    if not layout.config.exists():
        layout.config.write_text(RULES)
        (root / "regex-urlfilter.txt").write_text("+.\n")
    loaded = load_job(
        layout, [f"cycle.{path}={json.dumps(value)}" for path, value in (cycle or {}).items()]
    )
    engine = LocalEngine(1)
    yield StepContext(
        layout=layout, loaded=loaded, cycle=Cycle.open(root), engine=engine, clock=clock, dry=dry
    )
    engine.close()


def seeded(root: Path, *lines: str) -> None:
    with opened(root) as context:
        found = inject(context, [SeedList("", lines)], InjectOptions())
    assert found.new == len(lines)


def lists(root: Path, found: GenerateResult) -> list[list[dict[str, Any]]]:
    """The rows of all lists, by unit."""
    paths = [
        path
        for name in found.segments
        for path in sorted((root / "cycle/segments" / name / "lists").iterdir())
    ]
    return [pq.read_table(path).to_pylist() for path in paths]


def keys(root: Path, found: GenerateResult) -> list[list[str]]:
    return [[row["key"] for row in one] for one in lists(root, found)]


def test_before_the_first_seed(tmp_path: Path):
    with opened(tmp_path / "j") as context, pytest.raises(JobError, match="-s URL"):
        generate(context, GenerateOptions())


def test_the_best_are_listed_and_leased(tmp_path: Path):
    seeded(tmp_path / "j", *(f"http://a.example/{n}\tnutch.score={n}" for n in range(1, 6)))
    with opened(tmp_path / "j", NOW + 1) as context:
        first = generate(context, GenerateOptions(top=3))
        second = generate(context, GenerateOptions(top=3))
        third = generate(context, GenerateOptions(top=3))
        version = context.cycle.newest()
    assert (first.known, first.fresh, first.due, first.selected) == (5, 5, 5, 3)
    wanted = [["http://a.example/5", "http://a.example/4", "http://a.example/3"]]
    assert keys(tmp_path / "j", first) == wanted
    assert keys(tmp_path / "j", second) == [["http://a.example/2", "http://a.example/1"]]
    assert (second.refused, second.fresh) == ({"lease": 3}, 0)
    assert (third.selected, third.segments, third.refused) == (0, (), {"lease": 5})
    assert [one.state for one in version.segments.values()] == ["generated", "generated"]
    assert not list((tmp_path / "j/cycle/exchange").rglob("*.parquet"))


def test_a_lease_ends(tmp_path: Path):
    seeded(tmp_path / "j", "http://a.example/")
    for clock, selected in ((NOW, 1), (NOW + 59_999, 0), (NOW + 60_000, 1)):
        with opened(tmp_path / "j", clock, {"generate.lease": 60}) as context:
            assert generate(context, GenerateOptions()).selected == selected


def test_a_changed_rule_file_holds_for_what_is_known_both_ways(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/1", "http://b.example/2", "http://b.example/书")
    (root / "regex-urlfilter.txt").write_text("# ours\n-//b\\.example/\n+.\n")
    with opened(root) as context:
        found = generate(context, GenerateOptions())
    assert found.excluded == {"regex-urlfilter.txt:2": 2}
    assert keys(root, found) == [["http://a.example/1"]]
    with opened(root) as context:
        again = generate(context, GenerateOptions())
    assert (again.excluded, again.selected) == ({"regex-urlfilter.txt:2": 2}, 0)
    (root / "regex-urlfilter.txt").write_text("+.\n")
    with opened(root) as context:
        assert generate(context, GenerateOptions(filter=False)).selected == 0
        found = generate(context, GenerateOptions())
    assert (found.selected, found.excluded) == (2, {})


def test_a_dry_run_changes_nothing(tmp_path: Path):
    seeded(tmp_path / "j", "http://a.example/")
    before = sorted(path for path in (tmp_path / "j").rglob("*") if path.is_file())
    with opened(tmp_path / "j", dry=True) as context:
        found = generate(context, GenerateOptions())
    assert (found.selected, found.units, found.version) == (1, 1, None)
    assert sorted(path for path in (tmp_path / "j").rglob("*") if path.is_file()) == before


def test_units_and_the_cut_of_the_tail(tmp_path: Path):
    root = tmp_path / "j"
    seeded(
        root,
        *(f"http://slow.example/{n}\tnutch.score={n}" for n in range(1, 101)),
        *(f"http://h{n}.example/" for n in range(6)),
    )
    with opened(root) as context:
        found = generate(context, GenerateOptions(units=2, time_limit=60))
        rest = generate(context, GenerateOptions(top=0, units=2))
    assert (found.cut, found.cut_hosts, found.selected, found.units) == (80, 1, 26, 2)
    assert (found.slowest, found.slowest_urls, found.slowest_delay) == ("slow.example", 20, 3.0)
    assert found.longest == 60.0
    slow, others = lists(root, found)
    assert [row["key"] for row in slow[:2]] == ["http://slow.example/100", "http://slow.example/99"]
    assert {row["key"].split("/")[2] for row in slow} == {"slow.example"}
    assert len(others) == 6
    assert [row["order"] for row in slow] == list(range(20))
    assert {row["delay"] for row in slow} == {3.0}
    assert rest.selected == 80


def test_a_list_is_in_rounds_over_its_hosts(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *(f"http://h{n % 3}.example/{n}\tnutch.score={n}" for n in range(1, 10)))
    with opened(root) as context:
        found = generate(context, GenerateOptions())
    [listed] = keys(root, found)
    hosts = [key.split("/")[2] for key in listed]
    assert hosts == ["h0.example", "h2.example", "h1.example"] * 3


def test_caps_and_segments(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *(f"http://a.example/{n}\tnutch.score={n}" for n in range(1, 6)), "http://b.test/")
    with opened(root, NOW, {"generate.max_count": 2}) as context:
        found = generate(context, GenerateOptions(top=3, segments=2))
    assert [sorted(one) for one in keys(root, found)] == [
        ["http://a.example/4", "http://a.example/5", "http://b.test/"],
        ["http://a.example/2", "http://a.example/3"],
    ]
    assert len(found.segments) == 2


def test_a_condition(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/1\tlang=zh", "http://a.example/2")
    with opened(root) as context:
        found = generate(context, GenerateOptions(where="md['lang'] = 'zh'"))
        assert keys(root, found) == [["http://a.example/1"]]
        assert found.refused == {"where": 1}
        with pytest.raises(UserSqlError, match="langs"):
            generate(context, GenerateOptions(where="langs = 'zh'"))


def test_what_is_due_next(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/1")
    with opened(root, NOW - 5) as context:
        found = generate(context, GenerateOptions())
    assert (found.selected, found.next_due, found.refused) == (0, NOW, {"schedule": 1})
    with opened(root, NOW - 5) as context:
        assert generate(context, GenerateOptions(add_days=1)).selected == 1


def test_names_of_segments_differ():
    version = CycleVersion(segments={"20270115T080000.000Z": SegmentState(state="updated")})
    assert segment_names(NOW, 2, version) == ("20270115T080000.001Z", "20270115T080000.002Z")
