import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from nacre.config.check import load_partly
from nacre.config.document import read_yaml
from nacre.config.layer import Layer
from nacre.engine.chain.entry import PROCESSORS, Entry
from nacre.job.checks import Findings, check
from nacre.machine.layout import Layout
from nacre.scope.seeds import SeedList
from nacre.settings.layers import list_profiles
from nacre.settings.load import examine_job
from nacre.settings.settings import JobSettings

BASE = "fetch: {contact: 'https://library.example/'}\n"
REJECT = "{gate: {rule: reject}}"
DEAD = "{gate: [{rule: reject}, {rule: matches-list-regex, regexes: [], decision: ACCEPT}]}"


async def nobody(_: str) -> Sequence[str]:
    return ()


def checked(
    root: Path, yaml: str = "", seeds: str | None = "http://a.test/\n", *, strict: bool = False
) -> Findings:
    if seeds is not None:
        (root / "seeds.txt").write_text(seeds)
    loaded, problems = load_partly(JobSettings, [read_yaml(yaml, "crawl.yaml")])
    return asyncio.run(check(Layout(root), loaded, problems, nobody, strict=strict))


def test_nothing_wrong(tmp_path: Path):
    found = checked(tmp_path)
    assert (found.problems, found.warnings) == ([], [])
    found.require()


class FetchFiles(Entry):
    """A step of another package, which may fetch any URL."""

    processor: Literal["test-fetch"] = "test-fetch"


@pytest.mark.parametrize(
    ("yaml", "refused"),
    [
        ("", ["seeds.1", "seeds.3"]),
        ("chains: {fetch: [{processor: test-fetch}]}", []),
        ("chains: {fetch: [{processor: test-fetch, enabled: false}]}", ["seeds.1", "seeds.3"]),
    ],
)
def test_typed_seeds_that_no_step_fetches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, yaml: str, refused: list[str]
):
    monkeypatch.setattr(PROCESSORS, "_parts", dict(PROCESSORS._parts))
    PROCESSORS.add(FetchFiles)
    lines = ["http://a.test/", "ftp://书.test/", "dns:a.test", "FTPS://a.test/"]
    loaded, problems = load_partly(JobSettings, [read_yaml(BASE + yaml, "crawl.yaml")])
    for file, paths in (("", refused), ("seeds.txt", [])):
        lists = [SeedList(file, lines)]
        found = asyncio.run(check(Layout(tmp_path), loaded, problems, nobody, lists))
        assert [problem.path for problem in found.problems] == paths, found.problems


def test_no_seeds(tmp_path: Path):
    assert "cannot be read" in checked(tmp_path, seeds=None).problems[0].message
    assert checked(tmp_path, seeds="# none\n").problems[0].message == "there is no seed"
    told = checked(tmp_path, seeds="http://\n").problems[0].message
    assert told == "there is no seed: no line of it is one"


def test_bytes_that_are_no_text_are_no_seed(tmp_path: Path):
    text = "http://a.test/书\n" * 4
    (tmp_path / "seeds.txt").write_bytes(text.encode() + b"http://b.test/\xff\n")
    found = checked(tmp_path, seeds=None)
    assert [(p.line, "encoding of the list" in p.message) for p in found.warnings] == [(5, True)]


def test_bad_seed_lines_have_numbers(tmp_path: Path):
    seeds = "http://a.test/\n\nhttp://\n+ok\n"
    found = checked(tmp_path, seeds=seeds)
    assert [(p.file, p.line) for p in found.warnings] == [("seeds.txt", 3)]
    assert (found.problems, found.skipped) == ([], found.warnings)
    found = checked(tmp_path, seeds=seeds, strict=True)
    assert [(p.file, p.line) for p in found.problems] == [("seeds.txt", 3)]
    assert found.warnings == []


def test_many_bad_lines_are_cut_short(tmp_path: Path):
    for number in (50, 5000):
        found = checked(tmp_path, seeds="http://a.test/\n" + "http://\n" * number)
        assert len(found.warnings) == 21
        assert f"{number - 20} more lines" in found.warnings[-1].message


def test_seeds_in_the_settings_themselves(tmp_path: Path):
    found = checked(tmp_path, "seeds: [http://a.test/, 'http://']", seeds=None)
    assert len(found.problems) == 1


def test_a_seed_without_a_host_hides_nothing(tmp_path: Path):
    text = "nmae: a\nseeds: [http://a.test/, 'htp:/b.test']\nlimits: {time: soon}\n"
    found = checked(tmp_path, text, seeds=None)
    assert [problem.line for problem in found.problems] == [1, 2, 3]


def test_later_checks_find_theirs_beside_wrong_values(tmp_path: Path):
    found = checked(tmp_path, "limits: {time: soon}\nx: 1", seeds="http://site.example/\n")
    paths = [problem.path for problem in found.problems]
    assert paths == ["limits.time", "x", "fetch.contact"]


def test_files_and_addresses(tmp_path: Path):
    found = checked(tmp_path, "cookies: {load_file: c.txt}\nfetch: {bind_address: here}")
    assert [(p.path, p.line) for p in found.problems] == [
        ("cookies.load_file", 1),
        ("fetch.bind_address", 2),
    ]


def test_directories_that_cannot_be(tmp_path: Path):
    (tmp_path / "file").write_text("")
    found = checked(tmp_path, f"archive: {{directories: ['{tmp_path}/file/archive']}}")
    assert [problem.path for problem in found.problems] == ["archive.directories"]
    loaded, problems = load_partly(JobSettings, [Layer("option", {"seeds": ["http://a.test/"]})])
    below = asyncio.run(check(Layout(tmp_path / "file" / "job"), loaded, problems, nobody))
    assert any("is not a directory" in problem.message for problem in below.problems)


def test_expressions_that_backtrack_are_warned_of(tmp_path: Path):
    yaml = "scope:\n  - rule: accept\n  - {rule: matches-list-regex, regexes: ['(?=x)y']}\n"
    found = checked(tmp_path, yaml)
    assert found.problems == []
    assert [(w.path, w.line) for w in found.warnings] == [("scope.1.regexes.0", 3)]


def test_a_seed_that_its_own_scope_refuses(tmp_path: Path):
    found = checked(tmp_path, "scope: [{rule: reject}]")
    assert [warning.message.partition(":")[0] for warning in found.warnings] == [
        "no rule can accept anything",
        "the seed http",
    ]


def test_values_that_contradict_each_other(tmp_path: Path):
    found = checked(tmp_path, "politeness:\n  min_delay: 9\n  max_delay: 5\n")
    assert [(p.path, p.line) for p in found.problems] == [("politeness.min_delay", 2)]
    assert "more than politeness.max_delay, which is 5 s" in found.problems[0].message
    floor = checked(tmp_path, "frontier: {precedence_floor: 2}")
    assert [p.path for p in floor.problems] == ["frontier.precedence_floor"]


def test_a_value_that_contradicts_a_default_is_a_warning(tmp_path: Path):
    found = checked(tmp_path, "politeness: {max_delay: 2}")
    assert found.problems == []
    assert [w.path for w in found.warnings] == ["politeness.min_delay"]


def test_values_without_effect_are_warned_of(tmp_path: Path):
    yaml = (
        "robots: {policy: custom}\npoliteness: {delay: 1, min_delay: 1}\n"
        "fetch: {send_range: true}\nnetwork: {proxy_resolves: true}\n"
        "frontier: {cost: zero, queue_total_budget: 5}\n"
    )
    assert {w.path for w in checked(tmp_path, yaml).warnings} == {
        "robots.policy",
        "politeness.min_delay",
        "fetch.send_range",
        "network.proxy_resolves",
        "frontier.queue_total_budget",
    }
    assert [w.path for w in checked(tmp_path, "robots: {custom: x}").warnings] == ["robots.custom"]


def test_rules_that_say_nothing_or_hide_others(tmp_path: Path):
    yaml = (
        "scope:\n- {rule: surt-prefixed}\n- {rule: accept}\n"
        "- {rule: matches-list-regex, comment: mine}\n"
    )
    found = checked(tmp_path, yaml)
    assert [(w.path, w.line) for w in found.warnings] == [("scope.2", 4), ("scope.1", 3)]
    assert "can never match" in found.warnings[0].message
    assert "the rules before it never decide: surt-prefixed" in found.warnings[1].message


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
         "no links are extracted from fetched pages, and no redirects"),
        ("extract: {extract_headers: false}", "extract.extract_headers", "no redirects"),
        ("extract: {extract_html: false}", "extract.extract_html", "no links are taken from web"),
        ("extract: {max_outlinks: 0}", "extract.max_outlinks", "no links are extracted"),
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


@pytest.mark.parametrize("name", [profile.name for profile in list_profiles()])
def test_no_profile_is_idle(tmp_path, name):
    (tmp_path / "crawl.yaml").write_text(f"{BASE}profile: {name}\n")
    (tmp_path / "seeds.txt").write_text("http://site.example/\n")
    layout = Layout(tmp_path)
    loaded, problems = examine_job(layout, environ={})
    assert loaded is not None
    assert any(name in loaded.place(path).source for path in ("scope", "fetch", "extract"))
    assert asyncio.run(check(layout, loaded, problems, nobody)).idle == []


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("browser: {scripts: [good.js]}", "", ""),
        ("browser: {scripts: [none.js]}", "browser.scripts", "none.js: No such file"),
        ("sheets: {app: {browser.scripts: [bad.js]}}", "sheets.app.browser.scripts", "bad.js: 0"),
        ("browser: {block: [ads.example, none.txt]}", "browser.block", "cannot be read"),
        ("sheets: {app: {browser: {block: ['!']}}}", "sheets.app.browser.block", "understood"),
    ],
)
def test_files_for_pages_in_a_browser(tmp_path: Path, text: str, path: str, reason: str):
    (tmp_path / "good.js").write_text("export default async ({ page }) => {};")
    (tmp_path / "bad.js").write_text("alert(1)")
    problems = checked(tmp_path, BASE + text).problems
    assert [problem.path for problem in problems] == ([path] if path else [])
    assert all(reason in problem.message for problem in problems)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("browser: {use: always, command: no-such-chromium}", ["browser.use"]),
        ("browser: {use: auto, command: no-such-chromium}", []),
        ("browser: {use: never, command: no-such-chromium}", []),
        ("browser: {use: always, command: python3}", []),
        (
            "browser: {command: no-such-chromium}\n"
            "sheets: {app: {browser: {use: always}}, plain: {browser.use: never}}\n",
            ["sheets.app.browser.use"],
        ),
    ],
)
def test_a_browser_that_is_needed_and_not_installed(tmp_path: Path, text: str, paths: list[str]):
    problems = checked(tmp_path, BASE + text).problems
    assert [problem.path for problem in problems] == paths
    assert all("apt-get install" in problem.message for problem in problems)
