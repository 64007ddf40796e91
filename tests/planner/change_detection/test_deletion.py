"""Deletion: confirmed, revisited, never by failures; soft-404s and blocks told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import PageView
from nacre.extract.pageview import page_view
from nacre.planner.change_detection import deletion
from nacre.planner.change_detection.deletion import (
    DAY,
    Answer,
    ErrorModel,
    Existence,
    Life,
    after,
    is_same_page,
    likeness,
    looks_failed,
    looks_gone,
    may_say_gone,
    next_look,
)
from nacre.planner.change_detection.template import Template

GONE = page_view("<title>出错了</title><div class=e><p>对不起,页面不存在</p><p>返回首页</p></div>")
ARTICLE = page_view(
    f"<title>公告</title><div class=m><p>{'关于延长期限的公告正文。' * 30}</p></div>"
)


def test_one_404_is_a_suspicion_and_two_are_proof() -> None:
    first = after(Existence(), Answer.MISSING, 1000.0)
    assert first == Existence(Life.SUSPECT, 1000.0)
    assert next_look(first, 1000.0) == 1000.0 + DAY
    assert after(first, Answer.SOFT, 2000.0) == first
    assert after(first, Answer.MISSING, 1000.0 + DAY).life is Life.GONE


def test_410_is_proof_at_once() -> None:
    assert after(Existence(), Answer.GONE, 1.0).life is Life.GONE


def test_failures_prove_nothing() -> None:
    suspect = after(Existence(), Answer.MISSING, 1.0)
    assert after(suspect, Answer.SILENT, 10 * DAY) == suspect


def test_pages_come_back() -> None:
    gone = after(Existence(), Answer.GONE, 1.0)
    assert after(gone, Answer.THERE, 9.0) == Existence(Life.LIVE, 9.0)


def test_looks_at_gone_pages_become_rare() -> None:
    state, last, waits = after(Existence(), Answer.GONE, 0.0), 0.0, []
    for _ in range(8):
        due = next_look(state, last)
        assert due is not None
        waits.append((due - last) / DAY)
        last = due
        state = after(state, Answer.MISSING, last)
    assert waits == [7, 14, 30, 60, 120, 180, 180, 180]


def test_a_move_keeps_its_target() -> None:
    moved = after(Existence(), Answer.MOVED, 5.0, "http://a.cn/new")
    assert moved == Existence(Life.MOVED, 5.0, 0, "http://a.cn/new")
    again = after(moved, Answer.MOVED, 9.0, "http://a.cn/new")
    assert again == Existence(Life.MOVED, 5.0, 1, "http://a.cn/new")
    assert after(again, Answer.MOVED, 9.0, "http://a.cn/newer").looks == 0


def test_a_page_that_turned_into_a_redirect_is_looked_at_again() -> None:
    moved = after(Existence(), Answer.MOVED, 0.0, "http://a.cn/new")
    assert next_look(moved, 0.0) == 30 * DAY
    assert next_look(after(moved, Answer.MOVED, 30 * DAY, "http://a.cn/new"), 0.0) == 60 * DAY
    assert next_look(Existence(), 0.0) is None


@given(st.lists(st.tuples(st.sampled_from(list(Answer)), st.floats(0, 1e6)), max_size=30))
def test_nothing_is_gone_without_an_answer_that_says_so(steps: list[tuple[Answer, float]]) -> None:
    state, now = Existence(), 0.0
    for answer, wait in steps:
        now += wait
        before, state = state, after(state, answer, now)
        if state.life is Life.GONE and before.life is not Life.GONE:
            assert answer in {Answer.MISSING, Answer.GONE, Answer.SOFT}


def test_a_page_like_that_of_a_made_up_name_is_gone() -> None:
    model = ErrorModel()
    model.learn_probe(200, "", GONE, 0.0)
    assert looks_gone(URL, GONE, ARTICLE, model)
    assert not looks_gone(URL, ARTICLE, ARTICLE, model)


def test_words_alone_need_a_short_page() -> None:
    model = ErrorModel()
    assert looks_gone(URL, GONE, ARTICLE, model)
    about = page_view(f"<p>{'本文讨论页面不存在时的处理办法。' * 40}</p>")
    assert not looks_gone(URL, about, None, model)


URL = "http://a.cn/5.html"
SHORT = page_view("<h1>Lost</h1><p>The ring of 1890 was not found.</p>")


@pytest.mark.parametrize("status", [0, 200, 404, 410])
def test_the_words_of_a_new_page_alone_prove_nothing(status: int) -> None:
    model = ErrorModel()
    model.learn_probe(status, "", ARTICLE, 0.0)
    assert not looks_gone(URL, SHORT, None, model)
    model.learn_words(URL, SHORT)
    assert not looks_gone(URL, SHORT, None, model)


def test_new_pages_that_say_the_same_words_are_error_pages() -> None:
    model = ErrorModel()
    model.learn_words("http://a.cn/1.html", ARTICLE)
    assert not looks_gone(URL, GONE, None, model)
    model.learn_words("http://a.cn/1.html", GONE)
    assert looks_gone(URL, GONE, None, model)
    assert not looks_gone(URL, SHORT, None, model)


@pytest.mark.parametrize("status", [404, 410])
def test_words_prove_nothing_where_missing_pages_are_reported(status: int) -> None:
    model = ErrorModel()
    model.learn_probe(status, "", page_view("<h1>Sorry</h1><p>No such page"), 0.0)
    assert not looks_gone(URL, GONE, ARTICLE, model)
    assert looks_gone(URL, page_view("<h1>Sorry</h1><p>No such page"), ARTICLE, model)


FOOTER = "<div class=foot><p>" + "联系我们:地址、电话、备案号与本站声明。" * 30 + "</p></div>"


def _site(*texts: str) -> list[PageView]:
    return [page_view(f"<h1>{text}</h1><p>{text}的正文。</p>{FOOTER}") for text in texts]


def test_a_footer_that_is_the_longest_text_of_every_page_says_nothing() -> None:
    template = Template()
    pages = _site(*(f"第{number}页" for number in range(9)))
    for page in pages:
        template.learn_page(page)
    [edited] = _site("第0页,有改动")
    assert not looks_gone(URL, edited, pages[0], ErrorModel(), template)
    assert not looks_gone(URL, edited, None, ErrorModel(), template)


def test_what_error_pages_share_with_live_pages_is_left_out() -> None:
    template, model = Template(), ErrorModel()
    pages = _site(*(f"第{number}页" for number in range(9)))
    for page in pages:
        template.learn_page(page)
    menu = "".join(f"<p><a href=/{n}>栏目{n}</a></p>" for n in range(60))
    views = [page_view(f"{menu}<p>{text}</p>") for text in ("第一篇", "第二篇", "第三篇", "没有")]
    for view in views[:3]:
        template.learn_page(view)
    model.learn_probe(200, "", views[3], 0.0)
    assert likeness(*(frozenset(hash(p) for p in v.pieces) for v in (views[0], views[3]))) > 0.9
    assert not looks_gone(URL, views[0], None, model, template)
    assert looks_gone(URL, views[3], views[0], model, template)


def test_words_say_nothing_while_the_text_of_the_page_is_there() -> None:
    body = "<p>" + "The catalogue lists what the museum holds. " * 6 + "</p>"
    old = page_view(f"<h1>Catalogue</h1>{body}<p>Volume 3</p>")
    new = page_view(f"<h1>Catalogue</h1>{body}<p>Volume 3 is no longer available</p>")
    assert not looks_gone(URL, new, old, ErrorModel())
    assert looks_gone(
        URL, page_view("<h1>Catalogue</h1><p>It does not exist</p>"), old, ErrorModel()
    )


def test_sinks_take_in_pages_that_are_no_more() -> None:
    model = ErrorModel()
    for number in range(3):
        url = f"http://a.cn/{number}"
        assert model.is_sink("http://a.cn/", url) == (number == 2)
        model.learn_redirect(url, "http://a.cn/")
    assert model.is_sink("http://a.cn/", "http://a.cn/9")
    assert not model.is_sink("", "http://a.cn/9")


def test_a_page_counts_once_however_often_it_redirects() -> None:
    model = ErrorModel()
    for _ in range(30):
        model.learn_redirect("http://a.cn/old", "http://a.cn/new")
    assert not model.is_sink("http://a.cn/new", "http://a.cn/old")
    assert not model.is_sink("http://a.cn/new", "http://a.cn/other")


@pytest.mark.parametrize(
    ("url", "target", "same"),
    [
        ("http://a.cn/guide", "http://a.cn/guide/", True),
        ("http://a.cn/guide/", "http://a.cn/guide", True),
        ("http://a.cn/guide", "https://a.cn/guide", True),
        ("http://a.cn/guide", "https://www.a.cn/guide/", True),
        ("http://www.a.cn/guide", "http://a.cn/guide", True),
        ("http://a.cn/guide", "http://a.cn/en/guide", True),
        ("http://a.cn/guide", "http://a.cn/zh-CN/guide/", True),
        ("http://a.cn/en/guide", "http://a.cn/de/guide", True),
        ("http://a.cn/Guide", "http://a.cn/guide", True),
        ("http://a.cn/guide/index.html", "http://a.cn/guide/", True),
        ("http://a.cn/index.html", "http://a.cn/", True),
        ("http://a.cn/en", "http://a.cn/", True),
        ("http://a.cn/%E5%8D%97", "http://a.cn/南/", True),
        ("http://a.cn/guide?p=1", "http://a.cn/guide/?p=1", True),
        ("http://a.cn/guide", "http://a.cn/", False),
        ("http://a.cn/guide", "http://a.cn/guides", False),
        ("http://a.cn/guide", "http://b.cn/guide", False),
        ("http://a.cn/guide", "", False),
        ("http://a.cn/guide/3", "http://a.cn/guide/", False),
    ],
)
def test_another_form_of_a_name_is_the_same_page(url: str, target: str, same: bool) -> None:
    assert is_same_page(url, target) == same


def test_likeness() -> None:
    assert likeness(frozenset((1, 2)), frozenset((1, 2))) == 1.0
    assert likeness(frozenset(), frozenset()) == 0.0


@pytest.mark.parametrize("word", deletion._WORDS)
def test_the_cheap_look_finds_each_word_in_each_encoding(word: str) -> None:
    for encoding in ("utf-8", "gbk"):
        page = f"<title>国</title><p>{word.title()}</p>".encode(encoding)
        assert may_say_gone(page)
        assert not may_say_gone(page.replace(word.title().encode(encoding), b"welcome"))


FAILED = [
    "",
    "<title>公告</title>",
    "<title>Another title</title><img src=/logo.png>",
    "<h1>This page isn't available</h1><p>An unexpected error has occurred. Try reloading it.",
    "<p>Application error: a client-side exception has occurred (see the browser console).",
    "<title>公告</title><p>系统繁忙,请稍后重试</p>",
    "<p>Une erreur est survenue.</p><p>Accueil</p>",
]


@pytest.mark.parametrize("markup", FAILED)
def test_a_page_that_came_without_its_text_may_be_a_failure(markup: str) -> None:
    assert looks_failed(page_view(markup), ARTICLE)
    assert not looks_failed(ARTICLE, page_view(markup)), "its text is there again"


RENDERED = [
    "<p>Closed until further notice.",
    "<title>公告</title><p>本页已停用</p>",
    f"<p>An unexpected error has occurred.</p><p>{'关于延长期限的公告正文。' * 30}",
    f"<p>Something went wrong with our terms:</p><p>{'A text of another page. ' * 50}",
]


@pytest.mark.parametrize("markup", RENDERED)
def test_a_page_that_says_something_else_is_no_failure(markup: str) -> None:
    assert not looks_failed(page_view(markup), ARTICLE)


def test_a_page_that_was_blank_before_has_not_failed() -> None:
    assert not looks_failed(page_view("<title>A</title>"), page_view("<title>B</title>"))
