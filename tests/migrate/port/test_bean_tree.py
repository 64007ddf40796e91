"""The browser of beans, compared with that of a real Heritrix; see `differences.md`."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nacre.config.facts import value_at
from nacre.settings.settings import JobSettings
from nacre_migrate.heritrix.mappings import PropertyMapping
from nacre_migrate.port.answers import Tree, xml_document
from nacre_migrate.port.bean_tree import (
    BEAN_NAMES,
    assignments,
    beans_tree,
    heritrix_text,
    java_class,
    property_at,
    setting_paths,
)

URL = "https://127.0.0.1:8443/engine/job/demo"
SETTINGS = JobSettings(seeds=("http://a.test/",))
NEW = {"diskSpaceMonitor"}
"""Beans that the sample's configuration does not have, and that of 3.15 does."""


def values() -> dict[str, object]:
    return {path: value_at(SETTINGS, path) for path in setting_paths() if "chains" not in path}


def told(path: str) -> ElementTree.Element:
    tree: Tree = beans_tree("demo", URL, path, values(), ["veryPolite"])
    return ElementTree.fromstring(xml_document("beans", tree))


def theirs(golden: Path, name: str) -> ElementTree.Element:
    return ElementTree.fromstring((golden / name).read_text())


def mapping_of(path: str) -> PropertyMapping:
    found = property_at(path)
    assert found is not None
    return found


def listed(element: ElementTree.Element) -> Iterator[tuple[str, str, str]]:
    for one in element.iter("value"):
        if one.find("children") is not None:
            yield one.findtext("name", ""), one.findtext("class", ""), one.findtext("url", "")


def test_the_list_has_the_keys_beans_and_classes_of_heritrix(golden: Path):
    other = theirs(golden, "16-beans.xml")
    ours = told("")
    assert [one.tag for one in ours] == [one.tag for one in other]
    known = set(listed(other))
    assert {one for one in listed(ours) if one[0] not in NEW} <= known


def test_a_bean_has_the_fields_urls_and_values_of_heritrix(golden: Path):
    other, ours = theirs(golden, "17-bean.xml"), told("disposition")
    assert ours.findtext("beanPath") == other.findtext("beanPath")
    assert ours.findtext("bean/class") == other.findtext("bean/class")
    known = {one.findtext("field"): one for one in other.findall("bean/properties/value")}
    shown = ours.findall("bean/properties/value")
    assert {one.findtext("field") for one in shown} == {
        "delayFactor", "forceRetire", "maxDelayMs", "maxPerHostBandwidthUsageKbSec", "minDelayMs",
        "respectCrawlDelayUpToSeconds",
    }  # fmt: skip
    for one in shown:
        same = known[one.findtext("field")]
        assert [part.tag for part in one] == [part.tag for part in same]
        assert one.findtext("url") == same.findtext("url")


def test_a_property_has_its_value_in_heritrix_units_and_can_be_edited():
    ours = told("disposition.minDelayMs")
    assert ours.findtext("bean/propValue") == ours.findtext("target") == "3000"
    assert ours.findtext("editable") == "true"
    assert told("nothing.here").findtext("problem") == (
        "no setting of Nacre stands for 'nothing.here'"
    )
    assert told("veryPolite").findtext("bean/class") == "org.archive.spring.Sheet"


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("disposition.minDelayMs", "1500", ["politeness.min_delay=1.5"]),
        ("crawlController.maxToeThreads", "50", ["engine.parallel=50"]),
        ("fetchHttp.ignoreCookies", "true", ["cookies.enabled=false"]),
        (
            "fetchHttp.soTimeoutMs", "5000",
            ["fetch.connect_timeout=5.0", "fetch.silence_timeout=5.0"],
        ),
    ],
)  # fmt: skip
def test_a_new_value_becomes_settings(path: str, text: str, wanted: list[str]):
    assert assignments(mapping_of(path), text) == wanted


def test_what_is_no_value_is_refused_by_its_text():
    with pytest.raises(ValueError, match="'many' is no value here"):
        assignments(mapping_of("crawlController.maxToeThreads"), "many")


def test_every_value_in_force_is_shown_as_a_text_that_becomes_it_again():
    found = values()
    for name, bean in BEAN_NAMES.items():
        for key, mapping in bean.properties.items():
            path = mapping.paths.split()[0]
            text = heritrix_text(mapping, found.get(path))
            if found.get(path) is not None and not isinstance(found[path], tuple | list | str):
                assert mapping.convert(text) == found[path], f"{name}.{key}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("true", "java.lang.Boolean"),
        ("-1", "java.lang.Integer"),
        ("99999999999", "java.lang.Long"),
        ("5.0", "java.lang.Double"),
        ("1.x", "java.lang.String"),
        ("", "java.lang.String"),
    ],
)
def test_the_class_of_a_value(text: str, name: str):
    assert java_class(text) == name
