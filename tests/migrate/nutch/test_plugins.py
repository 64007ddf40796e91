"""Plugins and classes that are not Nutch's own, and references that nothing fills in."""

import pytest

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.config.place import find
from nacre.errors import ConfigError
from nacre.scope.rules.nutch import NutchFilters
from nacre.settings.settings import JobSettings
from nacre_migrate.answers import ClassAnswers, UnansweredError
from nacre_migrate.nutch.convert import convert
from nacre_migrate.nutch.plugins import _alternatives
from nacre_migrate.nutch.properties import VALUES
from nacre_migrate.report import Flag, MigrationOutcome
from tests.migrate.nutch.conffiles import conf

SITE = {"http.agent.name": "bot", "http.agent.url": "http://library.example/"}


def converted(folder, site, environ=None, **answers):
    said = ClassAnswers({name.replace("_", "-"): what for name, what in answers.items()})
    draft, report = convert(conf(folder, SITE | site, stock=False), None, said, environ or {})
    settings = load(JobSettings, [Layer("option", draft.tree())]).settings
    return settings, {finding.name: finding for finding in report.findings}


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a|b", ["a", "b"]),
        ("urlfilter-(regex|mine)|x", ["urlfilter-regex", "urlfilter-mine", "x"]),
        ("(?:a|b)-(c|d)", ["a-c", "b-c", "a-d", "b-d"]),
        ("a-((b|c)-d|e)", ["a-e", "a-b-d", "a-c-d"]),
        ("index-.*|[abc]|x", ["x"]),
        ("nutch-extensionpoints|\n  protocol-http ", ["nutch-extensionpoints", "protocol-http"]),
        ("(" * 3000, []),
    ],
)
def test_the_names_that_an_expression_writes_out(expression, names):
    assert sorted(_alternatives(expression)) == sorted(names)


def test_plugins_and_classes_that_are_not_known_are_asked_about_at_once(tmp_path):
    site = {
        "plugin.includes": "protocol-http|protocol-爬虫|urlfilter-(regex|sites)|parse-jsoup|"
        "urlnormalizer-basics|index-mine|scoring-mine|annotator",
        "db.fetch.schedule.class": "org.x.OurAdaptiveFetchSchedule",
        "db.signature.class": "org.x.Ours",
    }
    with pytest.raises(UnansweredError) as raised:
        converted(tmp_path, site)
    assert {one.key: one.suggestion for one in raised.value.questions} == {
        "urlfilter-sites": "drop",
        "protocol-爬虫": "protocol-http",
        "parse-jsoup": "parse-html",
        "urlnormalizer-basics": "urlnormalizer-basic",
        "annotator": "drop",
        "org.x.OurAdaptiveFetchSchedule": "AdaptiveFetchSchedule",
        "org.x.Ours": "drop",
    }
    assert all(one.file == "nutch-site.xml" for one in raised.value.questions)


def test_answers_are_in_effect_and_told(tmp_path):
    site = {
        "plugin.includes": "protocol-http|urlfilter-sites|urlnormalizer-x|parse-y",
        "urlfilter.domain.rules": "site.example",
        "db.fetch.schedule.class": "org.x.Often",
        "db.signature.class": "org.x.Ours",
    }
    said = {"urlfilter-sites": "urlfilter-domain", "urlnormalizer-x": "drop", "parse-y": "drop",
            "org.x.Often": "AdaptiveFetchSchedule", "Ours": "drop"}  # fmt: skip
    draft, report = convert(conf(tmp_path, SITE | site, stock=False), None, ClassAnswers(said))
    found = {finding.name: finding for finding in report.findings}
    settings = load(JobSettings, [Layer("option", draft.tree())]).settings
    rule = settings.scope[1]
    assert isinstance(rule, NutchFilters)
    assert [one.filter.value for one in rule.chain] == ["domain"]
    assert settings.recrawl.schedule.kind == "nutch-adaptive"
    assert "urlfilter-sites is read as urlfilter-domain" in found["plugin.includes"].note
    assert "left out, as you said: urlnormalizer-x, parse-y" in found["plugin.includes"].note
    assert found["db.fetch.schedule.class"].note == "read as AdaptiveFetchSchedule, as you said"
    assert found["db.fetch.schedule.class"].value == "org.x.Often"
    assert found["db.signature.class"].flag is Flag.NO_EQUIVALENT


def test_answers_that_mean_nothing(tmp_path):
    with pytest.raises(ConfigError, match="perhaps urlfilter-regex"):
        converted(tmp_path, {"plugin.includes": "urlfilter-own"}, urlfilter_own="urlfilter-regx")
    site = {"db.signature.class": "org.x.Ours"}
    with pytest.raises(ConfigError, match="MD5Signature"):
        converted(tmp_path, site, Ours="AdaptiveFetchSchedule")
    slip = ClassAnswers({"urlfilter-onw": "drop"}, frozenset(("urlfilter-onw",)))
    with pytest.raises(ConfigError, match="nothing of this configuration is called"):
        convert(conf(tmp_path, SITE), None, slip)


def test_references_are_filled_in_or_the_value_is_not_used(tmp_path):
    site = {
        "who": "图书馆",
        "http.agent.description": "${who} ${env.TEAM:-采集组}",
        "http.agent.version": "${env.GONE}",
        "http.agent.email": "{{ contact_email }}",
        "http.agent.rotate.file": "${user.home}/x",
        "fetcher.threads.fetch": "${env.THREADS}",
    }
    said, found = converted(tmp_path, site, {"THREADS": "7"})
    assert said.fetch.user_agent.endswith(" (图书馆 采集组; http://library.example/)")
    assert not any(mark in said.fetch.user_agent for mark in "${}")
    assert said.engine.parallel == 7
    for name in ("http.agent.version", "http.agent.email", "http.agent.rotate.file"):
        assert found[name].outcome is MigrationOutcome.FLAGGED
        assert "nothing here fills in" in found[name].note


@pytest.mark.parametrize("name", sorted(VALUES))
def test_a_mapped_property_has_its_value_in_the_job(tmp_path, name):
    rule, seen = VALUES[name], 0
    for number, value in enumerate(("7", "true", "false", "7000", "-1", "domain")):
        said, found = converted(tmp_path / str(number), {name: value})
        if found[name].outcome is MigrationOutcome.MAPPED:
            seen += 1
            for path in rule.paths:
                assert find(said, path).value == rule.convert(value)
    assert seen or not rule.paths
