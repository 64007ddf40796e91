"""Citations in each format, hostile titles and URLs among them; URNs that find a capture."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.catalogue.captures import IndexedCapture
from nacre.replay.citation import (
    CITATION_FORMATS,
    Citation,
    CitedArchive,
    clean_text,
    format_citation,
    is_uuid_urn,
    make_citation,
    make_pwid,
    read_pwid,
)
from nacre.uri.surt import index_key

URN = "urn:uuid:00000000-0000-4000-8000-000000000001"
CAPTURE = IndexedCapture(
    "org,example)/a?b=1", "20261120100000", "https://example.org/a?b=1", "text/html", 200,
    "sha1:ABC", "a.warc.gz", 4711, 99,
)  # fmt: skip
ARCHIVE = CitedArchive("demo", "Demonstration", "Library")


def citation(title: str = "A title", **changes) -> Citation:
    capture = CAPTURE._replace(**changes)
    record = (URN, "2026-11-20T10:00:00.123456Z")
    return make_citation(capture, ARCHIVE, record, title=title, replay="http://r.localhost/x")


def test_a_citation_names_the_capture():
    cited = citation()
    assert cited.date == "2026-11-20T10:00:00.123456Z"
    assert cited.pwid == "urn:pwid:demo:2026-11-20T10:00:00Z:page:https://example.org/a?b=1"
    assert citation(mime="image/png").pwid.split(":")[6] == "part"
    bare = make_citation(CAPTURE._replace(digest=""), ARCHIVE, ("", "yesterday"))
    assert (bare.date, bare.urn, bare.digest) == ("2026-11-20T10:00:00Z", "", "")


def test_as_text():
    assert format_citation(citation(), "text") == (
        "A title. https://example.org/a?b=1. Captured 2026-11-20T10:00:00.123456Z. In: "
        "Demonstration (Library). urn:pwid:demo:2026-11-20T10:00:00Z:page:https://example.org/a?b=1."
        f" {URN}. sha1:ABC. Available at http://r.localhost/x\n"
    )


def test_as_bibtex():
    lines = format_citation(citation("50 % of {A} & B_C \\ D"), "bibtex").splitlines()
    assert lines[0] == "@misc{example-org-2026-11-20-00000000,"
    assert lines[1] == r"  title = {{50 \% of \{A\} \& B\_C \textbackslash{} D}},"
    assert "  url = {https://example.org/a?b=1}," in lines
    assert "  urldate = {2026-11-20}," in lines
    assert lines[-1] == "}"


def test_as_ris():
    lines = format_citation(citation(), "ris").split("\r\n")
    assert lines[0] == "TY  - ELEC"
    assert lines[-2:] == ["ER  - ", ""]
    assert f"AN  - {URN}" in lines


def test_as_csl():
    (item,) = json.loads(format_citation(citation("标题 “x”"), "csl"))
    assert item["title"] == "标题 “x”"
    assert item["accessed"] == {"date-parts": [[2026, 11, 20]]}
    assert item["archive_location"].startswith("urn:pwid:demo:")


TITLES = st.text(max_size=60) | st.sampled_from(
    ["a\nER  - \nTY  - X", "x}\n@misc{y,", "\x1b[2J", "\u202eevil", "}}}{{{", "a\u2028b", "\ud800"]
)
URLS = st.text(max_size=40).map("http://e.test/".__add__)


@given(TITLES, URLS, st.text(max_size=20), st.text(max_size=20))
def test_hostile_content_stays_in_its_place(title, url, digest, record_id):
    capture = CAPTURE._replace(url=url, digest=digest)
    cited = make_citation(capture, ARCHIVE, (record_id, title), title=title)
    texts = {form: format_citation(cited, form) for form in CITATION_FORMATS}
    for text in texts.values():
        text.encode()
        assert text.replace("\n", "").replace("\r", "").isprintable()
    assert texts["text"].count("\n") == 1
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in texts["ris"].split("\r\n")[:-1])
    assert texts["ris"].count("TY  - ") >= 1
    lines = texts["bibtex"].splitlines()
    assert all(line.startswith("  ") and line.endswith("},") for line in lines[1:-1])
    plain = re.sub(r"\\[{}]", "", texts["bibtex"])
    assert plain.count("{") == plain.count("}")
    assert len(json.loads(texts["csl"])) == 1


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  a \n\t b\u00a0c ", "a b c"),
        ("a\u202eb\u0000c\u2066", "abc"),
        ("新闻\u3000中心", "新闻 中心"),
        ("x" * 2000, "x" * 500),
        ("", ""),
    ],
)
def test_clean_texts(text, clean):
    assert clean_text(text) == clean


@pytest.mark.parametrize(
    ("urn", "parts"),
    [
        (
            "urn:pwid:netarkivet.dk:2018-12-10T06:27:01Z:part:https://www.example.dk/x-y",
            ("netarkivet.dk", "20181210062701", "https://www.example.dk/x-y"),
        ),
        (
            "URN:PWID:archive.org:2018-04-10T14:04:11.5Z:Page:http://e.org/?a=b#c",
            ("archive.org", "20180410140411", "http://e.org/?a=b#c"),
        ),
        ("urn:pwid:a:2018-04-10T14:04:11Z:whole:http://e.org/", None),
        ("urn:pwid:a:2018-04-10:page:http://e.org/", None),
        ("urn:pwid:a b:2018-04-10T14:04:11Z:page:http://e.org/", None),
        ("urn:uuid:" + "0" * 8, None),
        ("", None),
    ],
)
def test_pwids_are_read(urn, parts):
    assert read_pwid(urn) == parts


@given(st.text(max_size=30), URLS)
def test_a_pwid_leads_back_to_the_index_key(archive, url):
    parts = read_pwid(make_pwid(archive, "20261120100000", url))
    assert parts is not None
    assert parts.timestamp == "20261120100000"
    plain = url.partition("#")[0]
    if plain.isascii() and plain.isprintable() and not set(plain) & set(' "<>\\^`{|}'):
        assert index_key(parts.url) == index_key(url)


@pytest.mark.parametrize(
    ("urn", "is_uuid"),
    [(URN, True), (URN.upper(), True), (URN[:-1], False), ("uuid:1", False), ("", False)],
)
def test_uuid_urns(urn, is_uuid):
    assert is_uuid_urn(urn) is is_uuid
