"""The tables of Nutch: settings that exist, converters, and a note for every stock property."""

import pytest
from pydantic import TypeAdapter

from nacre.migrate.nutch.conf import STOCK
from nacre.migrate.nutch.plugins import FILTERS, NORMALIZERS
from nacre.migrate.nutch.properties import CONVERTERS, VALUES
from nacre.scope.normalize.chain import AnyNormalizer
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
