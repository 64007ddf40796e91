import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.rights.paths import applying
from nacre.rights.policy_files import policy_kind, policy_signals, policy_urls
from nacre.rights.robots_lines import robots_signals
from nacre.rights.signals import AI_TXT, LLMS_TXT, RSL, TDMREP

TDM = [
    {"location": "/directory-a/", "tdm-reservation": 1},
    {"location": "/b/html/", "tdm-reservation": 1, "tdm-policy": "https://h.test/p.json"},
    {"location": "/b/images/*.jpg", "tdm-reservation": 0},
    {"location": "/b/", "tdm-reservation": True},
    {"location": "/b/", "tdm-reservation": 2},
    {"tdm-reservation": 1},
    "x",
]
LICENSE = b"""<?xml version="1.0"?>
<rsl xmlns="https://rslstandard.org/rsl">
  <content url="/"><license>
    <permits type="usage">search, ai-index</permits>
    <prohibits type="usage">ai-train</prohibits>
    <prohibits type="geo">US</prohibits>
  </license></content>
  <content url="https://h.test/open/*"><license><permits>ai-train</permits></license></content>
</rsl>"""


TDM_TEXT = json.dumps(TDM).encode()
IMAGES = b"User-Agent: *\nDisallow: *.jpg\nAllow: /open\nDisallow: /"


def stated(kind: str, text: bytes, url: str) -> list[str]:
    signals = applying(policy_signals(kind, text).signals, url)
    return sorted({each.text for signal in signals for each in signal.preferences})


@pytest.mark.parametrize(
    ("kind", "text", "path", "result"),
    [
        (TDMREP, TDM_TEXT, "/directory-a/x.pdf", ["tdm=n"]),
        (TDMREP, TDM_TEXT, "/b/html/", ["tdm-policy=https://h.test/p.json", "tdm=n"]),
        (TDMREP, TDM_TEXT, "/b/images/1.jpg", ["tdm=y"]),
        (TDMREP, TDM_TEXT, "/b/x", []),
        (TDMREP, b"{}", "/", []),
        (TDMREP, b"[" * 5000, "/", []),
        (TDMREP, '[{"location":"/文/","tdm-reservation":1}]'.encode("gbk"), "/", []),
        (AI_TXT, IMAGES, "/a.jpg", ["train-ai=n"]),
        (AI_TXT, b"User-Agent: *\nAllow: /open\nDisallow: /", "/open/x", ["train-ai=y"]),
        (AI_TXT, b"User-Agent: Other\nDisallow: /", "/x", []),
        (AI_TXT, b"---\nname: App\n---\n# About", "/x", []),
        (LLMS_TXT, b"# Site\n> words", "/x", ["llms.txt"]),
        (LLMS_TXT, b"<!DOCTYPE html>", "/x", []),
        (RSL, LICENSE, "/x", ["ai-index=y", "search=y", "train-ai=n"]),
        (RSL, LICENSE, "/open/1", ["train-ai=y"]),
        (RSL, b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + LICENSE[21:], "/x", []),
        (RSL, LICENSE[:-6], "/x", []),
    ],
)  # fmt: skip
def test_files_of_each_kind(kind, text, path, result):
    assert stated(kind, text, f"https://h.test{path}") == result


@pytest.mark.parametrize(
    ("url", "mime", "kind"),
    [
        ("https://h.test/.well-known/tdmrep.json", "text/html", TDMREP),
        ("https://h.test/ai.txt", "", AI_TXT),
        ("https://h.test/docs/ai.txt", "", ""),
        ("https://h.test/?x=/ai.txt", "", ""),
        ("https://h.test/any", "application/rsl+xml", RSL),
        ("https://h.test/license.xml", "text/xml", RSL),
        ("https://h.test/license.xml", "application/xml", RSL),
        ("https://h.test/license.xml", "text/html", ""),
    ],
)
def test_kinds(url, mime, kind):
    assert policy_kind(url, mime, lambda size: LICENSE[:size]) == kind


def test_another_file_in_xml_is_no_license():
    assert policy_kind("https://h.test/feed", "text/xml", lambda size: b"<rss/>"[:size]) == ""
    assert policy_kind("https://h.test/feed", "text/xml") == ""


CONTENT = b"<content url='/'><license><permits>a</permits></license></content>"


@pytest.mark.parametrize(
    ("kind", "text", "count", "is_whole"),
    [
        (TDMREP, json.dumps(TDM[:1] * 2_000).encode(), 2_000, True),
        (TDMREP, json.dumps(TDM[:1] * 2_001).encode(), 2_000, False),
        (TDMREP, b" " * 1_000_001, 0, False),
        (TDMREP, b'[{"location": "/", "tdm-reservation": 1, "x": ' + b"[" * 9_999, 0, True),
        (AI_TXT, b"User-Agent: *\n" + b"Disallow: /\n" * 2_001, 2_000, False),
        (RSL, LICENSE[:65] + CONTENT * 500 + b"</rsl>", 500, True),
        (RSL, LICENSE[:65] + CONTENT * 501 + b"</rsl>", 500, False),
        (RSL, LICENSE[:65] + b"<a/>" * 50_000 + b"</rsl>", 0, False),
    ],
)
def test_what_a_large_file_states_is_not_all_known(kind, text, count, is_whole):
    signals, is_all = policy_signals(kind, text)
    assert (len(signals), is_all) == (count, is_whole)


def test_the_urls_of_a_site_are_its_files_and_the_first_licenses():
    lines = b"".join(b"License: https://l.test/%d\n" % number for number in range(9))
    urls = policy_urls("https://h.test", robots_signals(lines, "nacre", 9999).signals)
    assert urls[:5] == [
        "https://h.test/.well-known/tdmrep.json", "https://h.test/ai.txt", "https://h.test/llms.txt",
        "https://h.test/.well-known/security.txt", "https://h.test/humans.txt",
    ]  # fmt: skip
    assert urls[5:] == [f"https://l.test/{number}" for number in range(5)]


@pytest.mark.parametrize(
    ("named", "urls"),
    [
        ("HTTPS://L.test:443/a/../x.xml#y", ["https://l.test/x.xml"]),
        ("http://[bad/x", []),
        ("http://l.test:99999/", []),
        ("javascript://x", []),
        (f"https://l.test/{'x' * 400}", []),
        ("https://l.test/\0x", ["https://l.test/"]),
    ],
)
def test_licenses_are_requested_by_their_normal_urls(named, urls):
    signals = robots_signals(f"License: {named}\n".encode(), "nacre", 9999).signals
    assert policy_urls("https://h.test", signals)[5:] == urls


@given(st.sampled_from([TDMREP, AI_TXT, LLMS_TXT, RSL]), st.binary(max_size=300))
def test_signals_of_any_bytes_have_their_kind_and_a_printable_line(kind, text):
    for signal in policy_signals(kind, text + b"https://rslstandard.org/rsl").signals:
        assert signal.source == kind
        assert signal.line.isprintable()
        assert len(signal.line) <= 500
