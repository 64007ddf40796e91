"""The worker and the shim in a real browser: every request of a page is answered by the archive."""

import json
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page

from tests.replay_server.browser.conftest import Opener
from tests.replay_server.browser.replayed import TIME, Capture, Replay, frame_of, within

pytestmark = pytest.mark.console

PICTURE = Capture("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "image/svg+xml")
HEAD = "<!doctype html><head><title>Page</title></head><body>"


def script(text: str) -> Capture:
    return Capture(text, "text/javascript")


def style(text: str) -> Capture:
    return Capture(text, "text/css")


def moved(status: int, target: str) -> Capture:
    return Capture("", status=status, fields=(("Location", target),))


def assert_asked(page: Page, place: Replay, *urls: str) -> None:
    """Wait until URLs were asked for; they must have been asked for at the time of the page."""
    for _ in range(600):
        if set(urls) <= set(place.urls()):
            break
        page.wait_for_timeout(25)
    assert set(urls) <= set(place.urls()), (place.urls(), place.strays)
    assert {asked.timestamp for asked in place.log} == {TIME}
    assert place.strays == []


@pytest.mark.parametrize(
    ("markup", "urls"),
    [
        ("<img src=a.svg><img src=../b.svg>", ["http://h.test/a.svg", "http://h.test/b.svg"]),
        ("<img src=/a.svg>", ["http://h.test/a.svg"]),
        ("<img src=//o.test/a.svg>", ["http://o.test/a.svg"]),
        ("<img src='https://o.test:8443/a b.svg?q=1&amp;r=é'>",
         ["https://o.test:8443/a%20b.svg?q=1&r=%C3%A9"]),
        ("<img srcset='//o.test/a.svg 1x'>", ["http://o.test/a.svg"]),
        ("<div style='background:url(//o.test/a.svg)'>x</div>", ["http://o.test/a.svg"]),
        ("<body background=//o.test/a.svg>", ["http://o.test/a.svg"]),
        ("<link rel=stylesheet href=//o.test/c/s.css>x",
         ["http://o.test/c/s.css", "http://o.test/root.svg", "http://o.test/near.svg",
          "http://p.test/far.svg", "http://o.test/c/more.css"]),
        ("<svg><use href='//o.test/i.svg#x'/></svg>", ["http://o.test/i.svg"]),
        ("<object data=//o.test/a.svg></object>", ["http://o.test/a.svg"]),
        ("<video poster=//o.test/a.svg></video>", ["http://o.test/a.svg"]),
        ("<input type=image src=//o.test/a.svg>", ["http://o.test/a.svg"]),
        ("<base href=//o.test/dir/><img src=a.svg><img src=/b.svg>",
         ["http://o.test/dir/a.svg", "http://o.test/b.svg"]),
        ("<script src=//o.test/s.js></script>", ["http://o.test/s.js", "http://h.test/by.svg"]),
        ("<iframe src=//o.test/frame></iframe>",
         ["http://o.test/frame", "http://o.test/in.svg"]),
        ("<iframe srcdoc='<img src=//o.test/a.svg><img src=/b.svg>'></iframe>",
         ["http://o.test/a.svg", "http://h.test/b.svg"]),
        ("<iframe sandbox srcdoc='<img src=//o.test/a.svg>'></iframe>", ["http://o.test/a.svg"]),
        ("<meta http-equiv=refresh content='0;url=//o.test/frame'>", ["http://o.test/frame"]),
    ],
)  # fmt: skip
def test_what_a_page_loads_by_markup(show: Opener, markup: str, urls: list[str]):
    page, place = show({
        "http://h.test/": HEAD + markup,
        "http://o.test/c/s.css": style(
            "@import 'more.css'; body{background:url(/root.svg),url(../near.svg),"
            "url(//p.test/far.svg)}"
        ),
        "http://o.test/s.js": script("new Image().src = 'by.svg'"),
        "http://o.test/frame": "<img src=/in.svg>",
    })  # fmt: skip
    assert_asked(page, place, *urls)


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("new Image().src = '/a.svg'", ["http://h.test/a.svg"]),
        ("new Image().src = 'http://o.test/a.svg'", ["http://o.test/a.svg"]),
        ("new Image().src = '//o.test/a.svg'", ["http://o.test/a.svg"]),
        ("new Image().src = '../../../../a.svg'", ["http://h.test/a.svg"]),
        ("new Image().src = '../x/a.svg'", ["http://h.test/x/a.svg"]),
        ("new Image().srcset = '//o.test/a.svg 1x, /b.svg 2x'", ["http://o.test/a.svg"]),
        ("document.body.innerHTML = '<img src=\"//o.test/a.svg\">'", ["http://o.test/a.svg"]),
        ("document.body.insertAdjacentHTML('beforeend', '<img src=/a.svg>')",
         ["http://h.test/a.svg"]),
        ("document.write('<script src=\"http://o.test/s.js\"></'+'script>')",
         ["http://o.test/s.js", "http://h.test/by.svg"]),
        ("document.body.append(Object.assign(document.createElement('script'), "
         "{src: 'http://o.test/s.js'}))", ["http://o.test/s.js"]),
        ("let i = document.createElement('img'); i.setAttribute('src', '//o.test/a.svg')",
         ["http://o.test/a.svg"]),
        ("let d = document.createElement('div'); d.setAttribute('srcset', ''); "
         "d.innerHTML = '<img srcset=\"//o.test/a.svg 1x\">'; document.body.append(d)",
         ["http://o.test/a.svg"]),
        ("document.body.style.background = 'url(http://o.test/a.svg)'", ["http://o.test/a.svg"]),
        ("document.head.append(Object.assign(document.createElement('style'), "
         "{textContent: 'body{background:url(//o.test/a.svg)}'}))", ["http://o.test/a.svg"]),
        ("let s = document.createElement('style'); document.head.append(s); "
         "s.sheet.insertRule('body{background:url(//o.test/a.svg)}')", ["http://o.test/a.svg"]),
        ("let l = document.createElement('link'); l.rel = 'stylesheet'; "
         "l.href = 'http://o.test/s.css'; document.head.append(l)",
         ["http://o.test/s.css", "http://o.test/in.svg"]),
        ("fetch('/a')", ["http://h.test/a"]),
        ("fetch('http://o.test/a', {mode: 'cors', credentials: 'include'})", ["http://o.test/a"]),
        ("fetch(new Request('http://o.test/a'))", ["http://o.test/a"]),
        ("fetch(new URL('http://o.test/a?b=中'))", ["http://o.test/a?b=%E4%B8%AD"]),
        ("let x = new XMLHttpRequest(); x.open('GET', '//o.test/a'); x.send()",
         ["http://o.test/a"]),
        ("let x = new XMLHttpRequest(); x.open('GET', '/a', false); x.send()",
         ["http://h.test/a"]),
        ("new Audio('//o.test/a.wav').play().catch(() => 0)", ["http://o.test/a.wav"]),
        ("fetch(location.pathname.replace('//', '/') + 'a')", ["http://h.test/a"]),
        ("import('http://o.test/m.js')",
         ["http://o.test/m.js", "http://o.test/near.js", "http://o.test/root.js",
          "https://p.test/far.js"]),
        ("let f = document.createElement('iframe'); f.src = 'http://o.test/frame'; "
         "document.body.append(f)", ["http://o.test/frame", "http://o.test/in.svg"]),
        ("let f = document.createElement('iframe'); document.body.append(f); f.src = '/frame'",
         ["http://h.test/frame"]),
    ],
)  # fmt: skip
def test_what_a_page_loads_by_script(show: Opener, text: str, urls: list[str]):
    module = " type=module" if "import(" in text else ""
    page, place = show({
        "http://h.test/": f"{HEAD}<script{module}>{text}</script>",
        "http://o.test/s.js": script("new Image().src = 'by.svg'"),
        "http://o.test/s.css": style("body{background:url(/in.svg)}"),
        "http://o.test/m.js": script(
            "import './near.js'; import '/root.js'; import 'https://p.test/far.js';"
        ),
        **{url: script("export default 1") for url in (
            "http://o.test/near.js", "http://o.test/root.js", "https://p.test/far.js")},
        "http://o.test/frame": "<img src=/in.svg>",
    })  # fmt: skip
    assert_asked(page, place, *urls)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("document.links[0].click()", "http://o.test/next"),
        ("location = 'http://o.test/next'", "http://o.test/next"),
        ("location.href = '/next'", "http://h.test/next"),
        ("location.assign('next')", "http://h.test/next"),
        ("location.replace('//o.test/next')", "http://o.test/next"),
        ("document.forms[0].submit()", "http://o.test/find?q=%E4%B8%AD"),
        ("document.forms[0].requestSubmit()", "http://o.test/find?q=%E4%B8%AD"),
        ("window.open('http://o.test/next')", "http://o.test/next"),
        ("document.links[0].target = '_top'; document.links[0].click()", "http://o.test/next"),
        ("document.links[0].target = '_blank'; document.links[0].click()", "http://o.test/next"),
        ("document.links[0].href = 'http://p.test/'; document.links[0].click()",
         "http://p.test/"),
        ("let a = document.createElement('a'); a.href = 'http://p.test/'; a.click()",
         "http://p.test/"),
        ("history.pushState(1, '', '/next'); location.reload()", "http://h.test/next"),
    ],
)  # fmt: skip
def test_where_a_page_leads(show: Opener, text: str, url: str):
    page, place = show({
        "http://h.test/": HEAD + "<a href=//o.test/next>x</a>"
        "<form action=http://o.test/find><input name=q value=中></form>",
    })  # fmt: skip
    within(page, f"void setTimeout(() => {{ {text} }})")
    assert_asked(page, place, url)
    frame_of(page).wait_for_url(f"{place.origin}/{TIME}mp_/{url}")


@pytest.mark.parametrize("target", ["other", "_parent", "_top", "new"])
def test_link_in_a_frame_leads_the_frame_that_it_names(show: Opener, target: str):
    page, place = show({
        "http://h.test/": "<frameset cols='*,*'><frame name=menu src=menu><frame name=other "
        "src=first></frameset>",
        "http://h.test/menu": f"{HEAD}<a href=next target={target}>x</a>",
        "http://h.test/first": HEAD + "first",
        "http://h.test/next": HEAD + "next",
    })  # fmt: skip
    assert_asked(page, place, "http://h.test/menu", "http://h.test/first")
    frame_of(page, "menu").click("a")
    assert_asked(page, place, "http://h.test/next")
    name = "other" if target == "other" else "replayed"
    frame_of(page, name).wait_for_url(f"{place.origin}/{TIME}mp_/http://h.test/next")


def test_frame_without_a_url_is_led_by_the_server(show: Opener):
    page, place = show({"http://h.test/": HEAD})
    within(
        page,
        """(() => {
        const frame = document.body.appendChild(document.createElement("iframe"));
        frame.contentDocument.write("<img src=/a.svg>");
        frame.contentDocument.close();
    })()""",
    )
    while "http://h.test/a.svg" not in place.urls():
        page.wait_for_timeout(25)
    assert place.strays == ["/a.svg"]


def test_requests_say_that_they_passed_the_worker(show: Opener):
    page, place = show({
        "http://h.test/": HEAD + "<img src=a.svg><script src=s.js></script>"
        "<link rel=stylesheet href=s.css><iframe src=frame></iframe><script>fetch('f')</script>",
    })  # fmt: skip
    urls = {"": "iframe", "a.svg": "image", "s.js": "script", "s.css": "style", "frame": "iframe",
            "f": "empty"}  # fmt: skip
    assert_asked(page, place, *(f"http://h.test/{name}" for name in urls))
    assert {asked.url.rpartition("/")[2]: asked.worker for asked in place.log} == urls


def test_post_is_sent_with_its_body_and_type(show: Opener):
    page, place = show({
        "http://h.test/": HEAD + "<form method=post action=//o.test/form><input name=q value=中>"
        "</form>",
        "POST http://h.test/api": Capture(lambda request, body: f"got {body.decode()}",
                                          "application/json"),
    })  # fmt: skip
    text = within(
        page,
        """fetch("/api", {method: "POST", body: "{\\"a\\":1}", headers: {
        "Content-Type": "application/json", "X-Requested-With": "x",
        "Authorization": "Bearer secret", "X-Nacre-Worker": "forged"}}).then((r) => r.text())""",
    )
    assert text == 'got {"a":1}'
    asked = place.log[-1]
    assert (asked.method, asked.url, asked.worker) == ("POST", "http://h.test/api", "empty")
    assert asked.fields["content-type"] == "application/json"
    assert asked.fields["x-requested-with"] == "x"
    assert "authorization" not in asked.fields
    within(page, "void document.forms[0].submit()")
    assert_asked(page, place, "http://o.test/form")
    asked = place.log[-1]
    assert (asked.method, asked.body) == ("POST", b"q=%E4%B8%AD")
    assert asked.fields["content-type"] == "application/x-www-form-urlencoded"


def wave(seconds: int) -> bytes:
    """Silence of 8,000 samples a second."""
    data = b"\x80" * 8000 * seconds
    numbers = (36 + len(data), 16, 1, 1, 8000, 8000, 1, 8, len(data))
    sizes = (4, 4, 2, 2, 4, 4, 2, 2, 4)
    parts = [n.to_bytes(size, "little") for n, size in zip(numbers, sizes, strict=True)]
    return b"RIFF" + parts[0] + b"WAVEfmt " + b"".join(parts[1:8]) + b"data" + parts[8] + data


def test_media_is_read_in_ranges(show: Opener):
    page, place = show({
        "http://h.test/": HEAD + "<audio src=//o.test/a.wav preload=auto></audio>",
        "http://o.test/a.wav": Capture(wave(60), "audio/wav", fields=(("Accept-Ranges", "bytes"),)),
    })  # fmt: skip
    assert_asked(page, place, "http://o.test/a.wav")
    length = within(
        page,
        """new Promise((done) => { const a = document.querySelector("audio");
        a.currentTime = 50; a.onseeked = () => done([a.duration, a.currentTime]);
        a.onerror = () => done(a.error.message) })""",
    )
    assert length == [60, 50]
    assert any("range" in asked.fields for asked in place.log)
    assert {asked.worker for asked in place.log[1:]} == {"audio"}


def test_redirects_stay_in_the_archive(show: Opener):
    page, place = show({
        "http://h.test/": HEAD + "<img src=moved.svg><link rel=stylesheet href=moved.css>",
        "http://h.test/moved.svg": moved(302, "//o.test/a.svg"),
        "http://h.test/moved.css": moved(301, "//o.test/d/s.css"),
        "http://h.test/away": moved(307, "http://o.test/end#x"),
        "http://o.test/a.svg": PICTURE,
        "http://o.test/d/s.css": style("body{background:url(in.svg)}"),
        "http://o.test/end": HEAD + "the end",
    })  # fmt: skip
    assert_asked(page, place, "http://o.test/a.svg", "http://o.test/d/in.svg")
    within(page, "void setTimeout(() => location.assign('away'))")
    assert_asked(page, place, "http://o.test/end")
    frame_of(page).wait_for_url(f"{place.origin}/{TIME}mp_/http://o.test/end#x")


def test_missing_requests_are_reported_to_the_viewer(show: Opener):
    page, place = show({
        "http://h.test/": HEAD + "<img src=//o.test/none.svg><iframe src=frame></iframe>"
        "<img src=gone.svg><img src=there.svg>",
        "http://h.test/frame": HEAD + "<script>fetch('/none.json')</script>",
        "http://h.test/gone.svg": Capture("gone", status=404),
        "http://h.test/there.svg": PICTURE,
    })  # fmt: skip
    page.wait_for_function("messages.filter((each) => each.nacre === 'missing').length >= 2")
    assert_asked(page, place, "http://h.test/gone.svg", "http://h.test/there.svg")
    messages = page.evaluate("messages.filter((each) => each.nacre === 'missing')")
    assert sorted(messages, key=lambda each: each["url"]) == [
        {"nacre": "missing", "url": "http://h.test/none.json", "timestamp": TIME},
        {"nacre": "missing", "url": "http://o.test/none.svg", "timestamp": TIME},
    ]


def test_pages_are_reported_to_the_viewer(show: Opener):
    page, _ = show({"http://h.test/": "<title>中文</title><iframe src=x></iframe>"})
    assert page.evaluate("messages[0]") == {
        "nacre": "page", "url": "http://h.test/", "timestamp": TIME, "title": "中文",
    }  # fmt: skip


def test_page_that_appears_without_the_worker_is_loaded_again(show: Opener):
    page, place = show({"http://h.test/": HEAD, "http://h.test/next": HEAD + "next"})
    assert place.log[0].worker == "iframe"
    within(
        page,
        """(async () => {
        const frame = document.body.appendChild(document.createElement("iframe"));
        const { getRegistrations } = frame.contentWindow.ServiceWorkerContainer.prototype;
        const all = await getRegistrations.call(navigator.serviceWorker);
        for (const each of all) await each.unregister();
        location.assign("next");
    })()""",
    )
    assert_asked(page, place, "http://h.test/next")
    assert place.log[-1].worker == "iframe"


def test_texts_and_values_that_are_no_urls_stay(show: Opener):
    page, _ = show({"http://h.test/": HEAD + "<div data='http://o.test/' title='/x'></div>"})
    assert within(page, """(() => {
        const code = document.body.appendChild(document.createElement("code"));
        code.innerHTML = "&lt;a href='/x'&gt; src=/y <b title='a > b'>data=http://o.test/</b>";
        const part = document.body.appendChild(document.createElement("my-part"));
        part.innerHTML = null;
        part.setAttribute("data", "/items");
        part.setAttribute("title", "/t");
        const map = {}; part.map = map;
        return [code.textContent, part.innerHTML, part.getAttribute("data"), part.title,
            document.querySelector("div").getAttribute("data"), part.map === map];
    })()""") == [
        "<a href='/x'> src=/y data=http://o.test/", "", "/items", "/t", "http://o.test/", True,
    ]  # fmt: skip


def test_facts_of_the_capture(show: Opener):
    page, _ = show({
        "http://h.test/": HEAD + "<a href=http://o.test/second?q=1#part>x</a>",
        "http://o.test/second?q=1": HEAD,
    })  # fmt: skip
    facts = within(page, "JSON.stringify([document.URL, document.domain, document.referrer])")
    assert json.loads(facts) == ["http://h.test/", "h.test", ""]
    within(page, "void document.links[0].click()")
    page.wait_for_function("messages.some((each) => each.url?.includes('second'))")
    facts = within(page, "JSON.stringify([document.URL, document.domain, document.referrer])")
    assert json.loads(facts) == ["http://o.test/second?q=1#part", "o.test", "http://h.test/"]


def test_time_is_that_of_the_capture(show: Opener):
    page, _ = show({"http://h.test/": HEAD})
    times = within(
        page,
        """new Promise((done) => { const first = Date.now(); setTimeout(() => done([
        new Date().toISOString(), new Date(0).getTime(), Date().includes("2026"),
        new (new Date().constructor)().getUTCFullYear(), Date.now() - first > 15,
        new Date() instanceof Date, new Date(2020, 1).getFullYear(), Date.UTC(1970, 0)]), 30) })""",
    )
    assert times[0].startswith("2026-01-02T03:04:")
    assert times[1:] == [0, True, 2026, True, True, 2020, 0]


def test_chance_is_that_of_a_page_that_a_browser_ran(show: Opener):
    page, _ = show({"http://h.test/": HEAD})
    state = round(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp())
    expected = []
    for _ in range(3):
        state = (9301 * state + 49297) % 233280
        expected.append(state / 233280)
    assert within(page, "[Math.random(), Math.random(), Math.random()]") == expected


def test_storage_is_of_the_archived_host(show: Opener):
    page, place = show({
        "http://h.test/": HEAD + "<a href=//o.test/>x</a>",
        "http://o.test/": HEAD + "<a href=//h.test/back>x</a>",
        "http://h.test/back": HEAD,
    })  # fmt: skip
    fill = """localStorage.clear(); localStorage.a = 1;
        localStorage.setItem("b", 2); sessionStorage.s = 3;
        document.cookie = "c=d; path=/"; document.cookie = "e=f; max-age=0"; """
    read = """JSON.stringify([localStorage.a, localStorage.getItem("b"), localStorage.length,
        Object.keys(localStorage), "a" in localStorage, sessionStorage.s ?? null])"""
    within(
        page, f"{fill} new Promise((done) => indexedDB.open('db').onsuccess = done).then(() => 0)"
    )
    assert json.loads(within(page, read)) == ["1", "2", 2, ["a", "b"], True, "3"]
    assert within(page, "document.cookie") == "c=d"
    within(page, "void document.links[0].click()")
    page.wait_for_function("messages.some((each) => each.url === 'http://o.test/')")
    assert json.loads(within(page, read)) == [None, None, 0, [], False, None]
    names = within(page, "indexedDB.databases().then((all) => all.map((each) => each.name))")
    assert names == ["h.test\ndb"]
    within(page, "void document.links[0].click()")
    assert_asked(page, place, "http://h.test/back")
    page.wait_for_function("messages.some((each) => each.url === 'http://h.test/back')")
    assert json.loads(within(page, read))[0] == "1"
    within(page, "localStorage.removeItem('a'); delete localStorage.b")
    assert within(page, "localStorage.length") == 0


def test_history_stays_in_the_archive(show: Opener):
    page, place = show({"http://h.test/": HEAD})
    within(page, "history.pushState({n: 1}, '', '/app/view?x#y')")
    assert within(page, "location.href") == f"{place.origin}/{TIME}mp_/http://h.test/app/view?x#y"
    within(page, "history.replaceState({}, '', 'http://h.test/other'); history.pushState(1, '')")
    assert within(page, "location.href") == f"{place.origin}/{TIME}mp_/http://h.test/other"


def test_scripts_of_workers_come_from_the_archive(show: Opener):
    worker = """importScripts("lib.js"); onmessage = ({ data }) =>
        fetch("/data.json").then((r) => r.text()).then((t) => postMessage(data + name() + t))"""
    page, place = show({
        "http://h.test/": HEAD,
        "http://h.test/js/worker.js": Capture(worker, "text/javascript"),
        "http://h.test/js/lib.js": Capture("name = () => '\u4e2d'", "text/javascript"),
        "http://h.test/data.json": Capture("[1]", "application/json"),
    })  # fmt: skip
    ask = """new Promise((done) => { const worker = new Worker(%s);
        worker.onmessage = ({ data }) => done(data); worker.postMessage("a") })"""
    assert within(page, ask % "'http://h.test/js/worker.js'") == "a\u4e2d[1]"
    assert within(page, ask % "new URL('js/worker.js', document.baseURI)") == "a\u4e2d[1]"
    blob = "URL.createObjectURL(new Blob(['onmessage = (e) => postMessage(e.data + 1)']))"
    assert within(page, ask % blob) == "a1"
    assert place.log[1].worker == "worker"


WORKER_SCRIPT = """
const report = async () => {
  const reply = await fetch("https://api.test/data.json");
  const asked = new XMLHttpRequest();
  asked.open("GET", "https://api.test/data.json", false);
  asked.send();
  const socket = new WebSocket("wss://api.test/");
  const missing = await fetch("http://api.test/none").then((reply) => reply.status);
  return [await reply.text(), asked.responseText, socket.readyState, new Date().getFullYear(),
    missing, String(location), location.host, self.nacre === undefined];
};
self.onmessage = () => report().then(postMessage, (error) => postMessage(String(error)));
self.onconnect = ({ ports: [port] }) => report().then((facts) => port.postMessage(facts));
"""


@pytest.mark.parametrize(
    ("made", "place"),
    [
        ("new Worker('http://h.test/js/worker.js?v=1')", "http://h.test/js/worker.js?v=1"),
        ("new Worker('js/module.js', {type: 'module'})", "http://h.test/js/module.js"),
        ("new SharedWorker('/js/worker.js?v=1').port", "http://h.test/js/worker.js?v=1"),
        ("new Worker('js/nested.js')", "http://h.test/js/worker.js?v=1"),
        ("new Worker(URL.createObjectURL(new Blob([text])))", "blob:"),
        ("new Worker('data:text/javascript,' + encodeURIComponent(text))", "blob:"),
    ],
    ids=["classic", "module", "shared", "nested", "blob", "data"],
)
def test_urls_of_workers_lead_into_the_archive(show: Opener, made: str, place: str):
    page, _ = show({
        "http://h.test/": HEAD,
        "http://h.test/js/worker.js?v=1": script(f"'use strict'; {WORKER_SCRIPT}"),
        "http://h.test/js/module.js": script(f"import '/js/part.js'; {WORKER_SCRIPT}"),
        "http://h.test/js/part.js": script("export const part = 1"),
        "http://h.test/js/nested.js": script(
            "const inner = new Worker('http://h.test/js/worker.js?v=1');"
            "onmessage = () => inner.postMessage(1); inner.onmessage = (e) => postMessage(e.data)"
        ),
        "https://api.test/data.json": Capture("[1]", "application/json"),
    })  # fmt: skip
    facts = within(page, f"""new Promise((done) => {{
        const text = {json.dumps(WORKER_SCRIPT)};
        const worker = {made};
        worker.onmessage = ({{ data }}) => done(data);
        worker.postMessage?.("a");
    }})""")  # fmt: skip
    assert isinstance(facts, list), facts
    assert facts[:5] == ["[1]", "[1]", 3, 2026, 404]
    assert facts[5].startswith(place)
    assert facts[7] is True
    page.wait_for_function(
        "messages.some((each) => each.nacre === 'missing' && each.url === 'http://api.test/none')"
    )


def test_what_an_archive_does_not_have(show: Opener):
    page, _ = show({"http://h.test/": HEAD})
    assert within(
        page,
        """new Promise((done) => {
        const socket = new WebSocket("ws://o.test/");
        socket.onclose = () => done([socket.readyState, WebSocket.OPEN,
            navigator.sendBeacon("http://o.test/", "x"), typeof RTCPeerConnection,
            typeof WebTransport, typeof EventSource, navigator.serviceWorker.controller]);
    })""",
    ) == [3, 1, True, "undefined", "undefined", "function", None]
    assert within(page, "navigator.serviceWorker.getRegistrations()") == []
    pending = "Promise.race([navigator.serviceWorker.register('/sw.js'), Promise.resolve('waits')])"
    assert within(page, pending) == "waits"


def test_a_page_without_a_server_says_so(show: Opener):
    page, place = show({"http://h.test/": HEAD, "http://h.test/next": HEAD})
    page.context.set_offline(True)
    try:
        within(page, "void setTimeout(() => location.assign('next'))")
        frame_of(page).wait_for_selector("text=replay server does not answer")
    finally:
        page.context.set_offline(False)
    assert place.urls() == ["http://h.test/"]
