import json
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.errors import ConfigError, JobError
from nacre.job.admission.rulefiles import RuleFiles, examine_rule_files, mime_rates
from nacre.job.configuration.settings import JobSettings
from nacre.migrate.draft import settle, write_job
from nacre.migrate.nutch.convert import convert
from nacre.migrate.nutch.defaults import DEFAULTS
from nacre.migrate.report import Outcome
from tests.cases.table import cases_folder

REGEX = "-\\.gif$\n+.\n"


def xml(values):
    lines = [
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in values.items()
    ]
    return "<configuration>\n" + "\n".join(lines) + "\n</configuration>\n"


def conf(folder: Path, site=None, *, stock=True, **files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if stock:
        (folder / "nutch-default.xml").write_text(xml(DEFAULTS), "utf-8")
    (folder / "nutch-site.xml").write_text(xml(site or {}), "utf-8")
    known = {"regex-urlfilter.txt": REGEX, "regex-normalize.xml": "<regex-normalize/>"}
    for name, text in {**known, **files}.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def converted(folder, site=None, **files):
    draft, report = convert(conf(folder, site, **files))
    assert sum(report.counts().values()) == len(DEFAULTS) + len(site or {})
    said = load(JobSettings, [Layer("option", draft.tree())]).settings
    return said, report, {f.name: f for f in report.findings if f.file == "nutch-site.xml"}


def test_the_stock_configuration_loses_nothing(tmp_path):
    said, report, _ = converted(tmp_path)
    flagged = [f.name for f in report.findings if f.outcome is Outcome.FLAGGED]
    assert flagged == ["http.agent.name"]
    assert (said.politeness.delay, said.engine.parallel) == (5.0, 10)
    assert [step.normalizer for step in said.uri.normalize] == ["basic", "regex", "pass"]


def test_our_stock_values_are_those_of_nutch(tmp_path):
    samples = cases_folder().parent / "samples" / "nutch"
    if not samples.is_dir():
        pytest.skip(f"{samples} is absent")
    _, report = convert(samples)
    assert {f.name: f.value for f in report.findings} == DEFAULTS
    assert report.counts()["flagged"] == 1


@pytest.mark.parametrize(
    ("site", "path", "value"),
    [
        ({"fetcher.server.delay": "2.5"}, "politeness.delay", 2.5),
        ({"http.timeout": "${x}", "x": "3000"}, "fetch.silence_timeout", 3.0),
        ({"http.content.limit": "-1"}, "fetch.max_length", 0),
        ({"http.content.limit": "65536"}, "fetch.max_length", 65536),
        ({"fetcher.timelimit.mins": "10"}, "limits.time", 600.0),
        ({"fetcher.max.crawl.delay": "-1"}, "politeness.respect_crawl_delay_up_to", 86400.0),
        ({"db.max.outlinks.per.page": "-1"}, "extract.max_outlinks", 1_000_000),
        ({"http.tls.certificates.check": "true"}, "fetch.tls", "strict"),
        ({"http.enable.cookie.header": "false"}, "cookies.enabled", False),
        ({"http.robots.agents": "a-bot,B"}, "robots.agent", "a-bot, b"),
        ({"http.agent.email": "a@b.org"}, "fetch.contact", "a@b.org"),
        (
            {"http.agent.name": "Bot/x", "http.agent.version": "2", "http.agent.url": "http://b/"},
            "fetch.user_agent",
            "Bot/x/2 (http://b/)",
        ),
        (
            {"http.accept.language": "zh"},
            "fetch.accept",
            (
                f"Accept: {DEFAULTS['http.accept']}",
                "Accept-Language: zh",
                f"Accept-Charset: {DEFAULTS['http.accept.charset']}",
            ),
        ),
    ],
)
def test_values_that_the_operator_set(tmp_path, site, path, value):
    said, _, found = converted(tmp_path, site)
    section, name = path.split(".")
    assert getattr(getattr(said, section), name) == value
    last = next(iter(site))
    assert found[last].outcome is Outcome.MAPPED
    assert path in found[last].target


def test_a_proxy_without_its_password(tmp_path):
    site = {"http.proxy.host": "p", "http.proxy.port": "8", "http.proxy.type": "SOCKS"}
    draft, report = convert(conf(tmp_path, {**site, "http.proxy.password": "hush"}, stock=False))
    assert draft.settings["fetch.proxy"] == "socks5://p:8"
    assert [f.outcome for f in report.findings] == [*[Outcome.MAPPED] * 3, Outcome.FLAGGED]
    assert "hush" not in draft.yaml("nutch") + report.text() + report.json_text()


OTHERS = {
    "db.fetch.schedule.class": "org.apache.nutch.crawl.AdaptiveFetchSchedule",
    "db.signature.class": "org.apache.nutch.crawl.TextProfileSignature",
}


def test_every_changed_property_is_mapped_or_flagged_or_says_why_not(tmp_path):
    for name, stock in DEFAULTS.items():
        other = stock.replace("index-(basic|anchor)|", "")
        changed = f"{stock}7" if other == stock else other
        changed = OTHERS.get(name, changed)
        _, report = convert(conf(tmp_path, {name: changed}, stock=False))
        (finding,) = report.findings
        assert finding.outcome is Outcome.MAPPED or finding.note, name
        assert finding.note != "its stock value", name


def test_filters_in_their_order_with_files_and_inline_rules(tmp_path):
    site = {
        "plugin.includes": "urlfilter-(regex|suffix|prefix|fast|validator)|urlnormalizer-host",
        "urlfilter.order": "org.apache.nutch.urlfilter.suffix.SuffixURLFilter x.RegexURLFilter",
        "urlfilter.regex.rules": "+a",
        "urlfilter.fast.file": "f.txt",
        "urlfilter.fast.url.max.length": "99",
    }
    files = {"suffix-urlfilter.txt.template": "+\n.gif\n", "f.txt": "Host a\n"}
    said, report, found = converted(tmp_path, site, **files)
    rule = said.scope[1]
    assert rule.rule == "nutch-filters"
    assert [(f.filter.value, f.file, f.rules, f.max_length) for f in rule.chain] == [
        ("suffix", "suffix-urlfilter.txt", "", -1),
        ("fast", "f.txt", "", 99),
        ("regex", "", "+a\n", -1),
        ("validator", "", "", -1),
    ]
    # A prefix filter without its file, a normalizer without its own: told, not guessed.
    missing = [note.name for note in report.files if note.check]
    assert missing == ["prefix-urlfilter.txt", "host-urlnormalizer.txt"]
    assert all(finding.outcome is Outcome.MAPPED for finding in found.values())


def test_external_links_depth_and_the_basic_normalizer(tmp_path):
    site = {
        "plugin.includes": "urlfilter-ignoreexempt|scoring-depth|urlnormalizer-basic",
        "db.ignore.external.links": "true",
        "db.ignore.external.links.mode": "byDomain",
        "db.ignore.also.redirects": "false",
        "scoring.depth.max": "4",
        "urlnormalizer.basic.host.idn": "toAscii",
        "urlnormalizer.loop.count": "3",
    }
    files = {"db-ignore-external-exemptions.txt": "+png\n"}
    said, _, found = converted(tmp_path, site, **files)
    exempt, depth = said.scope[1:3]
    assert (exempt.site, exempt.also_redirects) == ("domain", False)
    assert exempt.file == "db-ignore-external-exemptions.txt"
    assert depth.max_hops == 3
    assert said.uri.normalize[0].idn == "ascii"
    assert said.uri.normalize_loops == 3
    assert {finding.outcome for finding in found.values()} == {Outcome.MAPPED}


@pytest.mark.parametrize(
    ("site", "note"),
    [
        ({"fetcher.server.delay": "soon"}, "cannot be read"),
        ({"fetcher.server.delay": "-5"}, "left out"),
        ({"fetcher.sever.delay": "5"}, "perhaps fetcher.server.delay"),
        ({"my.own": "5"}, "perhaps of a plugin"),
        ({"": "5"}, "not a property"),
        ({"http.agent.rotate": "true"}, "one User-Agent"),
        ({"http.proxy.host": "p", "http.proxy.password": "hush"}, "not copied"),
        ({"indexer.delete": "true"}, "no search index"),
        ({"selenium.driver": "chrome"}, "not run in a browser"),
    ],
)
def test_what_is_flagged_says_why(tmp_path, site, note):
    said, report, found = converted(tmp_path, site)
    finding = found[list(site)[-1]]
    assert finding.outcome is Outcome.FLAGGED
    assert note in finding.note
    assert finding.line == 1 + len(site)
    assert "hush" not in str(said)
    assert f"nutch-site.xml:{finding.line}: " in report.text()


def test_a_property_that_is_overridden_says_where(tmp_path):
    _, report, _ = converted(tmp_path, {"http.timeout": "1"})
    first = next(f for f in report.findings if f.name == "http.timeout")
    assert first.outcome is Outcome.DEFAULTED
    assert first.note == "overridden at nutch-site.xml:2"


def test_seeds_with_metadata(tmp_path):
    folder = conf(tmp_path / "conf")
    (folder / "urls").mkdir()
    (folder / "urls" / "a.txt").write_text("# c\nhttp://a/\tnutch.score=2\n\nhttp://b/\n")
    draft, report = convert(folder)
    assert draft.seeds == ["# c", "http://a/", "", "http://b/"]
    assert any("metadata: nutch.score (1)" in note.what and note.check for note in report.files)
    (tmp_path / "s").write_text("http://c/\n")
    assert convert(folder, tmp_path / "s")[0].seeds == ["http://c/"]
    with pytest.raises(ConfigError, match="no seeds"):
        convert(folder, tmp_path / "absent")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!DOCTYPE c SYSTEM 'x'>\n<configuration/>", "nutch-site.xml:1: this XML has a DOCTYPE"),
        ("<configuration>\n<property>", "nutch-site.xml:2: not well-formed"),
        ("<other/>", "no <configuration>"),
        (xml({"plugin.includes": "("}), "nutch-site.xml:2: plugin.includes is no regular"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, words):
    folder = conf(tmp_path)
    (folder / "nutch-site.xml").write_text(text)
    with pytest.raises(ConfigError, match=words):
        convert(folder)


def test_no_configuration_and_files_outside_of_it(tmp_path):
    with pytest.raises(ConfigError, match=r"no nutch-site\.xml"):
        convert(tmp_path)
    (tmp_path / "secret").write_text("+.")
    site = {"urlfilter.regex.file": "../secret", "plugin.includes": "urlfilter-regex"}
    draft, report = convert(conf(tmp_path / "conf", site))
    assert draft.files == {"adaptive-mimetypes.txt": Path()} or "../secret" not in draft.files
    assert any(note.name == "../secret" and note.check for note in report.files)


def test_the_job_that_is_written(tmp_path):
    draft, report = convert(conf(tmp_path / "conf", {"fetcher.threads.fetch": "3"}))
    write_job(tmp_path / "job", draft, report)
    text = (tmp_path / "job" / "crawl.yaml").read_text()
    assert "parallel: 3  # fetcher.threads.fetch, nutch-site.xml:2" in text
    assert (tmp_path / "job" / "regex-urlfilter.txt").read_text() == REGEX
    assert (tmp_path / "job" / "seeds.txt").read_text().startswith("# There were no seeds")
    told = json.loads((tmp_path / "job" / "migration.json").read_text())
    counts = told["counts"]
    assert counts["input"] == counts["mapped"] + counts["defaulted"] + counts["flagged"]
    assert (tmp_path / "job" / "migration.txt").read_text() == report.text()
    with pytest.raises(JobError, match="a job already"):
        write_job(tmp_path / "job", draft, report)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.dictionaries(st.sampled_from(sorted(DEFAULTS)), st.text("a1.-+|() ,{}$", max_size=9)))
def test_any_values_make_a_job_or_an_error(tmp_path, site):
    try:
        draft, report = convert(conf(tmp_path, site, stock=False))
    except ConfigError as error:
        # The only errors that values can make.
        assert "plugin." in str(error) or ".class)" in str(error)  # noqa: PT017 - as above
        return
    assert len(report.findings) == len(site)
    settle(draft, report)
    load(JobSettings, [Layer("option", draft.tree())])


SCHEDULES = "org.apache.nutch.crawl."
RATES = "# type\tinc\tdec\ntext/html\t0.2\t0.2\napplication/pdf\t0.1\t0.4\n"


def test_the_stock_schedule_is_left_to_the_planner(tmp_path):
    said, _, _ = converted(tmp_path)
    assert (said.recrawl.schedule.kind, said.change.signature) == ("worth", "blocks")


def test_a_schedule_is_taken_over(tmp_path):
    site = {
        "db.fetch.schedule.class": SCHEDULES + "AdaptiveFetchSchedule",
        "db.fetch.interval.default": "604800",
        "db.fetch.schedule.adaptive.inc_rate": "0.2",
        "db.fetch.schedule.adaptive.sync_delta": "false",
        "db.fetch.retry.max": "5",
    }
    said, _, found = converted(tmp_path, site)
    nutch = said.recrawl.schedule.nutch
    assert said.recrawl.schedule.kind == "nutch-adaptive"
    assert (nutch.interval, nutch.inc_rate, nutch.dec_rate) == (604800, 0.2, 0.2)
    assert (nutch.sync_delta, nutch.retry_max) == (False, 5)
    assert {name: fate.outcome for name, fate in found.items()} == dict.fromkeys(
        site, Outcome.MAPPED
    )


def test_another_interval_alone_means_the_fixed_schedule(tmp_path):
    said, _, found = converted(tmp_path, {"db.fetch.interval.default": "86400"})
    assert said.recrawl.schedule.kind == "nutch-default"
    assert said.recrawl.schedule.nutch.interval == 86400
    assert found["db.fetch.interval.default"].target == "recrawl.schedule.nutch.interval"


def test_rates_by_media_type_come_with_their_file(tmp_path):
    site = {"db.fetch.schedule.class": SCHEDULES + "MimeAdaptiveFetchSchedule"}
    folder = conf(tmp_path / "conf", site, **{"adaptive-mimetypes.txt.template": RATES})
    draft, report = convert(folder)
    write_job(tmp_path / "job", draft, report)
    said = load(JobSettings, [Layer("option", draft.tree())]).settings
    name = said.recrawl.schedule.nutch.mime_file
    assert (said.recrawl.schedule.kind, name) == ("nutch-mime-adaptive", "adaptive-mimetypes.txt")
    assert mime_rates(said, RuleFiles(tmp_path / "job"))["application/pdf"] == (0.1, 0.4)
    (tmp_path / "job" / name).write_text("text/html 0.2 0.2\n")
    broken = examine_rule_files(said, RuleFiles(tmp_path / "job")).problems
    assert [problem.path for problem in broken] == ["recrawl.schedule.nutch.mime_file"]
    assert "line 1" in broken[0].message
    (tmp_path / "job" / name).unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        mime_rates(said, RuleFiles(tmp_path / "job"))
    (folder / "adaptive-mimetypes.txt.template").unlink()
    _, report = convert(folder)
    flagged = {f.name for f in report.findings if f.outcome is Outcome.FLAGGED}
    assert "db.fetch.schedule.mime.file" in flagged


HOSTS = """# host min max
www.a.example 3600 default
news.example 60 86400
NEWS2.example 60 86400
quiet.example 0 default
slow.example default 3600
broken 5
"""


def test_bounds_of_hosts_become_sheets(tmp_path):
    name = "adaptive-host-specific-intervals.txt"
    site = {"db.fetch.schedule.class": SCHEDULES + "AdaptiveFetchSchedule"}
    said, report, _ = converted(tmp_path, site, **{name: HOSTS})
    path = "recrawl.schedule.nutch."
    assert dict(said.sheets) == {
        "min3600": {path + "min_interval": 3600.0},
        "min60-max86400": {path + "min_interval": 60.0, path + "max_interval": 86400.0},
        "max3600": {path + "max_interval": 3600.0},
    }
    assert [one.surts for one in said.sheet_associations] == [
        ("http://www.a.example/",), ("http://news.example/", "http://news2.example/"),
        ("http://slow.example/",),
    ]  # fmt: skip
    note = next(note for note in report.files if note.name == name)
    assert (note.check, "lines that are no" in note.what) == (True, True)
    said, _, _ = converted(tmp_path / "stock", **{name: HOSTS})
    assert not said.sheets


@pytest.mark.parametrize(
    ("site", "flagged"),
    [
        ({"db.fetch.interval.default": "monthly"}, "db.fetch.interval.default"),
    ],
)
def test_what_is_not_known_of_schedules_is_flagged(tmp_path, site, flagged):
    _, _, found = converted(tmp_path, site)
    assert found[flagged].outcome is Outcome.FLAGGED


def test_a_signature_is_taken_over(tmp_path):
    site = {
        "db.signature.class": SCHEDULES + "TextProfileSignature",
        "db.signature.text_profile.quant_rate": "0.05",
    }
    said, _, found = converted(tmp_path, site)
    assert (said.change.signature, said.change.text_profile.quant_rate) == ("text-profile", 0.05)
    assert "text-profile-cjk" in found["db.signature.class"].note
