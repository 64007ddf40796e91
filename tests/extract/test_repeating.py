from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.extract.repeating import ObservedRequest, RunPage, learn_templates, page_values, prepare
from nacre.extract.request_template import follow_reply, repeat_page, reply_values
from nacre.extract.secret_parameters import carries_credentials, is_cookie_bound, is_secret

BUNDLE = ObservedRequest("GET", "http://h/app.js", "script", mime="text/javascript")
SHELL = '<html><script src="/app.js"></script><div id="root"></div></html>'


def learn(pages):
    return learn_templates([prepare(page) for page in pages])


def run(url, *requests, html=SHELL, cookies=(), resource="fetch", **values):
    made = tuple(ObservedRequest("GET", request, resource, **values) for request in requests)
    return RunPage(url, html, (BUNDLE, *made), cookies)


def repeated(templates, url, html=SHELL):
    return [request.url for request in repeat_page(templates, url, page_values(url, html))]


NAMES = ("red", "green", "blue", "山水", "a b")


@pytest.mark.parametrize(
    ("page", "request_url"),
    [
        ("http://h/item/{}", "http://h/api/items/{}"),
        ("http://h/item/{}", "http://api.test/v1/items?id={}&full=1"),
        ("http://h/view?id={}", "http://h/api/{}.json"),
        ("http://h/view?tab=a&id={}#top", "http://h/api/{}/comments?page=1"),
        ("http://h/#/item/{}", "http://h/items/{}"),
        ("http://h/#!/item/{}", "http://h/items/{}"),
        ("http://h/#/item?id={}", "http://h/items/{}"),
        ("http://h/item/{}.html", "http://h/data/{}.json"),
        ("http://h/item/{}/edit", "http://h/api/items/{}"),
        ("http://h/item/{}", "http://h/api/items/item-{}/body"),
        ("http://h/docs/a/{}", "http://h/docs/a/{}.md"),
        ("http://h/u/{}/", "http://h/u/{}/README.md"),
    ],
)
def test_a_part_of_the_page_is_a_part_of_the_request(page, request_url):
    names = [quote(name, safe="") for name in NAMES]
    templates = learn([run(page.format(name), request_url.format(name)) for name in names])
    assert len(templates) == 1
    fresh = quote("新 page", safe="")
    assert repeated(templates, page.format(fresh)) == [request_url.format(fresh)]


@pytest.mark.parametrize(
    ("html", "request_url"),
    [
        ('<meta name="item" content="{}">', "http://h/api/items/{}"),
        ('<div id="root" data-item="{}"></div>', "http://h/api/items/{}"),
        ('<script>var itemId = "{}", v = 3;</script>', "http://h/api/items/{}"),
        ('<script>boot({{"itemId": "{}"}})</script>', "http://h/api/items?id={}"),
        (
            '<script id="s" type="application/json">{{"a":[{{"item":{{"id":"{}"}}}}]}}</script>',
            "http://h/api/items/{}/text",
        ),
        ('<img data-src="/pictures/{}.png">', "http://h/pictures/{}.png"),
        ('<div data-feed="feeds/{}.json"></div>', "http://h/p/feeds/{}.json"),
    ],
)
def test_a_value_of_the_html_is_a_part_of_the_request(html, request_url):
    pages = [
        run(f"http://h/p/{number}", request_url.format(name), html=SHELL + html.format(name))
        for number, name in enumerate(("x7", "k2", "q9"))
    ]
    templates = learn(pages)
    fresh = SHELL + html.format("new1")
    assert repeated(templates, "http://h/p/9", fresh) == [request_url.format("new1")]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (lambda text: quote(text, safe="!~*'()"), "component"),
        (lambda text: quote(text, safe="").replace("%20", "+"), "form"),
        (lambda text: quote(quote(text, safe=""), safe=""), "double"),
    ],
)
def test_the_coding_follows_from_values_that_it_changes(code, name):
    names = ("one", "中 文", "a b", "c/d")
    pages = [
        run("http://h/s?q=" + quote(text, safe=""), f"http://h/api?q={code(text)}")
        for text in names
    ]
    (template,) = learn(pages)
    assert [hole.coding for hole in template.holes] == [name]
    assert repeated([template], "http://h/s?q=%E6%96%B0%20x") == [f"http://h/api?q={code('新 x')}"]


def test_a_path_in_gbk_stays_as_it_is():
    names = ("%D6%D0", "%CE%C4", "%B9%FA", "%C8%CB")
    pages = [run(f"http://h/w/{name}", f"http://h/text/{name}.txt") for name in names]
    assert repeated(learn(pages), "http://h/w/%C3%C7") == ["http://h/text/%C3%C7.txt"]


def test_a_route_of_any_depth():
    names = ("intro", "guide/start", "guide/deep/more", "faq")
    pages = [run(f"http://h/#/{name}", f"http://h/{name}.md") for name in names]
    templates = learn(pages)
    assert repeated(templates, "http://h/#/zh-cn/教程") == ["http://h/zh-cn/%E6%95%99%E7%A8%8B.md"]


def test_pages_of_another_form_are_not_repeated():
    items = [run(f"http://h/item/{n}", f"http://h/api/items/{n}") for n in range(4)]
    users = [run(f"http://h/user/u{n}", f"http://h/api/users/u{n}") for n in range(4)]
    templates = learn(items + users)
    assert repeated(templates, "http://h/item/77") == ["http://h/api/items/77"]
    assert repeated(templates, "http://h/user/ann") == ["http://h/api/users/ann"]
    assert repeated(templates, "http://h/about/x") == []
    assert repeated(templates, "http://h/item/77/more") == []
    assert repeated(templates, "http://g/item/77") == []


def test_pages_that_do_not_ask_contradict():
    asking = [run(f"http://h/p/{n}", f"http://h/api/{n}") for n in range(3)]
    silent = [run(f"http://h/p/word{n}x") for n in range(6)]
    templates = learn(asking + silent)
    assert repeated(templates, "http://h/p/9") == ["http://h/api/9"]
    assert repeated(templates, "http://h/p/word") == []


@pytest.mark.parametrize(
    "request_url",
    [
        "http://h/api/{0}?token=abc",
        "http://h/api?id={0}&sig=a{0}",
        "http://h/api/{0}?accessToken=1",
        "http://h/api/{0}?api_key=k",
        "http://h/api/{0}?_={1}",
        "http://h/api/{0}?ts=5",
        "http://h/api/{0}?nonce={1}",
        "http://h/api/{0}?v=1764450000",
        "http://h/api/{0}?h=0123456789abcdef0123456789abcdef",
        "http://h/api/{0}?j=eyJhbGciOiJIUzI1NiJ9.x",
        "http://h/api/{0}?u=ann-5f3c",
    ],
)
def test_secrets_and_times_are_not_learned(request_url):
    pages = [
        run(f"http://h/p/{n}", request_url.format(n, 1764450000 + n), cookies=("ann-5f3c",))
        for n in range(5)
    ]
    assert learn(pages) == ()


def test_a_token_of_the_html_is_not_learned():
    html = '<meta name="csrf-token" content="{}">'
    pages = [
        run(f"http://h/p{n}x", f"http://h/api/tok{n}", html=SHELL + html.format(f"tok{n}"))
        for n in (3, 5, 8)
    ]
    assert learn(pages) == ()


def test_requests_with_credentials_of_scripts_are_not_learned():
    pages = [run(f"http://h/p/{n}", f"http://h/api/{n}", is_bound=True) for n in range(5)]
    assert learn(pages) == ()
    assert carries_credentials([(b"Authorization", b"Bearer x")])
    assert carries_credentials([(b"X-CSRF-Token", b"x")])
    assert not carries_credentials([(b"Accept", b"*/*"), (b"Cookie", b"a=b")])


@pytest.mark.parametrize("method", ["POST", "PUT", "OPTIONS", "DELETE"])
def test_only_get_and_head_are_learned(method):
    pages = [
        RunPage(f"http://h/p/{n}", SHELL, (ObservedRequest(method, f"http://h/api/{n}"),))
        for n in range(4)
    ]
    assert learn(pages) == ()


def test_constants_links_and_failures_are_not_learned():
    html = SHELL + '<img src="/big/{0}.png">'
    pages = [
        RunPage(
            f"http://h/p/{n}",
            html.format(n),
            (
                BUNDLE,
                ObservedRequest("GET", f"http://h/big/{n}.png", "image"),
                ObservedRequest("GET", f"http://h/gone/{n}.json", status=404),
                ObservedRequest("GET", f"http://h/never/{n}.json", status=0),
                ObservedRequest("GET", f"http://h/log/{n}", "beacon"),
            ),
        )
        for n in range(4)
    ]
    assert learn(pages) == ()


def test_two_pages_are_no_support():
    pages = [run(f"http://h/p/{n}", f"http://h/api/{n}") for n in range(2)]
    assert learn(pages) == ()


def test_replies_lead_to_requests():
    def page(number, author, picture):
        reply = f'{{"author": {{"id": {author}}}, "picture": "/media/{picture}.jpg"}}'
        return RunPage(
            f"http://h/item/{number}",
            SHELL,
            (
                ObservedRequest("GET", f"http://h/api/items/{number}", reply=reply),
                ObservedRequest("GET", f"http://h/api/users/{author}"),
                ObservedRequest("GET", f"http://h/media/{picture}.jpg", "image"),
            ),
        )

    templates = learn([page(1, 71, "山"), page(2, 82, "水"), page(3, 93, "月"), page(4, 64, "q")])
    (first,) = repeat_page(templates, "http://h/item/5", page_values("http://h/item/5", SHELL))
    assert first.url == "http://h/api/items/5"
    reply = '{"author": {"id": 9}, "picture": "/media/风.jpg"}'
    later = follow_reply(templates, "http://h/item/5", first, reply_values(reply))
    assert sorted(request.url for request in later) == [
        "http://h/api/users/9",
        "http://h/media/%E9%A3%8E.jpg",
    ]
    assert reply_values("no json") == {}


def test_every_value_of_a_list_is_asked_for():
    html = SHELL + "<ul>{}</ul>"

    def page(number):
        items = [f"{number}{letter}7" for letter in "abc"]
        text = html.format("".join(f'<li data-item="{item}">' for item in items))
        return run(f"http://h/l/{number}", *(f"http://h/api/{x}.json" for x in items), html=text)

    templates = learn([page(number) for number in (11, 22, 33)])
    text = html.format('<li data-item="n1"><li data-item="n2">')
    assert repeated(templates, "http://h/l/44", text) == [
        "http://h/api/n1.json",
        "http://h/api/n2.json",
    ]


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((name, True) for name in ("token", "accessToken", "X-Amz-Signature", "csrf_token")),
        *((name, True) for name in ("_", "ts", "JSESSIONID", "api-key", "apiKey", "authToken")),
        *((name, False) for name in ("id", "design", "author", "page", "key", "tsunami", "q")),
    ],
)
def test_names_of_secrets(name, secret):
    assert is_secret(name) is secret


def test_cookies_within_a_url():
    assert is_cookie_bound("http://h/a?u=abcd", ("abcd",))
    assert is_cookie_bound("http://h/a/x12345678y", ("12345678",))
    assert not is_cookie_bound("http://h/abc?u=1", ("1", "abc", ""))


urls = st.text("/ab1%?&=#.:;é中 @", max_size=40).map(lambda text: f"http://h/{text}")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(urls, st.lists(urls, max_size=4), st.text(max_size=60)), max_size=6),
    urls,
)
def test_nothing_breaks_it_and_all_results_are_urls(pages, fresh):
    runs = [
        RunPage(url, html, tuple(ObservedRequest("GET", target, reply=html) for target in targets))
        for url, targets, html in pages
    ]
    templates = learn(runs)
    for request in repeat_page(templates, fresh, page_values(fresh, SHELL)):
        assert request.url.startswith("http://h/")
        assert request.method == "GET"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abc中文12 -+%", min_size=1, max_size=8), min_size=4, unique=True))
def test_instances_are_found_again(names):
    names = [name for name in names if name.strip() == name]
    pages = [
        run(f"http://h/item/{quote(name, safe='')}", f"http://h/api?id={quote(name, safe='')}")
        for name in names
    ]
    for template in learn(pages):
        for page in pages:
            wanted = {request.url for request in page.requests}
            assert set(repeated([template], page.url)) <= wanted
