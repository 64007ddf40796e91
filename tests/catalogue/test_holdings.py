"""Holdings: the members of targets, and the WARCs of a member."""

import gzip
import json
from pathlib import Path

import pytest

from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import (
    cache_folder,
    catalogue_folder,
    label_of,
    open_holding,
)
from nacre.errors import JobError


def job(root: Path, folder: str = "runs/20261120T100000Z/archive") -> Path:
    """A job with a closed WARC and an open one."""
    place = root / folder
    place.mkdir(parents=True)
    (root / "crawl.yaml").write_text("seeds: [http://h.test/]\n")
    (place / "a.warc.gz").write_bytes(gzip.compress(b"one") + gzip.compress(b"two"))
    (place / "a.cdxj").write_bytes(b"")
    (place / "b.warc.gz.open").write_bytes(gzip.compress(b"three"))
    (place / "b.cdxj.open").write_bytes(b"")
    (place / "notes.txt").write_bytes(b"")
    return root


def capture(warc: str, offset: int, member: int = 0) -> IndexedCapture:
    return IndexedCapture(
        "k", "20261120100000", "http://h.test/", "", 200, "", warc, offset, 0, "", "", member
    )


def test_the_files_of_a_run(tmp_path):
    holding = open_holding([job(tmp_path / "j")])
    (member,) = holding.members
    assert (holding.name, holding.kind, holding.label) == ("j", "job", label_of(f"{tmp_path}/j"))
    places = member.warcs()
    folder = tmp_path / "j" / "runs" / "20261120T100000Z" / "archive"
    assert [place.name for place in places] == ["a.warc.gz", "b.warc.gz"]
    assert [place.index for place in places] == [folder / "a.cdxj", folder / "b.cdxj.open"]
    assert [place.is_open for place in places] == [False, True]
    assert {place.run for place in places} == {"20261120T100000Z"}


def test_other_directories_of_a_run_are_in_its_settings(tmp_path):
    root = job(tmp_path / "j")
    run = root / "runs" / "20261121T100000Z"
    run.mkdir()
    elsewhere = tmp_path / "disk"
    value = {"value": ["archive", f"{elsewhere}/${{launchId}}"], "origin": "file"}
    (run / "effective.json").write_text(json.dumps({"archive.directories": value}))
    (elsewhere / run.name).mkdir(parents=True)
    (elsewhere / run.name / "c.warc").write_bytes(b"WARC/1.1")
    places = open_holding([root]).members[0].warcs()
    assert [(place.name, place.run) for place in places][2:] == [("c.warc", run.name)]
    assert places[2].index is None


def test_the_files_of_rounds(tmp_path):
    root = job(tmp_path / "j", "cycle/archive")
    unit = "N-20261122T101500123-0007-2-00000"
    (root / "cycle" / "archive" / f"{unit}.warc.gz").write_bytes(b"")
    holding = open_holding([root])
    assert holding.kind == "rounds"
    places = holding.members[0].warcs()
    assert [place.run for place in places] == ["20261122T101500.123Z", "", ""]


def test_rounds_with_a_storage_elsewhere(tmp_path):
    root = job(tmp_path / "j", "cycle/versions")
    storage = tmp_path / "storage" / "archive"
    storage.mkdir(parents=True)
    (storage / "s.warc.gz").write_bytes(b"")
    config = f"seeds: [http://h.test/]\ncycle: {{storage: {tmp_path}/storage}}\n"
    (root / "crawl.yaml").write_text(config)
    assert [place.path for place in open_holding([root]).members[0].warcs()] == [
        storage / "s.warc.gz"
    ]


def test_warcs_that_rounds_imported_stay_where_they_are(tmp_path):
    root = job(tmp_path / "j", "cycle/archive")
    other = job(tmp_path / "other") / "runs" / "20261120T100000Z" / "archive" / "a.warc.gz"
    part = root / "cycle" / "segments" / "20261122T101500.123Z" / "parts" / "u0001"
    part.mkdir(parents=True)
    names = [str(other), "archive/b.warc.gz", str(tmp_path / "gone.warc.gz"), str(root / "x.txt")]
    manifest = {"unit": "u0001", "files": [{"name": name, "size": 0} for name in names]}
    (part / "1-001.json").write_text(json.dumps(manifest))
    (part / "2-001.json").write_text("{")
    places = open_holding([root]).members[0].warcs()
    assert [place.path for place in places if "cycle" not in place.path.parts] == [other]
    assert places[-1].index == other.with_name("a.cdxj")


def test_rounds_in_an_object_store_are_a_gap(tmp_path):
    root = job(tmp_path / "j", "cycle/versions")
    (root / "crawl.yaml").write_text("seeds: [http://h.test/]\ncycle: {storage: s3://b/f}\n")
    holding = open_holding([root])
    assert holding.members[0].warcs() == []
    assert "object store" in holding.warnings[0]
    (root / "crawl.yaml").write_text("seeds: 5: 6\n")
    assert "crawl.yaml" in open_holding([root]).warnings[0]


def test_a_warc_is_opened_at_a_record(tmp_path):
    holding = open_holding([job(tmp_path / "j")])
    first = len(gzip.compress(b"one"))
    with holding.open(capture("a.warc.gz", first)) as file:
        data = file.read()
        file.seek(0)
        assert file.read() == data
    assert file.closed
    assert gzip.decompress(data) == b"two"


def test_a_warc_that_was_closed_meanwhile_is_found(tmp_path):
    root = job(tmp_path / "j")
    holding = open_holding([root])
    holding.open(capture("b.warc.gz", 0)).close()
    folder = root / "runs" / "20261120T100000Z" / "archive"
    (folder / "b.warc.gz.open").rename(folder / "b.warc.gz")
    holding.open(capture("b.warc.gz", 0)).close()
    with pytest.raises(FileNotFoundError):
        holding.open(capture("c.warc.gz", 0))
    with pytest.raises(FileNotFoundError):
        holding.open(capture("b.warc.gz", 0, member=1))


def test_several_jobs_are_one_holding(tmp_path):
    roots = [job(tmp_path / "j"), job(tmp_path / "k")]
    holding = open_holding(roots)
    assert (holding.name, holding.kind) == ("j+1", "several")
    assert holding.label == open_holding(roots[::-1]).label
    assert [member.label for member in holding.members] == [label_of(str(root)) for root in roots]


def test_what_is_neither(tmp_path):
    with pytest.raises(JobError):
        open_holding([tmp_path / "nothing"])
    with pytest.raises(JobError):
        open_holding([])


def test_the_catalogue_is_in_the_state_of_a_job(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (member,) = open_holding([job(tmp_path / "j")]).members
    folder = catalogue_folder(member)
    assert folder == tmp_path / "cache" / "nacre" / "catalogue" / member.label
    assert folder.parent == cache_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    (tmp_path / "j" / "state").mkdir()
    assert catalogue_folder(member) == tmp_path / "j" / "state"


def test_a_warc_without_an_index_is_named(tmp_path):
    root = job(tmp_path / "j")
    assert open_holding([root]).warnings == []
    next(root.rglob("a.cdxj")).unlink()
    (text,) = open_holding([root]).warnings
    assert text.startswith("1 WARC ")
    assert f"nacre archive {root} index" in text
    rounds = job(tmp_path / "r", "cycle/archive")
    for number in range(2):
        (rounds / "cycle" / "archive" / f"x{number}.warc.gz").write_bytes(b"")
    (text,) = open_holding([rounds]).warnings
    assert text.startswith("2 WARCs ")
    assert f"nacre cycle {rounds} storage check" in text


def test_a_job_that_is_named_twice_counts_once(tmp_path):
    root = job(tmp_path / "j")
    assert len(open_holding([root, f"{root}/../j"]).members) == 1
