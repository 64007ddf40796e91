import pytest

from nacre.editing.complete import complete


def labels(text: str) -> list[str]:
    offset = text.index("@")
    return [item.label for item in complete(text.replace("@", "", 1), offset).items]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("poli@", "politeness"),
        ("politeness:\n  del@\nbroken: [", "delay_factor"),
        ("robots:\n  policy: @", "obey"),
        ("scope:\n  - rule: too-many-l@", "too-many-link-hops"),
        ("scope:\n  - rule: TooManyH@", "too-many-hops"),
        ("scope: [rej@", "reject"),
        ("scope:\n  - rule: too-many-hops\n    ma@", "max_hops"),
        ("scope:\n  - {rule: surt-prefixed, coe@", "coerce"),
        ("chains:\n  fetch:\n    @", "insert"),
        ("chains:\n  fetch:\n    insert:\n      - processor: extract-p@", "extract-pdf"),
        ("chains:\n  fetch:\n    insert: [{processor: extract-pdf, before: ext@", "extract"),
        ("chains:\n  fetch:\n    preselect:\n      block_a@", "block_all"),
        ("sheets:\n  slow:\n    robots.pol@", "robots.policy"),
        ("sheets:\n  slow:\n    politeness:\n      in_@", "in_flight"),
        ("sheet_associations:\n  - sheets: [@\nsheets:\n  mine: {}", "mine"),
        ("profile: gov@", "gov-site"),
        ("fetch:\n  timeout: @", "10m"),
        ("fetch:\n  maxLen@", "max_length"),
        ("scope:\n  - no-cal@", "no-calendars"),
    ],
)
def test_what_may_be_typed(text, first):
    assert labels(text)[0] == first


def test_what_is_given_is_not_offered_again():
    assert "delay" not in labels("politeness:\n  delay: 5\n  @")


def test_a_sheet_is_offered_what_a_sheet_may_say():
    offered = labels("sheets:\n  slow:\n    @")
    assert "politeness.delay" in offered
    assert "name" not in offered
    assert "store" not in offered


def test_an_item_takes_the_place_of_the_word():
    text = "robots:\n  policy: ign"
    found = complete(text, len(text))
    assert text[: found.start] + found.items[0].insert == "robots:\n  policy: ignore"
    rule = complete("scope:\n  - rej", 14).items[0]
    assert rule.insert == "rule: reject"
    assert "Heritrix: RejectDecideRule" in rule.detail


def test_comments_have_no_completion():
    assert labels("# pol@") == []
