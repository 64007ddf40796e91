"""A hostile page in a real browser: nothing that it tries opens a connection to another server."""

import socket

import pytest
from playwright.sync_api import BrowserContext

from tests.replay_server.browser.conftest import Opener
from tests.replay_server.browser.replayed import Capture, LiveWeb, Replay, within

pytestmark = pytest.mark.console

RAW = """
const frame = document.body.appendChild(document.createElement("iframe"));
const raw = frame.contentWindow, inner = frame.contentDocument;
const quiet = (task) => { try { const done = task(); done?.catch?.(() => {}) } catch {} };
"""
"""A window without the shim, as a page can get one."""

ATTEMPTS = {
    "fetch": "quiet(() => raw.fetch('http://fetch.test/'))",
    "request": "quiet(() => { const x = new raw.XMLHttpRequest(); x.open('GET', "
    "'http://xhr.test/'); x.send() })",
    "socket": "quiet(() => new raw.WebSocket('ws://socket.test/'))",
    "events": "quiet(() => new raw.EventSource('http://events.test/'))",
    "beacon": "quiet(() => raw.navigator.sendBeacon('http://beacon.test/', 'x'))",
    "transport": "quiet(() => new raw.WebTransport('https://transport.test/'))",
    "calls": "const calls = new raw.RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'},"
    "{urls: 'turn:calls.test', username: 'u', credential: 'c'}]}); calls.createDataChannel('x');"
    "calls.createOffer().then((offer) => calls.setLocalDescription(offer))",
    "image": "inner.write('<img src=http://image.test/><link rel=stylesheet "
    "href=http://style.test/><script src=http://script.test/></'+'script>"
    "<video src=http://video.test/></video>'); inner.close()",
    "hints": "for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'preload', "
    "'modulepreload', 'prerender', 'icon', 'manifest']) { const link = inner.createElement('link');"
    "link.rel = rel; link.as = 'image'; link.href = `https://${rel}.test/`;"
    "inner.head.append(link) }",
    "rules": "const rules = document.createElement('script'); rules.type = 'speculationrules';"
    "rules.textContent = JSON.stringify({prefetch: [{urls: ['https://rules.test/'], eagerness: "
    "'immediate'}], prerender: [{urls: ['https://rules2.test/'], eagerness: 'immediate'}]});"
    "document.head.append(rules)",
    "sandboxed": "const boxed = inner.createElement('iframe'); raw.Element.prototype.setAttribute"
    ".call(boxed, 'sandbox', 'allow-scripts'); raw.Element.prototype.setAttribute.call(boxed, "
    "'srcdoc', '<img src=http://boxed.test/><script>fetch(\"http://boxed2.test/\")</'+'script>');"
    "inner.body.append(boxed)",
    "data": "frame.src = 'data:text/html,<img src=http://data.test/><script>new WebSocket("
    '"ws://data2.test/"); location="https://data3.test/"</\'+\'script>\'',
    "location": "raw.location = 'https://location.test/'",
    "own": "raw.Object.defineProperty(navigation, 'dispatchEvent', {value: () => {}});"
    "location.assign('https://own.test/')",
    "top": "quiet(() => top.location = 'https://top.test/'); quiet(() => parent.location = "
    "'https://parent.test/')",
    "open": "quiet(() => raw.open('https://open.test/')); quiet(() => raw.open('https://open2.test/',"
    " '_self'))",
    "form": "inner.write('<form action=https://form.test/ method=post></form>');"
    "inner.forms[0].submit()",
    "anchor": "inner.write('<a href=https://anchor.test/ ping=http://ping.test/ download>x</a>');"
    "inner.links[0].click()",
    "frame": "inner.write('<iframe src=https://frame.test/></iframe><object "
    "data=http://object.test/></object><embed src=http://embed.test/>')",
    "refresh": "inner.write('<meta http-equiv=refresh content=\"0;url=https://refresh.test/\">')",
    "worker": "quiet(() => new raw.Worker(URL.createObjectURL(new Blob(["
    "'fetch(\"http://worker.test/\")'])))); quiet(() => new raw.SharedWorker("
    "'data:text/javascript,fetch(\"http://shared.test/\")'))",
    "worker-file": "quiet(() => new raw.Worker('/20261120100000mp_/http://h.test/hostile.js'));"
    "quiet(() => new raw.SharedWorker('/20261120100000mp_/http://h.test/hostile.js'))",
    "service": "quiet(() => raw.ServiceWorkerContainer.prototype.register.call("
    "navigator.serviceWorker, 'worker.js'))",
    "unregistered": "const {getRegistrations} = raw.ServiceWorkerContainer.prototype;"
    "getRegistrations.call(navigator.serviceWorker).then((all) => { for (const each of all) "
    "each.unregister(); quiet(() => raw.fetch('http://late.test/')); inner.write("
    "'<img src=http://late2.test/>') })",
    "policy": 'inner.write(\'<meta http-equiv=Content-Security-Policy content="default-src *">'
    "<img src=http://policy.test/>')",
    "console": "quiet(() => raw.fetch('http://localhost:CONSOLE/api/v1/jobs')); quiet(() => "
    "raw.fetch('http://127.0.0.1:CONSOLE/', {mode: 'no-cors'})); inner.write("
    "'<img src=http://localhost:CONSOLE/x><iframe src=http://localhost:CONSOLE/></iframe>')",
}


HOSTILE_WORKER = """
const quiet = (task) => { try { const done = task(); done?.catch?.(() => {}) } catch {} };
quiet(() => fetch("http://fetch.test/", {mode: "no-cors"}));
quiet(() => { const x = new XMLHttpRequest(); x.open("GET", "http://xhr.test/"); x.send() });
quiet(() => importScripts("http://script.test/"));
quiet(() => import("http://module.test/"));
quiet(() => new WebSocket("ws://socket.test/"));
quiet(() => new EventSource("http://events.test/"));
quiet(() => new WebTransport("https://transport.test/"));
quiet(() => new Worker("http://worker.test/"));
quiet(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://nested.test/')"]))));
quiet(() => new FontFace("x", "url(http://font.test/a.woff2)").load());
"""


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_connection_leaves(
    show: Opener, watched: tuple[BrowserContext, LiveWeb], server: Replay, name: str
):
    _, web = watched
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
        packets.bind(("127.0.0.1", 0))
        packets.settimeout(0.7)
        attempt = ATTEMPTS[name].replace("UDP", str(packets.getsockname()[1]))
        attempt = attempt.replace("CONSOLE", str(web.port))
        page, place = show({
            "http://h.test/": "<head></head><body>",
            "http://h.test/worker.js": "",
            "http://h.test/hostile.js": Capture(HOSTILE_WORKER, "text/javascript"),
        })  # fmt: skip
        within(page, f"void setTimeout(() => {{ {RAW} {attempt} }})")
        # Chromium ends a page whose call is refused, so that the test waits, not the page.
        with pytest.raises(TimeoutError):
            packets.recv(1)
        assert {asked.fields["host"] for asked in place.log} == {
            f"j1.replay.localhost:{server.port}"
        }
        assert page.url.startswith(place.viewer)
        assert "worker.js" not in str(place.urls())


def test_the_watch_sees_what_leaves(watched: tuple[BrowserContext, LiveWeb], server: Replay):
    """Without the policy the same attempts are seen, so that their absence means something."""
    context, web = watched
    page = context.new_page()
    page.goto(f"{server.viewer}/")
    page.evaluate("""fetch('http://one.test/').catch(() => 0); new Image().src = 'http://two.test/';
        document.body.append(Object.assign(document.createElement("iframe"), {src: 'http://x.test/'}));
        new WebSocket('ws://three.test/')""")
    for _ in range(1200):
        if len(web.connections) >= 3:
            break
        page.wait_for_timeout(25)
    assert len(web.connections) >= 3
    page.close()
