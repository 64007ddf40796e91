"""The search for captures: the text of the box, the exports, the catalogue that is built for it."""

import csv
import io
import json
from pathlib import Path

import pytest

from nacre.archive.delta import MEDIA, TARGET
from nacre.archive.index_facts import PostQuery
from nacre.catalogue.filters import CatalogueQuery
from nacre.catalogue.holdings import Holding, open_holding
from nacre.ops.captures import (
    CapturesQuery,
    build_catalogues,
    export_captures,
    find_captures,
    place_of_text,
    read_query,
    refresh_catalogues,
    selected_captures,
)
from tests.catalogue.given_job import add_index, line


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("http://h.test/a", {"url": "http://h.test/a"}),
        ("http://h.test/a*", {"prefix": "http://h.test/a"}),
        ("h.test/a", {"url": "h.test/a"}), ("h.test", {"domain": "h.test"}),
        ("h.test/*", {"prefix": "h.test/"}), ("*.h.test", {"domain": "h.test"}),
        ("127.0.0.1:8080", {"domain": "127.0.0.1"}), ("dns:h.test", {"url": "dns:h.test"}),
        ("国家图书馆", {"words": "国家图书馆"}), ("a library", {"words": "a library"}),
        ("library", {"words": "library"}), ("site:h.test x", {"words": "site:h.test x"}),
        (" h.test ", {"domain": "h.test"}),
    ],
)  # fmt: skip
def test_the_text_of_the_search_box(text, fields):
    assert place_of_text(text) == fields


def test_filters_and_the_place_of_a_page_are_those_of_the_query():
    query = read_query(CapturesQuery("h.test", status="404", order="newest", after="kwE", limit=7))
    assert query == CatalogueQuery(
        domain="h.test", status="404", order="newest", cursor="kwE", limit=7
    )


LINES = [
    line("http://h.test/b", "20261120100000", 0, status=404),
    line("http://h.test/a", "20261121100000", 100, post=PostQuery("POST", "x=1")),
    line(f"{TARGET}http://h.test/c", "20261122100000", 200, mime=MEDIA, status=0),
    line("http://h.test/=cmd()", "20261123100000", 300, mime="=cmd()"),
]


def built(root: Path) -> Holding:
    add_index(root, LINES)
    holding = open_holding([root])
    build_catalogues(holding)
    return holding


def test_an_export_as_csv_has_no_formulas(tmp_path):
    text = "".join(export_captures(built(tmp_path), CatalogueQuery(order="oldest"), "csv"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["url"] for row in rows] == [
        "http://h.test/b", "http://h.test/a", "http://h.test/c", "http://h.test/=cmd()",
    ]  # fmt: skip
    assert rows[3]["mime"] == "'=cmd()"
    assert rows[1]["method"] == "POST"
    assert (rows[0]["status"], rows[0]["time"]) == ("404", "2026-11-20T10:00:00Z")


def test_an_export_as_json_is_an_array(tmp_path):
    holding = built(tmp_path)
    rows = json.loads("".join(export_captures(holding, CatalogueQuery(status="404"), "json")))
    assert [row["id"] for row in rows] == ["a.warc.gz:0"]
    assert json.loads("".join(export_captures(holding, CatalogueQuery(run="x"), "json"))) == []


def test_an_export_as_an_index_has_the_captures_of_the_index(tmp_path):
    holding = built(tmp_path)
    lines = list(export_captures(holding, CatalogueQuery(), "cdxj"))
    assert lines == sorted(lines)
    add_index(tmp_path / "copy", [text.encode() for text in lines])
    copy = open_holding([tmp_path / "copy"])
    build_catalogues(copy)
    query = CatalogueQuery(order="url")
    assert list(selected_captures(copy, query)) == list(selected_captures(holding, query))


def test_a_page_has_what_a_moment_allows(tmp_path):
    add_index(tmp_path, LINES)
    holding = open_holding([tmp_path])
    progress = refresh_catalogues(holding)
    assert progress.is_complete
    assert progress.done == progress.total
    page = find_captures(holding, CatalogueQuery())
    assert (len(page.items), page.is_complete) == (4, True)


def test_a_builder_process_does_what_a_moment_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr("nacre.catalogue.build._SHORT_BATCH", 1)
    add_index(tmp_path, LINES)
    holding = open_holding([tmp_path])
    reports = []
    assert not refresh_catalogues(holding, 0.0).is_complete
    build_catalogues(holding, lambda done, total: reports.append((done, total)))
    assert find_captures(holding, CatalogueQuery()).is_complete


def test_missing_members_are_left_out(tmp_path):
    holding = built(tmp_path)
    gone = holding.members[0]._replace(is_missing=True, root=tmp_path / "gone")
    several = Holding("x", "collection", (gone, holding.members[0]), "x")
    build_catalogues(several)
    captures = list(selected_captures(several, CatalogueQuery()))
    assert {capture.member for capture in captures} == {1}
