"""Beans of Heritrix 3: what becomes of each."""

import asyncio
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from nacre.errors import ConfigError
from nacre.job.checks import check
from nacre.job.configuration.configure import examine_job
from nacre.job.layout import Layout
from nacre.migrate.draft import write_job
from nacre.migrate.heritrix.convert import convert
from nacre.migrate.heritrix.table_crawl import CRAWL_KINDS
from nacre.migrate.heritrix.table_fetch import FETCH_KINDS
from nacre.migrate.report import Flag, Outcome
from nacre.migrate.xml import open_xml
from nacre.scope.compile import compile_scope
from nacre.scope.rule import Facts, Need, Subject
from nacre.scope.rules import AnyRule, stock_rules
from nacre.scope.state import ScopeState
from tests.cases.table import cases_folder, json_lines
from tests.migrate.heritrix.xmltext import PACKAGE, bean, cxml, migrated

_RULES = "org.archive.modules.deciderules."
_TABLE: TypeAdapter[tuple[AnyRule, ...]] = TypeAdapter(tuple[AnyRule, ...])


def rules(*inner: str) -> str:
    return (
        f'<bean id="scope" class="{_RULES}DecideRuleSequence"><property name="rules"><list>'
        + "".join(inner)
        + "</list></property></bean>"
    )


def rule(kind: str, inner: str = "", name: str = "") -> str:
    said = f' id="{name}"' if name else ""
    return f'<bean{said} class="{_RULES}{kind}">{inner}</bean>'


def prop(name: str, inner: str) -> str:
    return f'<property name="{name}">{inner}</property>'


def texts(*values: str) -> str:
    return "<list>" + "".join(f"<value>{value}</value>" for value in values) + "</list>"


@pytest.fixture(scope="module")
def samples():
    folder = cases_folder().parent / "samples" / "heritrix"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    return folder


def things(root) -> Counter[str]:
    """Beans, properties and entries of sheets of a document, counted by hand."""
    found = Counter(one.tag for one in root.walk() if one.tag in {"bean", "property", "entry"})
    return Counter({"bean": found["bean"], "property": found["property"]})


def test_the_stock_profile_loses_nothing(samples, tmp_path):
    file = samples / "profile-crawler-beans.cxml"
    draft, report = convert(file)
    flagged = {f.name: f for f in report.findings if f.outcome is Outcome.FLAGGED}
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


def test_the_stock_scope_decides_as_before(samples):
    draft, _ = convert(samples / "profile-crawler-beans.cxml")
    ours = _TABLE.validate_python(draft.settings["scope"])
    seen = 0
    for row in json_lines("decide_rules.jsonl")(cases_folder()):
        uri, config = row["uri"], row["config"]
        answers = []
        for one in (ours, stock_rules()):
            state = ScopeState()
            for seed in config.get("seeds", ()):
                state.add_seed(seed)
            subject = Subject(
                uri["url"],
                uri.get("hops", ""),
                uri.get("via", ""),
                is_seed=uri.get("is_seed", False),
                source=uri.get("source_tag", ""),
                facts=Facts(status=uri.get("status", 0)),
            )
            answers.append(compile_scope(one, state, Need(0)).decide(subject).decision)
        assert answers[0] == answers[1], uri
        seen += 1
    assert seen > 100


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
        assert found[f"x.{name}"].outcome is Outcome.MAPPED
        assert path in found[f"x.{name}"].target
        assert found[f"x.{name}"].line == 2


@pytest.mark.parametrize("value", ["7", "true", "word"])
def test_every_property_of_every_class_ends_as_something(tmp_path, value):
    for kind, known in {**FETCH_KINDS, **CRAWL_KINDS}.items():
        text = cxml(bean("x", kind, **dict.fromkeys(known.properties, value)))
        _, _, found = migrated(tmp_path, text)
        for name in known.properties:
            ours = found[f"x.{name}"]
            assert ours.outcome is Outcome.MAPPED or ours.note, (kind, name)
            assert ours.target or ours.outcome is not Outcome.MAPPED


def test_metadata_and_the_user_agent(tmp_path):
    text = cxml(
        bean(
            "metadata",
            "CrawlMetadata",
            operatorContactUrl="http://a.example/bot",
            userAgentTemplate="Mozilla/5.0 (compatible; my_bot/@VERSION@ +@OPERATOR_CONTACT_URL@)",
            jobName="j",
            organization="O",
        )
    )
    said, _, found = migrated(tmp_path, text)
    assert said.fetch.user_agent == "Mozilla/5.0 (compatible; my_bot/{version} +{contact})"
    assert (said.fetch.contact, said.robots.agent) == ("http://a.example/bot", "my_bot")
    assert (said.name, said.archive.publisher) == ("j", "O")
    assert said.extract.obey_meta_robots
    said, _, found = migrated(tmp_path, text, "b@c.org")
    assert said.fetch.contact == "b@c.org"
    assert found["metadata.operatorContactUrl"].outcome is Outcome.DEFAULTED
    with pytest.raises(ConfigError, match="reaches nobody"):
        migrated(tmp_path, text, "nobody")


def test_robots_policies_that_are_beans(tmp_path):
    custom = rule("x", prop("customRobots", "<value>User-agent: *\nDisallow: /x</value>"))
    policy = custom.replace(f"{_RULES}x", "org.archive.modules.net.CustomRobotsPolicy")
    text = cxml(
        '<bean id="metadata" class="org.archive.modules.CrawlMetadata">'
        '<property name="robotsPolicyName" value="own"/>'
        + prop("availableRobotsPolicies", f'<map><entry key="own">{policy}</entry></map>')
        + "</bean>"
    )
    said, report, _ = migrated(tmp_path, text)
    assert said.robots.policy == "custom"
    assert "Disallow: /x" in said.robots.custom
    assert report.counts()["flagged"] == 0


def test_a_scope_of_any_nesting(tmp_path):
    (tmp_path / "bad.txt").write_text("http://bad.example/\n")
    text = cxml(
        rule("surt.SurtPrefixedDecideRule", name="good"),
        rules(
            rule("RejectDecideRule"),
            '<ref bean="good"/>',
            rule("surt.NotOnDomainsDecideRule", '<property name="decision" value="REJECT"/>'),
            rule(
                "surt.SurtPrefixedDecideRule",
                prop(
                    "surtsSource",
                    '<bean class="org.archive.spring.ConfigFile">'
                    '<property name="path" value="bad.txt"/></bean>',
                )
                + '<property name="seedsAsSurtPrefixes" value="false"/>'
                '<property name="decision" value="REJECT"/>',
            ),
            rule(
                "DecideRuleSequence",
                prop(
                    "rules",
                    "<list>"
                    + rule("MatchesListRegexDecideRule", prop("regexList", texts(".*a", ".*b")))
                    + "</list>",
                ),
                name="inner",
            ),
            rule("TooManyHopsDecideRule", '<property name="maxHops" value="3"/>'),
        ),
    )
    said, report, found = migrated(tmp_path, text)
    assert [one.rule for one in said.scope] == [
        "reject", "surt-prefixed", "not", "surt-prefixed", "sequence", "too-many-hops",
    ]  # fmt: skip
    assert said.scope[3].files == ("bad.txt",)
    assert said.scope[4].rules[0].regexes == (".*a", ".*b")
    assert (said.scope[1].name, said.scope[4].name) == ("good", "inner")
    assert said.scope[5].max_hops == 3
    assert report.counts()["flagged"] == 0
    assert found["scope"].target == "scope"


@pytest.mark.parametrize(
    ("inner", "name", "words", "left"),
    [
        (
            rule("TooManyHopsDecideRule", '<property name="maxHops" value="many"/>'),
            "TooManyHopsDecideRule.maxHops", "left out", 2,
        ),
        (
            rule("MatchesRegexDecideRule", '<property name="regex" value="(a"/>'),
            "MatchesRegexDecideRule.regex", "left out", 2,
        ),
        (
            rule("TooManyHopsDecideRule", '<property name="maxHop" value="1"/>'),
            "TooManyHopsDecideRule.maxHop", "left out", 2,
        ),
        (
            rule("TooManyHopsDecideRule", '<property name="maxHops" value="#{1+1}"/>'),
            "TooManyHopsDecideRule.maxHops", "a sum is more than", 2,
        ),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_had_are_flagged(tmp_path, inner, name, words, left):
    said, _, found = migrated(tmp_path, cxml(rules(rule("RejectDecideRule"), inner)))
    assert words in found[name].note
    assert found[name].outcome is Outcome.FLAGGED
    assert len(said.scope) == left


def test_sheets_and_their_associations(tmp_path):
    def sheet(name, **values):
        said = ((key.replace("_", "."), value) for key, value in values.items())
        entries = "".join(f"<entry key='{key}' value='{value}'/>" for key, value in said)
        inner = prop("map", f"<map>{entries}</map>")
        return f"<bean id='{name}' class='org.archive.spring.Sheet'>{inner}</bean>"

    text = cxml(
        bean("disposition", "DispositionProcessor"),
        bean("frontier", "BdbFrontier"),
        bean("preselector", "Preselector"),
        rule("TooManyHopsDecideRule", name="hops"),
        rules(rule("RejectDecideRule"), '<ref bean="hops"/>'),
        sheet("slow", disposition_minDelayMs="9000", hops_maxHops="2", preselector_blockAll="true"),
        sheet("odd", frontier_nothing="1", nobody_x="2", disposition_delayFactor="much"),
        f"<bean class='{PACKAGE}spring.SurtPrefixesSheetAssociation'>"
        + prop("surtPrefixes", texts("http://(org,example,", " http://b.org/ "))
        + prop("targetSheetNames", texts("slow", "gone"))
        + "</bean>",
        f"<bean class='{PACKAGE}spring.DecideRuledSheetAssociation'>"
        + prop("rules", rule("MatchesRegexDecideRule", "<property name='regex' value='.*z'/>"))
        + prop("targetSheetNames", texts("slow"))
        + "<property name='order' value='3'/></bean>",
    )
    said, _, found = migrated(tmp_path, text)
    assert said.sheets["slow"] == {
        "politeness.min_delay": 9.0,
        "scope.hops.max_hops": 2,
        "chains.fetch.preselect.block_all": True,
    }
    assert said.sheets["odd"] == {}
    first, second = said.sheet_associations
    assert first.surts == ("http://(org,example,", "http://b.org/")
    assert (first.sheets, second.sheets, second.order) == (("slow",), ("slow",), 3)
    for name in ("frontier.nothing", "nobody.x", "disposition.delayFactor"):
        assert found[f"odd.{name}"].flag is Flag.CHECK
    target = found["SurtPrefixesSheetAssociation.targetSheetNames"]
    assert "no sheet gone" in target.note


def test_overrides_of_all_kinds(tmp_path):
    override = "org.springframework.beans.factory.config.PropertyOverrideConfigurer"
    text = cxml(
        f"<bean id='simpleOverrides' class='{override}'><property name='properties'><value>",
        "# a comment",
        "crawlController.maxToeThreads=7",
        "nobody.x=1",
        "scope.rules[1].maxHops=4",
        "</value></property></bean>",
        f"<bean class='{override}'><property name='properties'><props>",
        "<prop key='crawlController.maxToeThreads'>9</prop></props></property></bean>",
        bean("crawlController", "CrawlController", maxToeThreads="1"),
        rules(rule("RejectDecideRule"), rule("TooManyHopsDecideRule")),
    )
    said, report, found = migrated(tmp_path, text)
    assert (said.engine.parallel, said.scope[1].max_hops) == (9, 4)
    assert "no bean nobody" in found["nobody.x"].note
    threads = [f for f in report.findings if f.name == "crawlController.maxToeThreads"]
    assert [(f.line, f.outcome.value) for f in threads] == [
        (4, "defaulted"),
        (9, "mapped"),
        (10, "defaulted"),
    ]


def test_lines_of_overrides_behind_a_comment(tmp_path):
    override = "org.springframework.beans.factory.config.PropertyOverrideConfigurer"
    text = cxml(
        f"<bean id='o' class='{override}'><property name='properties'>",
        "<value><!-- two",
        "lines -->",
        "c.maxToeThreads=7",
        "</value></property></bean>",
        bean("c", "CrawlController"),
    )
    _, _, found = migrated(tmp_path, text)
    assert found["c.maxToeThreads"].line == 5


def test_processors_in_no_chain_and_switched_off(tmp_path):
    chain = "<bean id='fetchProcessors' class='org.archive.modules.FetchChain'>" + prop(
        "processors", "<list><ref bean='http'/><ref bean='html'/><ref bean='css'/></list>"
    )
    gate = prop("shouldProcessRule", rule("MatchesRegexDecideRule"))
    text = cxml(
        bean("http", "FetchHTTP", timeoutSeconds="5").replace("</bean>", gate + "</bean>"),
        bean("html", "ExtractorHTML"),
        bean("css", "ExtractorCSS", enabled="false"),
        bean("js", "ExtractorJS"),
        bean("warc", "WARCWriterProcessor", prefix="NO"),
        chain + "</bean>",
    )
    said, _, found = migrated(tmp_path, text)
    assert (said.extract.extract_css, said.extract.extract_javascript) == (False, False)
    assert said.extract.extract_html
    assert said.archive.prefix == "NACRE"
    assert "in no chain" in found["warc"].note
    fetch = next(entry for entry in said.chains.fetch if entry.processor == "fetch-http")
    assert [one.rule for one in fetch.gate] == ["matches-regex"]
    assert found["http.shouldProcessRule"].outcome is Outcome.MAPPED


def test_processors_that_the_stock_chains_do_not_have(tmp_path):
    gate = prop("shouldProcessRule", rule("MatchesRegexDecideRule"))
    text = cxml(
        bean("pdf", "ExtractorPDF", maxSizeToParse="5000").replace("</bean>", gate + "</bean>"),
        bean("any", "ExtractorUniversal"),
        bean("implied", "ExtractorImpliedURI", regex="(.*)/x", format="$1/y"),
        bean("digest", "HTTPContentDigest", stripRegex="[0-9]+"),
        bean("again", "ReschedulingProcessor", rescheduleDelaySeconds="60"),
        bean("uri", "ExtractorURI", enabled="false"),
        bean("other", "ExtractorPDF"),
        bean("mapper", "HashCrawlMapper"),
    )
    said, _, found = migrated(tmp_path, text)
    fetch = {entry.label: entry for entry in said.chains.fetch}
    behind = list(fetch)[list(fetch).index("extract") + 1 :]
    assert behind == ["pdf", "other", "extract-implied-uri", "extract-universal"]
    assert fetch["pdf"].max_size == 5000
    assert [one.rule for one in fetch["pdf"].gate] == ["matches-regex"]
    assert fetch["extract-implied-uri"].format == "$1/y"
    assert fetch["content-digest"].strip_regex == "[0-9]+"
    assert said.chains.disposition[-1].delay == 60
    assert found["pdf"].outcome is Outcome.MAPPED
    assert found["other"].outcome is found["implied.regex"].outcome is Outcome.MAPPED
    assert found["mapper"].flag is Flag.CHECK


def test_mappers_supplementary_rules_and_made_uris_in_the_order_of_the_chain(tmp_path):
    def chain(kind, *names):
        refs = "".join(f"<ref bean='{name}'/>" for name in names)
        inner = prop("processors", f"<list>{refs}</list>")
        return f"<bean id='{kind}' class='org.archive.modules.{kind}'>{inner}</bean>"

    sheet = "<map><entry key='b.format' value='$1/z'/><entry key='b.enabled' value='false'/></map>"
    text = cxml(
        bean("m", "HashCrawlMapper", localName="1", crawlerCount="4", checkUri="true"),
        bean("a", "ExtractorImpliedURI", regex="(.*)/x", format="$1/y"),
        bean("b", "ExtractorImpliedURI", regex="(.*)/u", format="$1/v", wrong="1"),
        "<bean id='s' class='org.archive.x.SupplementaryLinksScoper'>"
        + prop("supplementaryRule", rule("AcceptDecideRule"))
        + "</bean>",
        "<bean id='r' class='org.archive.ExtractorMultipleRegex'>"
        "<property name='uriRegex' value='.*'/>"
        + prop("contentRegexes", "<map><entry key='n' value='n=(.)'/></map>")
        + "<property name='template' value='http://a/${n[1]}'/></bean>",
        bean("h", "FetchHTTP"),
        bean("html", "ExtractorHTML"),
        bean("w", "WARCWriterProcessor"),
        bean("c", "CandidatesProcessor"),
        chain("FetchChain", "m", "h", "html", "b", "a", "r"),
        chain("DispositionChain", "w", "s", "c"),
        "<bean id='x' class='org.archive.spring.Sheet'>" + prop("map", sheet) + "</bean>",
    )
    said, _, found = migrated(tmp_path, text)
    fetch = {entry.label: entry for entry in said.chains.fetch}
    behind = list(fetch)[list(fetch).index("extract") + 1 :]
    assert behind == ["b", "a", "extract-multiple-regex"]
    assert fetch["b"].format == "$1/v"
    assert fetch["extract-multiple-regex"].content_regexes == {"n": "n=(.)"}
    assert fetch["hash-crawl-mapper"].crawler_count == 4
    labels = [entry.label for entry in said.chains.disposition]
    assert labels.index("supplementary-links") == labels.index("archive") + 1
    assert said.sheets["x"] == {
        "chains.fetch.b.format": "$1/z",
        "chains.fetch.b.enabled": False,
    }
    assert found["b.wrong"].flag is Flag.CHECK


def test_writers_proxies_headers_and_logins(tmp_path):
    login = (
        "<bean class='org.archive.modules.credential.HttpAuthenticationCredential'>"
        "<property name='password' value='hush'/></bean>"
    )
    text = cxml(
        "<bean id='w' class='org.archive.x.WARCWriterChainProcessor'>"
        "<property name='directory' value='/disk'/>"
        + prop("storePaths", texts("a", "b"))
        + prop(
            "chain", "<list><bean class='org.archive.modules.warc.MetadataRecordBuilder'/></list>"
        )
        + "</bean>",
        "<bean id='h' class='org.archive.x.FetchHTTP'><property name='httpProxyHost' value='p'/>"
        "<property name='httpProxyPort' value='3128'/>"
        "<property name='httpProxyPassword' value='hush'/>"
        + prop("acceptHeaders", texts("Accept: a", "Accept-Language: zh"))
        + "</bean>",
        "<bean id='c' class='org.archive.x.CredentialStore'>"
        + prop("credentials", f"<map><entry key='k'>{login}</entry></map>")
        + "</bean>",
    )
    said, report, found = migrated(tmp_path, text)
    assert said.archive.directories == ("/disk/a", "/disk/b")
    assert said.fetch.accept == ("Accept: a", "Accept-Language: zh")
    assert said.fetch.proxy_server.port == 3128
    assert "HttpResponse" in found["w.chain"].note
    assert found["c.credentials"].flag is Flag.CHECK
    assert "hush" not in report.text() + report.json_text()


def test_canonicalization(tmp_path):
    def policy(*inner):
        return cxml(
            "<bean id='canonicalizationPolicy' class='org.archive.x.RulesCanonicalizationPolicy'>"
            + prop("rules", "<list>" + "".join(inner) + "</list>")
            + "</bean>"
        )

    def one(name, inner=""):
        return f"<bean class='org.archive.modules.canonicalize.{name}'>{inner}</bean>"

    stock = ("LowercaseRule", "StripUserinfoRule", "StripWWWNRule", "StripSessionIDs")
    more = ("StripSessionCFIDs", "FixupQueryString")
    said, _, _ = migrated(tmp_path, policy(*map(one, stock + more)))
    assert said.uri.canonical == "heritrix"
    regex = prop("regex", "<value>(.*)x</value>") + prop("format", "<value>$1</value>")
    off = "<property name='enabled' value='false'/>"
    text = policy(one("LowercaseRule", off), one("RegexRule", regex), one("Mine"))
    said, _, found = migrated(tmp_path, text, answers={"Mine": "drop"})
    assert [(step.rule, step.regex) for step in said.uri.canonical] == [("Regex", "(.*)x")]
    assert found["Mine"].flag is Flag.NO_EQUIVALENT


def test_spring_in_other_words(tmp_path):
    text = cxml(
        "<import resource='other.xml'/>",
        "<alias name='http' alias='fetcher'/>",
        "<bean id='above' abstract='true' class='org.archive.x.FetchHTTP'>"
        "<property name='timeoutSeconds' value='9'/></bean>",
        "<bean id='http' parent='above' p:soTimeoutMs='4000'/>",
        "<util:list id='dirs'><value>one</value></util:list>",
        "<bean id='w' class='org.archive.x.WARCWriterProcessor'>"
        "<property name='storePaths' ref='dirs'/></bean>",
        "<bean id='mine' class='com.acme.Thing'><property name='a' value='b'/></bean>",
        "<bean id='s' class='org.archive.x.ScriptedProcessor'>"
        "<property name='engineName' value='groovy'/></bean>",
        "<bean id='f' class='org.archive.x.Maker' factory-method='make'/>",
        "<context:component-scan base-package='a'/>",
        "<other/>",
        "<!-- <bean id='no' class='org.archive.x.FetchFTP'/> -->",
    )
    said, _, found = migrated(tmp_path, text)
    assert (said.fetch.timeout, said.fetch.silence_timeout) == (9.0, 4.0)
    assert said.archive.directories == ("one",)
    assert found["<import>"].flag is Flag.CHECK
    assert found["mine"].flag is found["mine.a"].flag is Flag.NO_EQUIVALENT
    assert found["s"].flag is Flag.NO_EQUIVALENT
    assert found["f"].flag is found["<other>"].flag is Flag.CHECK
    assert "no" not in found


def test_seeds_of_files_in_any_encoding(tmp_path):
    def seeds(name):
        inner = f"<bean class='x.ConfigFile'><property name='path' value='{name}'/></bean>"
        return cxml(
            "<bean id='seeds' class='org.archive.x.TextSeedModule'>"
            f"{prop('textSource', inner)}</bean>"
        )

    (tmp_path / "s.txt").write_bytes(
        "http://a.example/\r\n# caf\xe9\r\n+b.example\r\n".encode("cp1252")
    )
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(seeds("s.txt"))
    draft, report = convert(file)
    assert draft.seeds == ["http://a.example/", "# café", "+b.example"]
    assert any("read as" in note.what for note in report.files)
    file.write_text(seeds("gone.txt"))
    draft, report = convert(file)
    assert draft.seeds == ["# There were no seeds: put yours here, one URL a line."]
    assert any(f.name == "ConfigFile.path" and f.flag is Flag.CHECK for f in report.findings)


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


_TABLES = {**FETCH_KINDS, **CRAWL_KINDS}
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
