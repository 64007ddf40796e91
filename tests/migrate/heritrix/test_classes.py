"""Classes that are not known, wherever a known one is needed."""

from collections.abc import Iterable

import pytest

from nacre.errors import ConfigError
from nacre_migrate.answers import ClassAnswers, UnansweredError
from nacre_migrate.heritrix.convert import convert
from nacre_migrate.report import Flag, MigrationOutcome
from tests.migrate.heritrix.xmltext import PACKAGE, bean, cxml, migrated

RULES = "org.archive.modules.deciderules."


def chains(*, fetch: Iterable[str] = (), disposition: Iterable[str] = ()) -> str:
    def one(name: str, kind: str, beans: Iterable[str]) -> str:
        refs = "".join(f"<ref bean='{item}'/>" for item in beans)
        return (
            f"<bean id='{name}' class='org.archive.modules.{kind}'><property name='processors'>"
            f"<list>{refs}</list></property></bean>"
        )

    before = one("fetchProcessors", "FetchChain", fetch)
    return before + one("dispositionProcessors", "DispositionChain", disposition)


def questions(tmp_path, text) -> dict[str, str]:
    with pytest.raises(UnansweredError) as raised:
        migrated(tmp_path, text)
    return {one.key: one.suggestion for one in raised.value.questions}


def own(kind: str, name: str = "", inner: str = "") -> str:
    said = f"id='{name}' " if name else ""
    return f"<bean {said}class='org.图书馆.{kind}'>{inner}</bean>"


def scope(*inner: str) -> str:
    return (
        f"<bean id='scope' class='{RULES}DecideRuleSequence'><property name='rules'><list>"
        + "".join(inner)
        + "</list></property></bean>"
    )


def prop(name: str, inner: str) -> str:
    return f"<property name='{name}'>{inner}</property>"


def holding(kind: str, name: str, inner: str) -> str:
    """A bean with one property."""
    return f"<bean id='one' class='{PACKAGE}{kind}'>{prop(name, inner)}</bean>"


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        # The id of a stock bean, the name of the class, its properties, and what none speaks of.
        (own("Frei", "warcWriter"), "warc-writer"),
        (own("ExtendedWARCWriterProcessor"), "warc-writer"),
        (own("RedisFrontier", "f"), "frontier"),
        (own("Frei", "frontier"), "frontier"),
        (own("Frei", "scope"), "scope"),
        (own("NoOpSeedsModule", "seeds"), "seeds"),
        (own("OurCrawlMetadata", "m"), "metadata"),
        (own("OwnFetchHTTP", "f"), "fetch-http"),
        (own("ExtractorHTTPWellKnown", "e"), "extract-headers"),
        (own("Frei", "credentialStore"), "credentials"),
        (scope(own("OwnRule")), "drop"),
        (scope(own("OnNSDomainsDecideRule")), "OnDomainsDecideRule"),
        (scope("<ref bean='r'/>") + own("WatchedSurtPrefixedDecideRule", "r"),
         "SurtPrefixedDecideRule"),
        (scope(own("AnnotationMatchesListRegexDecideRule")), "drop"),
        (holding("FrontierPreparer", "queueAssignmentPolicy", own("ByOwner")), "drop"),
        (holding("CredentialStore", "credentials",
                 f"<map><entry key='a'>{own('Kerberos')}</entry></map>"), "drop"),
        (holding("RulesCanonicalizationPolicy", "rules",
                 f"<list>{own('StripTrackers')}</list>"), "drop"),
        (holding("FetchHTTP", "shouldProcessRule", own("OddRule")), "drop"),
        (own("Frei", "w", prop("maxFileSizeBytes", "5") + prop("storePaths", "x"))
         + bean("h", "FetchHTTP") + chains(fetch=["h"], disposition=["w"]), "warc-writer"),
        (own("Frei", "a") + chains(fetch=["a"]), "drop"),
        ("<bean id='a' parent='above'/>" + own("SpecialFetchHTTP", "above")
         + chains(fetch=["a"]), "fetch-http"),
        (own("Scorer", "warcWriter", "<property name='enabled' value='true'/>"), "warc-writer"),
    ],
)  # fmt: skip
def test_a_class_that_is_not_known_is_asked_about(tmp_path, text, suggested):
    found = questions(tmp_path, cxml(text))
    assert set(found.values()) == {suggested}
    _, report, _ = migrated(tmp_path, cxml(text), answers=found)
    assert sum(report.counts().values()) == len(report.findings)


STOCK_IDS = {
    "metadata": "metadata", "seeds": "seeds", "scope": "scope", "frontier": "frontier",
    "crawlController": "CrawlController", "crawlLimiter": "CrawlLimitEnforcer",
    "canonicalizationPolicy": "canonicalization", "credentialStore": "credentials",
    "queueAssignmentPolicy": "SurtAuthorityQueueAssignmentPolicy",
    "uriPrecedencePolicy": "CostUriPrecedencePolicy",
    "queuePrecedencePolicy": "BaseQueuePrecedencePolicy",
    "costAssignmentPolicy": "UnitCostAssignmentPolicy",
    "candidateProcessors": "CandidateChain", "fetchProcessors": "FetchChain",
    "dispositionProcessors": "DispositionChain", "uriUniqFilter": "BdbUriUniqFilter",
    "statisticsTracker": "StatisticsTracker", "loggerModule": "CrawlerLoggerModule",
    "sheetOverlaysManager": "SheetOverlaysManager", "bdb": "BdbModule",
    "cookieStore": "BdbCookieStore", "serverCache": "BdbServerCache",
    "configPathConfigurer": "ConfigPathConfigurer", "actionDirectory": "ActionDirectory",
    "checkpointService": "CheckpointService", "diskSpaceMonitor": "DiskSpaceMonitor",
}  # fmt: skip


@pytest.mark.parametrize(("name", "suggested"), STOCK_IDS.items())
def test_an_unknown_class_at_the_id_of_a_stock_bean_is_asked_about(tmp_path, name, suggested):
    found = questions(tmp_path, cxml(own("Frei", name)))
    assert set(found.values()) == {suggested}
    for answer in (suggested, "drop"):
        _, report, _ = migrated(
            tmp_path, cxml(own("Frei", name)), answers=dict.fromkeys(found, answer)
        )
        assert sum(report.counts().values()) == len(report.findings)


@pytest.mark.parametrize(
    ("kind", "suggested"),
    [
        ("ByOwnerQueueAssignmentPolicy", "drop"),
        ("AgeUriPrecedencePolicy", "drop"),
        ("BytesCostAssignmentPolicy", "UnitCostAssignmentPolicy"),
        ("RedisCookieStore", "BdbCookieStore"),
        ("KafkaLoggerModule", "CrawlerLoggerModule"),
        ("S3CheckpointService", "CheckpointService"),
    ],
)
def test_a_class_that_heritrix_finds_by_its_type_is_asked_about(tmp_path, kind, suggested):
    assert set(questions(tmp_path, cxml(own(kind, "ours"))).values()) == {suggested}


@pytest.mark.parametrize(
    ("name", "inner", "answer", "path", "value"),
    [
        ("loggerModule", prop("logExtraInfo", "true"), "CrawlerLoggerModule",
         "engine.log_extra_info", True),
        ("actionDirectory", prop("delaySeconds", "7"), "ActionDirectory", "action.interval", 7.0),
        ("checkpointService", prop("checkpointIntervalMinutes", "60"), "CheckpointService",
         "checkpoint.interval", 3600.0),
        ("cookieStore", prop("cookiesSaveFile", "饼干.txt"), "BdbCookieStore",
         "cookies.save_file", "饼干.txt"),
        ("queueAssignmentPolicy", prop("parallelQueues", "3"), "HostnameQueueAssignmentPolicy",
         "frontier.queue_assignment.parallel_queues", 3),
        ("costAssignmentPolicy", "", "WagCostAssignmentPolicy", "frontier.cost", "wag"),
    ],
)  # fmt: skip
def test_the_properties_of_a_class_that_is_answered_for_survive(
    tmp_path, name, inner, answer, path, value
):
    inner = inner.replace(">true<", "><value>true</value><") if inner else ""
    text = cxml(own("Frei", name, inner))
    said, _, _ = migrated(tmp_path, text, answers={"Frei": answer})
    for part in path.split("."):
        said = getattr(said, part)
    assert said == value


@pytest.mark.parametrize(
    "text",
    [
        own("PrometheusMetrics", "metrics"),
        bean("w", "WARCWriterProcessor") + own("Unused", "u") + chains(fetch=[], disposition=["w"]),
        own("Off", "warcWriter", "<property name='enabled' value='false'/>"),
        scope(own("OwnRule", inner="<property name='enabled' value='false'/>")),
        holding("StatisticsTracker", "reports", f"<list>{own('OwnReport')}</list>"),
    ],
)
def test_what_takes_no_part_is_flagged_and_not_asked_about(tmp_path, text):
    _, report, _ = migrated(tmp_path, cxml(text))
    strange = [one for one in report.findings if one.value.startswith("org.图书馆.")]
    assert strange
    assert all(one.outcome is not MigrationOutcome.MAPPED for one in strange)


def test_a_report_on_the_spot_is_no_default(tmp_path):
    tracker = holding("StatisticsTracker", "reports", f"<list>{own('OwnReport')}</list>")
    _, _, found = migrated(tmp_path, cxml(tracker))
    assert found["OwnReport"].flag is Flag.NO_EQUIVALENT


def test_the_class_that_is_meant_takes_its_place(tmp_path):
    text = cxml(
        own("ExtendedWARCWriterProcessor", "w", prop("prefix", "档案") + prop("viral", "1")),
        own("HeadersOfOurs", "e"),
        bean("html", "ExtractorHTML"),
        bean("c", "CandidatesProcessor"),
        chains(fetch=["e", "html"], disposition=["w", "c"]),
    )
    said, _, found = migrated(
        tmp_path,
        text,
        answers={"ExtendedWARCWriterProcessor": "warc-writer", "e": "ExtractorHTTP"},
    )
    assert said.archive.prefix == "档案"
    assert said.extract.extract_headers
    assert next(one for one in said.chains.disposition if one.kind == "archive").enabled
    assert found["w"].note.endswith("is read as WARCWriterProcessor, as you said")
    assert found["w.viral"].flag is Flag.CHECK


def test_what_is_dropped_is_left_out_and_told(tmp_path):
    text = cxml(
        own("OwnWriter", "warcWriter", prop("prefix", "x")),
        bean("c", "CandidatesProcessor"),
        chains(fetch=[], disposition=["warcWriter", "c"]),
    )
    said, _, found = migrated(tmp_path, text, answers={"org.图书馆.OwnWriter": "drop"})
    assert not next(one for one in said.chains.disposition if one.kind == "archive").enabled
    assert found["warcWriter"].flag is found["warcWriter.prefix"].flag is Flag.NO_EQUIVALENT


def test_several_writers_are_one_that_takes_what_any_of_them_takes(tmp_path):
    gate = prop("shouldProcessRule", f"<bean class='{RULES}RejectDecideRule'/>")
    off = "<property name='enabled' value='false'/>"
    writer = "<bean id='{}' class='org.archive.modules.writer.WARCWriterProcessor'>{}</bean>"
    text = cxml(
        writer.format(
            "main", prop("prefix", "A") + prop("storePaths", "<list><value>a</value></list>")
        ),
        writer.format(
            "viral",
            gate + prop("prefix", "B") + prop("storePaths", "<list><value>b</value></list>"),
        ),
        writer.format("third", off),
        bean("c", "CandidatesProcessor"),
        chains(disposition=["viral", "main", "third", "c"]),
    )
    said, _, found = migrated(tmp_path, text)
    archive = next(one for one in said.chains.disposition if one.kind == "archive")
    assert (archive.enabled, archive.gate) == (True, ())
    assert (said.archive.prefix, said.archive.directories) == ("A", ("a",))
    assert found["viral.shouldProcessRule"].flag is Flag.CHECK
    assert "not in effect: main.prefix" in found["viral.prefix"].note
    assert "not in effect" in found["viral.storePaths"].note


def test_references_that_lead_nowhere_are_told(tmp_path):
    text = cxml(
        scope(f"<bean class='{RULES}RejectDecideRule'/>", "<ref bean='gone'/>"),
        chains(disposition=["lost"]),
    )
    _, _, found = migrated(tmp_path, text)
    assert "there is no bean gone" in found["scope.rules"].note
    assert "there is no bean lost" in found["dispositionProcessors.processors"].note


def test_answers_that_mean_nothing(tmp_path):
    text = cxml(scope(own("OwnRule")), own("OwnWriter", "warcWriter"))
    for answers, words in (
        ({"OwnRule": "warc-writer", "OwnWriter": "drop"}, "`warc-writer` is not allowed there"),
        ({"OwnWriter": "warc-writr", "OwnRule": "drop"}, "perhaps warc-writer"),
    ):
        with pytest.raises(ConfigError, match=words):
            migrated(tmp_path, text, answers=answers)
    slip = ClassAnswers({"OwnRul": "drop"}, frozenset(("OwnRul",)))
    with pytest.raises(ConfigError, match="perhaps OwnRule"):
        convert(tmp_path / "crawler-beans.cxml", answers=slip)


def test_imported_files_beside_it_are_read(tmp_path):
    (tmp_path / "frontier.xml").write_text(cxml(bean("frontier", "BdbFrontier", maxRetries="7")))
    text = cxml(
        "<import resource='${FRONTIER:frontier.xml}'/>",
        "<import resource='frontier.xml'/>",
        "<import resource='crawler-beans.cxml'/>",
        "<import resource='gone.xml'/>",
        "<import resource='../outside.xml'/>",
    )
    said, report, found = migrated(tmp_path, text)
    assert said.frontier.max_retries == 7
    assert found["frontier.maxRetries"].file == "frontier.xml"
    notes = [one.note for one in report.findings if one.name == "<import>"]
    assert "frontier.xml is read" in notes[0]
    assert notes[1] == notes[2] == "read already"
    assert "is not there" in notes[3]
    assert "lies elsewhere" in notes[4]


def test_a_writer_of_other_files_is_a_writer_too(tmp_path):
    text = cxml(
        bean("w", "MirrorWriterProcessor"),
        bean("c", "CandidatesProcessor"),
        chains(disposition=["w", "c"]),
    )
    said, _, found = migrated(tmp_path, text)
    assert next(one for one in said.chains.disposition if one.kind == "archive").enabled
    assert found["w"].flag is Flag.NO_EQUIVALENT


def test_placeholders_of_a_template_stand_for_something_too(tmp_path):
    listed = "<list><ref bean='c'/>\n%{ARCHIVER_BEAN_REFERENCE}\n{{ virus_check }}</list>"
    text = cxml(
        bean("c", "CandidatesProcessor"),
        "<bean id='d' class='org.archive.modules.DispositionChain'>"
        f"<property name='processors'>{listed}</property></bean>%{{MORE_BEANS}}",
    )
    found = questions(tmp_path, text)
    assert found == {"%{ARCHIVER_BEAN_REFERENCE}": "warc-writer", "{{ virus_check }}": "drop"}
    said, report, names = migrated(tmp_path, text, answers=found)
    assert next(one for one in said.chains.disposition if one.kind == "archive").enabled
    assert names["<%{MORE_BEANS}>"].flag is Flag.CHECK
    assert (names["WARCWriterProcessor"].line, names["virus_check"].line) == (4, 5)
    assert sum(report.counts().values()) == len(report.findings)


def test_policies_of_a_map_and_of_a_sheet_are_asked_about(tmp_path):
    policies = f"<map><entry key='ours'>{own('RobotsExceptImages')}</entry></map>"
    text = cxml(
        bean("p", "FrontierPreparer"),
        f"<bean id='m' class='{PACKAGE}CrawlMetadata'>"
        + prop("availableRobotsPolicies", policies)
        + "<property name='robotsPolicyName' value='ours'/></bean>",
        "<bean id='s' class='org.archive.spring.Sheet'><property name='map'><map>"
        f"<entry key='p.queueAssignmentPolicy'>{own('PerOwnerQueues')}</entry>"
        "<entry key='p.preferenceEmbedHops' value='2'/></map></property></bean>",
    )
    found = questions(tmp_path, text)
    assert set(found) == {"org.图书馆.RobotsExceptImages", "org.图书馆.PerOwnerQueues"}
    said, _, _ = migrated(
        tmp_path,
        text,
        answers={"RobotsExceptImages": "drop", "PerOwnerQueues": "IPQueueAssignmentPolicy"},
    )
    assert said.sheets["s"]["frontier.queue_assignment"] == {"policy": "ip"}
    assert said.robots.policy == "obey"


def test_a_scope_of_an_order_is_asked_about(tmp_path):
    rule = '<newObject name="r" class="org.archive.crawler.deciderules.RejectDecideRule"/>'
    (tmp_path / "order.xml").write_text(
        '<crawl-order><controller><newObject name="scope" class="org.图书馆.NewsScope">'
        '<newObject name="decide-rules" class="org.archive.crawler.deciderules.DecideRuleSequence">'
        f'<map name="rules">{rule}</map></newObject></newObject>'
        '<map name="write-processors"><newObject name="a" class="org.图书馆.NewsWriter"/></map>'
        "</controller></crawl-order>",
        "utf-8",
    )
    with pytest.raises(UnansweredError) as raised:
        convert(tmp_path / "order.xml")
    found = {one.key: one.suggestion for one in raised.value.questions}
    assert found == {"org.图书馆.NewsScope": "scope", "org.图书馆.NewsWriter": "warc-writer"}
    draft, _ = convert(tmp_path / "order.xml", answers=ClassAnswers(found))
    assert [one["rule"] for one in draft.settings["scope"]] == ["reject"]
    assert "chains.disposition.archive.enabled" not in draft.settings


def test_a_password_of_the_environment_stays_there(tmp_path):
    login = (
        "<bean class='org.archive.modules.credential.HttpAuthenticationCredential'>"
        "<property name='domain' value='{}'/><property name='realm' value='馆藏'/>"
        "<property name='login' value='{}'/><property name='password' value='{}'/></bean>"
    )
    env = '#{systemEnvironment["PASSWORD_A"]}'
    listed = "".join(
        f"<entry key='{key}'>{login.format(*values)}</entry>"
        for key, values in {
            "a": ("a.example:443", "crawler", env),
            "b": ("b.example:8080", "crawler", "hush"),
        }.items()
    )
    store = f"<bean id='c' class='{PACKAGE}CredentialStore'>"
    text = cxml(store + prop("credentials", f"<map>{listed}</map>") + "</bean>")
    (tmp_path / "crawler-beans.cxml").write_text(text, "utf-8")
    draft, report = convert(tmp_path / "crawler-beans.cxml", environ={"PASSWORD_A": "geheim"})
    found = {finding.name: finding for finding in report.findings}
    assert draft.settings["fetch.credentials"] == [
        {"origin": "https://a.example", "realm": "馆藏", "username": "crawler",
         "password": {"env": "PASSWORD_A"}}
    ]  # fmt: skip
    assert not any(word in draft.yaml("x") + report.json_text() for word in ("geheim", "hush"))
    assert found["c"].flag is Flag.CHECK
