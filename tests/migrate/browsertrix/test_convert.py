"""Configurations of Browsertrix Crawler: what each option becomes, and the whole as a job."""

import json
from pathlib import Path
from typing import Any

import pytest

from nacre.config.check import load_partly
from nacre.config.layer import Layer
from nacre.errors import ConfigError
from nacre.machine.layout import Layout
from nacre.scope.seeds import Seed, read_seeds
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from nacre_migrate.browsertrix.convert import convert
from nacre_migrate.browsertrix.options import _OPTIONS, ALIASES, SPECIAL, listed
from nacre_migrate.browsertrix.pages import OF_SCOPE
from nacre_migrate.draft import Draft
from nacre_migrate.report import Flag, MigrationOutcome, MigrationReport
from tests.cli.site import nacre

HOME = "seeds: [https://a.test/docs/]\n"


def migrate(folder: Path, text: str, name: str = "crawl.yaml") -> tuple[Draft, MigrationReport]:
    (folder / name).write_text(text, "utf-8")
    draft, report = convert(folder / name)
    _, problems = load_partly(JobSettings, [Layer("option", draft.tree())])
    assert problems == []
    assert all(item.note for item in report.findings if item.flag)
    return draft, report


def item_of(report: MigrationReport, name: str) -> Any:
    return next(item for item in report.findings if item.name == name)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("workers: 4", {"browser.pages": 4}),
        ("w: 4", {"browser.pages": 4}),
        ("limit: 20", {"limits.documents": 20}),
        ("pageLimit: 20", {"limits.documents": 20}),
        ("sizeLimit: 5000000", {"limits.warc_bytes": 5_000_000}),
        ("timeLimit: 3600", {"limits.time": 3600}),
        ("timeLimit: 0", {}),
        ("timeout: 40", {"browser.load_time": 40}),
        ("behaviorTimeout: 0", {}),
        ("behaviors: autoscroll,autoplay", {"browser.behaviours": ["tall", "scroll", "media"]}),
        ("behaviors: []", {"browser.behaviours": []}),
        ("behaviors: [autoclick]", {"browser.behaviours": ["more"]}),
        ("screenshot: [view, fullPageFinal]", {"browser.pictures": ["view", "fullPage"]}),
        ("screenshot: thumbnail,view", {"browser.pictures": ["thumbnail", "view"]}),
        ("text: to-warc", {"browser.store_text": True}),
        ("text: false", {"browser.store_text": False}),
        ("userAgent: Bot/1", {"browser.user_agent": "Bot/1"}),
        ('userAgentSuffix: "+MyBot, bot@a.test"', {"fetch.contact": "bot@a.test"}),
        ("mobileDevice: Pixel-7", {"browser.device": "Pixel 7"}),
        ("blockRules: [{url: google-analytics.com}, ads]",
         {"browser.block": ["/google-analytics.com/", "/ads/"]}),
        ("waitUntil: networkidle0", {}),
        ("rolloverSize: 500000000", {"archive.max_file_size": 500_000_000}),
        ("warcinfo: {operator: Library}", {"archive.operator": "Library"}),
        ("proxyServer: socks5://127.0.0.1:1080", {"fetch.proxy": "socks5://127.0.0.1:1080"}),
        ("useRobots: true", {"robots.policy": "obey"}),
        ("sitemap: false", {"extract.extract_sitemaps": False}),
        ("collection: 新闻", {"name": "新闻"}),
    ],
)  # fmt: skip
def test_an_option_is_a_setting(tmp_path: Path, text: str, settings: dict[str, Any]):
    draft, report = migrate(tmp_path, HOME + text)
    of_option = {k: v for k, v in draft.settings.items() if k not in {"scope", "browser.use"}}
    assert of_option == settings
    item = report.findings[1]
    assert bool(settings) or item.outcome is MigrationOutcome.DEFAULTED


@pytest.mark.parametrize(
    "text",
    [
        "driver: ./driver.mjs", "profile: profile.tar.gz", "customBehaviors: [./behaviors]",
        "blockRules: [{url: x, inFrameUrl: y}]", "blockRules: [{url: x, type: allowOnly}]",
        "behaviors: [siteSpecific]", "behaviors: [autodance]", "selectLinks: ['.x->href']",
        "extraHops: 1", "serviceWorker: enabled", "originOverride: [https://a=http://b]",
        "generateWACZ: true", "sitemap: https://a.test/map.xml", "noSuchOption: 1",
        "proxyServer: 'http://me:hush@proxy.test:3128'", "proxyServer: ssh://me@h", "workers: many",
        "scopeType: galaxy", "exclude: ['(unclosed']", "blockAds: true", "userAgentSuffix: Bot",
        "pageExtraDelay: 3", "warcinfo: {isPartOf: x}",
    ],
)  # fmt: skip
def test_what_has_no_equivalent_is_flagged(tmp_path: Path, text: str):
    _, report = migrate(tmp_path, HOME + text)
    (item,) = [item for item in report.findings if item.name != "seeds"]
    assert item.flag in {Flag.CHECK, Flag.NO_EQUIVALENT}
    assert "hush" not in report.text()


def test_defaults_of_browsertrix_need_nothing(tmp_path: Path):
    text = "extraHops: 0\nworkers: 1\nselectLinks: ['a[href]->href']\nserviceWorker: disabled\n"
    draft, report = migrate(tmp_path, HOME + text)
    assert set(draft.settings) == {"browser.use", "scope"}
    assert not any(item.flag for item in report.findings)


INCLUDED = {
    "rule": "matches-list-regex", "comment": "include",
    "regexes": ["a.test/(x|y)"], "search": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rules", "hops"),
    [
        ("", [{"rule": "surt-prefixed"}], None),
        ("scopeType: host", [{"rule": "surt-prefixed", "coerce": "host"}], None),
        ("scopeType: domain\ndepth: 3", [{"rule": "surt-prefixed", "coerce": "domain"}], 3),
        ("scopeType: page", [{"rule": "seed-accept"}], None),
        ("scopeType: page-spa\ndepth: 2", [{"rule": "seed-accept"}], None),
        ("scopeType: any\ndepth: -1", [{"rule": "accept"}], None),
        ("include: a.test/(x|y)", [{"rule": "seed-accept"}, INCLUDED], None),
        ("scopeType: custom\ninclude: [a.test/(x|y)]\ndepth: '1'", [INCLUDED], 1),
    ],
)
def test_scope_types(tmp_path: Path, text: str, rules: list[dict[str, Any]], hops: int | None):
    draft, report = migrate(tmp_path, HOME + text)
    assert draft.seeds == ["https://a.test/docs/"]
    for rule in rules:
        assert rule in draft.settings["scope"]
    limits = [r["max_hops"] for r in draft.settings["scope"] if r["rule"] == "too-many-link-hops"]
    assert limits == ([] if hops is None else [hops])
    assert not any(item.flag for item in report.findings)


def test_seeds_with_the_same_options_share_the_scope_of_the_job(tmp_path: Path):
    text = (
        "seeds:\n- {url: https://a.test/, scopeType: host, exclude: [skip$]}\n"
        "- {url: https://b.test/, scopeType: host, exclude: [skip$]}\n"
    )
    draft, report = migrate(tmp_path, text)
    assert draft.seeds == ["https://a.test/", "https://b.test/"]
    assert ["skip$"] in [rule.get("regexes") for rule in draft.settings["scope"]]
    assert not any(item.flag for item in report.findings)


def test_seeds_that_differ_have_scopes_of_their_own(tmp_path: Path):
    text = (
        "scopeType: prefix\ndepth: 5\nseeds:\n- https://a.test/\n"
        "- url: https://b.test/\n  scopeType: domain\n  depth: 2\n"
        "- {url: https://c.test/, exclude: x, sitemap: true}\n- {scopeType: host}\n"
        "- {url: https://d.test/, auth: 'me:hush'}\n"
    )
    draft, report = migrate(tmp_path, text)
    assert draft.seeds == [
        "https://a.test/", "https://b.test/ scope=domain depth=2",
        "https://c.test/ scope=prefix depth=5", "https://d.test/",
    ]  # fmt: skip
    assert all(isinstance(entry, Seed) for entry in read_seeds(draft.seeds))
    assert item_of(report, "seeds.1").note == "with a scope of its own"
    assert item_of(report, "seeds.1").line == 5
    assert {n for n in ("seeds.2", "seeds.3", "seeds.4") if item_of(report, n).flag} == {
        "seeds.2", "seeds.3", "seeds.4",
    }  # fmt: skip
    assert "hush" not in report.text()


def test_seeds_of_a_file_in_any_encoding(tmp_path: Path):
    (tmp_path / "list.txt").write_bytes(
        "https://a.test/新闻中心/首页\n\nhttps://b.test/\n".encode("gb18030")
    )
    draft, report = migrate(tmp_path, "seedFile: list.txt\nscopeType: page\n")
    assert draft.seeds == ["https://a.test/新闻中心/首页", "https://b.test/"]
    assert report.files[0].name == "list.txt"
    draft, report = migrate(tmp_path, HOME + "urlFile: none.txt\n")
    assert draft.seeds == ["https://a.test/docs/"]
    assert item_of(report, "urlFile").flag is Flag.CHECK


def test_the_json_of_the_web_application(tmp_path: Path):
    config = {"seeds": [{"url": "https://a.test/", "scopeType": "domain"}], "limit": 9}
    text = json.dumps({"name": "News", "jobType": "seed-crawl", "config": config})
    draft, report = migrate(tmp_path, text)
    assert draft.settings["limits.documents"] == 9
    assert {"rule": "surt-prefixed", "coerce": "domain"} in draft.settings["scope"]
    assert item_of(report, "config.limit").target == "limits.documents"


@pytest.mark.parametrize("text", ["- x\n", "seeds: [\n", "just a text"])
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str):
    (tmp_path / "crawl.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"crawl\.yaml"):
        convert(tmp_path / "crawl.yaml")


def test_a_configuration_without_seeds_tells_it(tmp_path: Path):
    draft, report = migrate(tmp_path, "")
    assert draft.seeds[0].startswith("# There were no seeds")
    assert any("seeds.txt" in line for line in report.advice)


def test_each_alias_leads_to_an_option():
    known = {*_OPTIONS, *SPECIAL, *OF_SCOPE, "seeds", "seedFile"}
    assert set(ALIASES.values()) <= known
    assert not set(ALIASES) & known


def test_lists_with_commas():
    assert listed("a, b,,c") == ["a", "b", "c"]
    assert listed(["a,b", "c"]) == ["a", "b", "c"]
    assert listed(None) == []


def test_a_job_that_checks_clean(tmp_path: Path):
    file, job = tmp_path / "crawl-config.yaml", tmp_path / "job"
    file.write_text(
        "seeds:\n  - url: http://127.0.0.1:9/startpage.html\n    scopeType: host\n"
        "    exclude:\n      - 127.0.0.1/skip.*\n      - postfeed\n"
        "depth: 2\nbehaviors: autoscroll,autofetch\ntext: [to-warc]\nscreenshot: view\n"
        "driver: /app/driver.mjs\n"
    )
    done = nacre("migrate", "browsertrix", file, "--out", job)
    assert done.code == 0, done.err
    assert "6 mapped" in done.out
    assert "1 flagged" in done.out
    assert "a driver is a program of Puppeteer" in (job / "migration.txt").read_text()
    settings = load_job(Layout(job)).settings
    assert settings.browser.use == "always"
    assert settings.browser.behaviours == ("tall", "scroll", "lazy")
    again = nacre("migrate", "browsertrix", file, "--out", job)
    assert (again.code, "a job already" in again.err) == (2, True)
    absent = nacre("migrate", "browsertrix", tmp_path / "none.yaml", "--out", tmp_path / "other")
    assert (absent.code, "none.yaml" in absent.err) == (2, True)
