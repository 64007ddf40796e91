"""`storage check` on the command line: what is damaged, how it is repaired, the exit codes."""

import json
import shutil
from pathlib import Path

import pytest

from nacre.errors import StorageError
from tests.cli.site import nacre, site


@pytest.fixture(scope="module")
def two_injects(tmp_path_factory):
    root = tmp_path_factory.mktemp("injected") / "书"
    assert nacre("new", str(root), "http://a.test/", "--contact", "http://c.test/").code == 0
    assert nacre("cycle", str(root), "inject").code == 0
    assert nacre("cycle", str(root), "inject", "http://b.test/国").code == 0
    return root


@pytest.fixture
def injected(two_injects, tmp_path):
    """A copy, which a test may damage."""
    return shutil.copytree(two_injects, tmp_path / "书")


@pytest.mark.slow
def test_damage_is_named_and_repaired(injected):
    done = nacre("cycle", injected, "storage", "check")
    assert (done.code, " 0 damaged" in done.out) == (0, True)
    files = nacre("cycle", injected, "versions", "--files", "crawldb").out.split()
    newest = max(files, key=lambda name: name.rpartition("/")[2])
    with Path(newest).open("ab") as file:
        file.write(b"x")
    done = nacre("cycle", injected, "storage", "check")
    assert done.code == 7
    assert newest.rpartition("/")[2] in done.out
    assert len([word for word in done.out.split() if len(word) == 64]) == 2
    done = nacre("cycle", injected, "storage", "check", "--repair", "--json")
    assert done.code == 0
    assert json.loads(done.out)["restored"] == 1
    assert nacre("cycle", injected, "storage", "check").code == 0


def test_a_restore_without_a_number_names_the_versions_that_there_are(injected):
    done = nacre("cycle", injected, "versions", "restore")
    assert (done.code, done.out) == (2, "")
    said = "nacre: `versions restore N` needs the number of a version: 1 (inject of "
    assert done.err.startswith(said), "the newest is the state of now"
    assert len(done.err.splitlines()) == 1
    numbers = "select count(*)::INT n from versions"
    (row,) = json.loads(nacre("cycle", injected, "sql", numbers, "--json").out)
    for number in range(row["n"], 12):
        done = nacre("cycle", injected, "versions", "restore", "1")
        assert f"version 1 restored as version {number + 1}" in done.out
    done = nacre("cycle", injected, "versions", "restore", "--dry-run")
    assert "version: 11 (restore of " in done.err
    assert done.err.endswith(", 1 more (`versions`)\n")


def test_spark_needs_what_the_message_says(injected):
    done = nacre("cycle", injected, "hash", "--master", "spark://127.0.0.1:1")
    assert (done.code, "--master is for --engine spark" in done.err) == (2, True)


def test_a_storage_that_cannot_be_written_is_told_before_the_first_task(injected, tmp_path):
    file = tmp_path / "file"
    file.touch()
    place = f"cycle.storage={file}/cycle"
    done = nacre("cycle", injected, "inject", "http://c.test/", "--set", place)
    assert done.code != 0
    assert f"{file}/cycle" in done.err
    assert nacre("cycle", injected, "versions").code == 0, "readers write nothing"
    assert not list((injected / "cycle" / "probes").iterdir())


def test_a_hole_and_a_newer_layout_stop_every_command(injected):
    versions = injected / "cycle" / "versions"
    (versions / "0000000004.json").write_bytes((versions / "0000000002.json").read_bytes())
    done = nacre("cycle", injected, "generate", "--dry-run")
    assert "0000000003.json is missing" in done.err
    (versions / "0000000003.json").write_text('{"schema": 3, "nacre": "9.1"}')
    (versions / "0000000004.json").unlink()
    done = nacre("cycle", injected, "generate", "--dry-run")
    assert "made by Nacre 9.1; this one knows 2. Use the newer Nacre" in done.err


def test_a_disk_that_fails_stops_the_step(injected, monkeypatch):
    def full(*_):
        raise StorageError("/书: no space left")

    monkeypatch.setattr("nacre.rounds.tables.versions.Cycle.newest", full)
    done = nacre("cycle", injected, "generate")
    assert (done.code, "/书: no space left" in done.err) == (5, True)
    done = nacre("cycle", injected, "generate", "--json")
    assert json.loads(done.err.splitlines()[-1])["exit_code"] == 5


@pytest.mark.slow
def test_a_directory_is_one_of_rounds_wherever_its_tables_lie(tmp_path):
    root, tables = tmp_path / "job", tmp_path / "tables"
    said = ("--contact", "http://c.test/", "--set", f"cycle.storage={tables}")
    assert nacre("new", root, "http://a.test/", *said).code == 0
    dry = nacre("cycle", root, "inject", "--dry-run")
    assert (dry.code, (root / "cycle").exists()) == (0, False)
    assert nacre("cycle", root, "inject").code == 0
    assert (tables / "versions" / "0000000001.json").is_file()
    done = nacre("run", root)
    assert (done.code, "is crawled in rounds" in done.err) == (2, True)
    assert "version 1: inject\n" in nacre("status", root).out


def test_the_check_of_an_archive_says_which_warcs_lie_in_an_object_store(tmp_path):
    root = tmp_path / "job"
    said = ("--contact", "http://c.test/", "--set", "cycle.storage=s3://bucket/docs")
    assert nacre("new", root, "http://a.test/", *said).code == 0
    done = nacre("archive", root, "check")
    assert done.code == 0
    assert "are in s3://bucket/docs/archive: `" in done.err
    assert f"cycle {root} storage check`" in done.err


@pytest.mark.slow
def test_versions_say_by_a_hash_which_settings_made_them(injected):
    assert nacre("cycle", injected, "generate", "--set", "cycle.generate.top=1").code == 0
    assert nacre("cycle", injected, "inject", "http://c.test/").code == 0
    rows = json.loads(nacre("cycle", injected, "versions", "--json").out)
    by_version = {row["version"]: row["settings"] for row in rows}
    assert len(by_version[1]) == 64
    assert by_version[1] == by_version[2] == by_version[4] != by_version[3]


@pytest.fixture
def waiting(injected):
    """A segment waits for its fetch."""
    assert nacre("cycle", injected, "generate").code == 0
    return injected


def test_empty_settings_of_rounds_are_refused_in_one_line(injected):
    saved = (injected / "crawl.yaml").read_text()
    (injected / "crawl.yaml").write_text("# gone\n")
    for words in (("generate",), ("--rounds", "1"), ("storage", "check")):
        done = nacre("cycle", injected, *words)
        assert done.code == 2
        [line] = done.err.splitlines()
        assert "crawl.yaml: it is empty, though this directory was crawled" in line
    (injected / "crawl.yaml").write_text(saved)
    assert nacre("cycle", injected, "generate").code == 0


def segment_of(root):
    return next((root / "cycle" / "segments").iterdir())


@pytest.mark.slow
def test_a_damaged_list_is_told_with_the_command_that_gives_the_segment_up(waiting):
    segment = segment_of(waiting)
    (segment / "lists" / "u0001.parquet").write_bytes(b"PAR1")
    for words in ((), ("--repair",)):
        done = nacre("cycle", waiting, "storage", "check", *words)
        assert done.code == 7
        assert f"segments/{segment.name}/lists/u0001.parquet " in done.out
        assert f" segments drop {segment.name}`; URLs that wait" in done.out
        assert "--repair` repairs" not in done.out
    told = json.loads(nacre("cycle", waiting, "storage", "check", "--repair", "--json").out)
    assert [one["name"] for one in told["left"]] == [f"segments/{segment.name}/lists/u0001.parquet"]
    assert nacre("cycle", waiting, "segments", "drop", segment.name).code == 0
    assert nacre("cycle", waiting, "storage", "check").code == 0
    assert " 2 due; " in nacre("cycle", waiting, "generate").out


def test_damaged_settings_of_a_segment_end_a_fetch_in_one_line(waiting):
    segment = segment_of(waiting)
    (segment / "conf" / "settings.json").write_bytes(b"")
    done = nacre("cycle", waiting, "fetch")
    assert done.code == 1
    [line] = done.err.splitlines()
    assert f"{segment.name}/conf/settings.json holds no settings" in line
    assert f"segments drop {segment.name}" in line


def test_a_damaged_start_of_a_fetch_ends_it_in_one_line_and_is_mended(waiting):
    segment = segment_of(waiting)
    (segment / "fetch.json").write_bytes(b"{")
    done = nacre("cycle", waiting, "fetch")
    assert (done.code, len(done.err.splitlines())) == (1, 1)
    assert "fetch.json does not say when the fetch began" in done.err
    assert "--repair` repairs" in nacre("cycle", waiting, "storage", "check").out
    done = nacre("cycle", waiting, "storage", "check", "--repair", "--dry-run")
    assert (done.code, "fetch.json would be given up" in done.out) == (7, True)
    done = nacre("cycle", waiting, "storage", "check", "--repair")
    assert (done.code, "fetch.json is given up: the time limit" in done.out) == (0, True)


@pytest.mark.crawl
def test_a_lost_index_of_rounds_is_named_and_made_again(tmp_path):
    root = tmp_path / "c"
    with site({"/": "<p>text</p>"}) as home:
        done = nacre("cycle", root, "-s", home, "--rounds", "1", "--delay", "0")
    assert done.code == 0, done.err
    [index] = (root / "cycle" / "archive").glob("*.cdxj")
    data = index.read_bytes()
    index.unlink()
    done = nacre("archive", root, "check")
    assert done.code == 7
    assert f"{index.name}:0: error file-missing: it is gone; `" in done.out
    assert f"cycle {root} storage check --repair` makes it" in done.out
    done = nacre("archive", root, "index")
    assert (done.code, "storage check --repair`" in done.err) == (2, True)
    done = nacre("cycle", root, "storage", "check", "--repair", "--dry-run")
    assert (done.code, f"{index.name} would be made again of its WARC" in done.out) == (7, True)
    done = nacre("cycle", root, "storage", "check", "--repair")
    assert (done.code, f"{index.name} is made again of its WARC\n" in done.out) == (0, True)
    assert index.read_bytes() == data
    assert nacre("archive", root, "check").code == 0
