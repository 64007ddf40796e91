"""`nacre captures`."""

import json

from nacre.catalogue.query import FacetCounts
from nacre.config.extras import MissingExtraError
from nacre.machine.layout import Layout
from nacre.search.local_index import LocalWriter
from tests.catalogue.given_job import add_index, line, real_job
from tests.cli.site import nacre


def test_captures_are_listed_counted_and_exported(tmp_path):
    job = tmp_path / "j"
    add_index(
        job, [line(f"http://h.test/{n}", offset=n, status=404 if n else 200) for n in range(3)]
    )
    listed = nacre("captures", str(job), "h.test", "--status", "4xx", "--limit", "1")
    assert listed.code == 0, listed.err
    assert "http://h.test/1" in listed.out
    assert "http://h.test/2" not in listed.out
    cursor = listed.err.rpartition("--after ")[2].strip()
    more = nacre("captures", str(job), "h.test", "--status", "4xx", "--after", cursor)
    assert "http://h.test/2" in more.out
    counted = nacre("captures", str(job), "--facets")
    assert "3 captures" in counted.out
    out = tmp_path / "out.json"
    nacre("captures", str(job), "--format", "json", "--order", "url", "--out", str(out))
    assert [row["offset"] for row in json.loads(out.read_text())] == [0, 1, 2]


def test_errors_name_the_remedy(tmp_path):
    job = tmp_path / "j"
    add_index(job, [line("http://h.test/")])
    assert nacre("captures", str(job), "http://h.test/x").code == 10
    for arguments, text in (
        (("--format", "xml"), "table, csv, json, cdxj"),
        (("--format", "warc"), "--out FILE"),
        (("some words",), "nacre index"),
        (("--status", "x"), "404,5xx"),
        (("--from", "yesterday"), "nacre: --from: 'yesterday' is no time; write it as 2026-11-29"),
        (("--to", "明天"), "nacre: --to: '明天' is no time"),
        (("--format", "csv", "--out", str(tmp_path / "no" / "file")), "--out"),
    ):
        failed = nacre("captures", str(job), *arguments)
        assert failed.code in {1, 2}
        assert text in failed.err.replace("\n", " ")
    assert nacre("captures", str(tmp_path / "nothing")).code == 2


def test_a_search_without_results_has_advice(tmp_path, monkeypatch):
    job = tmp_path / "j"
    add_index(job, [line("http://h.test/a/b")])
    page = nacre("captures", str(job), "http://h.test/a")
    assert page.code == 10
    assert "'http://h.test/a*' finds all that begins so" in page.err
    assert "--mime revisit" in nacre("captures", str(job), "--status", "304").err
    plain = nacre("captures", str(job), "--status", "404")
    assert plain.err == "nacre: no capture has these properties; j has 1 capture in all\n"
    counts = FacetCounts({}, 2, is_exact=False)
    monkeypatch.setattr("nacre.catalogue.query.count_facets", lambda *_: counts)
    assert "j has at least 2 captures" in nacre("captures", str(job), "--status", "404").err
    assert "begins so" not in nacre("captures", str(job), "http://h.test/a/b").err


def test_members_without_an_index_of_words_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("NACRE_COLLECTIONS", str(tmp_path / "collections"))
    for name in ("with", "without"):
        add_index(tmp_path / name, [line("http://h.test/")])
    nacre("collection", "both", "add", tmp_path / "with", tmp_path / "without")
    writer = LocalWriter(Layout(tmp_path / "with").search)
    writer.open()
    writer.commit()
    writer.close()
    searched = nacre("captures", "both", "some words")
    assert searched.code == 10, searched.err
    assert "warning: without: no index of words" in searched.err
    assert "warning: without: no index of words" in nacre("search", "both", "words").err
    assert "index of words" not in nacre("captures", str(tmp_path / "with"), "some words").err
    assert "index of words" not in nacre("captures", "both", "h.test").err


def test_only_words_need_the_library_of_the_search(tmp_path, monkeypatch):
    def missing(what: str, extra: str) -> None:
        raise MissingExtraError(what, extra)

    monkeypatch.setattr("nacre.cli.installing.require_extra", missing)
    job = tmp_path / "j"
    add_index(job, [line("http://h.test/")])
    assert nacre("captures", str(job), "--status", "200").code == 0
    assert "extra `search`" in nacre("captures", str(job), "some words").err
    assert "extra `search`" in nacre("captures", str(job), "some words", "--format", "csv").err
    refused = nacre("captures", str(job), "some words", "--facets")
    assert (refused.code, refused.out) == (2, "")
    assert "leave out --facets" in refused.err


def test_a_search_without_a_result_says_why(tmp_path):
    add_index(tmp_path / "j", [line("http://h.test/")])
    done = nacre("captures", tmp_path / "j", "--status", "500")
    assert (done.code, done.out) == (10, "")
    assert "no capture has these properties; j has 1 capture in all" in done.err
    assert nacre("new", tmp_path / "新", "http://h.test/").code == 0
    done = nacre("captures", tmp_path / "新", "http://h.test/")
    assert (done.code, done.err) == (10, "nacre: 新 has no captures yet; crawl first\n")


def test_captures_are_packed(tmp_path):
    job = tmp_path / "j"
    real_job(job)
    out = tmp_path / "part.warc.gz"
    packed = nacre("captures", job, "--from", "2026-11-21", "--format", "warc", "--out", out)
    assert packed.code == 0, packed.err
    listed = nacre("captures", out, "--order", "url", "--format", "json")
    assert [row["time"] for row in json.loads(listed.out)] == [
        "2026-11-21T10:00:00Z", "2026-11-21T10:00:01Z",
    ]  # fmt: skip
