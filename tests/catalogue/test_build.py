"""The catalogue is built from the indexes as they are, also while they change."""

import os
import sqlite3

import pytest

from nacre.archive.index import sort_index
from nacre.catalogue import build
from nacre.catalogue.build import read_state, update_catalogue
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.query import CatalogueQuery, count_facets, iterate_items
from nacre.catalogue.schema import LOCK
from nacre.machine.local_files import lock_file
from tests.catalogue.given_job import RUN, add_index, add_log, line, log_line

LINES = [line(f"http://h.test/{n}", offset=n * 100) for n in range(6)]


def holding_of(root):
    return open_holding([root])


def update(root, **options):
    return update_catalogue(holding_of(root).members[0], **options)


def urls(root) -> list[str]:
    items = iterate_items(holding_of(root), CatalogueQuery(order="url"))
    return [item.capture.url[14:] for item in items]


def verdicts(root) -> dict[str, str]:
    items = iterate_items(holding_of(root), CatalogueQuery(order="url"))
    return {f"{item.capture.timestamp[:8]}{item.capture.url[13:]}": item.verdict for item in items}


def test_a_closed_index_is_read_once(tmp_path, monkeypatch):
    add_index(tmp_path, LINES)
    state = update(tmp_path)
    assert (state.is_complete, state.captures, state.done) == (True, 6, state.total)
    monkeypatch.setattr(build, "_batches", lambda *_: pytest.fail("it was read again"))
    assert update(tmp_path).captures == 6


def test_an_open_index_is_followed_and_its_last_line_may_be_cut(tmp_path):
    index = add_index(tmp_path, LINES[:2], is_open=True)
    assert update(tmp_path).captures == 2
    with index.open("ab") as file:
        file.write(LINES[2] + LINES[3][:30])
    assert update(tmp_path).captures == 3
    with index.open("ab") as file:
        file.write(LINES[3][30:])
    assert update(tmp_path).captures == 4
    add_index(tmp_path, LINES)  # it is closed, with two more lines
    assert update(tmp_path).captures == 6
    assert urls(tmp_path) == ["0", "1", "2", "3", "4", "5"]
    counts = count_facets(holding_of(tmp_path), CatalogueQuery())
    assert counts.total == 6


def test_rows_keep_their_place_when_an_index_is_closed(tmp_path):
    add_index(tmp_path, LINES[::-1], is_open=True)
    update(tmp_path)
    before = list(iterate_items(holding_of(tmp_path), CatalogueQuery()))
    add_index(tmp_path, LINES)
    update(tmp_path)
    assert list(iterate_items(holding_of(tmp_path), CatalogueQuery())) == before


@pytest.mark.parametrize("is_open", [False, True])
def test_lines_that_a_crash_undid_are_forgotten(tmp_path, is_open):
    add_index(tmp_path, LINES[:4], is_open=True)
    update(tmp_path)
    replaced = line("http://h.test/other", offset=300)
    add_index(tmp_path, [*LINES[:3], replaced, LINES[4]], is_open=is_open)
    assert update(tmp_path).captures == 5
    assert urls(tmp_path) == ["0", "1", "2", "4", "other"]


def test_a_closed_index_with_fewer_lines_is_read_again(tmp_path):
    add_index(tmp_path, LINES, is_open=True)
    update(tmp_path)
    add_index(tmp_path, LINES[:3])
    assert update(tmp_path).captures == 3


def test_a_changed_or_removed_index_makes_the_catalogue_new(tmp_path):
    add_index(tmp_path, LINES[:3])
    index = add_index(
        tmp_path, [line("http://h.test/b", offset=1, warc="b.warc.gz")], warc="b.warc.gz"
    )
    assert update(tmp_path).captures == 4
    index.write_bytes(line("http://h.test/c", offset=1, warc="b.warc.gz"))
    os.utime(index, (1, 1))
    update(tmp_path)
    assert urls(tmp_path) == ["0", "1", "2", "c"]
    index.unlink()
    index.with_name("b.warc.gz").unlink()
    update(tmp_path)
    assert urls(tmp_path) == ["0", "1", "2"]


@pytest.mark.parametrize("content", [b"no database" * 1000, b""])
def test_a_damaged_database_is_made_again(tmp_path, content):
    add_index(tmp_path, LINES)
    update(tmp_path)
    database = tmp_path / "state" / "catalogue.db"
    database.write_bytes(content)
    assert list(iterate_items(holding_of(tmp_path), CatalogueQuery())) == []
    assert not read_state(tmp_path / "state").is_complete
    assert update(tmp_path).captures == 6
    assert len(urls(tmp_path)) == 6


def test_pages_of_a_damaged_database_are_noticed(tmp_path):
    add_index(tmp_path, [line(f"http://h.test/{n}", offset=n) for n in range(3000)])
    update(tmp_path)
    database = tmp_path / "state" / "catalogue.db"
    data = bytearray(database.read_bytes())
    data[4096 * 3 :] = b"\xff" * (len(data) - 4096 * 3)
    database.write_bytes(data)
    add_index(tmp_path, [line("http://h.test/b", warc="b.warc.gz")], warc="b.warc.gz")
    assert update(tmp_path).captures == 3001


def test_a_database_of_another_format_is_made_again(tmp_path):
    add_index(tmp_path, LINES)
    update(tmp_path)
    with sqlite3.connect(tmp_path / "state" / "catalogue.db") as database:
        database.execute("PRAGMA user_version = 99")
    assert update(tmp_path).captures == 6


def test_two_builders_do_not_collide(tmp_path):
    add_index(tmp_path, LINES)
    handle = lock_file(tmp_path / "state" / LOCK)
    assert handle is not None
    state = update(tmp_path)
    assert (state.is_building, state.is_complete, state.captures) == (True, False, 0)
    os.close(handle)
    assert update(tmp_path).is_complete


def test_an_update_with_a_time_limit_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "_SHORT_BATCH", 2)
    add_index(tmp_path, LINES)
    states = [update(tmp_path, seconds=0.0) for _ in range(3)]
    assert [state.captures for state in states] == [2, 4, 6]
    assert [state.is_complete for state in states] == [False, False, True]
    assert urls(tmp_path) == ["0", "1", "2", "3", "4", "5"]


def test_progress_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "BATCH", 4)
    add_index(tmp_path, LINES)
    reports = []
    update(tmp_path, report=lambda done, total: reports.append((done, total)))
    assert len(reports) == 2
    assert reports[-1][0] == reports[-1][1]


def test_hostile_lines_are_left_out(tmp_path):
    lines = [
        b"no line\n", b"\xff\xfe 20261120100000 {}\n", b"k 20261120100000 {\"url\": 3}\n",
        line("http://h.test/1", "20261399000000"), line("http://h.test/2", offset=1 << 40),
        b"k " + b"9" * 3_000_000 + b"\n", line("http://h.test/3", offset=5),
        line("http://h.test/same", offset=5),
    ]  # fmt: skip
    index = add_index(tmp_path, [])
    index.write_bytes(b"".join(lines))
    assert update(tmp_path).captures == 1
    assert urls(tmp_path) == ["3"]


def test_a_line_in_gbk_becomes_escapes(tmp_path):
    index = add_index(tmp_path, [])
    index.write_bytes(line("http://h.test/X").replace(b"X", "中".encode("gbk")))
    update(tmp_path)
    assert urls(tmp_path) == ["%D6%D0"]


def test_verdicts_are_those_of_the_logs(tmp_path):
    later = "20261127T100000Z"
    add_index(tmp_path, [line(f"http://h.test/{n}", "20261120100000", n) for n in range(4)])
    add_log(tmp_path, [log_line(f"http://h.test/{n}", "20261120100000") for n in range(4)])
    captured = {0: "text/html", 1: "warc/revisit", 2: "text/html", 3: "text/html", 4: "text/html"}
    add_index(
        tmp_path,
        [line(f"http://h.test/{n}", "20261127100000", n, warc="b.warc.gz", mime=mime)
         for n, mime in captured.items()],
        warc="b.warc.gz", run=later,
    )  # fmt: skip
    words = ["verdict:major:0.500", "duplicate:digest", "audit,verdict:minor:0.010", "-", "-"]
    lines = [log_line(f"http://h.test/{n}", "20261127100000", text) for n, text in enumerate(words)]
    add_log(tmp_path, [*lines, "half a line", log_line("http://h.test/9", "x")], later)
    update(tmp_path)
    assert verdicts(tmp_path) == {
        "20261120/0": "", "20261120/1": "", "20261120/2": "", "20261120/3": "",
        "20261127/0": "major", "20261127/1": "none", "20261127/2": "minor", "20261127/3": "",
        "20261127/4": "new",
    }  # fmt: skip
    counts = count_facets(holding_of(tmp_path), CatalogueQuery())
    assert dict(counts.facets["verdict"]) == {"": 5, "major": 1, "minor": 1, "new": 1, "none": 1}
    changed = iterate_items(holding_of(tmp_path), CatalogueQuery(verdict="changed", order="url"))
    assert [item.capture.url for item in changed] == ["http://h.test/0", "http://h.test/2"]
    in_run = iterate_items(holding_of(tmp_path), CatalogueQuery(run=later))
    assert {item.run for item in in_run} == {later}


def test_a_log_may_be_ahead_of_its_index(tmp_path):
    later = "20261127T100000Z"
    add_index(tmp_path, [line("http://h.test/0")])
    index = add_index(tmp_path, [], warc="b.warc.gz", run=later, is_open=True)
    add_log(tmp_path, [log_line("http://h.test/0", "20261127100000", "verdict:major:0.5")], later)
    update(tmp_path)
    index.write_bytes(line("http://h.test/0", "20261127100000", warc="b.warc.gz"))
    update(tmp_path)
    assert verdicts(tmp_path)["20261127/0"] == "major"


def test_the_logs_of_a_run_are_read_no_more_when_it_is_over(tmp_path):
    add_index(tmp_path, LINES)
    add_log(tmp_path, [])
    update(tmp_path)
    with sqlite3.connect(tmp_path / "state" / "catalogue.db") as database:
        names = {name for (name,) in database.execute("SELECT name FROM state")}
    assert f"log:{RUN}" in names


def test_the_closed_form_of_an_index_is_what_the_crawler_makes(tmp_path):
    index = add_index(tmp_path, LINES[::-1])
    assert index.read_bytes() == sort_index(b"".join(LINES))


def test_captures_of_rounds_have_their_segment(tmp_path):
    folder = tmp_path / "cycle" / "archive"
    folder.mkdir(parents=True)
    (tmp_path / "crawl.yaml").write_text("seeds: [http://h.test/]\n")
    warc = "NACRE-20261120T100000123-00000-vm.warc.gz"
    (folder / warc).write_bytes(b"")
    index = folder / warc.replace(".warc.gz", ".cdxj")
    index.write_bytes(line("http://h.test/0", warc=warc))
    assert update(tmp_path).is_complete
    items = list(iterate_items(holding_of(tmp_path), CatalogueQuery()))
    assert [item.capture.url for item in items] == ["http://h.test/0"]
