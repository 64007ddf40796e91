"""Beans and their properties: values, references, and what is decided on them."""

from nacre_migrate.heritrix.beans import Bean, Beans, Ref, Setting, decide_all, inside, text_of
from nacre_migrate.report import defaulted, mapped, to_check


def bean(name: str = "", kind: str = "A", **values: object) -> Bean:
    found = Bean(name, kind, f"org.archive.{kind}", "a.cxml", 3)
    for key, value in values.items():
        found.settings[key] = Setting(key, value, 4, found)
    return found


def beans(*several: Bean) -> Beans:
    found = Beans("a.cxml", list(several))
    found.named.update((one.name, one) for one in several if one.name)
    return found


def test_values_as_text():
    java = bean(kind="String", value=" inner ")
    java.package = "java.lang.String"
    assert text_of(" a ") == "a"
    assert text_of(Ref("b")) == "-> b"
    assert text_of(["a", None, {"k": "v"}]) == "a, , k=v"
    assert text_of(java) == "inner"
    assert text_of(bean(kind="Mine")) == "Mine"


def test_names_and_places_for_the_report():
    one = bean("fetchHttp", timeoutSeconds="5")
    assert one.settings["timeoutSeconds"].place == "fetchHttp.timeoutSeconds, a.cxml:4"
    assert one.place == "fetchHttp, a.cxml:3"
    assert bean(kind="").label == "bean"
    override = Setting("a.b", "1", 9, one, "override")
    override.move_to(one, "b")
    assert (override.full_name, one.settings["b"]) == ("a.b", override)


def test_references_are_followed_through_aliases_and_in_circles():
    one = bean("a")
    found = beans(one)
    found.aliases.update({"b": "a", "c": "d", "d": "c"})
    found.values["list"] = [Ref("b"), "text"]
    assert found.bean("b") is one
    assert found.bean("c") is None
    assert found.listed(Ref("list")) == [one, "text"]
    assert found.resolved(Ref("nowhere")) is None


def test_a_later_bean_of_the_same_name_holds():
    first, second = bean("a", "Kind"), bean("a", "Kind")
    found = beans(first, second)
    assert (found.holds(first), found.holds(second)) == (False, True)
    assert found.of_kind("Kind") == [second]


def test_flags_are_read_in_any_case():
    assert bean(on="TRUE").is_true("on")
    assert not bean(on="no").is_true("on", default=True)
    assert bean().is_true("on", default=True)


def test_what_is_decided_first_stays_unless_it_is_decided_again():
    one = bean(a="1", b="2")
    one.settings["a"].decide(mapped("fetch.timeout"))
    one.decide_with_settings(defaulted("as Nacre does"))
    assert one.settings["a"].conversion == mapped("fetch.timeout")
    assert one.settings["b"].conversion == defaulted("as Nacre does")
    one.settings["a"].decide(to_check("look"))
    assert one.settings["a"].conversion == to_check("look")


def test_beans_on_the_spot_become_what_their_owner_becomes():
    inner = bean(kind="Inner", x="1")
    outer = bean(list_of=[inner, {"key": bean(kind="Other")}])
    setting = outer.settings["list_of"]
    assert [one.kind for one in inside(setting.value)] == ["Inner", "Other"]
    setting.decide_with_parts(defaulted("empty"))
    assert inner.conversion == inner.settings["x"].conversion == defaulted("empty")
    inner.decide(None)
    decide_all([setting], mapped("scope"))
    assert (inner.conversion, setting.conversion) == (mapped("scope"), defaulted("empty"))


def test_a_bean_can_be_read_as_another_and_lose_properties():
    one = bean(kind="Mine", a="1", b="2")
    one.read_as("FetchHTTP", "as you said")
    one.drop_settings({one.settings["a"]})
    one.switch_off()
    assert (one.kind, one.taken_for, [*one.settings], one.active) == (
        "FetchHTTP",
        "as you said",
        ["b"],
        False,
    )
    one.switch_on()
    assert one.active
