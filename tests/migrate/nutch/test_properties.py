"""The tables of Nutch: settings that exist, converters, and a note for every stock property."""

import pytest
from pydantic import TypeAdapter

from nacre.config.check import load
from nacre.config.facts import value_at
from nacre.config.layer import Layer
from nacre.scope.normalize.chain import AnyNormalizer
from nacre.settings.settings import JobSettings
from nacre_migrate.nutch.conf import STOCK
from nacre_migrate.nutch.convert import convert
from nacre_migrate.nutch.plugins import FILTERS, NORMALIZERS
from nacre_migrate.nutch.properties import CONVERTERS, VALUES
from nacre_migrate.report import MigrationOutcome
from tests.migrate.nutch.conffiles import conf
from tests.migrate.places import is_setting


@pytest.mark.parametrize("name", VALUES)
def test_a_property_becomes_settings_that_exist(name: str):
    assert name in STOCK
    assert all(is_setting(path) for path in VALUES[name].paths)


@pytest.mark.parametrize("name", [name for name, one in VALUES.items() if one.paths])
def test_the_stock_value_can_be_converted(name: str):
    value = VALUES[name].convert(STOCK[name])
    assert value is None or isinstance(value, str | int | float | bool | list | dict | tuple)


@pytest.mark.parametrize(
    ("converter", "text", "value"),
    [
        ("number", "2.5", 2.5),
        ("whole", "3.0", 3),
        ("flag", "TRUE", True),
        ("opposite", "true", False),
        ("ms", "1500", 1.5),
        ("ms", "-1", 0.0),
        ("minutes", "2", 120.0),
        ("minutes", "-1", None),
        ("positive_seconds", "0", None),
        ("positive_seconds", "7", 7.0),
        ("limit", "-1", 0),
        ("all_links", "-1", 1_000_000),
        ("all_links", "100", 100),
        ("crawl_delay", "-1", 86_400.0),
        ("crawl_delay", "30", 30.0),
        ("tls", "true", "strict"),
        ("tls", "false", None),
        ("nothing", "anything", None),
        ("text", "db_gone", "db_gone"),
        ("text", "", None),
        ("key", "byDomain", "domain"),
        ("key", "byIP", "address"),
        ("key", "host", "host"),
        ("internal", "true", "host"),
        ("internal", "false", "none"),
    ],
)
def test_a_converter(converter: str, text: str, value: object):
    assert CONVERTERS[converter](text) == value


@pytest.mark.parametrize(
    ("converter", "text"), [("flag", "yes"), ("whole", "x"), ("tls", "no"), ("key", "byPort")]
)
def test_a_converter_refuses_what_it_cannot_read(converter: str, text: str):
    with pytest.raises(ValueError, match=r"."):
        CONVERTERS[converter](text)


def test_filters_and_normalizers_have_the_names_that_the_job_takes():
    assert {f"urlfilter-{name.replace('-', '')}" for name in FILTERS.values()} == set(FILTERS)
    known = set[str]()
    for node in TypeAdapter(AnyNormalizer).json_schema()["$defs"].values():
        kind = node.get("properties", {}).get("normalizer", {})
        known |= {*kind.get("enum", ()), kind.get("const", "")}
    assert set(NORMALIZERS.values()) <= known


@pytest.mark.parametrize("stock", [True, False])
@pytest.mark.parametrize(
    ("name", "value", "path", "expected"),
    [
        ("fetcher.max.exceptions.per.queue", "9", "cycle.fetch.max_failures", 9),
        ("fetcher.max.exceptions.per.queue", "-1", "cycle.fetch.max_failures", 0),
        ("generate.max.per.host", "12", "cycle.generate.max_count", 12),
        ("fetcher.threads.per.host", "3", "politeness.in_flight", 3),
        ("partition.url.by.ip", "true", "cycle.generate.partition", "address"),
        ("db.max.inlinks", "77", "cycle.links.max", 77),
        ("db.max.anchor.length", "5", "cycle.links.max_anchor", 5),
        ("db.default.fetch.interval", "10", "recrawl.schedule.nutch.interval", 864_000.0),
    ],
)
def test_names_of_earlier_releases(tmp_path, name, value, path, expected, stock):
    site = {"http.agent.name": "bot", "http.agent.url": "http://a.test/", name: value}
    draft, report = convert(conf(tmp_path, site, stock=stock))
    settings = load(JobSettings, [Layer("option", draft.tree())]).settings
    assert value_at(settings, path) == expected
    (found,) = [one for one in report.findings if one.name == name and one.value == value]
    assert found.outcome is MigrationOutcome.MAPPED
    assert path in found.target


def test_a_name_of_now_wins_over_one_of_an_earlier_release(tmp_path):
    site = {"generate.max.per.host": "5", "generate.max.count": "6"}
    draft, report = convert(conf(tmp_path, site))
    assert draft.settings["cycle.generate.max_count"] == 6
    (found,) = [one for one in report.findings if one.name == "generate.max.per.host"]
    assert (found.outcome, "replaces it" in found.note) == (MigrationOutcome.DEFAULTED, True)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("searcher.dir", MigrationOutcome.DEFAULTED),
        ("mapred.map.tasks", MigrationOutcome.DEFAULTED),
        ("http.verbose", MigrationOutcome.DEFAULTED),
        ("fetcher.retry.max", MigrationOutcome.DEFAULTED),
        ("elastic.host", MigrationOutcome.FLAGGED),
        ("generate.max.per.host.by.ip", MigrationOutcome.FLAGGED),
        ("our.own.property", MigrationOutcome.FLAGGED),
    ],
)
def test_properties_that_nutch_has_no_more(tmp_path, name, outcome):
    _, report = convert(conf(tmp_path, {name: "7"}))
    (found,) = [one for one in report.findings if one.name == name]
    assert found.outcome is outcome
    assert ("not a property of the stock" in found.note) is (name == "our.own.property")


def test_plugins_of_earlier_releases_and_of_the_newest_are_known(tmp_path):
    names = "lib-(htmlunit|rabbitmq|selenium)|parse-(pdf|msword|rss|text|oo)|any23|field-basic"
    site = {"plugin.includes": f"protocol-http|urlfilter-domainblacklist|{names}"}
    files = {"domainblacklist-urlfilter.txt": "spam.example\n"}
    draft, _ = convert(conf(tmp_path, site, **files))
    (chain,) = [rule["chain"] for rule in draft.settings["scope"] if "chain" in rule]
    assert chain == [{"filter": "domain-denylist", "file": "domainblacklist-urlfilter.txt"}]
