"""Who crawls, and how robots.txt is obeyed."""

import pytest

from nacre.errors import ConfigError
from nacre_migrate.report import MigrationOutcome
from tests.migrate.heritrix.xmltext import RULES, bean, cxml, migrated, prop, rule


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
    assert found["metadata.operatorContactUrl"].outcome is MigrationOutcome.DEFAULTED
    with pytest.raises(ConfigError, match="is not an address at which you can be reached"):
        migrated(tmp_path, text, "nobody")


def test_robots_policies_that_are_beans(tmp_path):
    custom = rule("x", prop("customRobots", "<value>User-agent: *\nDisallow: /x</value>"))
    policy = custom.replace(f"{RULES}x", "org.archive.modules.net.CustomRobotsPolicy")
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
