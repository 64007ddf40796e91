from typing import Any

from nacre.console.settings.form_tasks import SettingSearch

CARD: dict[str, Any] = {
    "number": 2,
    "label": "too-many-hops",
    "kind": "too-many-hops",
    "doc": "More hops than wanted.",
    "fields": [
        {"name": "name", "doc": "Its name in paths, `scope.NAME.max_hops`."},
        {"name": "max_hops", "doc": "Hops allowed."},
    ],
}
OTHER: dict[str, Any] = {
    **CARD, "number": 0, "label": "reject", "kind": "reject", "doc": "Rejects all.",
    "fields": CARD["fields"][:1],
}  # fmt: skip
LISTS: list[dict[str, Any]] = [
    {"path": "scope", "cards": [OTHER, CARD]},
    {"path": "uri.normalize", "cards": []},
]


def chinese(text: str) -> str:
    return {"Hops allowed.": "允许的跳数。"}.get(text, text)


def test_a_setting_is_found_by_name_meaning_and_words_of_people():
    for text in ("max_hops", "ALLOWED", "允许", "depth", "深度", " hops "):
        assert SettingSearch(text, chinese).finds("scope.max_hops", "Hops allowed."), text
    for text in ("", "delay", "never heard of"):
        assert not SettingSearch(text, chinese).finds("scope.max_hops", "Hops allowed."), text
    assert SettingSearch("maxHops", chinese).finds("max_hops", "", "TooManyHops.maxHops")


def test_only_the_cards_that_are_meant_are_shown_and_the_first_field_is_named():
    search = SettingSearch("depth", chinese)
    (found,) = search.in_cards(LISTS)
    assert [card["number"] for card in found["cards"]] == [2]
    assert search.first_field([found]) == "scope 2"
    assert SettingSearch("max_hops", chinese).first_field(LISTS) == "scope 2"
    assert SettingSearch("rejects", chinese).first_field(LISTS) == ""


def test_the_words_of_a_search_may_be_apart():
    doc = "Fixed wait between two fetches from a host."
    assert SettingSearch("seconds between requests", str).finds("politeness.delay", doc)
    assert not SettingSearch("seconds between pages", str).finds("politeness.delay", doc)
