"""Generate on a job: refusals by rule and line, lists, leases, caps, units, the cut of the tail."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.cli.cycle.texts import generate_text, result_numbers
from nacre.crawldb.hosts import host_schema
from nacre.crawldb.kernels import UserSqlError
from nacre.crawldb.row import ONE, bucket_of_host
from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.explain import explain_url
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import GenerateOptions, GenerateResult, generate, new_segments
from nacre.rounds.steps.inject import InjectOptions, inject
from nacre.rounds.steps.select_tasks import SelectSpec
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.readers import RowFilter, TableView, dump_rows, sql
from nacre.rounds.tables.tables import FilePlan, publish
from nacre.rounds.tables.versions import Cycle, CycleChanges
from nacre.scope.seeds import SeedList
from nacre.settings.load import load_job
from tests.rounds.made import MadeCycle, fill

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


class Killed(BaseException):
    """Takes the place of a `kill -9`."""


def killed(*_arguments: object) -> None:
    raise Killed


def seeded(root: Path, *lines: str, **cycle: int) -> None:
    with opened(root, cycle=cycle) as context:
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


@pytest.mark.slow
def test_the_best_are_listed_and_leased(tmp_path: Path):
    seeded(tmp_path / "j", *(f"http://h{n}.example/\tnutch.score={n}" for n in range(1, 6)))
    with opened(tmp_path / "j", NOW + 1) as context:
        first = generate(context, GenerateOptions(top=3))
        second = generate(context, GenerateOptions(top=3))
        third = generate(context, GenerateOptions(top=3))
        version = context.cycle.newest()
    assert (first.known, first.fresh, first.due, first.selected) == (5, 5, 5, 3)
    assert (first.capped, first.beyond, second.beyond) == (0, 2, 0)
    wanted = [["http://h5.example/", "http://h4.example/", "http://h3.example/"]]
    assert keys(tmp_path / "j", first) == wanted
    assert keys(tmp_path / "j", second) == [["http://h2.example/", "http://h1.example/"]]
    assert (second.refused, second.fresh) == ({"lease": 3}, 0)
    assert (third.selected, third.segments, third.refused) == (0, (), {"lease": 5})
    assert [one.state for one in version.segments.values()] == ["generated", "generated"]
    assert not list((tmp_path / "j/cycle/exchange").iterdir())


@pytest.mark.slow
def test_a_lease_ends(tmp_path: Path):
    seeded(tmp_path / "j", "http://a.example/")
    for clock, selected in ((NOW, 1), (NOW + 59_999, 0), (NOW + 60_000, 1)):
        with opened(tmp_path / "j", clock, {"generate.lease": 60}) as context:
            assert generate(context, GenerateOptions()).selected == selected


@pytest.mark.slow
def test_a_changed_rule_file_holds_for_what_is_known_both_ways(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/1", "http://b.example/2", "http://b.example/书")
    (root / "regex-urlfilter.txt").write_text("# ours\n-//b\\.example/\n+.\n")
    with opened(root) as context:
        found = generate(context, GenerateOptions())
    assert found.excluded == {"regex-urlfilter.txt:2": 2}
    assert judged(found) == (3, 2, 0)
    assert "; 3 URLs judged again: 2 excluded; 1 in 1 unit" in generate_text(found)
    assert keys(root, found) == [["http://a.example/1"]]
    with opened(root) as context:
        again = generate(context, GenerateOptions())
    assert (again.excluded, again.selected) == ({"regex-urlfilter.txt:2": 2}, 0)
    assert (judged(again), "anew" in generate_text(again)) == ((0, 0, 0), False)
    (root / "regex-urlfilter.txt").write_text("+.\n")
    with opened(root) as context:
        assert generate(context, GenerateOptions(filter=False)).selected == 0
        found = generate(context, GenerateOptions())
    assert (found.selected, found.excluded) == (2, {})
    assert judged(found) == (3, 0, 2)
    assert "; 3 URLs judged again: 2 let in again; " in generate_text(found)
    assert result_numbers(found)["readmitted"] == 2
    assert found.version is not None
    assert {name: found.version.counters[name] for name in ("judged", "readmitted")} == {
        "judged": 3, "readmitted": 2,
    }  # fmt: skip
    (root / "regex-urlfilter.txt").write_text("# nothing else\n+.\n")
    with opened(root, dry=True) as context:
        assert "; 3 URLs judged again, all as before" in generate_text(
            generate(context, GenerateOptions())
        )


def judged(found: GenerateResult) -> tuple[int, int, int]:
    return found.judged, found.newly_excluded, found.readmitted


def test_a_dry_run_changes_nothing(tmp_path: Path):
    seeded(tmp_path / "j", "http://a.example/")
    before = sorted(path for path in (tmp_path / "j").rglob("*") if path.is_file())
    with opened(tmp_path / "j", dry=True) as context:
        found = generate(context, GenerateOptions())
    assert (found.selected, found.units, found.version) == (1, 1, None)
    assert sorted(path for path in (tmp_path / "j").rglob("*") if path.is_file()) == before


@pytest.mark.slow
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
    assert (found.cut, found.cut_hosts, found.selected, found.units) == (82, 1, 24, 2)
    assert (found.slowest, found.slowest_urls, found.slowest_delay) == ("slow.example", 18, 3.2)
    assert found.longest == pytest.approx(57.6)
    slow, others = lists(root, found)
    assert [row["key"] for row in slow[:2]] == ["http://slow.example/100", "http://slow.example/99"]
    assert {row["key"].split("/")[2] for row in slow} == {"slow.example"}
    assert len(others) == 6
    assert [row["order"] for row in slow] == list(range(18))
    assert {row["delay"] for row in slow} == {3.2}
    # What was cut stays due, and waits until the host is in no other list.
    assert (rest.selected, rest.refused) == (0, {"lease": 24, "host": 82})


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
    assert (found.capped, found.beyond) == (1, 0)


@pytest.mark.slow
def test_a_condition(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/1\tlang=zh", "http://a.example/2")
    with opened(root) as context:
        found = generate(context, GenerateOptions(where="md['lang'] = 'zh'"))
        assert keys(root, found) == [["http://a.example/1"]]
        assert found.refused == {"where": 1}
        with pytest.raises(UserSqlError, match="langs"):
            generate(context, GenerateOptions(where="langs = 'zh'"))
        # A row whose metadata are no number is refused, and nothing else.
        assert generate(context, GenerateOptions(where="md['lang']::int > 1")).selected == 0


@pytest.mark.parametrize(
    "where",
    [
        "cash = 0.5 and score = 0",
        "host = 'a.example' and first_seen = timestamp '2027-01-15 08:00:00'",
        "url = 'http://a.example/1' and status = 'db_unfetched' and modified is null",
    ],
)
@pytest.mark.slow
def test_a_condition_is_true_of_the_rows_of_readdb_and_sql(tmp_path: Path, where: str):
    root = tmp_path / "j"
    seeded(root, "http://a.example/1\tnutch.score=0.5", "http://b.example/2\tnutch.score=0.25")
    with opened(root) as context:
        found = generate(context, GenerateOptions(where=where))
        view = TableView(context.cycle, context.cycle.newest(), context.engine, context.place, 60)
        dumped = [one for batch in dump_rows(view, RowFilter(where=where)) for one in batch["key"]]
        with sql(view, f"select key from crawldb where {where}") as (_, batches):
            asked = [one for batch in batches for one in batch["key"]]
        assert explained(context, "http://b.example/2") == "where"
    assert keys(root, found) == [["http://a.example/1"]]
    assert [str(one) for one in dumped] == [str(one) for one in asked] == ["http://a.example/1"]


def test_what_is_due_next(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/1")
    with opened(root, NOW - 5) as context:
        found = generate(context, GenerateOptions())
    assert (found.selected, found.next_due, found.refused) == (0, NOW, {"schedule": 1})
    with opened(root, NOW - 5) as context:
        assert generate(context, GenerateOptions(add_days=1)).selected == 1


def test_names_of_segments_differ(tmp_path: Path):
    storage = open_storage(str(tmp_path))
    assert new_segments(storage, NOW, 1) == ("20270115T080000.000Z",)
    assert new_segments(storage, NOW, 2) == ("20270115T080000.001Z", "20270115T080000.002Z")


def test_days_that_are_added_end_no_lease(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *(f"http://a.example/{number}" for number in range(4)), "http://b.example/")
    with opened(root, NOW) as context:
        assert generate(context, GenerateOptions(2)).selected == 2
    with opened(root, NOW + 1) as context:
        found = generate(context, GenerateOptions(add_days=30))
    assert found.refused.get("lease") == 2
    assert found.selected + found.refused.get("host", 0) == 3


@pytest.mark.slow
def test_a_generate_that_is_killed_leaves_nothing_in_the_lists_of_the_next(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *(f"http://{name}.example/" for name in "abcdef"))
    with opened(root, NOW) as context, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cycle, "commit", killed)
        with pytest.raises(Killed):
            generate(context, GenerateOptions(units=3))
    with opened(root, NOW) as context:
        [segment] = generate(context, GenerateOptions(units=1)).segments
        state = context.cycle.newest().segments[segment]
        lists = context.cycle.storage.list(f"segments/{segment}/lists")
    assert (state.units, state.urls) == (1, 6)
    assert [Path(name).name for name in lists] == ["u0001.parquet"]


class Cluster:
    """An engine that is not of this machine, with two cores."""

    name, workers, scratch = "spark", 2, ""

    def __init__(self, engine: LocalEngine) -> None:
        self.map, self.close, self.scratch = engine.map, engine.close, engine.scratch


@pytest.mark.parametrize("days", [float("nan"), float("inf"), -1e300, 36_501.0])
@pytest.mark.slow
def test_a_clock_that_is_too_far_ahead_is_refused(tmp_path: Path, days: float):
    seeded(tmp_path / "j", "http://a.example/")
    with opened(tmp_path / "j") as context, pytest.raises(ConfigError, match="--add-days"):
        generate(context, GenerateOptions(add_days=days))


@pytest.mark.parametrize(
    ("cluster", "units", "said", "seconds", "at_once"),
    [
        (False, 4, "20 in 4 units, at most 16 s (h3.example, 5 x 3.2 s)", 16.0, 4),
        (True, 4, "12 in 4 units, 2 at a time, at most 19 s (h3.example, 3 x 3.2 s)", 19.2, None),
        (True, 2, "20 in 2 units, at most 16 s (h3.example, 5 x 3.2 s)", 16.0, None),
    ],
)
@pytest.mark.slow
def test_the_time_of_units_that_wait_for_their_turn(
    tmp_path: Path, *, cluster: bool, units: int, said: str, seconds: float, at_once: int | None
):
    root = tmp_path / "j"
    seeded(root, *(f"http://h{host}.example/{n}" for host in range(4) for n in range(5)))
    with opened(root) as context:
        assert isinstance(context.engine, LocalEngine)
        engine = Cluster(context.engine) if cluster else context.engine
        wanted = GenerateOptions(units=units, time_limit=20)
        found = generate(replace(context, engine=engine), wanted)
    assert said in generate_text(found)
    assert found.version is not None
    (state,) = found.version.segments.values()
    assert state.more["seconds"] == found.longest == pytest.approx(seconds)
    assert state.more.get("at_once") == at_once


@pytest.mark.slow
def test_what_is_known_of_hosts_goes_into_caps_delays_and_lists(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *(f"http://{host}.example/{n}" for host in "ab" for n in range(4)))
    with opened(root) as context:
        first = generate(context, GenerateOptions(units=2))
        assert first.version is not None
        hosts = context.cycle.files(first.version, "hosts")
        assert sum(file.rows for file in hosts) == 2
    known = {
        one["host"]: one
        for file in hosts
        for one in pq.read_table(root / "cycle" / file.path).to_pylist()
    }
    assert (known["a.example"]["unfetched"], known["a.example"]["fetched"]) == (4, 0)
    (root / "limits.tsv").write_text("b.example\t1\n")
    later = NOW + 8 * 86_400_000
    caps = {
        "generate.max_count_where": "case when host.unfetched = 4 then 3 end",
        "generate.limits": "limits.tsv",
    }
    with opened(root, later, caps) as context:
        slow = [dict(one) for one in known.values()]
        slow[0] |= {"delay": 30.0, "latency": 500.0, "time": NOW, "backoff": 2.0}
        put_hosts(context, slow)
        found = generate(context, GenerateOptions(units=2))
    assert found.selected == 4
    assert (found.slowest, found.slowest_delay) == (slow[0]["host"], 30.5)
    (segment,) = found.segments
    told = [
        pq.read_table(path).to_pylist()
        for path in (root / "cycle/segments" / segment / "hosts").iterdir()
    ]
    assert [[(one["host"], one["backoff"]) for one in rows] for rows in told] == [
        [(slow[0]["host"], 2.0)]
    ]


def put_hosts(context: StepContext, rows: list[dict[str, Any]]) -> None:
    """Commit other rows of hosts."""
    version = context.cycle.newest()
    buckets = version.tables["hosts"].buckets
    files = []
    for one in rows:
        bucket = bucket_of_host(one["host"], buckets)
        path = context.layout.root / "hosts.parquet"
        pq.write_table(pa.Table.from_pylist([one], host_schema()), path)
        file = publish(
            context.cycle.storage, path, FilePlan("hosts", bucket, "set", version.number + 1)
        )
        assert file is not None
        path.unlink(missing_ok=True)  # it may be the storage's own by now
        files.append(file)
    changes = CycleChanges(step="update", clock=NOW, added={"hosts": files})
    context.cycle.commit(version, changes)


def test_units_by_domain(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, *(f"http://{host}.example/" for host in ("a.x", "b.x", "c.y", "d.y")))
    with opened(root, cycle={"generate.partition": "domain"}) as context:
        found = generate(context, GenerateOptions(units=4))
    parts = [{key.split(".")[1] for key in one} for one in keys(root, found)]
    assert sorted(parts, key=sorted) == [{"x"}, {"y"}]


@pytest.mark.parametrize(
    ("text", "said"), [("a.example\tmany\n", "line 1"), (None, "No such file")]
)
@pytest.mark.slow
def test_a_file_of_limits_that_is_none(tmp_path: Path, text: str | None, said: str):
    root = tmp_path / "j"
    seeded(root, "http://a.example/")
    if text is not None:
        (root / "limits.tsv").write_text(text)
    with (
        opened(root, cycle={"generate.limits": "limits.tsv"}) as context,
        pytest.raises(ConfigError, match=said),
    ):
        generate(context, GenerateOptions())


def test_a_cap_that_lets_nothing_through_commits_nothing(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/")
    with opened(root, cycle={"generate.max_count_where": "0"}) as context:
        found = generate(context, GenerateOptions())
        assert (found.due, found.selected, found.version) == (1, 0, None)
        assert generate_text(found).endswith(
            "1 URL beyond the limits of hosts or domains; nothing to fetch"
        )


def ranked(root: Path, **ranks: float) -> None:
    """Commit the ranks of hosts."""
    rows = [
        {"node": f"{name}.example", "num_in": 1, "num_out": 0, "rank": round(rank * ONE)}
        for name, rank in ranks.items()
    ]
    fill(MadeCycle(root), "rank_host", rows, "base")


@pytest.mark.slow
def test_conditions_and_caps_see_the_ranks_of_hosts(tmp_path: Path):
    root = tmp_path / "j"
    seeded(
        root, "http://a.example/1", *(f"http://{host}.example/{n}" for host in "bc" for n in "12")
    )
    with opened(root) as context:
        found = generate(context, GenerateOptions(where="host.rank > 1"))
        assert (found.selected, found.refused) == (0, {"where": 5}), "nobody computed them"
    ranked(root, a=2, b=0.5)
    with opened(root) as context:
        found = generate(context, GenerateOptions(where="host.rank > 1"))
        assert keys(root, found) == [["http://a.example/1"]]
        assert explained(context, "http://a.example/1") == "listed"
        assert explained(context, "http://b.example/1") == "where"
    caps = {"generate.max_count_where": "case when coalesce(host['rank'], 0) < 1 then 1 end"}
    with opened(root, cycle=caps) as context:
        found = generate(context, GenerateOptions(where="host.rank is null or host.rank < 1"))
    assert sorted(key.split("/")[2] for key in keys(root, found)[0]) == ["b.example", "c.example"]
    assert found.capped == 2


def explained(context: StepContext, url: str) -> str:
    last = explain_url(context, url, url).last
    assert last is not None
    return last.reason


class SpecsOf(LocalEngine):
    """An engine that keeps the specs of the first pass."""

    def __init__(self) -> None:
        super().__init__(1)
        self.specs: list[SelectSpec] = []

    def map(self, function: Any, specs: Any, on_result: Any = None) -> Any:
        self.specs += [one for one in specs if isinstance(one, SelectSpec)]
        return super().map(function, specs, on_result)


@pytest.mark.slow
def test_each_task_is_given_the_limits_of_its_own_domains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root, lines = tmp_path / "j", 100_000
    pages = (f"http://www.d{n}.example/{page}" for n in range(6) for page in range(3))
    seeded(root, *pages, buckets=64)
    text = "".join(f"d{n}.example\t{n % 3}\n" for n in range(lines))
    (root / "limits.tsv").write_text(text)
    monkeypatch.setattr(
        "nacre.rounds.steps.generate.in_range_tasks", lambda found, _: [(one,) for one in found]
    )
    engine = SpecsOf()
    with opened(root, cycle={"generate.limits": "limits.tsv"}) as context:
        found = generate(replace(context, engine=engine), GenerateOptions())
    listed = Counter(key.split(".")[1] for key in keys(root, found)[0])
    assert listed == {"d1": 1, "d2": 2, "d4": 1, "d5": 2}
    assert (len(engine.specs), found.capped) == (6, 12)
    shipped = [line.domain for spec in engine.specs for line in spec.limits.lines]
    assert len(set(shipped)) == len(shipped), "no line goes to two tasks"
    assert {f"d{n}.example" for n in range(6)} <= set(shipped)
    assert len(shipped) < lines / 64 * 6 * 1.2


COUNTED = """
name: x
seeds: []
scope: [accept]
politeness: {delay: 3}
uri:
  normalize: [{normalizer: host, scopes: [generate_host_count], file: hosts.txt}]
"""


@pytest.mark.slow
def test_caps_count_the_hosts_that_normalizers_name(tmp_path: Path):
    root = tmp_path / "j"
    root.mkdir()
    (root / "crawl.yaml").write_text(COUNTED)
    (root / "hosts.txt").write_text("mirror.example main.test\n")
    urls = [f"http://{name}/{n}" for name in ("main.test", "mirror.example") for n in range(4)]
    seeded(root, *(f"{url}\tnutch.score={n}" for n, url in enumerate([*urls, "http://b.test/"])))
    # They lie in two buckets: none of the two tasks sees all URLs of the host.
    assert bucket_of_host("main.test", 64) != bucket_of_host("mirror.example", 64)
    settings = {"generate.max_count": 3}
    with opened(root, cycle=settings) as context:
        engine = LocalEngine(2)
        both = replace(context, engine=engine)
        found = generate(both, GenerateOptions(top=5))
        again = generate(both, GenerateOptions(top=5))
        engine.close()
    # The best of both hosts together, whichever has them.
    assert sorted(keys(root, found)[0]) == ["http://b.test/", *urls[5:]]
    assert found.due == 9
    assert keys(root, again) == [[urls[3], urls[2], urls[1]]]
    with opened(root, NOW + 8 * 86_400_000, {**settings, "generate.count": "domain"}) as context:
        last = generate(context, GenerateOptions(top=5))
    assert len(keys(root, last)[0]) == 4
    # A limit holds for the host that is counted, whichever task has the URL.
    (root / "limits.tsv").write_text("main.test\t\t\t2\nmirror.example\t0\n")
    spied = SpecsOf()
    later = NOW + 16 * 86_400_000
    with opened(root, later, {"generate.limits": "limits.tsv"}) as context:
        last = generate(replace(context, engine=spied), GenerateOptions(top=5))
    assert sorted(keys(root, last)[0]) == ["http://b.test/", *urls[6:]]
    assert {(one.limits.lines, bool(one.limits.file)) for one in spied.specs} == {((), True)}
