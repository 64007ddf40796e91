"""Update: visits by the state machine, links that are added, leases that end, cash that stays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from nacre.cli.cycle.texts import update_text
from nacre.crawldb import facts
from nacre.crawldb import row as crawldb_row
from nacre.crawldb.fold import fold_query
from nacre.crawldb.row import ONE, bucket_of
from nacre.crawldb.settings import UpdateSettings
from nacre.crawldb.transition import StateRow
from nacre.errors import JobError
from nacre.planner.schedules.timetable import ScheduleSettings
from nacre.rounds.admission import Admission, all_seed_lines
from nacre.rounds.check import cash_changes
from nacre.rounds.segments.compaction import compact
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.host_rows import host_buckets, load_hosts
from nacre.rounds.steps.update import UpdateOptions, update
from nacre.rounds.steps.update_tasks import RevisitPlan, visit_rows
from nacre.rounds.tables.seed_index import place_of_seeds
from nacre.rounds.tables.tables import CRAWLDB, FilePlan, buckets_of, local_bucket, publish
from nacre.rounds.tables.versions import CycleChanges
from nacre.scope.seed_index import Coercion
from nacre.scope.seed_scope import ScopeKind
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from tests.rounds.made import BUCKETS
from tests.rounds.steps.test_generate import NOW, opened, seeded

DAY = 86_400_000
PLAN = RevisitPlan(ScheduleSettings(kind="nutch-default"), {}, UpdateSettings())


def visit(key: str, status: int = 200, **more: Any) -> dict[str, Any]:
    plain = dict.fromkeys(facts.VISITS.names)
    plain |= {"bucket": bucket_of(key, BUCKETS), "key": key, "status": status, "time": NOW * 1000}
    return plain | more


def kept_state(root: Path) -> ScopeState:
    """A scope that asks the table of seeds of the newest version."""
    with opened(root) as context:
        place = place_of_seeds(context.cycle.newest(), context.cycle.storage.place)
        assert place is not None
        kept = place.open(root)
    state = ScopeState()
    state.add_index(kept)
    return state


def add(key: str, **more: Any) -> dict[str, Any]:
    plain = dict.fromkeys(facts.ADDS.names)
    plain |= {"bucket": bucket_of(key, BUCKETS), "key": key, "score": 0, "cash": 0, "inlinks": 1}
    return plain | {"first_seen": NOW, "last_inlink": NOW, "path": "L"} | more


def fetched(root: Path, segment: str, *parts: tuple[list[Any], list[Any]], virtual: int = 0):
    """Let a segment have been fetched, with these visits and added rows in its parts."""
    names = []
    with opened(root) as context:
        for number, (visits, adds) in enumerate(parts):
            folder = root / "cycle" / f"segments/{segment}/parts/u0001/1-{number:03d}"
            folder.mkdir(parents=True)
            order = sorted(adds, key=lambda one: (one["bucket"], one["key"]))
            pq.write_table(pa.Table.from_pylist(visits, facts.VISITS), folder / "visits.parquet")
            pq.write_table(pa.Table.from_pylist(order, facts.ADDS), folder / "adds.parquet")
            names.append(f"segments/{segment}/parts/u0001/1-{number:03d}")
        version = context.cycle.newest()
        state = version.segments[segment]
        more = {**state.more, "virtual": virtual}
        state = structs.replace(state, state="fetched", parts={"u0001": names}, more=more)
        changes = CycleChanges(step="fetch", clock=NOW, segments={segment: state})
        context.cycle.commit(version, changes)


def table(root: Path, scratch: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    with opened(root) as context, context.place.open() as work:
        for bucket in buckets_of(context.cycle, context.cycle.newest(), CRAWLDB):
            local = local_bucket(work.storage, bucket, scratch)
            rows = work.kernel.arrow(fold_query(*local, interval=60)).to_pylist()
            found |= {row["key"]: row for row in rows}
    return found


def one_round(root: Path, *parts: tuple[list[Any], list[Any]], virtual: int = 0, **options: bool):
    with opened(root) as context:
        [segment] = generate(context, GenerateOptions()).segments
    fetched(root, segment, *parts, virtual=virtual)
    with opened(root, NOW + DAY) as context:
        return update(context, UpdateOptions(**options))


def test_a_round_in_the_table(tmp_path: Path):
    root = tmp_path / "j"
    a, b, new = "http://a.example/", "http://b.example/", "http://new.example/书"
    seeded(root, a, b)
    found = one_round(
        root,
        ([visit(a)], [add(new, score=ONE, via=a), add(b, score=ONE // 2)]),
        ([visit(b, 404)], [add(new, score=ONE, inlinks=2, via="http://0.example/")]),
    )
    assert (found.visits, found.links, found.targets) == (2, 4, 2)
    assert found.transitions == {
        ("db_unfetched", "db_fetched"): 1,
        ("db_unfetched", "db_gone"): 1,
    }
    rows = table(root, tmp_path)
    assert (rows[a]["status"], rows[a]["last_status"], rows[a]["leased"]) == (2, 200, None)
    assert (rows[b]["status"], rows[b]["inlinks"], rows[b]["score"]) == (3, 1, ONE // 2)
    assert (rows[new]["status"], rows[new]["score"], rows[new]["inlinks"]) == (1, 2 * ONE, 3)
    assert rows[new]["via"] == "http://0.example/"
    assert rows[new]["fetch_time"] == NOW


@pytest.mark.slow
def test_a_segment_is_updated_once(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/")
    first = one_round(root, ([visit("http://a.example/")], []))
    assert first.version is not None
    with opened(root) as context:
        again = update(context, UpdateOptions(), first.segments)
        [name] = first.segments
        assert again.done_before == {name: first.version.number}
        assert update_text(again) == f"update of {name} is in version {first.version.number}"
        assert again._replace(done_before={}) == update(context, UpdateOptions())
        assert update_text(update(context, UpdateOptions())).startswith("nothing to do: every")
        assert context.cycle.newest() == first.version
        with pytest.raises(JobError, match="no segment x"):
            update(context, UpdateOptions(), ["x"])
    assert again.version is None


@pytest.mark.slow
def test_what_is_in_the_table_already_is_said_though_another_segment_waits(tmp_path: Path):
    root, url = tmp_path / "j", "http://a.example/"
    seeded(root, url)
    first = one_round(root, ([visit(url)], []))
    seeded(root, "http://b.example/")
    with opened(root) as context:
        [waits] = generate(context, GenerateOptions()).segments
    fetched(root, waits, ([visit("http://b.example/")], []))
    [name] = first.segments
    with opened(root) as context:
        assert first.version is not None
        said = f"update of {name} is in version {first.version.number}"
        assert update_text(update(context, UpdateOptions(), [name])) == said
        both = update(context, UpdateOptions(), [name, waits])
        assert update_text(both) == f"{said}; 0 links to 0 URLs; 1 fetched"
        (root / f"cycle/versions/{first.version.number:010d}.json").unlink()
        for number in range(1, first.version.number):
            (root / f"cycle/versions/{number:010d}.json").unlink()
        said = f"update of {name} is in a version that is not kept any more"
        assert update_text(update(context, UpdateOptions(), [name])) == said


@pytest.mark.slow
def test_what_was_not_attempted_keeps_its_state_and_is_free_again(tmp_path: Path):
    root = tmp_path / "j"
    url = "http://a.example/"
    seeded(root, url)
    found = one_round(root, ([visit(url, 0, reason="deadline", time=None)], []))
    assert (found.visits, found.not_attempted) == (0, 1)
    row = table(root, tmp_path)[url]
    assert (row["status"], row["leased"], row["last_reason"]) == (1, None, "deadline")
    with opened(root, NOW + DAY) as context:
        assert generate(context, GenerateOptions()).selected == 1


def test_the_target_of_a_redirect_is_a_visit_like_others(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/")
    target = "http://a.example/moved"
    visits = [visit("http://a.example/", 301), visit(target, via="http://a.example/", path="R")]
    found = one_round(root, (visits, []))
    assert found.transitions[("new", "db_fetched")] == 1
    row = table(root, tmp_path)[target]
    assert (row["status"], row["path"], row["via"]) == (2, "R", "http://a.example/")


@pytest.mark.slow
def test_where_seeds_redirect_to_is_a_seed_from_then_on(tmp_path: Path):
    root = tmp_path / "j"
    seeds = ["http://a.example/", "http://b.example/dir/ scope=prefix", "http://c.example/"]
    seeded(root, *seeds)
    new, own = "http://new.example/%E4%B9%A6", "http://own.example/"
    visits = [
        visit("http://a.example/", 301, redirect=new, new_seed=True, source="http://a.example/"),
        visit(
            "http://b.example/dir/", 302, redirect=own, new_seed=True,
            source="http://b.example/dir/",
        ),
        # To another seed, and from a page that is none.
        visit("http://c.example/", 301, redirect="http://a.example/", new_seed=True),
        visit("http://a.example/x", 301, redirect="http://x.example/", new_seed=False),
    ]  # fmt: skip
    found = one_round(root, (visits, []))
    lines = [new, f"{own} scope=prefix of=http://b.example/dir/"]
    assert found.moved == lines
    state = kept_state(root)
    assert state.seed_prefixes(Coercion.PREFIX).match("http://(test,new,)/") is None
    assert state.seed_prefixes(Coercion.PREFIX).match("http://(example,new,)/x") is not None
    assert "http://b.example/dir/" in state.own
    with opened(root) as context:
        version = context.cycle.newest()
        assert not version.seeds, "they are rows of a table"
        known = all_seed_lines(context.settings, root, context.cycle.storage, version)
        admission = Admission(context.settings, root, known)
    state = admission.rules.scope_state
    assert new in state.seeds
    assert set(state.own) == {"http://b.example/dir/"}
    subject = Subject(f"{own}below", "RL", own, seed="http://b.example/dir/")
    assert state.own["http://b.example/dir/"].hold(subject, ScopeKind.HOST)


def test_content_that_is_gone_or_that_no_parser_reads(tmp_path: Path):
    known = {url: {"key": url, **StateRow(status=2)._asdict(), "leased": None} for url in "ab"}
    visits = [visit("a", soft_404=True), visit("b", parse_failed=True)]
    rows, _ = visit_rows(visits, known, PLAN, NOW)
    assert [row["status"] for row in rows.state] == [3, 2]
    other = UpdateSettings(soft_404="success", failed_parse=True)
    rows, _ = visit_rows(visits, known, PLAN._replace(update=other), NOW)
    assert [row["status"] for row in rows.state] == [2, 9]


def swept(root: Path, clock: int, **cycle: Any):
    """An update of one visited page and one link, with settings of `cycle`."""
    with opened(root, clock - DAY) as context:
        [segment] = generate(context, GenerateOptions(where="key = 'http://a.example/'")).segments
    linked = add("http://linked.example/", last_inlink=clock - 1, first_seen=clock)
    fetched(root, segment, ([visit("http://a.example/", time=clock * 1000)], [linked]))
    with opened(root, clock, cycle) as context:
        return update(context, UpdateOptions())


def test_pages_without_links_are_gone_then_orphans_then_forgotten(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/", "http://seed.example/")
    old = [f"http://{name}.example/" for name in ("linked", "old", "书")]
    first = ([visit("http://a.example/")], [add(url, last_inlink=NOW) for url in old])
    one_round(root, first)
    orphan = {"scoring": ["opic", "orphan"]}
    late = NOW + 35 * DAY
    found = swept(root, late, **orphan)
    assert found.transitions["db_unfetched", "db_gone"] == 2
    rows = table(root, tmp_path)
    statuses = {key.split("/")[2].split(".")[0]: row["status"] for key, row in rows.items()}
    assert statuses == {"a": 2, "seed": 1, "linked": 1, "old": 3, "书": 3}
    with opened(root, late) as context:
        before = context.cycle.newest()
    found = swept(root, late + 40 * DAY, **orphan, **{"update.purge_orphans": True})
    assert (found.transitions["db_gone", "db_orphan"], found.purged) == (2, 0)
    found = swept(root, late + 75 * DAY, **orphan, **{"update.purge_orphans": True})
    assert found.purged == 2
    assert set(table(root, tmp_path)) == {f"http://{x}.example/" for x in ("a", "seed", "linked")}
    assert before.number > 0
    # A link brings one back, as a page that was never fetched.
    with opened(root, late + 110 * DAY) as context:
        [segment] = generate(context, GenerateOptions(where="key = 'http://a.example/'")).segments
    again = add(old[1], first_seen=late + 110 * DAY, last_inlink=late + 111 * DAY)
    fetched(root, segment, ([visit("http://a.example/")], [again]))
    with opened(root, late + 111 * DAY) as context:
        update(context, UpdateOptions())
    assert table(root, tmp_path)[old[1]]["last_inlink"] == late + 111 * DAY


@pytest.mark.slow
def test_pages_that_were_gone_before_are_forgotten(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/", "http://b.example/")
    one_round(root, ([visit("http://a.example/"), visit("http://b.example/", 404)], []))
    assert len(table(root, tmp_path)) == 2
    found = swept(root, NOW + 35 * DAY, **{"update.purge_gone": True})
    assert found.purged == 1
    assert "http://b.example/" not in table(root, tmp_path)


def test_no_additions_leave_out_what_is_not_known(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/")
    # The last of them is in a bucket of which no URL is known.
    adds = [add("http://a.example/"), add("http://a.example/new"), add("http://h.example/")]
    one_round(root, ([visit("http://a.example/")], adds), additions=False)
    rows = table(root, tmp_path)
    assert set(rows) == {"http://a.example/"}
    assert rows["http://a.example/"]["inlinks"] == 1


def test_no_additions_leave_out_visits_of_what_is_not_known(tmp_path: Path):
    root = tmp_path / "j"
    seed, target = "http://a.example/", "http://a.example/moved"
    seeded(root, seed)
    capture: dict[str, Any] = {"record_id": "urn:uuid:1", "digest": b"1", "length": 1}
    visits = [visit(seed, 302), visit(target, via=seed, path="R", **capture)]
    found = one_round(root, (visits, []), additions=False)
    assert found.transitions == {("db_unfetched", "db_redir_temp"): 1}
    assert (found.visits, found.unknown) == (1, 1)
    assert set(table(root, tmp_path)) == {seed}
    with opened(root, NOW + DAY) as context:
        assert context.cycle.newest().counters["unknown"] == 1


@pytest.mark.slow
def test_the_virtual_page_gives_to_all_seeds_and_keeps_the_rest(tmp_path: Path):
    root = tmp_path / "j"
    seeds = ["http://a.example/", "http://b.example/", "http://c.example/"]
    seeded(root, *seeds)
    before = sum(row["cash"] for row in table(root, tmp_path).values())
    one_round(root, ([visit(url) for url in seeds], []), virtual=100)
    after = {key: row["cash"] for key, row in table(root, tmp_path).items()}
    assert sum(after.values()) == before + 99
    assert {value - ONE for value in after.values()} == {33}
    with opened(root) as context:
        [state] = context.cycle.newest().segments.values()
    assert state.more["virtual"] == 1


def cash_of(root: Path, scratch: Path) -> int:
    """All cash there is: that of rows, and what the virtual page keeps."""
    with opened(root) as context:
        states = context.cycle.newest().segments.values()
    virtual = sum(int(one.more.get("virtual", 0)) for one in states if one.state == "updated")
    return virtual + sum(int(row["cash"]) for row in table(root, scratch).values())


@pytest.mark.slow
def test_no_cash_is_lost_or_made_with_segments_that_wait_and_without_additions(tmp_path: Path):
    root = tmp_path / "j"
    a, b = "http://a.example/", "http://b.example/"
    seeded(root, a, b)
    before = cash_of(root, tmp_path)
    segments: list[str] = []
    for url in (a, b):
        with opened(root) as context:
            options = GenerateOptions(where=f"key = '{url}'")
            segments += generate(context, options).segments
        # The page gives a third each to the virtual page, to a page that is new, and to itself.
        share = ONE // 3
        gave = add(url, cash=share - ONE, inlinks=0)
        new = add(f"{url}new", cash=share)
        fetched(root, segments[-1], ([visit(url)], [gave, new]), virtual=ONE - 2 * share)
    for segment, additions in zip(segments, (True, False), strict=True):
        with opened(root, NOW + DAY) as context:
            update(context, UpdateOptions(additions=additions), [segment])
        assert cash_of(root, tmp_path) == before
    assert set(table(root, tmp_path)) == {a, b, f"{a}new"}
    with opened(root) as context:
        assert list(cash_changes(context.cycle, context.place)) == []


@pytest.mark.slow
def test_an_attempt_counts_more_than_none_and_a_later_one_more_than_an_earlier(tmp_path: Path):
    root = tmp_path / "j"
    url = "http://a.example/"
    seeded(root, url)
    early = visit(url, 500, time=(NOW - 5) * 1000)
    late, none = visit(url), visit(url, 0, reason="blocked", time=None)
    found = one_round(root, ([early], []), ([none], []), ([late], []))
    assert (found.visits, found.not_attempted) == (1, 0)
    assert table(root, tmp_path)[url]["status"] == 2


def test_a_capture_is_kept_and_a_failure_keeps_the_old_one():
    known: Mapping[str, Mapping[str, Any]] = {
        "http://a/": {"key": "http://a/", **StateRow(status=2)._asdict(), "leased": "s"}
    }
    captured = visit("http://a/", record_id="urn:uuid:1", digest="sha1:A")
    rows, matrix = visit_rows([captured], known, PLAN, NOW, {"s"})
    assert rows.capture[0]["digest"] == "sha1:A"
    assert rows.lease == [{"key": "http://a/"}]
    assert matrix == {("db_fetched", "db_fetched"): 1}
    rows, _ = visit_rows([visit("http://a/", -2)], known, PLAN, NOW, {"other"})
    assert (rows.capture, rows.lease) == ([], [])


@pytest.mark.slow
def test_hosts_have_what_was_seen_of_them(tmp_path: Path):
    root = tmp_path / "j"
    url = "http://xn--1jq.example/"
    seeded(root, url)
    rows: list[Any] = []
    for number in (1, 2):
        with opened(root, NOW + number * 40 * DAY) as context:
            [segment] = generate(context, GenerateOptions()).segments
        fetched(root, segment, ([visit(url, time=(NOW + number * 40 * DAY) * 1000)], []))
        plain = dict.fromkeys(facts.HOSTS.names, 0)
        seen = {
            "bucket": bucket_of(url, BUCKETS),
            "host": "xn--1jq.example",
            "visits": 3,
            "replies": 3,
            "delay": number,
        }
        more = {"latencies": [1] * 20, "robots": None, "answer": b"x", "time": number}
        path = root / "cycle" / f"segments/{segment}/parts/u0001/1-000/hosts.parquet"
        pq.write_table(pa.Table.from_pylist([plain | seen | more], facts.HOSTS), path)
        with opened(root, NOW + number * 40 * DAY + 1) as context:
            update(context, UpdateOptions())
            with context.place.open() as work:
                buckets = host_buckets(context.cycle, context.cycle.newest())
                load_hosts(work, list(buckets.values()))
                rows = work.kernel.rows("select host, visits, delay, unfetched from hosts")
    assert rows == [("xn--1jq.example", 6, 2.0, 0)]


def generated_and_changed(root: Path, url: str, group: str, **change: Any) -> str:
    """A list with a URL, whose row was changed after it was listed."""
    seeded(root, url)
    with opened(root) as context:
        [segment] = generate(context, GenerateOptions()).segments
        version = context.cycle.newest()
        path = root / "change.parquet"
        schema = crawldb_row.GROUPS[group]
        pq.write_table(pa.Table.from_pylist([{"key": url, **change}], schema), path)
        plan = FilePlan(CRAWLDB, bucket_of(url, BUCKETS), "set", version.number + 1, group)
        file = publish(context.cycle.storage, path, plan)
        assert file is not None
        context.cycle.commit(version, CycleChanges(step="x", clock=NOW, added={CRAWLDB: [file]}))
    return segment


def test_what_was_committed_since_the_list_was_made_counts(tmp_path: Path):
    root = tmp_path / "j"
    url = "http://a.example/"
    state = {"status": 2, "fetch_time": NOW, "interval": 60, "signature": b"s", "retries": 1}
    segment = generated_and_changed(root, url, "state", **state)
    fetched(root, segment, ([visit(url, 503)], []))
    with opened(root, NOW + DAY) as context:
        found = update(context, UpdateOptions())
    assert found.transitions == {("db_fetched", "db_unfetched"): 1}
    row = table(root, tmp_path)[url]
    assert (row["retries"], row["interval"], row["signature"]) == (2, 60, b"s")


def test_a_bucket_that_was_compacted_since_is_looked_up(tmp_path: Path):
    root = tmp_path / "j"
    url = "http://a.example/"
    segment = generated_and_changed(root, url, "state", status=2, fetch_time=NOW, interval=60)
    with opened(root) as context:
        compact(context.cycle, context.engine, context.place, NOW, keep=3)
    fetched(root, segment, ([visit(url, 404)], []))
    with opened(root, NOW + DAY) as context:
        found = update(context, UpdateOptions())
    assert found.transitions == {("db_fetched", "db_gone"): 1}
    assert table(root, tmp_path)[url]["leased"] is None


@pytest.mark.slow
def test_a_known_url_that_no_list_has_is_looked_up(tmp_path: Path):
    root = tmp_path / "j"
    url, other = "http://a.example/", "http://a.example/target"
    seeded(root, url, other)
    with opened(root, cycle={"generate.where": "key not like '%target'"}) as context:
        [segment] = generate(context, GenerateOptions()).segments
    fetched(root, segment, ([visit(url, 301), visit(other)], []))
    with opened(root, NOW + DAY) as context:
        found = update(context, UpdateOptions())
    assert found.transitions == {
        ("db_unfetched", "db_redir_perm"): 1,
        ("db_unfetched", "db_fetched"): 1,
    }
