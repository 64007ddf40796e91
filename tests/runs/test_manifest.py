"""The files of runs: WARCs with their indexes, the settings of a run, and the list of its files."""

import json
from pathlib import Path

import pytest

from nacre.archive.index import index_name, index_of
from nacre.config.layer import SettingOrigin
from nacre.core.states import ExitStatus
from nacre.errors import StorageError
from nacre.machine.layout import Layout
from nacre.runs.manifest import (
    after_set,
    effective,
    unknown_origin,
    warc_files,
    write_effective,
    write_manifest,
)
from nacre.runs.runs import RunRow
from nacre.settings.settings import JobSettings
from nacre.store.file_table import put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.store import Store
from tests.store.memory import MemoryEngine


def test_each_setting_has_a_value_and_an_origin_and_a_secret_its_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PROXY", "http://me:word@proxy.test:1/")
    settings = JobSettings.model_validate(
        {"politeness": {"delay": 7}, "fetch": {"proxy": {"env": "PROXY"}}}
    )
    write_effective(tmp_path, settings, lambda path: SettingOrigin("file", "crawl.yaml", 3))
    found = json.loads((tmp_path / "effective.json").read_text())
    assert found["politeness.delay"]["value"] == 7
    assert "crawl.yaml" in json.dumps(found["politeness.delay"]["origin"])
    assert "PROXY" in json.dumps(found["fetch.proxy"])
    assert "word" not in json.dumps(found)
    assert set(effective(settings, unknown_origin)) == set(found)


def test_what_was_set_while_a_job_ran_has_the_origin_of_the_file_now():
    now = after_set(lambda path: "at start", lambda path: "fresh", frozenset({"a.b"}))
    assert (now("a.b"), now("a.c")) == ("fresh", "at start")


def test_a_manifest_lists_the_files_of_its_run_but_lost_ones(tmp_path: Path):
    store = Store(MemoryEngine())
    rows = [
        ("runs/1/archive/a.warc.gz", FileState.CLOSED),
        ("runs/1/archive/b.warc.gz", FileState.OPEN),
        ("runs/1/archive/c.warc.gz", FileState.LOST),
        ("runs/2/archive/d.warc.gz", FileState.CLOSED),
    ]
    for number, (final, state) in enumerate(rows, 1):
        row = FileRow(FileKind.WARC, final + ".open", final, state=state, size=number)
        put_row(store, number, row)
    write_manifest(tmp_path, RunRow("1", 1, 5.0, exit=ExitStatus.FINISHED), store)
    found = json.loads((tmp_path / "manifest.json").read_text())
    assert (found["run"], found["exit"], found["started"]) == ("1", "FINISHED", 5.0)
    assert [(file["path"], file["bytes"]) for file in found["files"]] == [
        ("runs/1/archive/a.warc.gz", 1),
        ("runs/1/archive/b.warc.gz.open", 2),
    ]


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(StorageError, match=r"no/manifest\.json cannot be written"):
        write_manifest(tmp_path / "no", RunRow("1", 1, 5.0), Store(MemoryEngine()))


@pytest.mark.parametrize(
    ("warc", "index"),
    [
        ("a.warc.gz", "a.cdxj"),
        ("a.warc", "a.cdxj"),
        ("x/a.warc.gz.open", "x/a.cdxj"),
    ],
)
def test_the_index_of_a_warc_has_its_name(warc: str, index: str):
    assert index_name(warc) == index


def test_warcs_of_all_runs_with_their_indexes(tmp_path: Path):
    layout = Layout(tmp_path)
    names = {
        "1": ["a.warc.gz", "a.cdxj", "b.warc.gz"],
        "2": ["c.warc.open", "c.cdxj.open", "x.txt"],
    }
    for run, files in names.items():
        folder = layout.run(run) / "archive"
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()

    def listed(*directories: str) -> list[tuple[str, str | None]]:
        settings = JobSettings.model_validate({"archive": {"directories": directories}})
        found = warc_files(layout, settings)
        return [(warc.name, index.name if index else None) for warc, index in found]

    first = [("a.warc.gz", "a.cdxj"), ("b.warc.gz", None)]
    assert listed("archive") == [*first, ("c.warc.open", "c.cdxj.open")]
    assert listed(str(tmp_path / "runs/1/archive"), str(tmp_path / "gone")) == first
    assert index_of(layout.run("2") / "archive" / "x.warc") is None


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_warcs_of_rounds_whose_tables_lie_elsewhere(tmp_path: Path, scheme: str):
    layout, elsewhere = Layout(tmp_path / "j"), tmp_path / "tables"
    for folder in (layout.cycle / "archive", elsewhere / "archive"):
        folder.mkdir(parents=True)
        (folder / f"{folder.parent.name}.warc.gz").touch()

    def listed(storage: str) -> list[str]:
        settings = JobSettings.model_validate({"cycle": {"storage": storage}})
        return [warc.name for warc, _ in warc_files(layout, settings)]

    assert listed("") == ["cycle.warc.gz"]
    assert listed(f"{scheme}{elsewhere}") == ["tables.warc.gz"]
    assert listed("s3://bucket/folder") == []
