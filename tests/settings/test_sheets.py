"""Sheets and their associations, over the settings of a whole job."""

from pathlib import Path
from typing import Any

import pytest

from nacre.config.place import Property, find, properties
from nacre.core.crawluri import CrawlURI
from nacre.errors import ConfigError
from nacre.frontier.settings import UriPrecedence
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import STOCK, Sheets, basis_facts, make_sheets, sheet_list
from tests.job.walking import other_values

PLAIN = JobSettings()
OVERRIDABLE = [found for found in properties(PLAIN) if found.sheets]
BY_RULE = {"rule": "matches-list-regex", "regexes": [r".*/deep/.*"]}


def sheets_of(**said: Any) -> Sheets:
    settings = JobSettings.model_validate(said)
    return make_sheets(settings, sheet_list(settings, Path()), ScopeState())


def uri(url: str, **known: Any) -> CrawlURI:
    return CrawlURI(url, b"k" * 16, "q", **known)


@pytest.mark.parametrize("found", OVERRIDABLE, ids=lambda found: found.path)
def test_every_setting_that_a_sheet_may_change_is_changed_by_surt_and_by_rule(found: Property):
    sheets = sheets_of(
        sheets={"one": other_values(PLAIN, found)},
        sheet_associations=[
            {"surts": ["http://a.test/"], "sheets": ["one"]},
            {"rule": BY_RULE, "sheets": ["one"]},
        ],
    )
    settings = sheets.overlays.settings
    for url in ("https://a.test/x", "http://b.test/deep/x"):
        assert find(settings[sheets.of(uri(url))], found.path).value != found.value
    assert find(settings[sheets.of(uri("http://b.test/x"))], found.path).value == found.value
    assert settings[0] == JobSettings(
        sheets=settings[0].sheets, sheet_associations=settings[0].sheet_associations
    )


def test_there_are_many():
    paths = {found.path for found in OVERRIDABLE}
    assert len(paths) > 150
    assert {"politeness.delay", "robots.policy", "scope.too-many-hops.max_hops"} <= paths


def delays(order: int = 0) -> Sheets:
    return sheets_of(
        sheets={name: {"politeness": {"delay": n}} for n, name in enumerate("abcd", 1)},
        sheet_associations=[
            {"rule": BY_RULE, "sheets": ["d"], "order": order},
            {"surts": ["http://www.a.test/x/", "https://www.a.test:8443/"], "sheets": ["b"]},
            {"surts": ["http://a.test", "http://b.test/"], "sheets": ["a"]},
            {"rule": {"rule": "too-many-hops", "decision": "ACCEPT", "max_hops": 2},
             "sheets": ["c"]},
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("url", "path", "names"),
    [
        ("http://a.test/", "L", "a"),
        ("https://www.a.test/", "L", "a"),
        ("https://www.a.test/x/y", "L", "ab"),
        ("https://www.a.test/X/y", "L", "ab"),
        ("http://www.a.test/x", "L", "a"),
        ("http://www.a.test/xy?q=/x/", "L", "a"),
        ("http://www.a.test/x/y/z?q=/x/", "L", "ab"),
        ("https://www.a.test:8443/z", "L", "ab"),
        ("http://b.test/", "L", "a"),
        ("http://www.b.test/", "L", ""),
        ("http://www.a.test/x/deep/", "LLL", "abdc"),
        ("http://c.test/deep/", "LLL", "dc"),
        ("ftp://a.test/", "L", ""),
        ("dns:a.test", "L", ""),
    ],
)
def test_prefixes_from_short_to_long_then_rules(url: str, path: str, names: str):
    sheets = delays()
    number = sheets.of(uri(url, path=path))
    assert sheets.names(number) == tuple(names)
    assert sheets.of(uri(url, path=path)) == sheets.overlay(Subject(url, path)) == number
    last = {"": None, **{name: n for n, name in enumerate("abcd", 1)}}[names[-1:]]
    assert sheets.overlays.settings[number].politeness.delay == last


def test_rules_have_an_order():
    number = delays(order=1).overlay(Subject("http://c.test/deep/", "LLL"))
    assert delays(order=1).of(uri("http://c.test/deep/", path="LLL")) == number
    assert delays(order=1).names(0) == ()
    sheets = delays(order=1)
    assert sheets.names(sheets.overlay(Subject("http://c.test/deep/", "LLL"))) == ("c", "d")


@pytest.mark.parametrize("url", ["dns:a.test", "http://a.test/robots.txt", "http://c.test/deep/y"])
def test_prerequisites_take_the_sheets_of_what_needs_them(url: str):
    sheets = delays()
    parent = uri("http://www.a.test/x/page", path="LLL", via="http://v.test/", is_seed=False)
    need = uri(url, path="LLLP", via=parent.url, heritable=basis_facts(parent))
    assert sheets.of(need) == sheets.of(parent)
    assert sheets.names(sheets.of(need)) == ("a", "b", "c")


def test_a_url_alone_has_the_sheets_of_its_place():
    sheets = delays()
    assert sheets.names(sheets.of_url("dns:www.a.test")) == ("a",)
    assert sheets.names(sheets.of_url("http://www.a.test/x/")) == ("a", "b")


def test_without_associations_nothing_is_asked():
    sheets = sheets_of(sheets={"a": {"politeness.delay": 1}})
    assert sheets.none
    assert sheets.of(uri("http://a.test/")) == 0


@pytest.mark.parametrize("name", list(STOCK))
def test_stock_sheets_need_not_be_written(name: str):
    sheets = sheets_of(sheet_associations=[{"surts": ["http://a.test/"], "sheets": [name]}])
    settings = sheets.overlays.settings
    changed = settings[sheets.of(uri("http://a.test/"))]
    for path, value in STOCK[name].items():
        after = find(changed, path).value
        assert after == (UriPrecedence.model_validate(value) if isinstance(value, dict) else value)
        assert find(settings[0], path).value != after


def test_high_precedence_is_one():
    sheets = sheets_of(
        sheet_associations=[{"surts": ["http://a.test/"], "sheets": ["highPrecedence"]}]
    )
    plain, high = (
        sheets.overlays.settings[0],
        sheets.overlays.settings[sheets.of_url("http://a.test/")],
    )
    assert high.frontier.queue_precedence.base < plain.frontier.queue_precedence.base
    assert high.frontier.uri_precedence.base < plain.frontier.uri_precedence.base
    assert high.frontier.queue_total_budget == plain.frontier.queue_total_budget


@pytest.mark.parametrize(
    ("said", "path", "words"),
    [
        ({"sheets": ["verPolite"], "surts": ["a.test"]}, "sheet_associations.0.sheets",
         "did you mean `veryPolite`?"),
        ({"sheets": ["veryPolite"], "surts_file": "none.txt"}, "sheet_associations.0.surts_file",
         "cannot be read"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_association(said: dict[str, Any], path: str, words: str):
    settings = JobSettings.model_validate({"sheet_associations": [said]})
    with pytest.raises(ConfigError) as caught:
        sheet_list(settings, Path())
    assert caught.value.problems[0].path == path
    assert words in str(caught.value)


def test_prefixes_from_a_file(tmp_path: Path):
    (tmp_path / "surts.txt").write_text("# those\n\n+http://(test,a,\nb.test/  # this host\n")
    said = {"surts_file": "surts.txt", "sheets": ["veryPolite"]}
    settings = JobSettings.model_validate({"sheet_associations": [said]})
    sheets = make_sheets(settings, sheet_list(settings, tmp_path), ScopeState())
    urls = ("http://www.a.test/", "https://b.test/x", "http://www.b.test/")
    assert [bool(sheets.of_url(url)) for url in urls] == [True, True, False]
    (tmp_path / "surts.txt").write_text("http://a.test/\nhttp:///\n")
    with pytest.raises(ConfigError, match=r"surts.txt:2"):
        sheet_list(settings, tmp_path)


def test_many_prefixes_are_looked_up_by_host():
    prefixes = [f"http://h{n}.test/" for n in range(2000)] + ["http://h5.test/a/"]
    sheets = sheets_of(sheet_associations=[{"surts": prefixes, "sheets": ["smallBudget"]}])
    assert sheets.of_url("http://h7.test/any/where") == sheets.of_url("http://h5.test/b")
    assert len(sheets.overlays.settings) == 2
