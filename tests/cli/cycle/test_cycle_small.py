"""Small things of batch rounds: forgotten pages, dry runs, headings, conflicts, one page."""

import json
import shutil
from pathlib import Path

import pytest

from nacre.rounds.engine import attempts_error
from nacre.rounds.tables.versions import CommittedByAnotherError
from tests.cli.site import nacre, site

PAGES = {"/": '<a href="/gone">gone</a><a href="/书">书</a>', "/书": "<p>图书馆</p>"}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rounds of a site with a dead link; the second is fetched and not updated."""
    made = tmp_path_factory.mktemp("crawled") / "c"
    with site(PAGES) as home:
        assert nacre("new", made, home, "--delay", "0", "--allow-net", "127.0.0.0/8").code == 0
        done = nacre("cycle", made, "-s", home, "--rounds", "1", "--dedup", "off")
        assert done.code == 0, done.err
        done = nacre("cycle", made, "generate")
        segment = done.out.splitlines()[-1].removeprefix("segment ")
        assert nacre("cycle", made, "fetch", segment).code == 0, done.out
    return made


@pytest.fixture
def root(crawled: Path, tmp_path: Path) -> Path:
    """A copy, which a test may change."""
    return Path(shutil.copytree(crawled, tmp_path / "c"))


def test_a_dry_update_forgets_as_many_pages_as_the_update(root: Path):
    purging = ("--set", "cycle.update.purge_gone=true")
    dry = json.loads(nacre("cycle", root, "update", "--dry-run", "--json", *purging).out)
    done = json.loads(nacre("cycle", root, "update", "--json", *purging).out)
    assert dry["purged"] == done["purged"] > 0
    assert {**dry, "version": 0} == {**done, "version": 0}


@pytest.mark.slow
def test_a_dry_update_does_not_forget_what_it_would_touch(root: Path):
    assert nacre("cycle", root, "update").code == 0
    purging = ("--set", "cycle.update.purge_gone=true")
    later = ("--add-days", "100")
    with site(PAGES):
        assert nacre("cycle", root, "generate", *later).code == 0
    segments = json.loads(nacre("cycle", root, "segments", "--json").out)
    assert nacre("cycle", root, "fetch", segments[-1]["name"]).code == 0
    dry = json.loads(nacre("cycle", root, "update", "--dry-run", "--json", *purging).out)
    done = json.loads(nacre("cycle", root, "update", "--json", *purging).out)
    assert dry["purged"] == done["purged"]


def test_a_forgotten_url_is_explained(root: Path):
    assert nacre("cycle", root, "update", "--set", "cycle.update.purge_gone=true").code == 0
    [visit] = [
        row for row in json.loads(nacre("cycle", root, "readseg", "--json").out)
        if row["key"].endswith("/gone")
    ]  # fmt: skip
    done = nacre("cycle", root, "explain", visit["key"])
    assert "forgotten (cycle.update.purge_gone" in done.out
    assert "db_gone, status 404" in done.out
    assert done.out.count(": forgotten\n") == 1
    assert "not known" not in done.out


def test_dumped_visits_have_urls(root: Path, tmp_path: Path):
    file = tmp_path / "visits.jsonl"
    assert nacre("cycle", root, "readseg", "--dump", file).code == 0
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {row["url"] for row in rows} == {row["key"] for row in rows}
    assert None not in {row["url"] for row in rows}


def test_the_best_rows_have_a_heading(root: Path):
    lines = nacre("cycle", root, "readdb", "--top", "2").out.splitlines()
    assert (lines[0].split(), len(lines)) == (["score", "url"], 3)


def test_a_conflict_has_an_exit_code_of_its_own(root: Path, monkeypatch: pytest.MonkeyPatch):
    def lost(*_arguments: object) -> None:
        raise CommittedByAnotherError(9, "generate", "b")

    monkeypatch.setattr("nacre.rounds.tables.versions.Cycle.commit", lost)
    done = nacre("cycle", root, "update")
    assert (done.code, "version 9 was committed by generate on host b" in done.err) == (11, True)
    assert json.loads(nacre("cycle", root, "update", "--json").err)["exit_code"] == 11


@pytest.mark.parametrize("place", ["hdfs://namenode:8020/crawls", "ftp://a.test/x"])
def test_a_storage_that_nothing_opens_is_refused_by_check(root: Path, place: str):
    for words in (("check", root, "--set"), ("cycle", root, "generate", "--set")):
        done = nacre(*words, f"cycle.storage={place}")
        assert (done.code, "no storage has URLs of" in done.err + done.out) == (2, True), done.err
    assert nacre("check", root, "--set", "cycle.storage=file:///tmp/x").code == 0


def test_a_message_that_ends_with_a_full_stop_has_no_other_one():
    said = str(attempts_error(1, "no space; the job then resumes where it stopped."))
    assert "where it stopped. Nothing was committed" in said
    assert ".." not in said


def test_one_page_is_fetched_and_parsed_and_nothing_is_kept(root: Path):
    before = sorted(root.rglob("*"))
    with site({"/": '<html lang="zh"><a href="b.html">国家图书馆</a>'}) as home:
        done = nacre("cycle", root, "parsechecker", home)
        assert done.code == 0, done.err
        assert f"  L {home}b.html  国家图书馆" in done.out
        found = json.loads(nacre("cycle", root, "parsechecker", home, "--json").out)
        assert nacre("cycle", root, "parsechecker", f"{home}none").code == 6
    assert (found["url"], found["status"], found["mime"]) == (home, 200, "text/html")
    assert f"{home}b.html" in [link["dst"] for link in found["links"]]
    assert sorted(root.rglob("*")) == before


@pytest.mark.slow
def test_the_check_of_a_page_reads_files_above_the_job(tmp_path: Path):
    root, shared = tmp_path / "jobs" / "c", tmp_path / "jobs" / "规则"
    shared.mkdir(parents=True)
    (shared / "rules.txt").write_text("-none\n+.\n")
    (tmp_path / "pw").write_text("secret")
    with site({"/": "<a href=/a>A</a><a href=/none>N</a>", "/a": "x"}) as home:
        assert nacre("new", root, home, "--allow-net", "127.0.0.0/8").code == 0
        scope = "scope=[accept, {rule: nutch-regex, file: ../规则/rules.txt}]"
        login = "{origin: http://a.test, username: u, password: {file: ../../pw}}"
        words = ("--set", scope, "--set", f"fetch.credentials=[{login}]")
        assert nacre("cycle", root, "inject", *words).code == 0
        done = nacre("cycle", root, "parsechecker", home, "--json", *words)
        round_ = nacre("cycle", root, "--rounds", "1", *words)
    assert round_.code == 0, round_.err
    assert done.code == 0, done.err
    links = {link["dst"] for link in json.loads(done.out)["links"]}
    assert links == {f"{home}a", f"{home}favicon.ico"}


@pytest.mark.slow
def test_the_check_of_a_page_copies_no_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "c"
    with site({"/": "page"}) as home:
        assert nacre("new", root, home, "--allow-net", "127.0.0.0/8").code == 0
        storage = ("--set", f"cycle.storage={root / 'store'}")
        assert nacre("cycle", root, "inject", *storage).code == 0
        before = sorted(root.rglob("*"))
        copied: list[object] = []
        monkeypatch.setattr(shutil, "copytree", lambda *paths, **_: copied.append(paths))
        assert nacre("cycle", root, "parsechecker", home, *storage).code == 0
    assert (copied, sorted(root.rglob("*"))) == ([], before)


def test_a_flat_table_for_other_engines(root: Path, tmp_path: Path):
    flat = tmp_path / "平"
    done = nacre("cycle", root, "export", "--parquet", flat)
    assert (done.code, "written, 0 unchanged" in done.out) == (0, True), done.err
    again = json.loads(nacre("cycle", root, "export", "--parquet", flat, "--json").out)
    assert (again["written"], again["rows"] > 2) == (0, True)
    both = nacre("cycle", root, "export", "--parquet", "--nutch-seeds", flat)
    assert (both.code, "give one of them" in both.err) == (2, True)
