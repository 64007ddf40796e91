"""Verdicts: real changes are never masked, noise is learned, boilerplate is one event.

Verdicts of whole-page signatures.
"""

import pytest

from nacre.core.pagerow import PageRow, PageView
from nacre.extract.pageview import page_view
from nacre.planner.change_detection.change import (
    Change,
    ChangeClass,
    ChangeSettings,
    compare,
    compare_whole,
)
from nacre.planner.change_detection.masking import masked
from nacre.planner.change_detection.pairing import differences
from nacre.planner.change_detection.signatures import (
    TextProfile,
    paper_changed,
    text_distance,
    text_profile,
)
from nacre.planner.change_detection.template import Template, fingerprint
from nacre.recrawl.judge import Lessons, PageJudge

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
    ("Updated over 3 weeks ago", "Updated about a month ago"),
    ("8 hours ago", "yesterday"),
    ("Updated this week", "Updated over a week ago"),
    ("il y a 3 jours", "il y a une semaine"),
    ("hace 2 horas", "hace un día".replace("un ", "1 ")),
    ("ID 12159429695895355112", "ID 8959885409146652192"),
    ("今天是2024年1月1日 星期一", "今天是2024年1月2日 星期二"),
    ("当前时间: 12:00:01", "当前时间: 12:00:59"),
    ("今日日期 2024-01-01 00:00:00浏览次数:41", "今日日期 2024-01-02 00:00:01浏览次数:978"),
    ("今天是2024年1月1日星期一欢迎您", "今天是2024年1月2日星期二欢迎您"),
    ("1,204 views", "1,377 views"),
    ("12:30:01", "12:30:44"),
    ("8 followers", "12 followers"),
    ("Watching: 3", "Watching: 17"),
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
    ("Open today", "Open yesterday"),
    ("Last year's report", "This year's report"),
    ("Phone +49 301234567890", "Phone +49 301234567891"),
]


IN_SENTENCES = [
    (
        "The current time limit for refunds is 30 days.",
        "The current time limit for refunds is 14 days.",
    ),
    ("Today is the deadline of Alice", "Today is the deadline of Bob"),
    ("The motion passed with 51 votes in favour.", "The motion passed with 15 votes in favour."),
    (
        "The company issued 500 shares to its founders.",
        "The company issued 900 shares to its founders.",
    ),
    ("每个用户每天可下载5次资料,超过需付费。", "每个用户每天可下载2次资料,超过需付费。"),
]


@pytest.mark.parametrize(("one", "two"), IN_SENTENCES)
def test_nothing_is_hidden_within_a_sentence(one: str, two: str) -> None:
    change = compare(_page(extra=one), _page(extra=two), Template(), SETTINGS)
    assert (change.kind, change.proven) == (ChangeClass.MINOR, False)


def test_a_checksum_may_be_a_token_and_is_never_left_out() -> None:
    sums = ("3f786850e387550fdab836ed7e6dc881de23001b", "89e6c98d92887913cadf06b2adb97f26cde4849b")
    one, two = (_page(extra=f"SHA-256 {each}") for each in sums)
    change = compare(one, two, Template(), SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.NOISE, "token", False)


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
    assert "2025" in change.real[0].piece.text


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
        differing = differences(one.pieces, two.pieces)
        template.learn_pair(one, two, differing, looked_changed=looked)
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
        template.learn_pair(_page(), _page(), (), looked_changed=False)
    assert not any(template.is_volatile(piece.place) for piece in _page().pieces)
    assert template.noise < 0.01


def _run(*pages: tuple[PageView, PageView], template: Template | None = None) -> list[Change]:
    """The verdicts of the visits of one run, in their order."""
    known = Template() if template is None else template
    known.begin_run(1.0)
    found = []
    for old, new in pages:
        found.append(compare(old, new, known, SETTINGS))
        known.learn_differences([one for one, _ in found[-1].differing])
    return found


def test_a_new_footer_is_one_event_of_the_site() -> None:
    texts = [f"第{number}篇文章的正文" for number in range(20)]
    pages = [(_page(one, foot="主办单位"), _page(one, foot="主办:办公厅")) for one in texts]
    found = _run(*pages)
    assert all(one.kind.is_change for one in found[:4])
    assert {(one.kind, one.reason, one.proven) for one in found[4:]} == {
        (ChangeClass.TEMPLATE, "event", True)
    }


def test_an_edit_beside_an_event_is_a_change() -> None:
    template = Template()
    texts = [f"第{number}篇文章的正文" for number in range(20)]
    pages = [(_page(one, foot="主办单位"), _page(one, foot="主办:办公厅")) for one in texts]
    _run(*pages, template=template)
    both = _page("第0篇文章的正文,有改动", foot="主办:办公厅")
    change = compare(pages[0][0], both, template, SETTINGS)
    assert change.kind.is_change
    assert [one.piece.text for one in change.real] == ["第0篇文章的正文,有改动"]
    assert not change.proven


def test_texts_of_a_page_are_no_boilerplate_however_often_it_is_visited() -> None:
    template = Template()
    page = _page("第0篇文章的正文", foot="主办单位")
    for number in range(30):
        _run(
            (page, _page("第0篇文章的正文", foot="主办单位", extra=f"浏览:{number}")),
            template=template,
        )
    change = compare(page, _page("第0篇文章的正文,有改动"), template, SETTINGS)
    assert change.kind.is_change


# A difference that leaves what a reader sees is markup: (before, after).
TEXT = "<p>The library opens at nine.</p><p>It closes at five.</p>"
SAME_TO_A_READER = [
    (f"<div class=css-1x9k2>{TEXT}</div>", f"<div class=css-8q7zt>{TEXT}</div>"),
    (f"<div id=root-17>{TEXT}</div>", f"<section id=app data-v=3><main>{TEXT}</main></section>"),
    (TEXT, TEXT.replace("<p>", "<div>").replace("</p>", "</div>")),
    (TEXT, TEXT.replace("</p><p>", " ")),
    (TEXT, TEXT.replace("nine", "<b>nine</b>").replace("<p>", "<p style=x>")),
    (f"{TEXT}<h2>News</h2>", f"{TEXT}<div role=heading>News</div>"),
    (f"<div>{TEXT}</div><aside>Hello</aside>", f"<aside>Hello</aside><div>{TEXT}</div>"),
    (f"{TEXT}<noscript><img src=/px?7></noscript>", f"{TEXT}<noscript><img src=/px?8></noscript>"),
    (f"{TEXT}<noscript><iframe src=/a></iframe></noscript>", TEXT),
    (TEXT, TEXT.replace("library", "libra&shy;ry&#8203;").replace(" at", "&nbsp;at")),
    (f"<meta name=csrf content=ab12>{TEXT}", f"<meta name=csrf content=cd34>{TEXT}"),
    (f"<meta property=article:modified_time content=2026-01-01>{TEXT}", TEXT),
    (f"{TEXT}<img src=/img/a.webp?w=32>", f"{TEXT}<img src=https://cdn.a/width=32/img/a.webp>"),
    (f"{TEXT}<a href=/x?fbclid=1>x</a>", f"{TEXT}<a href=/x?fbclid=2>x</a>"),
    (f"{TEXT}<a href=/x>x</a>", f"{TEXT}<a href=/x class=y><span>x</span></a>"),
]


@pytest.mark.parametrize(("before", "after"), SAME_TO_A_READER)
def test_what_leaves_text_and_links_is_markup(before: str, after: str) -> None:
    change = compare(page_view(before), page_view(after), Template(), SETTINGS)
    assert (change.kind, change.proven) == (ChangeClass.MARKUP, True)


SEEN_BY_A_READER = [
    (TEXT, TEXT.replace("nine", "ten")),
    (TEXT, TEXT.replace("The library", "Thelibrary")),
    (TEXT, TEXT + "<p>It closes at five.</p><p>Ring.</p>"),
    (TEXT, TEXT.replace("<p>It closes at five.</p>", "")),
    (f"{TEXT}<p>Updated 2026-01-01</p>", f"{TEXT}<p>Updated 2026-01-02</p>"),
    (f"{TEXT}<p>See <a href=/a>the rules of the house</a> for more of it</p>",
     f"{TEXT}<p>See <a href=/b>the rules of the house</a> for more of it</p>"),
    (f"{TEXT}<noscript>Call 1234</noscript>", f"{TEXT}<noscript>Call 5678</noscript>"),
    (f"{TEXT}<img src=/a.png>", f"{TEXT}<img src=/b.png>"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), SEEN_BY_A_READER)
def test_what_a_reader_sees_is_a_change_and_never_left_out(before: str, after: str) -> None:
    change = compare(page_view(before), page_view(after), Template(), SETTINGS)
    assert change.kind.is_change
    assert not change.proven


NEXT = "<a href=/{0}>下一篇: 关于{0}的通知</a>"
FACTS = "<ul>" + "".join(f"<li><a href=/doc/{n}>资料{n}</a></li>" for n in range(9)) + "</ul>"


def _linked(body: str, around: str) -> PageView:
    return page_view(
        f"<div class=main><p>{body}</p></div><div class=next>{around}</div>"
        "<div class=foot>主办</div>"
    )


def test_links_that_lead_around_are_no_change_but_not_left_out() -> None:
    old, new = (_linked(BODY, NEXT.format(number)) for number in (1, 2))
    change = compare(old, new, Template(), SETTINGS)
    assert (change.kind, change.reason) == (ChangeClass.TEMPLATE, "navigation")
    assert not change.proven


MENU = "<ul>" + "".join(f"<li><a href=/m/{n}>栏目{n}</a></li>" for n in range(60)) + "</ul>"


def test_a_new_entry_of_a_menu_is_no_change_of_a_page_that_is_mostly_menu() -> None:
    template = Template()
    menu = MENU.replace("栏目30<", "栏目30</a></li><li><a href=/m/new>新栏目<")
    for number in range(4):
        template.learn_page(page_view(f"<p>短文{number}</p>{MENU}"))
    change = compare(page_view(f"<p>短文0</p>{MENU}"), page_view(f"<p>短文0</p>{menu}"), template,
                     SETTINGS)  # fmt: skip
    assert change.kind is ChangeClass.TEMPLATE
    assert not change.proven


def test_the_same_entry_of_a_list_is_a_change() -> None:
    template = Template()
    listed = FACTS.replace("资料3<", "资料3</a></li><li><a href=/doc/new>新资料<")
    for number in range(4):
        template.learn_page(page_view(f"<p>短文{number}</p>{MENU}"))
    old, new = (page_view(f"{MENU}<h1>资料</h1>{one}") for one in (FACTS, listed))
    template.learn_page(old)
    assert compare(old, new, template, SETTINGS, listing=True).kind.is_change


def test_a_part_of_the_frame_that_other_pages_have_may_come_and_go() -> None:
    template = Template()
    part = "".join(f"<p>第{n}项服务承诺与说明文字。</p>" for n in range(6))
    for number in range(3):
        template.learn_page(_page(f"第{number}篇", extra=part))
    change = compare(_page("第0篇", extra=part), _page("第0篇"), template, SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.TEMPLATE, "frame", False)
    template.learn_page(_page("第4篇", extra="<p>已取消</p>"))
    template.learn_page(_page("第5篇", extra="<p>已取消</p>"))
    cancelled = compare(_page("第0篇"), _page("第0篇", extra="<p>已取消</p>"), template, SETTINGS)
    assert cancelled.kind.is_change, "a word that other pages have says something of this one"


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
    "part",
    [
        *("1", "1,", "1,,", "1.", "12:", "a-", "A1", "2024-", "半", "浏览", "a1-", "今天", "an "),
        "1e8b6fd07aff687eb73a5c0afd49e3db" * 2 + "J ",
    ],
)
def test_hostile_text_is_read_once(part: str) -> None:
    assert len(masked(part * (100_000 // len(part)))) <= 100_000


def test_fingerprints_are_the_same_in_every_process() -> None:
    assert fingerprint(_page().pieces[0]) == fingerprint(_page().pieces[0])
    assert fingerprint(page_view("<p>x</p>").pieces[0]) == 5395104992458594383


def test_scores_lie_between_none_and_all() -> None:
    assert compare(_page("a"), _page("b"), Template(), SETTINGS).score > 0.0
    empty = page_view("")
    assert 0.9 < compare(empty, _page(), Template(), SETTINGS).score <= 1.0


STAY = "The library opens at nine and closes at five on every day of the week but Sunday. "
CHINESE = "各单位:经研究,决定延长政策期限至2024年12月底。请各单位遵照执行。政策性 政策性"
CANCELLED = "各单位:经研究,决定取消政策期限至2023年6月起。请各单位遵照执行。政策性 政策性"


def _view(text: str, outside: str = "") -> PageView:
    return page_view(f"<html><body><p>{text}</p><div>{outside}</div></body></html>")


@pytest.mark.parametrize(
    ("signature", "old", "new", "kind"),
    [
        # The paper looks at p, span and br alone.
        ("paper", _view(STAY, "menu"), _view(STAY, "other menu"), ChangeClass.NOISE),
        ("paper", _view(STAY), _view("Closed."), ChangeClass.MAJOR),
        ("paper", _view(STAY * 9), _view(STAY * 9 + "Ring."), ChangeClass.MINOR),
        ("md5", _view(STAY, "menu"), _view(STAY, "other menu"), ChangeClass.MAJOR),
        ("md5", _view(STAY), _view(STAY), ChangeClass.MINOR),
        # Order and what comes once do not count; words do.
        ("text-profile", _view("bread bread milk"), _view("bread bread tea"), ChangeClass.NOISE),
        ("text-profile", _view("bread bread"), _view("milk milk"), ChangeClass.MAJOR),
        ("text-profile", _view(CHINESE), _view(CANCELLED), ChangeClass.NOISE),
        ("text-profile-cjk", _view(CHINESE), _view(CANCELLED), ChangeClass.MAJOR),
        ("text-profile-cjk", _view(CHINESE), _view(CHINESE), ChangeClass.NOISE),
        ("text-profile", _view(""), _view(""), ChangeClass.MINOR),
    ],
)
def test_verdicts(signature: str, old: PageView, new: PageView, kind: ChangeClass) -> None:
    settings = ChangeSettings.model_validate({"signature": signature})
    change = compare_whole(old, new, settings)
    assert (change.kind, change.reason) == (kind, signature)
    assert 0.0 <= change.score <= 1.0


def test_the_threshold_of_the_paper() -> None:
    old, new = _view(STAY * 9), _view(STAY * 9 + "Ring the bell.")
    settings = {"signature": "paper", "threshold": 0.0}
    assert compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change
    settings["threshold"] = 0.9
    assert not compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change


def test_profiles_count_as_they_are_told() -> None:
    old, new = _view("to be or not to be to"), _view("so be it, not to be so to to")
    profile = {"min_token_len": 3, "quant_rate": 0.0}
    settings = {"signature": "text-profile", "text_profile": profile}
    assert not compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change
    profile["min_token_len"] = 0
    assert compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change


class _Versions:
    def __init__(self, view: PageView) -> None:
        self.view = view

    def last(self, _: str) -> PageView | None:
        return self.view

    def keep(self, _: str, view: PageView) -> None:
        self.view = view


class _Visit:
    """A page of now."""

    url, time, status, digest, mime, links = "http://a.test/1", 5e8, 200, "new", "text/html", ()
    rendered = False
    wall = ""

    def __init__(self, text: str) -> None:
        self._body = text.encode()
        self.length = len(self._body)

    def body(self) -> bytes:
        return self._body


def _found(signature: str, text: str) -> ChangeClass:
    settings = ChangeSettings.model_validate({"signature": signature})
    versions = _Versions(_view(STAY, "2026-11-20 10:15:17"))
    judge = PageJudge(versions, Lessons.none(), settings)
    row = PageRow("http://a.test/1", visits=1, digest="old", evidence=b"")
    finding = judge.judge(row, _Visit(text))
    assert (judge.pairs_wanted(row.url) > 0) == (signature == "blocks")
    return finding.kind


def test_the_judge_follows_the_signature() -> None:
    counted = f"<html><body><p>{STAY}</p><div>2026-11-20 10:15:17</div><!-- later --></body></html>"
    assert not _found("blocks", counted).is_change
    assert _found("paper", counted) is ChangeClass.NOISE
    assert _found("md5", counted).is_change
    reworded = "<html><body><p>Closed.</p><div>2026-11-20 10:15:17</div></body></html>"
    assert all(_found(name, reworded).is_change for name in ("blocks", "paper", "md5"))


BEFORE = "各单位:经研究,决定延长政策期限至2024年12月底。请各单位遵照执行。政策性 政策性"
AFTER = "各单位:经研究,决定取消政策期限至2023年6月起。请各单位遵照执行。政策性 政策性"


def _of(text: str, **said: object) -> str:
    return text_profile(text, text.encode(), TextProfile.model_validate(said)).hex()


def test_words_once_vanish_when_others_come_twice() -> None:
    assert _of("Fox the fox the quick") == _of("fox the Fox brown the")
    assert _of("alpha beta") != _of("alpha gamma")


def test_nutch_does_not_see_a_changed_chinese_policy_but_ours_does() -> None:
    assert _of(BEFORE) == _of(AFTER)
    assert _of(BEFORE, unspaced=True, quant_rate=0.0) != _of(AFTER, unspaced=True, quant_rate=0.0)


def test_without_text_the_payload_signs() -> None:
    settings = TextProfile()
    assert text_profile("", b"one", settings) != text_profile("", b"two", settings)
    assert text_profile("..", b"one", settings) == text_profile("..", b"two", settings)


def test_latin_words_inside_chinese_text_are_kept() -> None:
    once = _of("使用Python编程Python语言", unspaced=True)
    assert once != _of("使用编程语言", unspaced=True)


@pytest.mark.parametrize(("threshold", "changed"), [(0.0, True), (0.05, True), (0.9, False)])
def test_the_threshold_that_the_paper_promises(threshold: float, *, changed: bool) -> None:
    old, new = page_view(f"<p>{BEFORE}</p>"), page_view(f"<p>{AFTER}</p>")
    assert paper_changed(old, new, threshold) is changed
    assert not paper_changed(old, old, threshold)


def test_distances() -> None:
    assert text_distance("abcdefgh", "abcdefgh") == 0.0
    assert text_distance("abcdefgh", "zyxwvuts") == 1.0
    assert text_distance("", "") == 0.0


PRICES = "<table><tr><td>{}<td>{}<td>{}<td>{}</table><p class=clock>{}</p>"


@pytest.mark.parametrize("clock", ["", "12:00:01"])
def test_cells_that_were_exchanged_are_a_change(clock: str) -> None:
    one = _page(extra=PRICES.format("基本版", "5 元", "专业版", "10 元", clock))
    two = _page(extra=PRICES.format("基本版", "10 元", "专业版", "5 元", clock and "12:00:02"))
    change = compare(one, two, Template(), SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.MINOR, "order", False)


def test_pages_that_shuffle_their_texts_are_noise_that_is_stored() -> None:
    one, two = (_page(extra=PRICES.format(*cells, "")) for cells in ("abcd", "cdab"))
    template = Template(shuffles=2)
    change = compare(one, two, template, SETTINGS)
    assert (change.kind, change.reason, change.proven) == (ChangeClass.NOISE, "order", False)


def test_a_menu_in_another_order_is_no_change_and_is_stored() -> None:
    links = (
        "<li><a href=/a>Alpha</a><li><a href=/b>Beta</a>",
        "<li><a href=/b>Beta</a><li><a href=/a>Alpha</a>",
    )
    one, two = (_page(extra=f"<ul>{each}</ul>") for each in links)
    change = compare(one, two, Template(), SETTINGS)
    assert (change.kind, change.proven) == (ChangeClass.MARKUP, False)


def test_a_page_that_was_not_read_to_its_end_is_never_left_out() -> None:
    one, two = (
        page_view(f"<p>12:00:0{n}</p><p>a</p><p>b</p><p>{n}</p>", max_pieces=3) for n in (1, 2)
    )
    change = compare(one, two, Template(), SETTINGS)
    assert (change.kind, change.proven) == (ChangeClass.NOISE, False)


def test_a_place_where_something_stays_proves_nothing() -> None:
    template = Template()
    for n in range(9):
        one, two = (
            page_view(f"<p>Quote {m} of the day</p>") for m in (f"{n}a", f"{n}b zz yy xx ww vv")
        )
        template.learn_pair(one, two, differences(one.pieces, two.pieces), looked_changed=True)
        one, two = (page_view(f"<p>{m}</p>") for m in (f"{n}", f"x{n}"))
        template.learn_pair(one, two, differences(one.pieces, two.pieces), looked_changed=True)
    terms = "<p>Terms of use of this site</p>"
    added = compare(page_view(terms), page_view(terms + "<p>A fee</p>"), template, SETTINGS)
    assert (added.reason, added.proven) == ("churn", False)
    quote = compare(page_view("<p>Wise</p>"), page_view("<p>Other</p>"), template, SETTINGS)
    assert (quote.reason, quote.proven) == ("volatile", True)


def test_an_advert_is_proven_noise_if_paired_fetches_differ_in_it() -> None:
    def page(words: str) -> PageView:
        return page_view(f"<p>A text that stays</p><div class='advert'>{words}</div>")

    template = Template()
    first = compare(page("Buy apples"), page("Sell pears"), template, SETTINGS)
    assert (first.reason, first.proven) == ("advert", False)
    for n in range(9):
        one, two = page(f"Buy {n}"), page(f"Sell x{n}")
        template.learn_pair(one, two, differences(one.pieces, two.pieces), looked_changed=False)
    second = compare(page("Buy apples"), page("Sell pears"), template, SETTINGS)
    assert (second.reason, second.proven) == ("volatile", True)


def test_texts_that_were_exchanged_between_places_are_stored() -> None:
    one, two = (
        page_view(f"<h2>Result</h2><p class=winner>{a}</p><p class=loser>{b}</p>")
        for a, b in (("Alice", "Bob"), ("Bob", "Alice"))
    )
    change = compare(one, two, Template(), SETTINGS)
    assert (change.kind, change.proven) == (ChangeClass.MARKUP, False)


@pytest.mark.parametrize(
    "markup",
    [
        "<img src=/a.png alt='价格 {} 元'>",
        "<input type=submit value='Buy for {}'>",
        "<iframe srcdoc='&lt;p>{}'></iframe>",
        "<frame src='/{}.html'>",
        "<meta http-equiv=refresh content='0;url=/{}'>",
    ],
)
def test_what_a_reader_sees_of_attributes_is_never_left_out(markup: str) -> None:
    one, two = (_page(extra=markup.format(price)) for price in (5, 9))
    change = compare(one, two, Template(), SETTINGS)
    assert (change.kind.is_change, change.proven) == (True, False)
