"""Configurations of Nutch, as a whole."""

import json
from operator import attrgetter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.errors import ConfigError, JobError
from nacre.settings.settings import JobSettings
from nacre_migrate.draft import settle, write_job
from nacre_migrate.nutch.conf import STOCK
from nacre_migrate.nutch.convert import convert
from nacre_migrate.report import MigrationOutcome
from tests.migrate.nutch.conffiles import REGEX, conf, converted, xml


def test_the_stock_configuration_loses_nothing(tmp_path):
    said, report, _ = converted(tmp_path)
    flagged = [f.name for f in report.findings if f.outcome is MigrationOutcome.FLAGGED]
    assert flagged == ["http.agent.name"]
    assert (said.politeness.delay, said.engine.parallel) == (5.0, 10)
    assert [step.normalizer for step in said.uri.normalize] == ["basic", "regex", "pass"]


@pytest.mark.parametrize(
    ("site", "path", "value"),
    [
        ({"fetcher.server.delay": "2.5"}, "politeness.delay", 2.5),
        ({"http.timeout": "${x}", "x": "3000"}, "fetch.silence_timeout", 3.0),
        ({"http.content.limit": "-1"}, "fetch.max_length", 0),
        ({"http.content.limit": "65536"}, "fetch.max_length", 65536),
        ({"fetcher.timelimit.mins": "10"}, "limits.time", 600.0),
        ({"fetcher.timelimit.mins": "10"}, "cycle.fetch.time_limit", 600.0),
        ({"fetcher.throughput.threshold.pages": "3"}, "cycle.fetch.throughput", 3),
        ({"db.fetch.retry.max": "5"}, "cycle.update.retry_max", 5),
        ({"db.fetch.retry.max": "0"}, "cycle.update.retry_max", 1),
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
                f"Accept: {STOCK['http.accept']}",
                "Accept-Language: zh",
                f"Accept-Charset: {STOCK['http.accept.charset']}",
            ),
        ),
    ],
)
def test_values_that_the_operator_set(tmp_path, site, path, value):
    said, _, found = converted(tmp_path, site)
    assert attrgetter(path)(said) == value
    last = next(iter(site))
    assert found[last].outcome is MigrationOutcome.MAPPED
    assert path in found[last].target


def test_a_proxy_without_its_password(tmp_path):
    site = {"http.proxy.host": "p", "http.proxy.port": "8", "http.proxy.type": "SOCKS"}
    draft, report = convert(conf(tmp_path, {**site, "http.proxy.password": "hush"}, stock=False))
    assert draft.settings["fetch.proxy"] == "socks5://p:8"
    assert [f.outcome for f in report.findings] == [
        *[MigrationOutcome.MAPPED] * 3,
        MigrationOutcome.FLAGGED,
    ]
    assert "hush" not in draft.yaml("nutch") + report.text() + report.json_text()


OTHERS = {
    "db.fetch.schedule.class": "org.apache.nutch.crawl.AdaptiveFetchSchedule",
    "db.signature.class": "org.apache.nutch.crawl.TextProfileSignature",
}


def test_every_changed_property_is_mapped_or_flagged_or_says_why_not(tmp_path):
    for name, stock in STOCK.items():
        other = stock.replace("index-(basic|anchor)|", "")
        changed = f"{stock}7" if other == stock else other
        changed = OTHERS.get(name, changed)
        _, report = convert(conf(tmp_path, {name: changed}, stock=False))
        (finding,) = report.findings
        assert finding.outcome is MigrationOutcome.MAPPED or finding.note, name
        assert finding.note != "its stock value", name


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
        ({"indexer.delete": "true"}, "cycle.index"),
        ({"selenium.driver": "chrome"}, "not run in a browser"),
    ],
)
def test_what_is_flagged_says_why(tmp_path, site, note):
    said, report, found = converted(tmp_path, site)
    finding = found[list(site)[-1]]
    assert finding.outcome is MigrationOutcome.FLAGGED
    assert note in finding.note
    assert finding.line == 1 + len(site)
    assert "hush" not in str(said)
    assert f"nutch-site.xml:{finding.line}: " in report.text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!DOCTYPE c SYSTEM 'x'>\n<configuration/>", "nutch-site.xml:1: this XML has a DOCTYPE"),
        ("<configuration>\n<property>", "nutch-site.xml:2: not well-formed"),
        ("<other/>", "no <configuration>"),
        (xml({"plugin.includes": "("}), "nutch-site.xml:2: plugin.includes is not a regular"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, words):
    folder = conf(tmp_path)
    (folder / "nutch-site.xml").write_text(text)
    with pytest.raises(ConfigError, match=words):
        convert(folder)


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
@given(st.dictionaries(st.sampled_from(sorted(STOCK)), st.text("a1.-+|() ,{}$", max_size=9)))
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
