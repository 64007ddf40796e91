"""What real configurations hold: placeholders, plug-ins, scripts, old paths, encodings."""

import pytest

from nacre_migrate.answers import UnansweredError
from nacre_migrate.heritrix.convert import convert
from nacre_migrate.report import Flag, MigrationOutcome
from tests.migrate.heritrix.xmltext import HEAD, bean, cxml, migrated

RULES = "org.archive.modules.deciderules."
CONFIGURER = "org.springframework.beans.factory.config.PropertyPlaceholderConfigurer"


def scope(*inner: str) -> str:
    return (
        f"<bean id='scope' class='{RULES}DecideRuleSequence'><property name='rules'><list>"
        f"<bean class='{RULES}RejectDecideRule'/>{''.join(inner)}</list></property></bean>"
    )


def test_placeholders_are_filled_in_as_far_as_they_are_known(tmp_path):
    (tmp_path / "env.properties").write_text("who=${first} again\nfirst=AB\n")
    text = cxml(
        "<context:property-placeholder location='env.properties'/>",
        f"<bean class='{CONFIGURER}'><property name='properties'><props>"
        "<prop key='n'>77</prop></props></property>"
        "<property name='locations'><list><value>../secret</value></list></property></bean>",
        bean("c", "CrawlController", maxToeThreads="${n}", pauseAtStart="${p:false}"),
        bean("w", "WARCWriterProcessor", prefix="${first}", template="${prefix}-${serialno}"),
        bean("m", "CrawlMetadata", description="${who}"),
        bean("h", "FetchHTTP", timeoutSeconds="${gone}"),
    )
    said, report, found = migrated(tmp_path, text)
    assert (said.engine.parallel, said.archive.prefix) == (77, "AB")
    assert said.archive.template == "${prefix}-${serialno}"
    assert said.archive.description == "AB again"
    assert "placeholder" in found["h.timeoutSeconds"].note
    assert "lies elsewhere" in found["PropertyPlaceholderConfigurer.locations"].note
    assert report.counts()["flagged"] == 2


def test_without_a_configurer_nothing_is_filled_in(tmp_path):
    _, _, found = migrated(tmp_path, cxml(bean("h", "FetchHTTP", timeoutSeconds="${a:5}")))
    assert found["h.timeoutSeconds"].outcome is MigrationOutcome.FLAGGED


def test_plug_ins_and_scripts_are_told_and_left_out(tmp_path):
    text = cxml(
        scope(
            "<bean class='uk.x.OwnDecideRule'><property name='decision' value='REJECT'/></bean>",
            f"<bean class='{RULES}ScriptedDecideRule'>"
            "<property name='engineName' value='x'/></bean>",
        ),
        "<bean id='k' class='uk.x.Feed'><property name='topic' value='t'/></bean>",
    )
    said, report, found = migrated(tmp_path, text, answers={"uk.x.OwnDecideRule": "drop"})
    assert [one.rule for one in said.scope] == ["reject"]
    assert sum("is left out" in line or "cannot run" in line for line in report.advice) == 2
    assert found["k.topic"].flag is found["k"].flag is Flag.NO_EQUIVALENT


def test_classes_of_others_with_the_names_of_heritrix(tmp_path):
    own = scope().replace(f"{RULES}DecideRuleSequence", "uk.x.TimedSequence")
    text = cxml(own, "<bean id='h' class='uk.x.FetchHTTP'/>")
    with pytest.raises(UnansweredError) as raised:
        migrated(tmp_path, text)
    suggested = {one.key: one.suggestion for one in raised.value.questions}
    assert suggested == {"uk.x.TimedSequence": "scope", "uk.x.FetchHTTP": "fetch-http"}
    said, _, found = migrated(tmp_path, text, answers=suggested)
    assert [one.rule for one in said.scope] == ["reject"]
    assert "is read as DecideRuleSequence" in found["scope"].note
    assert "is read as FetchHTTP, as you said" in found["h"].note
    text = cxml("<bean id='scope' class='uk.x.Scope'/>")
    _, report, found = migrated(tmp_path, text, answers={"uk.x.Scope": "drop"})
    assert found["scope"].flag is Flag.NO_EQUIVALENT
    assert any("the stock scope holds" in line for line in report.advice)


def test_robots_policies_that_nothing_uses(tmp_path):
    policy = bean("own", "CustomRobotsPolicy", customRobots="x")
    metadata = bean("metadata", "CrawlMetadata")
    _, _, found = migrated(tmp_path, cxml(policy, metadata))
    assert found["own"].outcome is found["own.customRobots"].outcome is MigrationOutcome.DEFAULTED
    named = bean("metadata", "CrawlMetadata", robotsPolicyName="own")
    said, _, found = migrated(tmp_path, cxml(policy, named))
    assert (said.robots.custom, found["own.customRobots"].outcome) == ("x", MigrationOutcome.MAPPED)


def test_one_bad_expression_does_not_take_the_list_with_it(tmp_path):
    values = "".join(f"<value>.*[.]e{number}</value>" for number in range(300))
    text = cxml(
        scope(
            f"<bean class='{RULES}MatchesListRegexDecideRule'><property name='regexList'><list>"
            f"{values}<value>(oops</value></list></property></bean>"
        )
    )
    said, report, found = migrated(tmp_path, text)
    assert len(said.scope[1].regexes) == 300
    assert "left out 1 of 301" in found["MatchesListRegexDecideRule.regexList"].note
    assert any("'(oops'" in line for line in report.advice)


def test_rules_that_need_an_address_are_asked_when_it_is_known(tmp_path):
    addresses = "<property name='ipAddresses'><set><value>192.0.2.1</value></set></property>"
    text = cxml(scope(f"<bean class='{RULES}IpAddressSetDecideRule'>{addresses}</bean>"))
    said, report, _ = migrated(tmp_path, text)
    recheck = next(one for one in said.chains.fetch if one.processor == "recheck-scope")
    assert recheck.enabled
    assert any("asked again" in line for line in report.advice)


def test_files_that_moved_and_paths_of_windows(tmp_path):
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    (tmp_path / "c.mmdb").write_bytes(b"x")
    inner = r"<bean class='x.ConfigFile'><property name='path' value='D:\jobs\seeds.txt'/></bean>"
    text = cxml(
        "<bean id='s' class='org.archive.x.TextSeedModule'>"
        f"<property name='textSource'>{inner}</property></bean>",
        r"<bean id='w' class='org.archive.x.WARCWriterProcessor'>"
        r"<property name='directory' value='E:\w'/></bean>",
        scope(
            f"<bean class='{RULES}ExternalGeoLocationDecideRule'><property name='lookup'>"
            "<bean class='x.Geo'><property name='database' value='/data/c.mmdb'/></bean>"
            "</property><property name='countryCodes'><list><value>GB</value></list>"
            "</property></bean>"
        ),
    )
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(text)
    draft, report = convert(file)
    found = {finding.name: finding for finding in report.findings}
    assert draft.seeds == ["http://a.example/"]
    assert "archive.directories" not in draft.settings
    assert found["w.directory"].flag is Flag.CHECK
    assert draft.settings["scope"][1]["database"] == "c.mmdb"
    assert draft.files == {"c.mmdb": tmp_path / "c.mmdb"}


def test_sheets_that_change_policies_gates_and_lists(tmp_path):
    def entry(key, inner):
        return f"<entry key='{key}'>{inner}</entry>"

    host = bean("byHost", "HostnameQueueAssignmentPolicy", forceQueueAssignment="one")
    text = cxml(
        f"<bean id='list' class='{RULES}MatchesListRegexDecideRule'/>",
        scope("<ref bean='list'/>"),
        bean("preparer", "FrontierPreparer"),
        bean("uriPrecedencePolicy", "HopsUriPrecedencePolicy"),
        bean("warcWriter", "WARCWriterProcessor"),
        host,
        "<bean id='s' class='org.archive.spring.Sheet'><property name='map'><map>"
        "<entry key='preparer.uriPrecedencePolicy.navlinksOnly' value='false'/>"
        + entry("preparer.queueAssignmentPolicy", "<ref bean='byHost'/>")
        + entry("list.regexList", "<list><value>.*a</value></list>")
        + entry("warcWriter.shouldProcessRule", f"<bean class='{RULES}RejectDecideRule'/>")
        + entry("preparer.canonicalizationPolicy", "<ref bean='preparer'/>")
        + "</map></property></bean>",
    )
    said, _, found = migrated(tmp_path, text)
    sheet = said.sheets["s"]
    assert sheet["frontier.queue_assignment"] == {"policy": "hostname", "force": "one"}
    assert sheet["scope.list.regexes"] == [".*a"]
    assert sheet["frontier.uri_precedence.navlinks_only"] is False
    assert [dict(one) for one in sheet["chains.disposition.archive.gate"]] == [{"rule": "reject"}]
    assert said.frontier.queue_assignment.policy == "surt-authority"
    assert found["s.preparer.canonicalizationPolicy"].flag is Flag.CHECK


@pytest.mark.parametrize("encoding", ["windows-1252", "UTF-16", "ISO-8859-1", "gb2312", "UTF-8"])
def test_encodings(tmp_path, encoding):
    word = "图书馆" if encoding in {"gb2312", "UTF-16", "UTF-8"} else "Bibliothèque"
    text = cxml(bean("m", "CrawlMetadata", organization=word))
    declared = f"<?xml version='1.0' encoding='{encoding}'?>\n{text}"
    file = tmp_path / "crawler-beans.cxml"
    file.write_bytes(declared.encode(encoding))
    draft, report = convert(file)
    assert draft.settings["archive.publisher"] == word
    assert report.findings[0].line == 3


def test_beans_in_beans_profiles_and_values_of_java(tmp_path):
    text = HEAD + (
        "<beans profile='x'><bean id='c' class='org.archive.x.CrawlController'>"
        "<property name='maxToeThreads'><bean class='java.lang.Integer'>"
        "<constructor-arg value='8'/></bean></property></bean></beans>\n"
        "<bean id='f' class='org.archive.x.BdbFrontier'><property name='outbound'>"
        "<bean class='java.util.concurrent.ArrayBlockingQueue'><constructor-arg value='200'/>"
        "<constructor-arg value='true'/></bean></property></bean></beans>"
    )
    said, report, _ = migrated(tmp_path, text)
    assert said.engine.parallel == 8
    assert report.counts()["flagged"] == 0


def test_nothing_that_is_open_is_inherited_or_shared(tmp_path):
    open_text = "#{metadata.name()}"
    text = cxml(
        f"<bean id='above' class='org.archive.x.CrawlMetadata'>"
        f"<property name='userAgentTemplate' value='{open_text}'/>"
        "<property name='organization' value='图书馆'/></bean>",
        "<bean id='metadata' parent='above'/>",
        f"<util:list id='traps'><value>.*a</value><value>{open_text}</value>"
        "<value>#{systemEnvironment['TRAP'] ?: '.*日历'}</value></util:list>",
        scope(
            f"<bean class='{RULES}MatchesListRegexDecideRule'>"
            "<property name='regexList' ref='traps'/></bean>",
            f"<bean class='{RULES}MatchesListRegexDecideRule'><property name='regexList'>"
            f"<list><value>{open_text}</value></list></property></bean>",
        ),
    )
    said, _, found = migrated(tmp_path, text)
    assert said.archive.publisher == "图书馆"
    assert "#{" not in said.model_dump_json()
    assert [one.regexes for one in said.scope[1:]] == [(".*a", ".*日历"), ()]
    assert found["above.userAgentTemplate"].flag is Flag.CHECK
    assert "left out 1 of 1" in found["MatchesListRegexDecideRule.regexList"].note
    assert not any(one.flag is Flag.NONE and "#{m" in one.value for one in found.values())


def test_rules_that_have_no_say_where_they_stand_are_left_out(tmp_path):
    status = f"<bean class='{RULES}FetchStatusDecideRule'/>"
    address = (
        f"<bean class='{RULES}IpAddressSetDecideRule'><property name='ipAddresses'><set>"
        "<value>192.0.2.1</value></set></property></bean>"
    )
    text = cxml(
        scope(status),
        "<bean id='h' class='org.archive.x.FetchHTTP'><property name='shouldProcessRule'>"
        f"<bean class='{RULES}DecideRuleSequence'><property name='rules'><list>"
        f"<bean class='{RULES}AcceptDecideRule'/>{status}</list></property></bean></property>"
        "</bean>",
        bean("d", "DispositionProcessor"),
        "<bean id='s' class='org.archive.spring.Sheet'><property name='map'><map>"
        "<entry key='d.minDelayMs' value='9000'/></map></property></bean>",
        "<bean id='a' class='org.archive.x.DecideRuledSheetAssociation'>"
        f"<property name='rules'>{address}</property><property name='targetSheetNames'>"
        "<list><value>s</value></list></property></bean>",
    )
    said, report, found = migrated(tmp_path, text)
    assert [one.rule for one in said.scope] == ["reject"]
    assert said.sheet_associations == ()
    assert found["a"].flag is found["IpAddressSetDecideRule"].flag is Flag.CHECK
    left = [one for one in report.findings if one.name == "FetchStatusDecideRule"]
    assert len(left) == 2
    assert all("has no say there" in one.note for one in left)


def test_a_run_that_waits_for_uris_is_migrated(tmp_path):
    said, report, _ = migrated(tmp_path, cxml(bean("c", "CrawlController", runWhileEmpty="true")))
    assert said.engine.run_while_empty
    assert report.counts()["flagged"] == 0
