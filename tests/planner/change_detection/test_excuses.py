"""Excuses: what pages share, what goes to and fro, what is printed otherwise."""

import pytest

from nacre.core.pagerow import PageView
from nacre.extract.pageview import page_view
from nacre.planner.change_detection.change import (
    Change,
    ChangeClass,
    ChangeSettings,
    compare,
)
from nacre.planner.change_detection.template import Template

SETTINGS = ChangeSettings()


def _page(name: str, shared: str) -> PageView:
    own = "".join(f"<p>{name} says number {n}: 本页自己的正文,与其他网页不同。" for n in range(40))
    return page_view(f"<title>{name}</title><main>{own}</main><aside>{shared}</aside>")


def _second_verdict(before: str, after: str, names: tuple[str, str] = ("Alpha", "Beta")) -> Change:
    """The verdict on the second page of a run of which two pages differ in the same."""
    template = Template()
    pages = [(_page(name, before), _page(name, after)) for name in names]
    for old, _ in pages:
        template.learn_page(old)
    verdicts = []
    for old, new in pages:
        change = compare(old, new, template, SETTINGS)
        template.learn_visit(old, new)
        template.learn_differences([one for one, _ in change.differing])
        template.learn_page(new, old)
        verdicts.append(change)
    return verdicts[1]


def _consent(partners: int) -> str:
    return "".join(f"<p>{partners + n} partners may use purpose {'abcde'[n]}</p>" for n in range(5))


def _banner(blocks: int) -> str:
    return "".join(f"<p>Consent to purpose {chr(65 + n)} of this site</p>" for n in range(blocks))


SHARED = [
    (_consent(46), _consent(50)),
    (
        "<p>This site and its partners use storage for measurement, content and safety; refuse.",
        "<p>This site and third parties use storage for measurement, content and safety; refuse.",
    ),
    ("", _banner(24)),
    (_banner(24), ""),
]


@pytest.mark.parametrize(("before", "after"), SHARED)
def test_a_part_that_another_page_shares_is_no_change_and_is_stored(
    before: str, after: str
) -> None:
    change = _second_verdict(before, after)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.TEMPLATE, "frame", False)


BUILDS = [("Version 1.261.0.339", "Version 1.263.0.340"), ("v7.5.0", "v7.5.1"), ("1.2.3", "2.0.0")]


@pytest.mark.parametrize(("before", "after"), BUILDS)
def test_the_number_of_a_build_that_another_page_shares_is_no_change(
    before: str, after: str
) -> None:
    change = _second_verdict(f"<p>{before}</p>", f"<p>{after}</p>")
    assert (change.kind, change.reason, change.proven) == (ChangeClass.TEMPLATE, "frame", False)


OWN = [
    ("<p>Version 1.5</p>", "<p>Version 1.6</p>"),
    ("<p>Get version 1.5.1 here</p>", "<p>Get version 1.6.0 here</p>"),
    ("<p>Tickets: available</p>", "<p>Tickets: sold out</p>"),
    ("<p>有票</p>", "<p>售罄</p>"),
    ("", _banner(4)),
    ("<p>Applications until 31 May</p>", "<p>Applications until 30 June</p>"),
]


@pytest.mark.parametrize(("before", "after"), OWN)
def test_a_label_that_two_pages_share_is_a_change(before: str, after: str) -> None:
    assert _second_verdict(before, after).kind.is_change


@pytest.mark.parametrize(("before", "after"), SHARED)
def test_of_one_page_with_two_names_each_change_counts(before: str, after: str) -> None:
    assert _second_verdict(before, after, ("Alpha", "Alpha")).kind.is_change


def test_a_new_menu_with_its_labels_is_a_part_of_the_frame() -> None:
    entries = [f"<li><a href=/{n}>Entry {n}</a></li>" for n in range(12)]
    old, new = ("".join(entries[:2]), "<p>New in this menu</p>" + "".join(entries[2:]))
    change = _second_verdict(f"<ul>{old}</ul>", f"<ul>{new}</ul>")
    assert (change.kind, change.reason, change.proven) == (ChangeClass.TEMPLATE, "event", False)


def test_blocks_that_come_and_go_by_themselves_on_two_pages_are_noise_elsewhere() -> None:
    template = Template()
    old, new = _page("Gamma", ""), _page("Gamma", "<p>Do you need help?</p>")
    change = compare(old, new, template, SETTINGS)
    assert change.kind.is_change
    template.learn_variants("http://a.example/1", change.real)
    template.learn_variants("http://a.example/1", change.real)
    assert compare(old, new, template, SETTINGS).kind.is_change
    template.learn_variants("http://a.example/2", change.real)
    change = compare(old, new, template, SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.NOISE, "variant", False)
    assert compare(
        old, _page("Gamma", "<p>Do you need money?</p>"), template, SETTINGS
    ).kind.is_change


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("It\u2019s “new” \u2013 really", 'It\'s "new" - really'),
        ("« Prix »", "“ Prix ”"),
        ("Effective September 15, 2025, for all", "Effective 15 September 2025, for all"),
        ("5th Sep 2025: news", "September 5, 2025: news"),
    ],
)
def test_other_quotation_marks_are_no_change_and_are_stored(one: str, two: str) -> None:
    change = compare(_page("A", f"<p>{one}"), _page("A", f"<p>{two}"), Template(), SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.NOISE, "typography", False)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("5 € each", "5 $ each"),
        ("is ✅ allowed", "is ❌ allowed"),
        ("1.5", "15"),
        ("September 15, 2025", "16 September 2025"),
        ("June 5, 2025", "5 July 2025"),
    ],
)
def test_other_signs_are_a_change(one: str, two: str) -> None:
    assert compare(
        _page("A", f"<p>{one}"), _page("A", f"<p>{two}"), Template(), SETTINGS
    ).kind.is_change


@pytest.mark.parametrize(
    ("one", "two", "is_hidden"),
    [
        ("© 2023 Example LLC", "© 2024 Example LLC", True),
        ("Copyright 2009-2023", "Copyright 2009\u20132024", True),
        ("版权所有 © 2023 某公司", "版权所有 © 2024 某公司", True),
        ("© 2023 Old LLC", "© 2024 New LLC", False),
        ("In 2023 we sold 5", "In 2024 we sold 5", False),
    ],
)
def test_the_year_of_a_copyright_is_a_clock(one: str, two: str, *, is_hidden: bool) -> None:
    change = compare(_page("A", f"<p>{one}"), _page("A", f"<p>{two}"), Template(), SETTINGS)
    assert change.proven is is_hidden


def test_a_picture_from_another_server_of_the_same_name_is_the_same() -> None:
    old, new, other = (
        _page("A", f"<img src=https://{host}/sc/h/6zm111>")
        for host in ("img-1.example.com", "img-2.example.com", "img-2.example.org")
    )
    assert compare(old, new, Template(), SETTINGS).kind is ChangeClass.MARKUP
    assert compare(old, other, Template(), SETTINGS).kind.is_change


def test_lines_that_become_blocks_are_a_change_unless_they_are_a_frame() -> None:
    lines, blocks = (
        "<p>A street<br>甲市<br>A country</p>",
        "<p>A street</p><p>甲市</p><p>A country</p>",
    )
    old, new = _page("A", lines), _page("A", blocks)
    change = compare(old, new, Template(), SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.MINOR, "layout", False)
    template = Template()
    for name in ("B", "C", "D"):
        template.learn_page(_page(name, lines))
    change = compare(old, new, template, SETTINGS)
    assert (change.kind, change.proven) == (ChangeClass.MARKUP, False)


@pytest.mark.parametrize(("blocks", "is_change"), [(24, False), (6, True)])
def test_a_large_part_that_goes_from_a_page_and_comes_to_another(
    blocks: int, *, is_change: bool
) -> None:
    template = Template()
    template.learn_page(_page("B", _banner(blocks)))
    old, new = _page("A", _banner(blocks)), _page("A", "")
    template.learn_page(old)
    for was, now in ((old, new), (new, old)):
        change = compare(was, now, template, SETTINGS)
        template.learn_page(now, was)
        assert (change.kind.is_change, change.proven) == (is_change, False)


def _footer(entry: str) -> str:
    return f"<p>About this site</p><p>{entry}</p><p>Imprint and contact of all pages</p>"


@pytest.mark.parametrize("names", [("Alpha", "Beta"), ("甲", "乙")])
@pytest.mark.parametrize(("before", "after"), [("", "Nurses"), ("Nurses", "护士"), ("护士", "")])
def test_what_differs_between_blocks_of_the_frame_on_two_pages_is_no_change(
    before: str, after: str, names: tuple[str, str]
) -> None:
    template = Template()
    pages = [(_page(name, _footer(before)), _page(name, _footer(after))) for name in names]
    for view in (_page("Gamma", _footer("A third entry")), *(old for old, _ in pages)):
        template.learn_page(view)
    kinds = []
    for old, new in pages:
        change = compare(old, new, template, SETTINGS)
        template.learn_differences([pair for pair, _ in change.differing])
        template.learn_page(new, old)
        kinds.append((str(change.kind), change.reason, change.proven))
    assert kinds == [("minor", "text", False), ("template", "frame", False)]


def test_what_differs_beside_the_frame_on_two_pages_is_a_change() -> None:
    template = Template()
    pages = [
        (_page(name, f"{_footer('x')}<p>Open"), _page(name, f"{_footer('x')}<p>Shut"))
        for name in ("Alpha", "Beta", "Gamma")
    ]
    for old, _ in pages:
        template.learn_page(old)
    for old, new in pages:
        change = compare(old, new, template, SETTINGS)
        template.learn_differences([pair for pair, _ in change.differing])
        assert change.kind.is_change
