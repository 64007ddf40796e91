"""Rounds from the command line on a site on loopback: numbers, exit codes, stops, readers."""

import gzip
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.site import nacre, site

pytestmark = pytest.mark.crawl


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two rounds, and what the command said."""
    root = tmp_path_factory.mktemp("cycle") / "书"
    with site() as home:
        words = ["--rounds", "2", "--top", "50", "--delay", "0"]
        links = ["--set", "cycle.links.ignore_internal=none"]
        done = nacre("cycle", str(root), "-s", home, *words, *links)
    assert done.code == 0, done.err
    (root / "said.txt").write_text(done.err + done.out, "utf-8")
    return root


def cycle(root: Path, *words: str):
    return nacre("cycle", str(root), *words)


def test_each_step_says_what_it_did(crawled: Path):
    said = (crawled / "said.txt").read_text("utf-8")
    assert "inject              1 seed, 1 new" in said
    assert "round 1/2 generate  1 known: 1 due; 1 in 1 unit" in said
    assert "fetch     1 page" in said
    assert "links     " in said
    assert said.count("dedup     no duplicates") == 2
    assert "2 rounds: 4 pages, " in said
    assert "; 7 URLs known, 1 waits\n" in said
    assert "readdb --stats" in said


def test_the_table_after_two_rounds(crawled: Path):
    stats = json.loads(cycle(crawled, "readdb", "--stats", "--json").out)
    rows = json.loads(cycle(crawled, "sql", "select key, status from crawldb", "--json").out)
    found = {row["key"].split("/", 3)[3]: row["status"] for row in rows}
    assert found == {
        "": "db_fetched",
        "a.html": "db_fetched",
        "b.html": "db_fetched",
        "i.png": "db_fetched",
        "secret/x.html": "db_gone",
        "favicon.ico": "db_gone",
        "c.html": "db_unfetched",
    }
    assert stats["total"] == len(found)
    assert stats["statuses"] == {"db_fetched": 4, "db_gone": 2, "db_unfetched": 1}


def test_why_a_url_is_not_in_a_list(crawled: Path):
    home = json.loads(cycle(crawled, "readdb", "--top", "1", "--json").out)[0]["url"]
    said = cycle(crawled, "explain", f"{home}secret/x.html").out
    assert "db_gone" in said
    assert "status -9998 (robots.txt disallows it)" in said
    assert "why it was not got: robots.txt says 'Disallow: /secret/'" in said
    assert "not due before" in said
    said = cycle(crawled, "explain", home).out
    assert "inject of" in said
    assert "listed in" in said
    assert "not known" in cycle(crawled, "explain", f"{home}nowhere").out


def test_steps_one_by_one_and_nothing_due(crawled: Path):
    dry = cycle(crawled, "generate", "--dry-run")
    assert (dry.code, "1 in 1 unit" in dry.out) == (0, True)
    assert cycle(crawled, "generate", "--top", "5", "--at", "2001-01-01T00:00:00Z").code == 10
    assert cycle(crawled, "generate", "--top", "5", "--now", "20010101000000").code == 10
    refused = cycle(crawled, "generate", "--now", "明天")
    assert (refused.code, "明天" in refused.err, "14 digits" in refused.err) == (2, True, True)
    assert cycle(crawled, "update").out == (
        "nothing to do: every segment that was fetched is in the table\n"
    )
    assert cycle(crawled, "fetch").code == 10


def test_known_urls_are_counted_after_a_round_that_fetched_nothing(tmp_path: Path):
    with site() as home:
        pass  # nobody is there any more
    words = ["--rounds", "1", "--set", "frontier.max_retries=1", "--json"]
    done = cycle(tmp_path / "书", "-s", home, "-s", f"{home}b.html", *words)
    assert done.code == 0, done.err
    numbers = json.loads(done.out)
    assert [numbers[name] for name in ("pages", "known", "waiting")] == [0, 2, 2]


def test_a_dry_run_of_rounds_changes_nothing(crawled: Path, tmp_path: Path):
    before = cycle(crawled, "versions").out
    done = cycle(crawled, "--dry-run", "-s", "http://a.test/", "--sitemaps-from-hosts", "once")
    assert (done.code, "1 in 1 unit" in done.err) == (0, True)
    assert done.out == "nothing was changed\n"
    assert cycle(crawled, "--dry-run", "--at", "2001-01-01T00:00:00Z").code == 10
    assert cycle(crawled, "versions").out == before
    assert not (crawled / "cycle" / "journal.json").exists()
    done = cycle(tmp_path / "new", "-s", "http://a.test/", "--dry-run")
    assert (done.code, (tmp_path / "new").exists()) == (2, False)


def test_a_file_ends_the_rounds(crawled: Path):
    (crawled / "control").mkdir(exist_ok=True)
    (crawled / "control" / "stop").touch()
    done = cycle(crawled, "--rounds", "1")
    assert (done.code, "remove it" in done.err) == (5, True)
    (crawled / "control" / "stop").unlink()


def test_hash_and_compact_change_no_row(crawled: Path):
    before = cycle(crawled, "hash").out
    assert "files" in cycle(crawled, "compact").out
    assert cycle(crawled, "hash").out == before
    assert "inject" in cycle(crawled, "versions").out


def test_urls_of_hosts_are_counted_as_they_are_now(crawled: Path):
    done = cycle(crawled, "readhosts", "--where", "foo = 1")
    assert (done.code, "order by" in done.err, "fetched" in done.err) == (2, False, True)
    counts = "select status, count(*)::INT as n from crawldb group by 1"
    rows = json.loads(cycle(crawled, "sql", counts, "--json").out)
    now = {row["status"].removeprefix("db_"): row["n"] for row in rows}
    for words in (("--where", "fetched >= 0"), ("--host", "127.0.0.1"), ()):
        (host,) = json.loads(cycle(crawled, "readhosts", *words, "--json").out)
        assert host["host"] == "127.0.0.1"
        assert {name: host[name] for name in now} == now
        assert host["visits"] > 0
        assert host["rank"] is None, "nobody computed ranks"
    # As `generate` counted them: in the version of that step.
    stored = "select fetched from hosts"
    (row,) = json.loads(cycle(crawled, "sql", stored, "--json").out)
    assert row["fetched"] < now["fetched"]


def test_hosts_have_percentiles_of_their_latencies(crawled: Path):
    slow = "latency_percentile(latencies, 0.95) >= 1"
    assert "127.0.0.1" in cycle(crawled, "readhosts", "--where", slow).out
    assert json.loads(cycle(crawled, "readhosts", "--where", "rank > 0", "--json").out) == []
    done = cycle(crawled, "readhosts", "--where", "host::INTEGER > 1", "--json")
    assert (done.code, json.loads(done.out)) == (0, []), "what fails is not true"
    query = "select host, latency_percentile(latencies, 0.5) as p50 from hosts"
    (row,) = json.loads(cycle(crawled, "sql", query, "--json").out)
    assert row["p50"] >= 1


def test_links_to_a_page_and_on_it(crawled: Path):
    home = json.loads(cycle(crawled, "readdb", "--top", "1", "--json").out)[0]["url"]
    done = cycle(crawled, "readlinks", "--url", f"{home}b.html", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {(one["src"], one["anchor"], one["gone"]) for one in found} == {
        (home, "b", False),
        (f"{home}a.html", "b", False),
    }
    out = cycle(crawled, "readlinks", "--url", f"{home}a.html", "--out").out
    assert {tuple(line.split()[:2]) for line in out.splitlines()} >= {
        (f"{home}b.html", "b"),
        (f"{home}c.html", "c"),
    }
    files = cycle(crawled, "versions", "--files", "links").out.split()
    assert all(Path(name).is_file() for name in files)
    wrong = cycle(crawled, "versions", "--files", "pages")
    assert wrong.code == 2
    assert {"crawldb", "hosts", "links", "seeds"} <= set(wrong.err.replace(",", " ").split())


def test_another_number_of_buckets_is_told(crawled: Path, tmp_path: Path):
    root = tmp_path / "书"
    shutil.copytree(crawled, root)
    done = cycle(root, "compact", "--set", "cycle.buckets=16")
    assert (done.code, "compact --buckets 16" in done.err) == (0, True)
    before = cycle(root, "hash").out
    dry = cycle(root, "compact", "--buckets", "16", "--dry-run").out
    assert dry.startswith("buckets to merge: ")
    assert "of crawldb" in dry
    assert cycle(root, "compact", "--buckets", "16").code == 0
    assert cycle(root, "hash").out == before
    assert cycle(root, "compact", "--buckets", "12").code == 2


def test_the_archive_of_rounds_is_checked_as_that_of_a_job(crawled: Path):
    done = nacre("archive", str(crawled), "check")
    assert done.code == 0, done.err
    assert "2 files" in done.out + done.err
    assert "nothing damaged" in done.out + done.err


def test_a_directory_that_is_none(tmp_path: Path):
    done = cycle(tmp_path / "none")
    assert (done.code, "-s URL" in done.err) == (2, True)


def test_malformed_seeds_are_told_with_their_lines(crawled: Path, tmp_path: Path):
    lines = "http://a.example/\tnutch.score=nan\n\nhttp//b.example/\n# x\nhttp://c.example/\tk=v\n"
    (tmp_path / "list.txt").write_text(lines)
    done = cycle(crawled, "inject", str(tmp_path / "list.txt"), "--dry-run")
    assert "list.txt:1" in done.err
    assert "list.txt:3" in done.err
    assert done.out == "2 seeds, 2 new; 2 lines malformed\n"


def test_segments_and_their_visits(crawled: Path):
    rows = json.loads(cycle(crawled, "segments", "--json").out)
    assert [row["state"] for row in rows] == ["updated", "updated"]
    visits = json.loads(cycle(crawled, "readseg", rows[0]["name"], "--json").out)
    assert [visit["status"] for visit in visits] == [200]
    [visit] = visits
    warc = (crawled / "cycle/archive" / visit["warc_file"]).read_bytes()
    record = warc[visit["warc_offset"] :][: visit["warc_length"]]
    head = gzip.decompress(record)
    assert head.startswith(b"WARC/1.1\r\nWARC-Type: response"), "a member of its own"
    for index in (crawled / "cycle/archive").glob("*.cdxj"):
        index.rename(f"{index}.gone")
    try:
        [alone] = json.loads(cycle(crawled, "readseg", rows[0]["name"], "--json").out)
    finally:
        for index in (crawled / "cycle/archive").glob("*.gone"):
            index.rename(index.with_suffix(""))
    assert alone == {name: value for name, value in visit.items() if name != "warc_length"}
    one = cycle(crawled, "readseg", "--url", visits[0]["key"]).out
    assert one.count("text/html") == 1
    listed = json.loads(cycle(crawled, "readseg", "--list", "--json").out)
    assert [one["name"] for one in listed] == [row["name"] for row in rows]
    assert [(one["listed"], one["visits"], one["pages"]) for one in listed] == [
        (1, 1, 1),
        (5, 5, 3),
    ]
    assert [one["links"] for one in listed] == [5, 5]
    assert listed[0]["first"] <= listed[0]["last"] < listed[1]["first"] <= listed[1]["last"]
    one = cycle(crawled, "readseg", rows[1]["name"], "--list").out
    assert (rows[1]["name"] in one, rows[0]["name"] in one, " UTC" in one) == (True, False, True)
    assert cycle(crawled, "readseg", "--list", "--url", "http://a.test/").code == 2
    # Links within a host are left out of the table, which may stay empty.
    assert cycle(crawled, "readlinks", "--url", visits[0]["key"]).out.startswith("no link to ")
    assert cycle(crawled, "rank").out.startswith("nothing to rank: no link joins two hosts")
    assert cycle(crawled, "segments", "drop", "x").code == 2
    dry = cycle(crawled, "parse", rows[1]["name"], "--dry-run")
    assert "1 part of 1 segment to parse" in dry.out
    assert "segments slice N" in cycle(crawled, "segments", "slice", "many").err
    assert cycle(crawled, "segments", "slice", "5").out.startswith("no segment that waits")
    assert cycle(crawled, "segments", "salvage").out.startswith("0 captures salvaged")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select key::INTEGER from crawldb", "Could not convert string"),
        ("select * from nowhere", "Table with name nowhere does not exist!; tables: crawldb, "),
        ("select * from read_csv('/etc/passwd')", "Permission Error"),
        ("select error('x')", "Invalid Input Error: x"),
        ("select '\ud800'", "UTF-8"),
    ],
)
def test_a_query_that_fails_is_told_in_a_line(crawled: Path, query: str, said: str):
    done = cycle(crawled, "sql", query)
    assert (done.code, done.out, said in done.err) == (2, "", True)
    assert len(done.err.splitlines()) == 1


def test_values_of_all_kinds_are_json(crawled: Path):
    query = (
        "select 'nan'::DOUBLE as a, '-inf'::DOUBLE as a, date '2027-01-02' as d, time '10:00' as t,"
        " timestamp '2027-01-02 03:04:05' as m, timestamptz '2027-01-02 03:04:05+02' as z, 'x' as x"
    )
    (row,) = json.loads(cycle(crawled, "sql", query, "--json").out)
    assert row == {
        "a": None, "a_1": None, "d": "2027-01-02", "t": "10:00:00", "m": "2027-01-02T03:04:05Z",
        "z": "2027-01-02T01:04:05Z", "x": "x",
    }  # fmt: skip


def test_numbers_that_are_not_finite_are_told_to_people(crawled: Path, tmp_path: Path):
    query = "select 'nan'::FLOAT a, 'inf'::DOUBLE b, -b c, null d, [a, 1] e"
    assert cycle(crawled, "sql", query).out.split("\n")[1].split("  ") == [
        "nan", "inf", "-inf", "", " [nan, 1.0]",
    ]  # fmt: skip
    assert cycle(crawled, "sql", query, "--json").out == (
        '[{"a":null,"b":null,"c":null,"d":null,"e":[null,1.0]}]\n'
    )
    for suffix, text in (
        ("csv", 'a,b,c,d,e\nnan,inf,-inf,,"[null, 1.0]"\n'),
        ("jsonl", '{"a":null,"b":null,"c":null,"d":null,"e":[null,1.0]}\n'),
    ):
        file = tmp_path / f"odd.{suffix}"
        assert cycle(crawled, "sql", query, "--out", str(file)).code == 0
        assert file.read_text().replace("\r\n", "\n") == text


def test_a_host_is_printed_one_column_a_line(crawled: Path):
    lines = cycle(crawled, "readhosts", "--host", "127.0.0.1").out.splitlines()
    found = dict(line.split(maxsplit=1) for line in lines)
    (host,) = json.loads(cycle(crawled, "readhosts", "--host", "127.0.0.1", "--json").out)
    assert list(found) == [name for name, value in host.items() if value is not None]
    assert (found["host"], found["visits"]) == ("127.0.0.1", str(host["visits"]))
    assert found["time"].endswith(" UTC")
    assert found["latencies"].startswith("at most: ")
    assert sum(int(one.split()[0]) for one in found["latencies"][9:].split(", ")) == sum(
        host["latencies"]
    )
    assert found["robots"] == f"{len(host['robots']) // 2} bytes, which --json prints"


@pytest.mark.parametrize("url", ["http://a.test/\x00b", "http://[::1]/x", "http://a.test/%D6%D0'"])
def test_odd_urls_are_not_known(crawled: Path, url: str):
    for command in ("readlinks", "readseg"):
        done = cycle(crawled, command, "--url", url)
        assert (done.code, done.out.startswith("no ")) == (0, True), done.err
    assert "not known" in cycle(crawled, "explain", url).out
    assert cycle(crawled, "readdb", "--url", url).code == 2
    for command in ("readlinks", "explain"):
        words = (url,) if command == "explain" else ("--url", url)
        long = (*words[:-1], f"{url}{'x' * 1_000_000}")
        done = cycle(crawled, command, *long)
        assert (done.code, len(done.err) < 300) == (2, True)


def test_hosts_that_are_not_known(crawled: Path):
    for host in ("[::1]", "a\x00b", "国.test"):
        assert "is not known" in cycle(crawled, "readhosts", "--host", host).out
    assert cycle(crawled, "readhosts", "--where", "fetched > 99").out.startswith("no host that")
    assert json.loads(cycle(crawled, "readhosts", "--host", "x.test", "--json").out) == []


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_file_without_rows_names_its_columns(crawled: Path, tmp_path: Path, suffix: str):
    file = tmp_path / f"nothing.{suffix}"
    done = cycle(crawled, "readdb", "--dump", str(file), "--where", "score < -1")
    assert (done.code, "0 rows in " in done.out) == (0, True), done.err
    if suffix == "parquet":
        assert "key" in pq.read_table(file).column_names
    else:
        assert file.read_text().startswith("key," if suffix == "csv" else "")
    query = str(tmp_path / f"query.{suffix}")
    assert cycle(crawled, "sql", "select key from crawldb where false", "--out", query).code == 0
    if suffix == "parquet":
        assert pq.read_table(query).column_names == ["key"]


def test_what_chooses_rows_of_a_dump_is_refused_beside_counts(crawled: Path):
    for words in (("--stats", "--where", "status=3"), ("--top", "3", "--status", "db_gone")):
        done = cycle(crawled, "readdb", *words)
        assert (done.code, "choose rows of --dump" in done.err) == (2, True)


def test_options_of_a_new_directory_are_told_where_there_is_one(crawled: Path):
    words = ("--dry-run", "--exclude", "x", "--scope", "page", "--set", "politeness.delay=0")
    done = cycle(crawled, *words)
    assert "is there already, so these options change nothing: --scope, --exclude. " in done.err
    assert "already" not in cycle(crawled, "--dry-run", "--parallel", "3").err
