"""Beans of Heritrix 3: what becomes of each."""

import asyncio
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.job.checks import check
from nacre.machine.layout import Layout
from nacre.settings.load import examine_job
from nacre_migrate.draft import write_job
from nacre_migrate.files import open_xml
from nacre_migrate.heritrix.convert import convert
from nacre_migrate.heritrix.mappings import CRAWL_CLASSES, FETCH_CLASSES
from nacre_migrate.report import MigrationOutcome
from tests.migrate.heritrix.xmltext import (
    PACKAGE,
    bean,
    cxml,
    migrated,
    rule,
    rules,
)


def things(root) -> Counter[str]:
    """Beans, properties and entries of sheets of a document, counted by hand."""
    found = Counter(one.tag for one in root.walk() if one.tag in {"bean", "property", "entry"})
    return Counter({"bean": found["bean"], "property": found["property"]})


def test_the_stock_profile_loses_nothing(samples, tmp_path):
    file = samples / "profile-crawler-beans.cxml"
    draft, report = convert(file)
    flagged = {f.name: f for f in report.findings if f.outcome is MigrationOutcome.FLAGGED}
    assert set(flagged) == {"metadata.operatorContactUrl"}
    assert flagged["metadata.operatorContactUrl"].line == 40
    kinds = report.as_json()["kinds"]
    assert things(open_xml(file)) == {kind: kinds[kind] for kind in ("bean", "property")}
    assert (kinds["override"], kinds["entry"]) == (4, 9)
    write_job(tmp_path / "job", draft, report)
    layout = Layout(tmp_path / "job")
    loaded, problems = examine_job(layout)

    async def nowhere(_):
        return ()

    found = asyncio.run(check(layout, loaded, problems, nowhere))
    # Its one seed is a placeholder, which is kept as a comment.
    assert [one.message for one in found.problems] == ["there is no seed"]
    assert found.warnings == []


def test_the_self_test_of_heritrix(samples):
    file = samples / "selftest-crawler-beans.cxml"
    draft, report = convert(file, "https://library.example/bot")
    assert draft.settings["fetch.contact"] == "https://library.example/bot"
    assert draft.settings["engine.source_tags"] is True
    found = {f.name: f for f in report.findings}
    # As in the file: the longest wait is under the shortest.
    assert (found["disposition.maxDelayMs"].line, found["disposition.maxDelayMs"].kind) == (
        24,
        "override",
    )
    assert draft.settings["politeness.max_delay"] == 0.05
    assert sum(report.counts().values()) == len(report.findings)


@pytest.mark.parametrize(
    ("kind", "values", "path", "value"),
    [
        ("CrawlController", {"maxToeThreads": "50"}, "engine.parallel", 50),
        ("BdbFrontier", {"retryDelaySeconds": "300"}, "frontier.retry_delay_max", 300.0),
        ("BdbFrontier", {"maxOutlinks": "100"}, "extract.max_outlinks", 100),
        ("DispositionProcessor", {"minDelayMs": "500"}, "politeness.min_delay", 0.5),
        (
            "DispositionProcessor",
            {"maxPerHostBandwidthUsageKbSec": "10"},
            "bandwidth.per_host",
            10_240,
        ),
        ("FetchHTTP", {"soTimeoutMs": "7000"}, "fetch.silence_timeout", 7.0),
        ("FetchHTTP", {"ignoreCookies": "true"}, "cookies.enabled", False),
        ("FetchHTTP", {"sslTrustLevel": "STRICT"}, "fetch.tls", "strict"),
        ("ExtractorHTML", {"extractOnlyFormGets": "false"}, "extract.only_form_gets", False),
        ("WARCWriterChainProcessor", {"prefix": "XY"}, "archive.prefix", "XY"),
        ("CrawlLimitEnforcer", {"maxDocumentsDownload": "9"}, "limits.documents", 9),
        ("QuotaEnforcer", {"hostMaxSuccessKb": "2"}, "quotas.host.success_bytes", 2048),
        ("RuntimeLimitEnforcer", {"expirationOperation": "TERMINATE"}, "limits.runtime.action",
         "terminate"),
        ("DiskSpaceMonitor", {"pauseThresholdMiB": "10"}, "disk.reserve", 10 << 20),
        ("BdbCookieStore", {"cookiesSaveFile": "c.txt"}, "cookies.save_file", "c.txt"),
        ("CheckpointService", {"checkpointIntervalMinutes": "30"}, "checkpoint.interval", 1800.0),
        ("PreconditionEnforcer", {"robotsValidityDurationSeconds": "7200"}, "robots.ttl", 7200.0),
        ("HostnameQueueAssignmentPolicy", {"parallelQueues": "2"},
         "frontier.queue_assignment.parallel_queues", 2),
        ("HopsUriPrecedencePolicy", {"navlinksOnly": "false"},
         "frontier.uri_precedence.navlinks_only", False),
        ("WagCostAssignmentPolicy", {}, "frontier.cost", "wag"),
        ("SuccessCountsQueuePrecedencePolicy", {"incrementCounts": "5,6"},
         "frontier.queue_precedence.increments", (5, 6)),
        ("CrawlMetadata", {"operatorFrom": "a@b.org"}, "fetch.mail_from", "a@b.org"),
        ("CrawlMetadata", {"robotsPolicyName": "ignore"}, "robots.policy", "ignore"),
        ("TextSeedModule", {"sourceTagSeeds": "true"}, "engine.source_tags", True),
    ],
)  # fmt: skip
def test_values(tmp_path, kind, values, path, value):
    said, _, found = migrated(tmp_path, cxml(bean("x", kind, **values)))
    node = said
    for name in path.split("."):
        node = getattr(node, name)
    assert node == value
    for name in values:
        assert found[f"x.{name}"].outcome is MigrationOutcome.MAPPED
        assert path in found[f"x.{name}"].target
        assert found[f"x.{name}"].line == 2


@pytest.mark.parametrize("value", ["7", "true", "word"])
def test_every_property_of_every_class_ends_as_something(tmp_path, value):
    for kind, known in {**FETCH_CLASSES, **CRAWL_CLASSES}.items():
        text = cxml(bean("x", kind, **dict.fromkeys(known.properties, value)))
        _, _, found = migrated(tmp_path, text)
        for name in known.properties:
            ours = found[f"x.{name}"]
            assert ours.outcome is MigrationOutcome.MAPPED or ours.note, (kind, name)
            assert ours.target or ours.outcome is not MigrationOutcome.MAPPED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!DOCTYPE beans SYSTEM 'x'>\n<beans/>", "crawler-beans.cxml:1: this XML has a DOCTYPE"),
        ("<beans>\n<bean>", "crawler-beans.cxml:2: not well-formed"),
        ("<project/>", "neither <beans> nor <crawl-order>"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, words):
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=words):
        convert(file)
    groovy = tmp_path / "crawler-beans.groovy"
    with pytest.raises(ConfigError, match="Groovy"):
        convert(groovy)


def test_the_job_that_is_written(tmp_path):
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(
        cxml(rules(rule("RejectDecideRule")), bean("d", "DispositionProcessor", minDelayMs="500"))
    )
    draft, report = convert(file)
    write_job(tmp_path / "job", draft, report)
    text = (tmp_path / "job" / "crawl.yaml").read_text()
    assert "min_delay: 0.5  # d.minDelayMs, crawler-beans.cxml:3" in text
    assert "- rule: reject  # RejectDecideRule, crawler-beans.cxml:2" in text
    told = json.loads((tmp_path / "job" / "migration.json").read_text())["counts"]
    assert told["input"] == told["mapped"] + told["defaulted"] + told["flagged"]


_TABLES = {**FETCH_CLASSES, **CRAWL_CLASSES}


_KINDS = [*sorted(_TABLES), "Sheet", "Mine", "DecideRuleSequence", "FetchChain"]


_VALUES = st.text("a1.-+|() ,{}$#/:", max_size=9) | st.sampled_from(["true", "0", "-1", "1e9"])


@st.composite
def documents(draw):
    names = st.sampled_from(["scope", "frontier", "x", "seeds", "metadata", "disposition"])
    beans = []
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(_KINDS))
        known = sorted(_TABLES[kind].properties) if kind in _TABLES else []
        some = st.sampled_from([*known, "enabled", "rules", "map", "zzz"])
        chosen = draw(st.lists(some, max_size=4))
        inner = ""
        for name in chosen:
            value = draw(_VALUES).replace("&", "")
            shape = draw(st.integers(0, 4))
            body = [
                f"<value>{value}</value>",
                f"<list><value>{value}</value></list>",
                f"<map><entry key='{value}' value='1'/></map>",
                f"<bean class='{PACKAGE}{draw(st.sampled_from(_KINDS))}'/>",
                f"<ref bean='{draw(names)}'/>",
            ][shape]
            inner += f"<property name='{name}'>{body}</property>"
        beans.append(f"<bean id='{draw(names)}' class='{PACKAGE}{kind}'>{inner}</bean>")
    return cxml(*beans)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
    deadline=None,
)
@given(documents())
def test_any_beans_make_a_job_and_each_is_accounted_for(tmp_path, text):
    file = tmp_path / "crawler-beans.cxml"
    _, report, _ = migrated(tmp_path, text)
    kinds = report.as_json()["kinds"]
    counted = things(open_xml(file))
    assert {kind: kinds.get(kind, 0) for kind in counted} == dict(counted)
    assert sum(report.counts().values()) == len(report.findings)
    assert all(finding.note for finding in report.findings if finding.flag)
