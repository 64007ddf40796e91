"""Why a URL is not in the last list: every reason that generate counts, with what it compares."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.cli.cycle.explain_text import explain_lines
from nacre.crawldb import row as crawldb_row
from nacre.crawldb.row import Status, bucket_of
from nacre.crawldb.select import REASONS
from nacre.rounds.explain import UrlExplanation, explain_url
from nacre.rounds.segments.unit_list import choice_name
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.given import GivenOptions, generate_given
from nacre.rounds.tables.tables import CRAWLDB, FilePlan, publish
from nacre.rounds.tables.versions import CycleChanges
from nacre.scope.seeds import SeedList
from tests.rounds.made import BUCKETS
from tests.rounds.steps.test_generate import COUNTED, NOW, opened, seeded

DAY = 86_400_000
SEEDS = (
    "http://bad.test/书",
    "http://later.test/",
    "http://out.test/1",
    "http://out.test/2",
    "http://nowhere.test/",
    "http://gone.test/",
    "http://low.test/\tnutch.score=0.25",
    "http://slow.test/\tnutch.fetchInterval=9000000",
    *(f"http://many.test/{n}\tnutch.score={9 - n}" for n in range(1, 5)),
    "http://last.test/\tnutch.score=0.75",
)
SETTINGS = {
    "generate.status": "db_unfetched",
    "generate.min_score": 0.5,
    "generate.max_interval": 3_000_000,
    "generate.max_count": 2,
    "generate.where": "coalesce(host.dns_failures, 0) < 3",
}


def change(root: Path, group: str, *rows: dict[str, Any]) -> None:
    """Commit rows of a group of columns."""
    with opened(root) as context:
        version = context.cycle.newest()
        files = []
        for one in rows:
            path = root / "change.parquet"
            pq.write_table(pa.Table.from_pylist([one], crawldb_row.GROUPS[group]), path)
            plan = FilePlan(
                CRAWLDB, bucket_of(one["key"], BUCKETS), "set", version.number + 1, group
            )
            files.append(publish(context.cycle.storage, path, plan))
            path.unlink()
        added = {CRAWLDB: [file for file in files if file is not None]}
        context.cycle.commit(version, CycleChanges(step="update", clock=NOW, added=added))


def explained(root: Path, url: str, clock: int = NOW + 1) -> UrlExplanation:
    with opened(root, clock, SETTINGS) as context:
        return explain_url(context, url, url.replace("书", "%E4%B9%A6"))


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job whose last list left out a URL for every reason there is."""
    root = tmp_path_factory.mktemp("explain") / "j"
    seeded(root, *SEEDS)
    due = {"fetch_time": NOW, "interval": 60, "retries": 0, "modified": 0}
    change(
        root,
        "state",
        {"key": "http://later.test/", **due, "status": 2, "fetch_time": NOW + DAY},
        {"key": "http://gone.test/", **due, "status": int(Status.GONE)},
    )
    (root / "regex-urlfilter.txt").write_text("# ours\n-//bad\\.\n+.\n")
    with opened(root) as context:
        generate(context, GenerateOptions(where="key = 'http://out.test/1'"))
    with opened(root, NOW + 1, SETTINGS) as context:
        wanted = "key not like '%nowhere%'"
        found = generate(context, GenerateOptions(top=2, where=wanted, time_limit=4))
    assert set(found.refused) == set(REASONS)
    assert (found.due, found.selected, found.cut) == (5, 1, 1)
    # What is known, due and allowed later changes nothing of the answer.
    (root / "regex-urlfilter.txt").write_text("+.\n")
    with opened(root, NOW + 2) as context:
        generate(context, GenerateOptions(where="false"))
    change(root, "state", {"key": "http://later.test/", **due, "status": 1})
    return root


@pytest.mark.parametrize(
    ("url", "reason", "said"),
    [
        ("http://bad.test/书", "rules", "excluded by regex-urlfilter.txt:2"),
        ("http://later.test/", "schedule", "not due before 2027-01-16"),
        ("http://out.test/1", "lease", "it is out in 20270115T080000.000Z until 2027-01-22"),
        ("http://out.test/2", "host", "its host out.test are out in 20270115T080000.000Z"),
        ("http://nowhere.test/", "where", "key not like '%nowhere%'"),
        ("http://gone.test/", "status", "it is db_gone, and only db_unfetched was wanted"),
        ("http://low.test/", "score", "0.25 is below 0.5"),
        ("http://slow.test/", "interval", "is above"),
        ("http://many.test/1", "listed", "in the last list"),
        ("http://many.test/2", "time", "number 2 of its host many.test, of which 1 URLs fit"),
        ("http://many.test/3", "cap", "cap of 2 URLs of the host many.test; it is number 3"),
        ("http://last.test/", "top", "0.75 is not among the best (--top): the list ends at 7"),
    ],
)
def test_every_reason_has_an_answer(listed: Path, url: str, reason: str, said: str):
    found = explained(listed, url)
    assert found.last is not None
    assert found.last.reason == reason
    text = "\n".join(explain_lines(found))
    assert said in text
    if reason in {"where", "status", "score", "interval", "lease"}:
        assert found.now is not None
        assert found.now.reason == ("" if reason == "where" else reason)


@pytest.mark.slow
def test_a_url_that_was_found_later_was_not_known(listed: Path):
    url = "http://new.test/"
    with opened(listed, NOW + 3) as context:
        assert explain_url(context, url, url).last is not None
    assert explained(listed, url).row is None
    seeded(listed, url)
    found = explained(listed, url)
    assert (found.last and found.last.reason, found.now and found.now.reason) == ("unknown", "")
    assert "it was not known yet" in "\n".join(explain_lines(found))


def test_a_url_whose_bucket_has_no_row_is_not_known(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.example/", buckets=64)
    with opened(root) as context:
        generate(context, GenerateOptions())
    answer = explained(root, "http://new.test/")
    assert (answer.row, answer.last and answer.last.reason) == (None, "unknown")


LIMITS = "d.test\t\t2\t1\nu.test\t2\t\t\n"


@pytest.mark.slow
def test_limits_of_domains_and_hosts_that_count_together(tmp_path: Path):
    root = tmp_path / "j"
    root.mkdir()
    (root / "crawl.yaml").write_text(COUNTED)
    (root / "hosts.txt").write_text("mirror.example main.test\n")
    (root / "limits.txt").write_text(LIMITS)
    urls = [
        *(f"http://h{n}.d.test/" for n in range(1, 4)),
        "http://h1.d.test/second",
        *(f"http://h{n}.u.test/" for n in range(1, 4)),
        "http://main.test/1",
        "http://mirror.example/2",
    ]
    seeded(root, *(f"{url}\tnutch.score={20 - n}" for n, url in enumerate(urls)))
    settings = {"generate.limits": "limits.txt", "generate.max_count": 1}
    with opened(root, NOW + 1, settings) as context:
        generated = generate(context, GenerateOptions())
    (root / "limits.txt").write_text("")
    assert generated.selected == 5
    said = {}
    for url in urls:
        found = explained(root, url)
        assert found.last is not None
        values = found.last.values
        said[url] = (found.last.reason, *(values.get(one) for one in ("what", "name", "rank")))
    none = (None, None, None)
    assert said == {
        "http://h1.d.test/": ("listed", *none),
        "http://h2.d.test/": ("listed", *none),
        "http://h3.d.test/": ("cap", "hosts", "d.test", 3),
        "http://h1.d.test/second": ("cap", "host", "h1.d.test", 2),
        "http://h1.u.test/": ("listed", *none),
        "http://h2.u.test/": ("listed", *none),
        "http://h3.u.test/": ("cap", "domain", "u.test", 3),
        "http://main.test/1": ("listed", *none),
        "http://mirror.example/2": ("cap", "host", "main.test", 2),
    }
    assert "cap of 2 hosts of the domain d.test" in "\n".join(
        explain_lines(explained(root, "http://h3.d.test/"))
    )
    with opened(root) as context:
        context.cycle.storage.delete(choice_name(generated.segments[0]))
    found = explained(root, urls[0])
    assert found.last is not None
    assert found.last.reason == "lost"


@pytest.mark.slow
def test_why_a_url_is_in_a_list_of_given_urls_or_not(tmp_path: Path):
    root = tmp_path / "j"
    seeded(root, "http://a.test/", "http://bad.test/1")
    with opened(root) as context:
        chosen = generate(context, GenerateOptions(top=1))
    (root / "regex-urlfilter.txt").write_text("-bad\n+.\n")
    bad = [f"http://bad.test/{number}" for number in range(1_002)]
    lists = [SeedList("网址.txt", ["http://new.test/书", *bad]), SeedList("", ["http://b.test/"])]
    with opened(root, NOW + 1) as context:
        made = generate_given(context, lists, GivenOptions(filter=True))
    said = {
        url: "\n".join(explain_lines(explained(root, url)))
        for url in ("http://new.test/书", bad[1], bad[-1], "http://a.test/")
    }
    where = f"(version {made.version.number if made.version else 0}, "
    given = f"in the list of given URLs {where}"
    names = "网址.txt, the command line"
    assert f"  {given}" in said["http://new.test/书"]
    assert f"{made.segments[0]}, by generate --urls {names}" in said["http://new.test/书"]
    assert f"{names} has it, and regex-urlfilter.txt:1 refuses it (--filter)" in said[bad[1]]
    text = f"none of the 2 URLs of {names} (generate --urls), or one of 2 more that filters refused"
    assert f"not {given}" in said["http://a.test/"]
    assert text in said["http://a.test/"]
    assert text in said[bad[-1]]
    assert chosen.segments[0] in said["http://a.test/"] + said[bad[1]], "the list before is known"
    (root / "cycle" / choice_name(made.segments[0])).unlink()
    assert "nothing is kept of how" in "\n".join(explain_lines(explained(root, bad[1])))
