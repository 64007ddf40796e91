"""Replies that are no page of the site, on markup written for these tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.rendered import RenderedPage
from nacre.extract.pageview import page_view
from nacre.extract.walls import (
    UNCOUNTED,
    WALLS,
    WallEvidence,
    asks_first,
    find_wall,
    has_paywall,
    is_marked,
    looks_blocked,
)

URL = "http://a.test/news/5.html"
PROSE = "<p>" + "words of an article that everybody can read " * 30 + "</p>"
CHINESE = "<p>" + "关于延长期限的公告和有关事项的说明" * 30 + "</p>"
ARTICLE = page_view(f"<title>公告</title>{CHINESE}")
LOGIN = '<title>Sign in</title><form><input name=user><input type="password"></form>'
JUST = "<title>Just a moment...</title><p>Please wait while we check your connection.</p>"
PAID = '<script type="application/ld+json">{"isAccessibleForFree":false}</script>'
SCRIPT = "<script src=counter-of-days.js></script><script src=menu.js></script>"
FREE = PAID.replace("false", "true")


def reply(
    body: str = "",
    status: int = 200,
    url: str = URL,
    charset: str = "utf-8",
    target: str = "",
    rendered: RenderedPage | None = None,
    **header: str,
) -> WallEvidence:
    fields = {name.replace("_", "-"): value for name, value in header.items()}
    return WallEvidence(
        url, status, lambda name: fields.get(name.decode(), ""), target,
        lambda: body.encode(charset), lambda: body, rendered,
    )  # fmt: skip


def final(dom: str, text: str = "", covered: float = 0.0) -> WallEvidence:
    page = RenderedPage("settled", URL, dom=dom.encode(), text=text, covered=covered)
    return reply("<div id=root></div>", rendered=page)


@pytest.mark.parametrize(
    ("evidence", "wall"),
    [
        (reply(PROSE), ""),
        (reply(CHINESE), ""),
        (reply(CHINESE, charset="gbk"), ""),
        (reply("<p>Short page</p>"), ""),
        (reply(""), ""),
        # challenge
        (reply(PROSE, server="cloudflare", cf_mitigated="challenge"), "challenge"),
        (reply(JUST, 403), "challenge"),
        (reply(JUST, 503), "challenge"),
        (reply(JUST), "challenge"),
        (reply("<script>window._cf_chl_opt={}</script>Wait", 403), "challenge"),
        (reply('<script src="https://ct.captcha-delivery.com/c.js"></script>', 403), "challenge"),
        (reply('<div id="px-captcha"></div>Press and hold', 403), "challenge"),
        (reply('<iframe src="/_Incapsula_Resource?x=1"></iframe>'), "challenge"),
        (reply("<title>安全验证</title><p>请完成以下操作</p>"), "challenge"),
        (reply("<title>安全验证</title><p>请完成以下操作</p>", charset="gbk"), "challenge"),
        (reply("<p>您的访问过于频繁,请稍后</p>", charset="gbk"), "challenge"),
        (reply("<title>Access Denied</title>Reference", 403, server="AkamaiGHost"), "challenge"),
        (reply(f"<title>Just a moment in history</title>{PROSE}"), ""),
        (reply(f"<script src=/captcha.js></script>{PROSE}"), ""),
        # signedOut
        (reply("", 401), "signedOut"),
        (reply("", 302, target="http://a.test/login?next=/news/5.html"), "signedOut"),
        (reply("", 303, target="https://sso.b.test/cas/authorize"), "signedOut"),
        (reply("", 302, target="http://a.test/news/6.html"), ""),
        (reply("", 302, url="http://a.test/login", target="https://a.test/login"), ""),
        (reply(LOGIN), "signedOut"),
        (reply(LOGIN, url="http://a.test/user/login.php"), ""),
        (reply(LOGIN + PROSE), ""),
        # consentWall
        (reply("", 302, target="https://consent.b.test/?continue=x"), "consentWall"),
        (reply("", 302, target="http://a.test/consent/?x"), ""),
        (final(f"<div>{PROSE}</div>", "We value your privacy", 0.8), "consentWall"),
        (final(f"<div>{PROSE}</div>", "We value your privacy", 0.3), ""),
        (final(f"<div>{PROSE}</div>", "words " * 400, 0.8), ""),
        # paywall
        (reply(PAID + PROSE), "paywall"),
        (reply(PAID.replace("false", '"False"') + PROSE), "paywall"),
        (reply(FREE + PROSE), ""),
        (reply('<meta property="article:content_tier" content="locked">' + PROSE), "paywall"),
        (reply(f'<div class="box paywall">Subscribe</div>{PROSE}'), "paywall"),
        (reply(f"<p>How we built our paywall</p>{PROSE}"), ""),
        (reply("", 402), "paywall"),
        (final(PAID + PROSE), "paywall"),
        # rateLimited
        (reply("", 429), "rateLimited"),
        (reply("", 403, x_ratelimit_remaining="0"), "rateLimited"),
        (reply("", 503), ""),
        # emptyShell
        (final("<div id=root></div>"), "emptyShell"),
        (final("<div id=root><p>Loading…</p></div>"), "emptyShell"),
        (final(f"<div id=root>{PROSE}</div>"), ""),
        (final("<my-app></my-app>" + SCRIPT), "emptyShell"),
        (final("<main><svg></svg><p>正在加载</p></main>" + SCRIPT), "emptyShell"),
        (final("<noscript>Please enable JavaScript</noscript><div></div>"), "emptyShell"),
        (final("<iframe height=0></iframe><input type=hidden>" + SCRIPT), "emptyShell"),
        (final("<iframe style='display: none'></iframe>" + SCRIPT), "emptyShell"),
        (final("<img src=1><img src=2>"), ""),
        # pages of little text that are whole
        (final("<h1>It works!</h1>"), ""),
        (final("<h1>Stand 2004</h1>" + SCRIPT), ""),
        (final("<p>建设中</p>" + SCRIPT), ""),
        (final("<canvas width=300 height=200></canvas>" + SCRIPT), ""),
        (final("<div id=root><canvas></canvas></div>" + SCRIPT), ""),
        (final("<applet code=Clock.class></applet>" + SCRIPT), ""),
        (final("<svg><path d=M0></svg>" + SCRIPT), ""),
        (final("<iframe src=menu.html></iframe>" + SCRIPT), ""),
        (final("<input name=q>" + SCRIPT), ""),
        (final("<frameset cols=20%,80%><frame src=menu.html></frameset>" + SCRIPT), ""),
        (final("<meta http-equiv=refresh content='0; url=/new/'>" + SCRIPT), ""),
        (reply("<div id=root></div>", rendered=RenderedPage("crash")), ""),
        # geoBlocked
        (reply("", 451), "geoBlocked"),
        (reply("<p>This video is not available in your country.</p>", 403), "geoBlocked"),
        (reply("<p>抱歉,您所在的地区无法访问</p>"), "geoBlocked"),
        (reply("<p>抱歉,您所在的地区无法访问</p>", charset="gbk"), "geoBlocked"),
        # failures are no walls
        (reply("<h1>Forbidden</h1>You do not have permission.", 403), ""),
        (reply("<h1>Not Found</h1>", 404), ""),
        (reply("<h1>Internal Server Error</h1>", 500), ""),
    ],
)  # fmt: skip
def test_the_verdict_on_a_reply(evidence: WallEvidence, wall: str) -> None:
    assert find_wall(evidence) == wall


def test_a_long_page_is_searched_for_a_paywall_alone() -> None:
    assert find_wall(reply(LOGIN), is_long=True) == ""
    assert find_wall(reply(PAID), is_long=True) == "paywall"
    assert find_wall(reply(PAID), is_long=True, may_be_paid=False) == ""
    assert find_wall(reply("", 429), is_long=True, may_be_paid=False) == "rateLimited"


def test_the_names_of_the_verdicts() -> None:
    names = ("challenge", "signedOut", "consentWall", "paywall", "rateLimited", "emptyShell")
    assert (*names, "geoBlocked") == WALLS
    assert {"emptyShell", "paywall"} == UNCOUNTED


@given(st.binary(max_size=300), st.sampled_from([200, 403, 429, 503, 302]))
def test_no_reply_breaks_it(body: bytes, status: int) -> None:
    text = body.decode("latin-1")
    assert find_wall(reply(text, status, charset="latin-1")) in {"", *WALLS}
    is_marked(body)
    has_paywall(body)


@given(st.text(max_size=200))
def test_an_article_is_no_wall(text: str) -> None:
    words = (
        f"<title>A title</title><body>{CHINESE}<pre>{text.replace('<', ' ').replace('class', ' ')}"
    )
    assert find_wall(reply(words)) in {"", "paywall"}


@pytest.mark.parametrize(
    ("target", "status", "asks"),
    [
        ("http://a.cn/login", 302, True),
        ("http://a.cn/user/login.php?x=1", 301, True),
        ("https://sso.b.cn/cas/authorize?service=http%3A%2F%2Fa.cn%2Fnews%2F5.html", 302, True),
        ("http://a.cn/consent?next=/news/5.html", 303, True),
        # Old names that a new site looks up are moves.
        ("http://a.cn/index.php?page=/news/5.html", 301, False),
        ("https://a.cn/news/5.html", 302, False),
        ("http://a.cn/blogin/", 302, False),
        ("", 302, False),
    ],
)
def test_redirects_to_a_login_say_nothing_of_the_page(target: str, status: int, asks: bool) -> None:
    assert asks_first("http://a.cn/news/5.html", target, status) == asks


def test_a_login_that_moves_is_a_move() -> None:
    assert not asks_first("http://a.cn/login", "https://a.cn/login", 301)
    assert not asks_first("http://a.cn/", "http://a.cn/start?from=/", 302)


@pytest.mark.parametrize("status", [401, 403, 429, 503])
def test_refusals_are_blocks(status: int) -> None:
    assert looks_blocked(status, None)


def test_challenges_are_blocks() -> None:
    page = page_view("<title>安全验证</title><p>请输入验证码</p>")
    assert looks_blocked(200, page)
    assert not looks_blocked(200, ARTICLE)
    assert not looks_blocked(200, None)
