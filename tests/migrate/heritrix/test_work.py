"""The state of a migration: settings that two properties claim, files, and what is in effect."""

from pathlib import Path

import pytest

from nacre_migrate.heritrix.beans import Bean, Beans, Ref, Setting
from nacre_migrate.heritrix.mappings import FETCH_CLASSES, PropertyMapping, flag, whole
from nacre_migrate.heritrix.work import Migration, becomes, beside, confirm, unknown
from nacre_migrate.report import Conversion, Flag, MigrationOutcome, defaulted, mapped, to_check


@pytest.fixture
def work(tmp_path: Path) -> Migration:
    return Migration(Beans("a.cxml"), tmp_path, FETCH_CLASSES)


def setting(work: Migration, name: str, value: object, bean: Bean | None = None) -> Setting:
    owner = bean or Bean("http", "FetchHTTP", "org.archive.FetchHTTP", "a.cxml", 2)
    one = Setting(name, value, 3, owner)
    work.beans.add_setting(owner, one)
    return one


@pytest.mark.parametrize(
    ("mapping", "text", "conversion", "values"),
    [
        (PropertyMapping("fetch.max_rate", whole), "5", mapped("fetch.max_rate"),
         {"fetch.max_rate": 5}),
        (PropertyMapping("fetch.max_rate", whole), "0",
         defaulted("as Nacre does", "fetch.max_rate"), {}),
        (PropertyMapping("fetch.send_range", flag), "maybe",
         to_check("cannot be read: neither true nor false", "fetch.send_range"), {}),
        (PropertyMapping(note="a comment"), "x", defaulted("a comment"), {}),
        (PropertyMapping(stock="5", note="gone", flagged="check"), "5.0",
         defaulted("its stock value"), {}),
        (PropertyMapping(stock="5", note="gone", flagged="check"), "6", to_check("gone"), {}),
    ],
)  # fmt: skip
def test_a_property_becomes(
    work: Migration,
    mapping: PropertyMapping,
    text: str,
    conversion: Conversion,
    values: dict[str, object],
):
    assert becomes(mapping, setting(work, "a", text)) == (conversion, values)


def test_a_sheet_says_defaults_too(work: Migration):
    one = setting(work, "a", "0")
    found = becomes(PropertyMapping("fetch.max_rate", whole), one, always=True)
    assert found == (mapped("fetch.max_rate"), {"fetch.max_rate": 0})


def test_the_first_property_that_claims_a_setting_has_it(work: Migration):
    first, second, same = (setting(work, name, "x") for name in ("a", "b", "c"))
    work.put(first, "fetch.user_agent", "one")
    work.put(second, "fetch.user_agent", "two")
    work.put(same, "fetch.user_agent", "one")
    assert work.draft.settings == {"fetch.user_agent": "one"}
    assert second.conversion is not None
    assert "http.a, a.cxml:3 says otherwise" in second.conversion.note
    assert first.conversion == same.conversion == mapped("fetch.user_agent")


def test_files_are_copied_from_beside_the_configuration_only(work: Migration, tmp_path: Path):
    (tmp_path / "seeds.txt").write_text("a")
    one = setting(work, "a", "x")
    assert work.file(one, "C:\\jobs\\seeds.txt") == "seeds.txt"
    assert work.draft.files == {"seeds.txt": tmp_path / "seeds.txt"}
    assert work.file(one, "nowhere.txt") == "nowhere.txt"
    assert [note.check for note in work.report.files] == [False, True]
    assert beside(tmp_path, "old/seeds.txt") == tmp_path / "seeds.txt"


def test_what_a_later_part_overrules_is_not_in_effect(work: Migration):
    one = setting(work, "sendRange", "true")
    one.decide(mapped("fetch.send_range"))
    work.draft.put("fetch.send_range", value=False, reason="b, a.cxml:9")
    confirm(work)
    assert one.conversion is not None
    assert (one.conversion.outcome, one.conversion.flag) == (MigrationOutcome.FLAGGED, Flag.CHECK)
    assert "because of b, a.cxml:9" in one.conversion.note


def test_an_unknown_property_is_guessed_at(work: Migration):
    one = setting(work, "sendRnge", "true")
    note = unknown(one.bean, one, ["sendRange", "timeout"]).note
    assert note == "not a known property of FetchHTTP; perhaps sendRange"
    wiring = setting(work, "serverCache", Ref("serverCache"))
    assert unknown(wiring.bean, wiring, []).outcome is MigrationOutcome.DEFAULTED
