"""Seeds as rows: the own list and its edits, cycles of an earlier Nacre, who is judged again."""

import json
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from nacre.config.seed_file import seed_lines
from nacre.crawldb.seeds import SEEDS
from nacre.rounds.admission import all_seed_lines
from nacre.rounds.explain import explain_url
from nacre.rounds.segments.frozen_settings import SEEDS_FILE
from nacre.rounds.steps import seed_rows
from nacre.rounds.steps.generate import GenerateOptions, GenerateResult, generate
from nacre.rounds.steps.inject import InjectOptions, InjectResult, inject
from nacre.rounds.steps.seed_rows import is_synced, sync_seeds
from nacre.rounds.tables import seedlist
from nacre.rounds.tables.seed_index import KeptSeeds, marked_seeds, place_of_seeds
from nacre.rounds.tables.tables import CRAWLDB
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SeedTableState
from nacre.scope.seed_index import Coercion, find_prefix
from nacre.scope.seeds import SeedList
from nacre.uri.parse import parse
from nacre.uri.surt import scope_surt
from tests.rounds.steps.test_generate import NOW, Killed, killed, opened
from tests.rounds.steps.test_update import DAY, add, one_round, visit

JOB = """
name: x
seeds: seeds.txt
scope:
  - {rule: surt-prefixed, coerce: COERCE}
  - {rule: matches-regex, decision: REJECT, regex: '.*/private/.*'}
"""


def job(root: Path, *lines: str, coerce: str = "host") -> Path:
    """A job with a seed list of its own, nothing of which was injected."""
    root.mkdir(exist_ok=True)
    (root / "crawl.yaml").write_text(JOB.replace("COERCE", coerce))
    (root / "seeds.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return root


def inject_own(root: Path) -> InjectResult:
    with opened(root) as context:
        lines = list(seed_lines("seeds.txt", root))
        return inject(context, [SeedList("seeds.txt", lines)], InjectOptions(), own=True)


def inject_more(root: Path, *lines: str, clock: int = NOW) -> InjectResult:
    with opened(root, clock) as context:
        return inject(context, [SeedList("", lines)], InjectOptions())


def kept(root: Path) -> KeptSeeds:
    with opened(root) as context:
        place = place_of_seeds(context.cycle.newest(), context.cycle.storage.place)
        assert place is not None
        return place.open(root)


def newest(root: Path) -> CycleVersion:
    with opened(root) as context:
        return context.cycle.newest()


def holds(root: Path, url: str, coercion: Coercion = Coercion.PREFIX) -> bool:
    return find_prefix(kept(root), coercion, scope_surt(url)) is not None


def lines_of(root: Path) -> list[str]:
    """All seed lines but those of the own list, as a cycle of an earlier Nacre had them."""
    with opened(root) as context:
        version = context.cycle.newest()
        known = all_seed_lines(context.settings, root, context.cycle.storage, version)
    return sorted(known[len((root / "seeds.txt").read_text("utf-8").splitlines()) :])


def listed(root: Path, clock: int = NOW + DAY, *, dry: bool = False) -> GenerateResult:
    with opened(root, clock, dry=dry) as context:
        return generate(context, GenerateOptions())


@pytest.mark.slow
def test_seeds_are_asked_by_key_and_no_segment_has_them(tmp_path: Path):
    root = job(tmp_path / "j", "http://www.example.com/dir/a", "例子.中国", "+http://(org,b,")
    inject_own(root)
    inject_more(root, "https://more.example/x/y scope=page depth=1", "-http://c.example/")
    index = kept(root)
    assert holds(root, "https://www.example.com/dir/b")
    assert not holds(root, "https://www.example.com/other")
    assert holds(root, "http://a.www.example.com/other", Coercion.DOMAIN)
    assert not holds(root, "http://more.example/x/")
    assert holds(root, "http://xn--fsqu00a.xn--fiqs8s/any")
    assert index.directives == ["+http://(org,b,", "-http://c.example/"]
    assert index.own_places("https://more.example/x/y") == [("https://more.example/x/y", "page", 1)]
    found = listed(root)
    conf = root / "cycle/segments" / found.segments[0] / "conf"
    assert len((conf / SEEDS_FILE).read_text("utf-8").splitlines()) == 3
    place = marked_seeds(newest(root).segments[found.segments[0]].more, "")
    assert place is not None
    assert place.table.rows == 6


@pytest.mark.slow
def test_a_seed_that_is_injected_again_adds_no_row(tmp_path: Path):
    root = job(tmp_path / "j", "http://a.example/")
    inject_own(root)
    inject_more(root, "http://b.example/", "http://c.example/ depth=2", "+http://d.example/")
    rows = newest(root).tables[SEEDS].rows
    again = inject_more(
        root, "http://b.example/", "http://c.example/ depth=2", "+http://d.example/"
    )
    assert (again.known, again.new) == (2, 0)
    assert newest(root).tables[SEEDS].rows == rows


@pytest.mark.parametrize("coerce", ["prefix", "host", "domain", "site"])
@pytest.mark.slow
def test_an_edit_of_the_own_list_holds_from_the_next_step_on(tmp_path: Path, coerce: str):
    root = job(tmp_path / "j", "http://a.example/", "http://b.example/", coerce=coerce)
    inject_own(root)
    first = listed(root).segments
    assert len(first) == 1
    job(root, "http://a.example/", "http://书.example/", coerce=coerce)
    version = newest(root).number
    assert [one.step for one in (newest(root),)] == ["generate"]
    listed(root)
    with opened(root) as context:
        assert context.cycle.version(version + 1).step == "seeds"
        assert is_synced(context, context.cycle.newest())
    assert holds(root, parse("http://书.example/"), Coercion(coerce))
    assert not holds(root, "http://b.example/x", Coercion(coerce))
    listed(root)
    assert newest(root).number == version + 1, "it is read once"
    # The same list with another time is the same list.
    os.utime(root / "seeds.txt", (1, 1))
    listed(root)
    assert newest(root).number == version + 1


@pytest.mark.slow
def test_links_are_judged_again_where_seeds_came_or_went_and_nowhere_else(tmp_path: Path):
    root = job(tmp_path / "j", "http://a.example/", "http://b.example/")
    inject_own(root)
    seed, far = "http://a.example/", "http://far.test/"
    others = [add(f"http://a.example/{n}", via=seed, source=seed) for n in range(20)]
    outside = [add(f"{far}{n}", via=seed, source=seed) for n in range(3)]
    inside = [add("http://b.example/x", via=seed, source=seed)]
    one_round(root, ([visit(seed), visit("http://b.example/")], [*others, *outside, *inside]))
    first = listed(root)
    assert (first.judged, first.excluded) == (
        24,
        {"": 3} if "" in first.excluded else first.excluded,
    )
    assert sum(first.excluded.values()) == 3
    assert listed(root, NOW + 40 * DAY).judged == 0, "unchanged rules are not asked again"
    # A page of a host that was a seed before lets nothing new in.
    inject_more(root, "http://a.example/other/page")
    assert listed(root, NOW + 80 * DAY).judged == 0
    inject_more(root, "http://far.test/page")
    found = listed(root, NOW + 120 * DAY)
    assert (found.judged, found.readmitted) == (3, 3)
    job(root, "http://a.example/")
    found = listed(root, NOW + 160 * DAY)
    assert (found.judged, found.newly_excluded) == (2, 1), "the seed that went, and its page"
    assert listed(root, NOW + 200 * DAY).judged == 0


@pytest.mark.slow
def test_directives_and_own_scopes_have_rows_judged_again(tmp_path: Path):
    root = job(tmp_path / "j", "http://a.example/")
    inject_own(root)
    seed = "http://a.example/"
    adds = [add(url, via=seed, source=seed) for url in ("http://c.test/1", "http://d.test/1")]
    one_round(root, ([visit(seed)], adds))
    assert sum(listed(root, NOW + 35 * DAY).excluded.values()) == 2
    inject_more(root, "+http://(test,c,")
    found = listed(root, NOW + 70 * DAY)
    assert (found.judged, found.readmitted) == (1, 1)
    job(root, "http://a.example/ scope=any")
    found = listed(root, NOW + 140 * DAY)
    assert found.readmitted == 1, "descendants of a seed with a scope of its own"


@pytest.mark.slow
def test_a_changed_rule_has_all_rows_judged_again(tmp_path: Path):
    root = job(tmp_path / "j", "http://a.example/")
    inject_own(root)
    seed = "http://a.example/"
    one_round(root, ([visit(seed)], [add(f"{seed}private/{n}", via=seed) for n in range(4)]))
    listed(root, NOW + 35 * DAY)
    (root / "crawl.yaml").write_text(JOB.replace("COERCE", "host").replace("private", "other"))
    found = listed(root, NOW + 70 * DAY)
    assert (found.judged, found.readmitted) == (5, 4)


# ---- cycles of an earlier Nacre


def old_cycle(root: Path, *injected: str) -> None:
    """Make a cycle as layout 1 has it: seed lines in files, none of them rows."""
    with opened(root) as context:
        version = context.cycle.newest()
        name = f"seeds/{version.number:010d}-{NOW}.txt"
        text = "".join(f"{line}\n" for line in injected)
        context.cycle.storage.put(name, text.encode())
        files = {file.path for file in context.cycle.files(version, SEEDS)}
        context.cycle.commit(version, CycleChanges(step="old", clock=NOW, dropped={SEEDS: files}))
    path = max((root / "cycle/versions").iterdir())
    found = json.loads(path.read_text())
    del found["tables"][SEEDS], found["seed_state"]
    found |= {"schema": 1, "seeds": [name]}
    path.write_text(json.dumps(found))


INJECTED = (
    "http://old.example/dir/page", "http://own.example/ scope=page depth=1",
    "http://moved.example/ scope=page depth=1 of=http://own.example/", "+http://(test,plus,",
    "HTTP://北京.example", "http://old.example/dir/page",
)  # fmt: skip


@pytest.fixture
def old(tmp_path: Path) -> Path:
    root = job(tmp_path / "old", "http://a.example/", "http://b.example/")
    inject_own(root)
    inject_more(root, "http://old.example/dir/page")
    old_cycle(root, *INJECTED)
    return root


@pytest.mark.slow
def test_a_cycle_of_an_earlier_nacre_is_converted_once(old: Path):
    before = newest(old)
    assert (before.schema, before.seed_state, len(before.seeds)) == (1, SeedTableState(), 1)
    planned = listed(old, dry=True)
    assert newest(old).number == before.number, "a dry run converts nothing"
    found = listed(old)
    assert (found.due, found.excluded) == (planned.due, planned.excluded)
    after = newest(old)
    assert (after.number, after.seeds, after.schema) == (before.number + 2, [], 2)
    with opened(old) as context:
        converted = context.cycle.version(before.number + 1)
    assert (converted.step, converted.counters) == ("seeds", {"new": 9, "gone": 0})
    assert converted.tables[CRAWLDB] == before.tables[CRAWLDB]
    assert set(lines_of(old)) == set(INJECTED)
    index = kept(old)
    assert index.directives == ["+http://(test,plus,"]
    assert [text for text, *_ in index.own_places("http://own.example/")] == [
        "http://moved.example/", "http://own.example/"
    ] or len(index.own_places("http://own.example/")) == 2  # fmt: skip
    listed(old, NOW + 2 * DAY)
    with opened(old) as context:
        steps = [context.cycle.version(number).step for number in context.cycle.numbers()]
    assert steps.count("seeds") == 1


@pytest.mark.slow
def test_what_reads_an_old_cycle_finds_its_seeds(old: Path):
    with opened(old) as context:
        url = "http://old.example/other"
        assert explain_url(context, url, url).refusal == ""
        assert explain_url(context, f"{url}/private/x", f"{url}/private/x").refusal
        assert explain_url(context, "http://no.test/", "http://no.test/").refusal
    assert newest(old).schema == 1, "what only reads converts nothing"


@pytest.mark.slow
def test_a_conversion_that_is_killed_leaves_the_cycle_as_it_was(
    old: Path, monkeypatch: pytest.MonkeyPatch
):
    before = newest(old)
    with opened(old) as context, monkeypatch.context() as patch:
        patch.setattr(type(context.cycle), "commit", killed)
        with pytest.raises(Killed):
            sync_seeds(context)
    assert newest(old) == before
    with opened(old) as context:
        sync_seeds(context)
    assert newest(old).number == before.number + 1
    assert set(lines_of(old)) == set(INJECTED)


@pytest.mark.kill
def test_kill_9_at_any_file_of_a_conversion(old: Path, tmp_path: Path):
    """A process of its own is killed behind the n-th file that it writes."""
    before, outcomes = newest(old).number, []
    for number in range(1, 40):
        root = tmp_path / f"kill-{number}"
        shutil.copytree(old, root)
        pid = os.fork()
        if not pid:
            _killed_conversion(root, number)
        _, status = os.waitpid(pid, 0)
        ended = os.WIFEXITED(status)
        found = newest(root).number
        assert found in (before, before + 1)
        with opened(root) as context:
            sync_seeds(context)
        assert set(lines_of(root)) == set(INJECTED)
        outcomes.append(found)
        if ended:
            break
    assert {before, before + 1} == set(outcomes)


def _killed_conversion(root: Path, number: int) -> None:
    try:
        with opened(root) as context:
            storage, count = context.cycle.storage, iter(range(1, 1000))

            def counted(name: str):
                real = getattr(storage, name)

                def write(*arguments: object) -> None:
                    real(*arguments)
                    if next(count) == number:
                        os.kill(os.getpid(), signal.SIGKILL)

                return write

            for name in ("upload", "put", "create"):
                setattr(storage, name, counted(name))
            sync_seeds(context)
    finally:
        os._exit(0)


def test_a_conversion_holds_a_portion_of_the_lines(old: Path, monkeypatch: pytest.MonkeyPatch):
    sizes: list[int] = []
    real = seed_rows.add_rows

    def counted(exchange: object, rows: Sequence[object], *more: object, **named: bool) -> None:
        sizes.append(len(rows))
        real(exchange, rows, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(seedlist, "PORTION", 2)
    monkeypatch.setattr(seed_rows, "add_rows", counted)
    with opened(old) as context:
        sync_seeds(context)
    assert max(sizes) == 2
    assert sum(sizes) == 10
    assert set(lines_of(old)) == set(INJECTED)


def test_a_version_tells_a_newer_layout(tmp_path: Path):
    root = job(tmp_path / "j", "http://a.example/")
    inject_own(root)
    assert newest(root).schema == 2
    state = newest(root).seed_state
    assert msgspec.structs.asdict(state)["judged"] == 1
