"""Tokens in links: known by several links that lead where they led, and by nothing else."""

from itertools import pairwise

import pytest

from nacre.core.pagerow import PageView
from nacre.extract.pageview import page_view
from nacre.planner.change_detection.change import ChangeClass, ChangeSettings, compare
from nacre.planner.change_detection.masking import renewed_tokens, token_address
from nacre.planner.change_detection.template import Template

SETTINGS = ChangeSettings()
TARGETS = ("/a", "/b", "/c")


def _token(seed: str) -> str:
    return f"AT{seed}x9" * 5


def _page(seed: str, targets: tuple[str, ...] = TARGETS, *, fixed: str = "") -> PageView:
    links = (
        f"<p>Read <a href='https://l.example/r?u={target}&h={_token(seed + str(at))}'>this</a> now"
        for at, target in enumerate(targets)
    )
    return page_view(f"<h1>Terms</h1>{''.join(links)}{fixed}")


@pytest.mark.parametrize(
    ("address", "rest"),
    [
        (f"https://l.example/r?u=%2Fa&h={_token('1')}", "https://l.example/r?u=%2Fa&h"),
        (f"/r?h={_token('1')}", "/r?h"),
        ("/r?id=12345678901234567890", None),
        ("/r?title=averylongwordofletters", None),
        ("/r?date=2024-01-01", None),
        ("/r", None),
        ("/r?", None),
        ("/查?词=价格", None),
    ],
)
def test_what_is_like_a_token(address: str, rest: str | None) -> None:
    found = token_address(address)
    assert (None if found is None else found.remainder) == rest


def test_tokens_of_several_links_are_no_change_and_are_left_out() -> None:
    change = compare(_page("1"), _page("2"), Template(), SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.NOISE, "link-token", True)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (_page("1", ("/a",)), _page("2", ("/a",))),
        (_page("1", ("/a", "/a", "/a")), _page("2", ("/a", "/a", "/a"))),
        (_page("1"), _page("2", ("/a", "/b", "/c", "/d"))),
        (_page("1"), _page("2", ("/a", "/b", "/d"))),
        (
            _page("1", fixed=f"<a href='https://l.example/r?u=/x&h={_token('9')}'>x</a>"),
            _page("2", fixed=f"<a href='https://l.example/r?u=/x&h={_token('9')}'>x</a>"),
        ),
    ],
    ids=["a single link", "one target", "a new link", "another target", "one that stays"],
)
def test_a_link_that_may_lead_elsewhere_is_a_change(one: PageView, two: PageView) -> None:
    change = compare(one, two, Template(), SETTINGS)
    assert (change.kind.is_change, change.proven) == (True, False)


def test_a_site_renews_the_same_tokens_on_other_pages() -> None:
    template = Template()
    template.learn_visit(_page("1"), _page("2"))
    change = compare(_page("1", ("/z",)), _page("2", ("/z",)), template, SETTINGS)
    assert (change.reason, change.proven) == ("link-token", True)


def test_a_single_link_that_is_another_at_each_visit_is_noise_and_stored() -> None:
    template, pages = Template(), [_page(str(seed), ("/a",)) for seed in range(6)]
    kinds = []
    for old, new in pairwise(pages):
        kinds.append(compare(old, new, template, SETTINGS))
        template.learn_visit(old, new)
    assert [change.kind.is_change for change in kinds] == [True] * 4 + [False]
    assert (kinds[-1].reason, kinds[-1].proven) == ("token", False)
    template.learn_visit(pages[0], pages[0])
    assert compare(pages[0], pages[1], template, SETTINGS).kind.is_change


def _shared_file(seed: int, path: str = "https://d.example/file/{}/view") -> PageView:
    address = path.format(f"1yCn{seed}bLhVfK1lr7st7gkgAnDkoW{seed}")
    return page_view(f"<p>The form of the association is <a href='{address}'>here</a>.")


def test_another_token_in_a_path_may_be_another_page() -> None:
    change = compare(_shared_file(1), _shared_file(2), Template(), SETTINGS)
    assert (change.kind, change.reason) == (ChangeClass.MINOR, "link")


def test_a_path_that_is_another_at_each_visit_is_noise_and_stored() -> None:
    template, pages = Template(), [_shared_file(seed) for seed in range(1, 7)]
    kinds = []
    for old, new in pairwise(pages):
        kinds.append(compare(old, new, template, SETTINGS))
        template.learn_visit(old, new)
    assert [change.kind.is_change for change in kinds] == [True] * 4 + [False]
    assert (kinds[-1].reason, kinds[-1].proven) == ("token", False)
    template.learn_visit(pages[0], pages[0])
    assert compare(pages[0], pages[1], template, SETTINGS).kind.is_change


@pytest.mark.parametrize(
    "path", ["/i?src=a.jpg&dpl={}", "/media/{}", "https://chat.example?user={0}&size={0:.3}"]
)
def test_a_picture_with_another_token_is_noise_and_stored(path: str) -> None:
    old, new = (page_view(f"<p>text<img src='{path.format(_token(seed))}'>") for seed in ("1", "2"))
    change = compare(old, new, Template(), SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.NOISE, "token", False)


def test_values_that_stay() -> None:
    assert renewed_tokens(_page("1"), _page("1")) == {"l.example h": 0}
    assert renewed_tokens(_page("1"), _page("2")) == {"l.example h": 3}
    assert renewed_tokens(_page("1"), page_view("<p>x")) == {}
