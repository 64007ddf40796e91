"""Sheets of Heritrix, and what they are associated with."""

import pytest

from nacre_migrate.report import Flag
from tests.migrate.heritrix.xmltext import PACKAGE, bean, cxml, migrated, prop, rule, rules, texts


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


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ignore", {"robots.policy": "ignore", "extract.obey_meta_robots": False}),
        ("robotsTxtOnly", {"robots.policy": "obey", "extract.obey_meta_robots": False}),
        ("obey", {"robots.policy": "obey", "extract.obey_meta_robots": True}),
        ("ours", {"robots.policy": "custom", "robots.custom": "User-agent: *"}),
        ("best", {"robots.policy": "obey", "robots.agent": "a, b"}),
        ("gone", {}),
    ],
)
def test_a_robots_policy_of_some_hosts(tmp_path, name, values):
    policies = (
        f"<map><entry key='ours'><bean class='{PACKAGE}modules.net.CustomRobotsPolicy'>"
        + prop("customRobots", "User-agent: *")
        + f"</bean></entry><entry key='best'><bean class='{PACKAGE}net.MostFavoredRobotsPolicy'>"
        + prop("candidateUserAgents", texts("a", "b"))
        + "</bean></entry></map>"
    )
    inner = f"<map><entry key='metadata.robotsPolicyName' value='{name}'/></map>"
    text = cxml(
        f"<bean id='metadata' class='{PACKAGE}modules.CrawlMetadata'>"
        + prop("availableRobotsPolicies", policies)
        + "</bean>",
        f"<bean id='some' class='org.archive.spring.Sheet'>{prop('map', inner)}</bean>",
        f"<bean class='{PACKAGE}spring.SurtPrefixesSheetAssociation'>"
        + prop("surtPrefixes", texts("http://(org,example,"))
        + prop("targetSheetNames", texts("some"))
        + "</bean>",
    )
    said, _, found = migrated(tmp_path, text)
    assert said.sheets["some"] == values
    assert (found["some.metadata.robotsPolicyName"].flag is Flag.CHECK) is (
        name in {"gone", "best"}
    )
