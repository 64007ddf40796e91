"""What the replay of other archives is expected to do, with cases of our own, in a real browser.

The kinds are those of the Archival Acid Test, the Archival Integration Test and the tests of
wabac.js and pywb; docs/replay-compared.md has the table.
"""

import json
from typing import Final

import pytest

from tests.replay_server.browser.conftest import Opener
from tests.replay_server.browser.replayed import TIME, Capture, frame_of, within
from tests.replay_server.browser.test_worker import HEAD, PICTURE, moved, script, style, wave

pytestmark = pytest.mark.console

ACID: Final = """<!doctype html><html><head><meta charset=utf-8><base href="http://h.test/">
<style>.inline { background-image: url("http://o.test/inline.svg") }</style>
<link rel=stylesheet href=one.css><script src=helper.js></script></head><body>
<img id=relative src=dot.svg><img id=absolute src=http://h.test/dot.svg>
<img id=remote src=http://o.test/dot.svg><img id=scheme src=//h.test/dot.svg>
<img id=inline src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9'/>">
<p class=inline>x</p><p class=deep>x</p><div id=made></div>
<script src=local.js></script><script src=http://o.test/remote.js></script>
<script>
const put = (id, src, kind = "img") => {
  const made = Object.assign(document.createElement(kind), {id, src});
  document.getElementById("made").append(made);
  return made;
};
addEventListener("DOMContentLoaded", () => {
  put("written", "dot.svg");
  const ajax = new XMLHttpRequest();
  ajax.open("GET", "http://h.test/dot.svg");
  ajax.responseType = "text";
  ajax.onload = () => put("ajax", "data:image/svg+xml," + encodeURIComponent(ajax.response));
  ajax.send();
  const refused = new XMLHttpRequest();
  refused.open("GET", "http://o.test/dot.svg", false);
  try { refused.responseType = "arraybuffer" } catch { put("refused", "dot.svg") }
  const late = put("late", "none.svg");
  setTimeout(() => late.src = "dot.svg", 300);
  const seen = put("scrolled", "none.svg");
  onscroll = () => seen.src = "scrolled.svg";
  scrollTo(0, 500);
  const sheet = Object.assign(document.createElement("link"), {rel: "stylesheet", href: "two.css"});
  document.head.append(sheet);
  const canvas = document.createElement("canvas");
  canvas.getContext("2d").drawImage(document.getElementById("remote"), 0, 0);
  put("drawn", canvas.toDataURL());
  localStorage.setItem("src", "dot.svg");
  put("stored", localStorage.getItem("src"));
  put("framed", "frame.html", "iframe");
  put("film", "film.wav", "audio");
});
</script><p style="margin-top: 3000px">end</p>"""


def test_archival_acid_test(show: Opener):
    pictures = ("dot", "scrolled")
    page, place = show({
        "http://h.test/": ACID,
        **{f"http://h.test/{name}.svg": PICTURE for name in pictures},
        "http://o.test/dot.svg": PICTURE, "http://o.test/inline.svg": PICTURE,
        "http://h.test/one.css": style("@import url('deep/more.css')"),
        "http://h.test/deep/more.css": style(".deep { background: url(deep.svg) }"),
        "http://h.test/two.css": style("#made { background: url(two.svg) }"),
        "http://h.test/helper.js": script("window.helper = 1"),
        "http://h.test/local.js": script("addEventListener('DOMContentLoaded', () => "
                                         "put('local', 'dot.svg'))"),
        "http://o.test/remote.js": script("addEventListener('DOMContentLoaded', () => "
                                          "put('remoteScript', 'dot.svg'))"),
        "http://h.test/frame.html": HEAD + "<img src=framed.svg>",
        "http://h.test/film.wav": Capture(wave(1), "audio/wav"),
    })  # fmt: skip
    frame = frame_of(page)
    frame.wait_for_function("document.getElementById('late')?.naturalWidth === 9")
    frame.wait_for_function("document.getElementById('film').readyState > 1")
    frame.wait_for_function("document.getElementById('scrolled').naturalWidth === 9")
    shown = within(page, "[...document.images].filter((each) => each.naturalWidth && each.id)"
                   ".map((each) => each.id)")  # fmt: skip
    assert set(shown) == {
        *("relative", "absolute", "remote", "scheme", "inline", "written", "ajax", "late"),
        *("scrolled", "drawn", "stored", "local", "remoteScript", "refused"),
    }
    for url in ("http://o.test/inline.svg", "http://h.test/deep/deep.svg", "http://h.test/two.svg",
                "http://h.test/framed.svg"):  # fmt: skip
        while url not in place.urls():
            page.wait_for_timeout(25)
    assert place.strays == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_methods_of_http(show: Opener, method: str):
    page, place = show({
        "http://h.test/": HEAD,
        f"{method} http://api.test/x": Capture(
            lambda request, body: f"{request.method}:{body.decode()}", "application/json",
            fields=(("X-Total", "3"), ("Access-Control-Allow-Origin", "http://elsewhere.test")),
        ),
    })  # fmt: skip
    body = ', body: "中"' if method in {"POST", "PUT", "PATCH"} else ""
    answer = within(
        page,
        f"""fetch("http://api.test/x", {{method: "{method}"{body}, credentials:
        "include", headers: {{"X-Custom": "1", "Content-Type": "application/json"}}}})
        .then(async (reply) => [reply.status, await reply.text(), reply.headers.get("x-total")])""",
    )
    sent = "中" if body else ""
    assert answer == [200, "" if method == "HEAD" else f"{method}:{sent}", "3"]
    assert place.log[-1].fields["x-custom"] == "1"


def test_chain_of_redirects_between_schemes(show: Opener):
    page, place = show({
        "http://h.test/": HEAD + "<a href=https://h.test/1>x</a>",
        "https://h.test/1": moved(301, "http://h.test/2"),
        "http://h.test/2": moved(302, "https://o.test/3"),
        "https://o.test/3": "<meta http-equiv=refresh content='0; url=/4'>",
        "https://o.test/4": "<script>location.replace('https://h.test/5')</script>",
        "https://h.test/5": HEAD + "the end",
    })  # fmt: skip
    frame_of(page).click("a")
    frame_of(page).wait_for_url(f"{place.origin}/{TIME}mp_/https://h.test/5")
    assert within(page, "document.body.innerText") == "the end"


def test_frames_use_each_other(show: Opener):
    page, _ = show({
        "http://h.test/": HEAD + "<iframe name=other src=//o.test/frame></iframe>"
        "<script>addEventListener('message', (event) => window.told = event.data)</script>",
        "http://o.test/frame": HEAD + "<a href=/inside>x</a><script>"
        "parent.postMessage({from: document.domain}, '*')</script>",
    })  # fmt: skip
    frame_of(page).wait_for_function("window.told")
    assert within(page, "told") == {"from": "o.test"}
    href = within(page, "frames.other.document.links[0].href")
    assert href.endswith(f"/{TIME}mp_/http://o.test/inside")
    assert within(page, "parent === window && window.frameElement === null") is True


def test_application_of_one_page(show: Opener):
    app = """const view = () => document.getElementById("view").textContent =
          location.pathname.split("h.test")[1] + " " + JSON.stringify(history.state);
        onpopstate = view;
        document.getElementById("go").onclick = (event) => {
          event.preventDefault();
          history.pushState({step: 2}, "", event.target.href);
          view();
          fetch("/api/items").then((reply) => reply.json()).then((all) => window.items = all); };
        view();"""
    page, _ = show({
        "http://h.test/": HEAD + "<div id=view></div><a id=go href=/items/2>x</a>"
        "<script type=module src=/app.js></script>",
        "http://h.test/app.js": script(app),
        "http://h.test/api/items": Capture("[1,2]", "application/json"),
    })  # fmt: skip
    frame = frame_of(page)
    frame.click("#go")
    frame.wait_for_function("window.items?.length === 2")
    assert within(page, "view.textContent") == '/items/2 {"step":2}'
    within(page, "history.back()")
    frame.wait_for_function("view.textContent === '/ null'")


def test_document_domain_and_cookies(show: Opener):
    page, _ = show({"http://h.test/": HEAD})
    script_text = """document.domain = "test"; document.cookie = "a=1; domain=.h.test; secure";
        document.cookie = "b=2; expires=Fri, 31 Dec 2032 00:00:00 GMT"; document.cookie = "a=3";
        document.cookie = "gone=1; expires=Thu, 01 Jan 1970 00:00:00 GMT";
        JSON.stringify([document.domain, document.cookie])"""
    assert json.loads(within(page, script_text)) == ["h.test", "a=3; b=2"]


def test_cookies_of_the_reply_are_those_of_its_page(show: Opener):
    fields = tuple(("Set-Cookie", text) for text in (
        "a=1; Path=/", "b=two words; Expires=Fri, 31 Dec 2032 00:00:00 GMT", 'quoted="<&>"',
        "gone=1; Max-Age=0", "hidden=1; HttpOnly", "secret=1; Path=/; httponly; Secure",
    ))  # fmt: skip
    page, _ = show({"http://h.test/": Capture(HEAD, fields=fields)})
    assert within(page, "document.cookie") == 'a=1; b=two words; quoted="<&>"'


def test_function_that_a_script_calls_has_the_name_of_the_request(show: Opener):
    page, place = show({
        "http://h.test/": HEAD,
        "http://api.test/data?callback=cb_9&x=1": script("/**/ cb_1234({'a': '中'})"),
    })  # fmt: skip
    value = within(
        page,
        """new Promise((done) => { window.cb_9 = done; document.head.append(
        Object.assign(document.createElement("script"),
        {src: "http://api.test/data?callback=cb_9&x=1"})) })""",
    )
    assert value == {"a": "中"}
    assert place.log[-1].worker == "script"


NAVIGATING: Final = (
    "window.location = '/a'",
    "document.location = '/a'",
    "self.location.href = 'a'",
    "top === self ? 0 : location.replace('http://h.test/a')",
    "eval('location=\"/a\"')",
    "setTimeout('location.assign(\"/a\")', 1)",
    "window['loc' + 'ation'] = '/a'",
    "document.write('<meta http-equiv=refresh content=\"0;url=/a\">')",
)


def test_scripts_that_navigate(show: Opener):
    frames = {
        f"http://h.test/{number}": f"{HEAD}<script>{text}</script>"
        for number, text in enumerate(NAVIGATING)
    }
    page, _ = show({
        "http://h.test/": "".join(f"<iframe src={url}></iframe>" for url in frames),
        "http://h.test/a": HEAD + "arrived",
        **frames,
    })  # fmt: skip
    texts = """[...document.querySelectorAll("iframe")].map(
        (each) => each.contentDocument?.body?.innerText)"""
    frame_of(page).wait_for_function(f"{texts}.every((text) => text === 'arrived')")
    assert within(page, texts) == ["arrived"] * len(NAVIGATING)
