"""Verdicts: real changes are never masked, noise is learned, boilerplate is one event."""

import pytest

from nacre.core.pageview import PageView
from nacre.extract.pageview import page_view
from nacre.history.verdict.change import ChangeClass, ChangeSettings, compare
from nacre.history.verdict.template import Template, fingerprint
from nacre.history.verdict.volatile import masked

SETTINGS = ChangeSettings()
BODY = "本次工作的期限为2024年12月31日,请各单位按照通知要求认真组织落实。" * 4


def _page(
    body: str = BODY, *, title: str = "公告", foot: str = "主办单位", extra: str = ""
) -> PageView:
    return page_view(
        f"<title>{title}</title><div class=nav><a href=/>首页</a></div>"
        f"<div class=main><h1>{title}</h1><p>{body}</p></div>"
        f"<div class=side>{extra}</div><div class=foot><p>{foot}</p></div>"
    )


def _class(old: PageView, new: PageView, template: Template | None = None) -> ChangeClass:
    return compare(old, new, template or Template(), SETTINGS).kind


MASKED = [
    ("浏览次数:123次", "浏览次数:9,124次"),
    ("阅读 12", "阅读 9.3万"),
    ("3分钟前", "2小时前"),
    ("12 minutes ago", "an hour ago"),
    ("今天是2024年1月1日 星期一", "今天是2024年1月2日 星期二"),
    ("当前时间: 12:00:01", "当前时间: 12:00:59"),
    ("今日日期 2024-01-01 00:00:00浏览次数:41", "今日日期 2024-01-02 00:00:01浏览次数:978"),
    ("今天是2024年1月1日星期一欢迎您", "今天是2024年1月2日星期二欢迎您"),
    ("1,204 views", "1,377 views"),
    ("12:30:01", "12:30:44"),
    ("id 9f86d081884c7d659a2feaa0c55ad015", "id 5feceb66ffc86f38d952786c6d696c79"),
]
NOT_MASKED = [
    ("期限为2024年12月底", "期限为2025年12月底"),
    ("会议时间 14:30", "会议时间 15:30"),
    ("共 12 人", "共 13 人"),
    ("价格 100 元", "价格 120 元"),
    ("延长", "取消"),
    ("第3章", "第4章"),
    ("2024-01-01", "2024-01-02"),
    ("星期一", "星期二"),
    ("现在2024年5月1日起施行", "现在2025年5月1日起施行"),
    ("浏览器 12 版", "浏览器 13 版"),
]


@pytest.mark.parametrize(("one", "two"), MASKED)
def test_what_changes_by_itself_is_masked(one: str, two: str) -> None:
    assert masked(one) == masked(two)
    assert _class(_page(extra=one), _page(extra=two)) is ChangeClass.NOISE


@pytest.mark.parametrize(("one", "two"), NOT_MASKED)
def test_what_may_be_meant_is_not(one: str, two: str) -> None:
    assert masked(one) != masked(two)
    assert _class(_page(extra=one), _page(extra=two)).is_change


@pytest.mark.parametrize(
    ("limit", "kind"),
    [(1.0, "noise"), (0.9, "noise"), (0.02, "minor"), (0.0, "minor")],
)
def test_noise_beyond_the_limit_is_a_change(limit: float, kind: str) -> None:
    # Where the page differs is not known to be volatile: only what it says is masked.
    old, new = (_page(extra="".join(f"<p>浏览: {n}{i}</p>" for i in range(40))) for n in (12, 34))
    change = compare(old, new, Template(), ChangeSettings(noise_limit=limit))
    assert change.kind == kind
    assert change.reason == ("score" if kind == "minor" else "masked")
    assert 0.02 < change.score < 0.9


def test_a_changed_deadline_is_a_change_of_its_text() -> None:
    change = compare(
        _page(), _page(BODY.replace("2024年12月31日", "2025年12月31日", 1)), Template(), SETTINGS
    )
    assert change.kind is ChangeClass.MINOR
    assert change.reason == "text"
    assert 0.0 < change.score < 0.02
    assert "2025" in change.evidence[0].piece.text


def test_only_markup() -> None:
    old = page_view("<p class='a' id='b'>x</p>")
    assert _class(old, page_view("<p id='b' class='a'>x</p>")) is ChangeClass.MARKUP
    assert _class(old, page_view("<p id='b' class='a'><b>x</b></p>")) is ChangeClass.MARKUP


@pytest.mark.parametrize(
    "new",
    [
        _page("完全不同的内容。" * 30),
        _page(title="新的公告"),
        _page(extra="<a href=/f.pdf></a>"),
    ],
)
def test_major_changes(new: PageView) -> None:
    assert _class(_page(), new) is ChangeClass.MAJOR


@pytest.mark.parametrize("extra", ["<img src=/n.png>", "<a href=/new></a>", "<p>另外补充一点</p>"])
def test_small_additions_are_minor_changes(extra: str) -> None:
    assert _class(_page(), _page(extra=extra)) is ChangeClass.MINOR


def _taught() -> Template:
    template = Template()
    for number in range(8):
        one = _page(extra=f"<p>推荐{number}</p>")
        two = _page(extra=f"<p>推荐{number + 100}</p>")
        looked = compare(one, two, template, SETTINGS).kind.is_change
        template.learn_pair(one, two, looked_changed=looked)
    return template


def test_paired_fetches_teach_noise_but_not_deafness() -> None:
    template = _taught()
    old = _page(extra="<p>推荐甲</p>")
    assert _class(old, _page(extra="<p>推荐乙</p>"), template) is ChangeClass.NOISE
    assert _class(old, _page(BODY + "!", extra="<p>推荐乙</p>"), template).is_change
    assert 0.0 < template.noise < 1.0


def test_a_place_that_never_differed_is_not_noise() -> None:
    template = Template()
    for _ in range(50):
        template.learn_pair(_page(), _page(), looked_changed=False)
    assert not any(template.is_volatile(piece.place) for piece in _page().pieces)
    assert template.noise < 0.01


def test_boilerplate_is_one_event_of_the_template() -> None:
    template = Template()
    for number in range(20):
        template.learn_page(_page(f"第{number}篇文章的正文"))
    old, new = _page("正文", foot="主办单位"), _page("正文", foot="主办:办公厅")
    change = compare(old, new, template, SETTINGS)
    assert change.kind is ChangeClass.TEMPLATE
    both = _page("正文,有改动", foot="主办:办公厅")
    assert _class(old, both, template).is_change


def test_a_new_design_stays_one_event_to_the_last_page() -> None:
    template = Template()
    for number in range(150):
        template.learn_page(_page(f"第{number}篇文章的正文", foot="版权所有 2026"))
    kinds = set()
    for number in range(150):
        old = _page(f"第{number}篇文章的正文", foot="版权所有 2026")
        new = _page(f"第{number}篇文章的正文", foot="版权所有 2029")
        kinds.add(_class(old, new, template))
        template.learn_page(new)
    assert kinds == {ChangeClass.TEMPLATE}


NEXT = "<a href=/{0}>下一篇: 关于{0}的通知</a>"
FACTS = "<ul>" + "".join(f"<li><a href=/doc/{n}>资料{n}</a></li>" for n in range(9)) + "</ul>"


def _linked(body: str, around: str) -> PageView:
    return page_view(
        f"<div class=main><p>{body}</p></div><div class=next>{around}</div>"
        "<div class=foot>主办</div>"
    )


def test_links_that_lead_around_belong_to_the_template_once_most_pages_have_them() -> None:
    template = Template()
    old, new = (_linked(BODY, NEXT.format(number)) for number in (1, 2))
    assert _class(old, new, template).is_change, "nothing is known of the site yet"
    for number in range(10):
        template.learn_page(_linked(f"{number} {BODY}", NEXT.format(number)))
    change = compare(old, new, template, SETTINGS)
    assert (change.kind, change.reason) == (ChangeClass.TEMPLATE, "navigation")


def test_links_in_a_place_of_the_page_alone_are_what_it_says() -> None:
    template = Template()
    for number in range(10):
        template.learn_page(_linked(f"{number} {BODY}", NEXT.format(number)))
    old = _linked(f"{BODY}{FACTS}", NEXT.format(1))
    new = _linked(f"{BODY}{FACTS.replace('资料3', '资料三')}", NEXT.format(1))
    assert _class(old, new, template).is_change


def test_links_of_a_page_that_is_mostly_links_are_what_it_says() -> None:
    template = Template()
    for number in range(10):
        template.learn_page(_linked("", FACTS.replace("资料", f"资料{number}")))
    old, new = _linked("", FACTS), _linked("", FACTS.replace("/doc/3>资料3", "/doc/33>资料33"))
    assert _class(old, new, template).is_change


def test_what_lies_behind_the_cut_counts_as_a_change() -> None:
    old, new = (page_view("<p>x</p>" * 30 + end, max_pieces=20) for end in ("<p>a", "<p>b"))
    change = compare(old, new, Template(), SETTINGS)
    assert (change.kind, change.reason) == (ChangeClass.MINOR, "unread")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["1", "1,", "1,,", "1.", "12:", "a-", "A1", "2024-", "半", "浏览", "a1-", "今天", "an "]
)
def test_hostile_text_is_read_once(part: str) -> None:
    assert len(masked(part * (400_000 // len(part)))) <= 400_000


def test_old_designs_fade() -> None:
    template = Template()
    old = _page("x", foot="旧")
    template.learn_page(old)
    for number in range(900):
        template.learn_page(_page(f"{number}", foot="新"))
    prints = {piece.text: template.frequency(piece) for piece in old.pieces}
    assert prints["旧"] == 0
    assert template.pages <= 200


def test_fingerprints_are_the_same_in_every_process() -> None:
    assert fingerprint(_page().pieces[0]) == fingerprint(_page().pieces[0])
    assert fingerprint(page_view("<p>x</p>").pieces[0]) == 742215348795102078


def test_scores_lie_between_none_and_all() -> None:
    assert compare(_page("a"), _page("b"), Template(), SETTINGS).score > 0.0
    empty = page_view("")
    assert 0.9 < compare(empty, _page(), Template(), SETTINGS).score <= 1.0
