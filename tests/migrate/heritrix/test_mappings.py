"""The tables of Heritrix name settings that exist; converters make the values that they should."""

from collections.abc import Iterator

import pytest

from nacre.engine.chain.entry import PROCESSORS
from nacre_migrate.heritrix.mappings import (
    CONVERTERS,
    CRAWL_CLASSES,
    FETCH_CLASSES,
    INSERTED,
    ORDER_CLASS_NAMES,
    ORDER_CLASSES,
    ORDER_PROPERTY_NAMES,
    POLICIES,
)
from tests.migrate.places import is_section, is_setting

TABLES = {"fetch": FETCH_CLASSES, "crawl": CRAWL_CLASSES, "order": ORDER_CLASSES}


def named() -> Iterator[tuple[str, str]]:
    for classes in TABLES.values():
        for kind, mapping in classes.items():
            for name, one in mapping.properties.items():
                yield from ((f"{kind}.{name}", path) for path in one.paths.split())


@pytest.mark.parametrize(("what", "path"), sorted(set(named())))
def test_a_property_becomes_a_setting_that_exists(what: str, path: str):
    assert is_setting(path), what


@pytest.mark.parametrize("table", TABLES)
def test_sections_exist_and_a_class_without_one_says_why(table: str):
    for kind, mapping in TABLES[table].items():
        assert is_section(mapping.section) if mapping.section else mapping.note, kind
        for name, one in mapping.properties.items():
            assert one.paths or one.note, (kind, name)


@pytest.mark.parametrize("kind", INSERTED)
def test_an_inserted_processor_has_the_settings_that_its_properties_become(kind: str):
    inserted = INSERTED[kind]
    entry = PROCESSORS.get(inserted.processor)
    for name, one in inserted.properties.items():
        assert all(path in entry.model_fields for path in one.paths.split()), name


def test_policies_are_choices_of_their_setting():
    for kind, (path, name) in POLICIES.items():
        assert is_setting(path), kind
        assert is_setting(path, choice=name), (kind, name)


def test_old_names_lead_to_names_that_are_in_use():
    used = {name for mapping in ORDER_CLASSES.values() for name in mapping.properties}
    assert set(ORDER_CLASS_NAMES.values()) <= {*ORDER_CLASSES, "FixupQueryString"}
    assert {"sslTrustLevel", "maxFileSizeBytes"} <= used & set(ORDER_PROPERTY_NAMES.values())


@pytest.mark.parametrize(
    ("converter", "text", "value"),
    [
        ("text", "a", "a"),
        ("number", "2.5", 2.5),
        ("whole", "3.0", 3),
        ("not_negative", "-1", 0),
        ("positive", "0", None),
        ("positive", "8", 8),
        ("numbers", "100,1000", [100, 1000]),
        ("flag", "yes", True),
        ("opposite", "true", False),
        ("seconds", "20", 20.0),
        ("ms", "1500", 1.5),
        ("minutes", "2", 120.0),
        ("minutes", "-1", 0.0),
        ("delay", "-1", None),
        ("delay", "5", 5.0),
        ("kib", "2", 2048),
        ("kib_limit", "-1", -1),
        ("kib_limit", "2", 2048),
        ("kib_rate", "-5", 0),
        ("mib", "3", 3 << 20),
        ("lines", "a, , b", ["a", "b"]),
        ("tls", "NORMAL", "strict"),
        ("tls", "open", "record"),
        ("robots_policy", "classic", "obey"),
        ("accept_encoding", "true", None),
        ("accept_encoding", "false", ""),
        ("url_or_path", "true", "url"),
        ("zero_or_one", "true", 1),
    ],
)
def test_a_converter(converter: str, text: str, value: object):
    assert CONVERTERS[converter](text) == value


@pytest.mark.parametrize(
    ("converter", "text"),
    [("flag", "perhaps"), ("tls", "weak"), ("whole", "many"), ("seconds", "soon")],
)
def test_a_converter_refuses_what_it_cannot_read(converter: str, text: str):
    with pytest.raises(ValueError, match=r"."):
        CONVERTERS[converter](text)


def test_a_policy_of_an_order_is_named_by_its_class():
    named_policy = ORDER_CLASSES["BdbFrontier"].properties["queueAssignmentPolicy"].convert
    assert named_policy("org.archive.crawler.frontier.HostnameQueueAssignmentPolicy") == "hostname"
    with pytest.raises(ValueError, match="something else"):
        named_policy("org.archive.crawler.frontier.UnitCostAssignmentPolicy")
