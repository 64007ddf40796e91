"""What a job does not do: told from its chains and gates as they would be assembled."""

import asyncio
from pathlib import Path

import pytest

from nacre.job.checks import check
from nacre.job.configuration.configure import examine_job
from nacre.job.configuration.profiles import profiles
from nacre.job.layout import Layout
from tests.job.test_checks import checked, nobody

BASE = "fetch: {contact: 'https://library.example/'}\n"
REJECT = "{gate: {rule: reject}}"
DEAD = "{gate: [{rule: reject}, {rule: matches-list-regex, regexes: [], decision: ACCEPT}]}"


def idle(root: Path, text: str) -> list[str]:
    found = checked(root, BASE + text, seeds="http://site.example/\n")
    assert not found.problems
    assert set(found.idle) <= set(found.warnings)
    return [f"{one.path}: {one.message}" for one in found.idle]


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        (f"chains: {{fetch: {{fetch-http: {REJECT}}}}}", "chains.fetch.fetch-http.gate",
         "fetches nothing"),
        (f"chains: {{fetch: {{fetch-dns: {REJECT}}}}}", "chains.fetch.fetch-dns.gate",
         "no name is looked up"),
        ("chains: {fetch: {preselect: {block_all: true}}}", "chains.fetch.preselect.block_all",
         "fetches nothing"),
        ("chains: {fetch: {preselect: {block_by_regex: '.*site.*'}}}",
         "chains.fetch.preselect.block_by_regex", "blocks every seed"),
        ("chains: {fetch: {preselect: {allow_by_regex: '.*other.*'}}}",
         "chains.fetch.preselect.allow_by_regex", "blocks every seed"),
        ("chains: {fetch: {recheck-scope: {enabled: true}}}\nscope: [{rule: reject}]",
         "chains.fetch.recheck-scope", "refuses every seed"),
        ("chains: {disposition: {archive: {enabled: false}}}", "chains.disposition.archive.enabled",
         "writes no WARC"),
        (f"chains: {{disposition: {{archive: {REJECT}}}}}", "chains.disposition.archive.gate",
         "writes no WARC"),
        (f"chains: {{disposition: {{archive: {DEAD}}}}}", "chains.disposition.archive.gate",
         "rejects everything"),
        ("chains: {disposition: {remove: [archive]}}", "chains.disposition", "writes no WARC"),
        ("chains: {disposition: {candidates: {enabled: false}}}",
         "chains.disposition.candidates.enabled", "follows no links and no redirects"),
        (f"chains: {{fetch: {{extract: {REJECT}}}}}", "chains.fetch.extract.gate",
         "no links are taken from what is fetched, and no redirects"),
        ("extract: {extract_headers: false}", "extract.extract_headers", "no redirects"),
        ("extract: {extract_html: false}", "extract.extract_html", "no links are taken from web"),
        ("extract: {max_outlinks: 0}", "extract.max_outlinks", "no links are taken"),
        ("extract: {max_document: 0}", "extract.max_document", "searches no document"),
        ("extract: {" + ", ".join(
            f"extract_{name}: false"
            for name in ("html", "css", "javascript", "json", "xml", "sitemaps", "headers")) + "}",
         "extract", "all is off"),
    ],
)  # fmt: skip
def test_what_is_not_done_is_named(tmp_path, text, path, words):
    told = idle(tmp_path, text)
    assert any(line.startswith(f"{path}: ") and words in line for line in told), told


@pytest.mark.parametrize(
    "text",
    [
        "",
        "extract: {extract_css: false, extract_javascript: false}",
        "chains: {disposition: {archive: {gate: [{rule: accept}, {rule: fetch-status, "
        "statuses: [404], decision: REJECT}]}}}",
        "chains: {disposition: {archive: {gate: {rule: accept}}}}",
        "chains: {fetch: {preselect: {block_by_regex: '.*other.*'}}}",
        # A sheet switches it on for some places.
        "chains: {disposition: {archive: {enabled: false}}}\n"
        "sheets: {kept: {chains.disposition.archive.enabled: true}}",
        f"chains: {{disposition: {{archive: {REJECT}}}}}\n"
        "sheets: {kept: {chains.disposition.archive.gate: [{rule: accept}]}}",
        "extract: {extract_headers: false}\nsheets: {kept: {extract.extract_headers: true}}",
    ],
)
def test_what_is_done_is_not_named(tmp_path, text):
    assert idle(tmp_path, text) == []


@pytest.mark.parametrize("name", [profile.name for profile in profiles()])
def test_no_profile_is_idle(tmp_path, name):
    (tmp_path / "crawl.yaml").write_text(f"{BASE}profile: {name}\n")
    (tmp_path / "seeds.txt").write_text("http://site.example/\n")
    layout = Layout(tmp_path)
    loaded, problems = examine_job(layout, environ={})
    assert loaded is not None
    assert any(name in loaded.place(path).source for path in ("scope", "fetch", "extract"))
    assert asyncio.run(check(layout, loaded, problems, nobody)).idle == []
