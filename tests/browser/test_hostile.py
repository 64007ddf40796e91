"""Pages that attack: the machine, other pages, the driver, and those who wait for them."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from nacre.browser import behaviours, open_page, process_tree
from nacre.browser.authority import CertificateAuthority
from nacre.browser.cdp import CdpClient
from nacre.browser.finding import InstalledBrowser
from nacre.browser.process import PageContext
from nacre.core.rendered import RenderedPage
from tests.browser.site import HOST, Pages, Site, browsing

pytestmark = pytest.mark.browser

SECURE = "https://secure.test"

VILLAIN = """<!doctype html><title>Villain</title><pre id="report"></pre>
<link rel="dns-prefetch" href="//leak.test"><link rel="preconnect" href="https://leak.test">
<iframe src="file:///etc/passwd"></iframe><iframe src="chrome://version"></iframe>
<iframe src="view-source:https://secure.test/"></iframe><iframe src="ftp://secure.test/"></iframe>
<iframe src="/to-file"></iframe><iframe src="/attachment"></iframe>
<iframe src="https://other.test/frame" name="other"></iframe>
<a id="save" href="/saved.bin" download>save</a>
<script>
const report = {};
const attempt = async (name, work, milliseconds = 40000) => {
  const late = new Promise((resolve) => setTimeout(resolve, milliseconds, "late"));
  try {
    report[name] = await Promise.race([work(), late]);
  } catch (error) {
    report[name] = `refused: ${error.name}`;
  }
};
const reach = (url) => attempt(url, async () => {
  const reply = await fetch(url, { mode: "no-cors" });
  return `reached: ${reply.type}`;
});
// What the driver could use, spoilt
Object.defineProperty(Object.prototype, "url", { get() { return "http://forged.test/"; } });
Promise.prototype.then = ((then) => function (...values) { return then.apply(this, values); })(
  Promise.prototype.then,
);
globalThis.requestIdleCallback = () => {};
Document.prototype.getElementsByTagName = () => ({ length: -1 });
Element.prototype.getHTML = () => "forged";
JSON.stringify = ((stringify) => (value) => stringify(value))(JSON.stringify);

(async () => {
  const work = ["http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/",
    "http://127.0.0.1:PORT/", "https://name.test/", "file:///etc/passwd", "chrome://version",
    "ftp://secure.test/", "/to-file"].map(reach);
  work.push(attempt("dialogs", async () => {
    alert("a");
    print();
    return `${confirm("b")} ${prompt("c")}`;
  }));
  work.push(attempt("windows", async () => {
    let opened = 0;
    for (let number = 0; number < 200; number += 1) {
      opened += window.open(`https://window.test/${number}`) ? 1 : 0;
    }
    return opened;
  }));
  work.push(attempt("stun", () => new Promise((resolve) => {
    const peer = new RTCPeerConnection({
      iceServers: [{ urls: ["stun:127.0.0.1:PORT", "stun:192.0.2.1:3478"] }],
    });
    const candidates = [];
    peer.onicecandidate = ({ candidate }) => candidate && candidates.push(candidate.candidate);
    peer.onicegatheringstatechange = () =>
      peer.iceGatheringState === "complete" && resolve(candidates.length);
    peer.createDataChannel("x");
    peer.createOffer().then((offer) => peer.setLocalDescription(offer));
  }), 1500));
  work.push(attempt("transport", async () => {
    const transport = new WebTransport("https://127.0.0.1:PORT/");
    await transport.ready;
    return "reached";
  }));
  work.push(attempt("notification", () => Notification.requestPermission()));
  work.push(attempt("place", () => new Promise((resolve, reject) =>
    navigator.geolocation.getCurrentPosition(resolve, (error) => resolve(error.code)))));
  work.push(attempt("worker", () => new Promise((resolve) => {
    new Worker("/worker.js").onmessage = ({ data }) => resolve(data);
  })));
  work.push(attempt("shared", () => new Promise((resolve) => {
    new SharedWorker("/shared.js").port.onmessage = ({ data }) => resolve(data);
  })));
  work.push(attempt("service", async () => {
    await navigator.serviceWorker.register("/service.js");
    await navigator.serviceWorker.ready;
    return (await fetch("/served.json")).text();
  }));
  localStorage.setItem("left", "behind");
  save.click();
  await Promise.all(work);
  for (let number = 0; number < 3000; number += 1) {
    console.log("x".repeat(10000));
    setTimeout(() => { throw new Error("y".repeat(10000)); });
    history.replaceState({}, "", `/state/${number}`);
  }
  document.getElementById("report").textContent = JSON.stringify(report);
  addEventListener("beforeunload", (event) => event.preventDefault());
  location = "file:///etc/passwd";
})();
</script>"""

WORKER = """(async () => {
  await fetch("/from/worker.json");
  await fetch("https://10.0.0.2/", { mode: "no-cors" }).catch(() => {});
  postMessage("worked");
})();"""

SHARED = """onconnect = async ({ ports: [port] }) => {
  await fetch("/from/shared.json");
  port.postMessage("shared");
};"""

SERVICE = """self.onfetch = (event) => event.respondWith(new Response("forged"));
self.onactivate = (event) => event.waitUntil(clients.claim());
fetch("/from/service.json");"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def pages(installed_browser: InstalledBrowser, directory: Path) -> Iterator[Pages]:
    with browsing(installed_browser, directory) as opened:
        yield opened


@pytest.fixture(scope="module")
def listeners() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A TCP and a UDP socket with the same port, which must not hear anything."""
    for _ in range(20):
        with contextlib.ExitStack() as stack:
            tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            try:
                udp.bind(tcp.getsockname())
            except OSError:
                continue
            tcp.setblocking(False)
            udp.setblocking(False)
            yield tcp, udp
            return
    raise AssertionError("no port")


@pytest.fixture(scope="module")
def site(listeners: tuple[socket.socket, socket.socket]) -> Site:
    port = str(listeners[0].getsockname()[1])
    redirect = "Status: 302\nLocation: file:///etc/passwd"
    attachment = "Content-Disposition: attachment; filename=../../evil.sh"
    return Site(
        {
            f"{SECURE}/": ('Alt-Svc: h3=":443"', VILLAIN.replace("PORT", port)),
            f"{SECURE}/to-file": (redirect, ""),
            f"{SECURE}/attachment": (attachment, "#!/bin/sh"),
            f"{SECURE}/saved.bin": ("Content-Type: application/octet-stream", "saved"),
            f"{SECURE}/worker.js": WORKER,
            f"{SECURE}/shared.js": SHARED,
            f"{SECURE}/from/shared.json": "{}",
            f"{SECURE}/service.js": SERVICE,
            f"{SECURE}/served.json": "server",
            f"{SECURE}/from/worker.json": "{}",
            f"{SECURE}/from/service.json": "{}",
            "https://other.test/frame": "<script>alert(1); top.location = 'https://away.test/'"
            "</script><img src=/of/frame.png>",
        }
    )


@pytest.fixture(scope="module")
def villain(pages: Pages, site: Site) -> RenderedPage:
    """A page with all attacks that end: one load for many tests."""
    wait = "export default ({ page }) => page.wait('#report:not(:empty)', 60);"
    return pages.open(
        site, f"{SECURE}/", behaviour_time=65.0, time=120.0, scripts=(("wait.js", wait),)
    )


@pytest.fixture(scope="module")
def report(villain: RenderedPage) -> dict[str, object]:
    text = villain.dom.decode().partition('<pre id="report">')[2].partition("</pre>")[0]
    report: dict[str, object] = json.loads(text)
    return report


def test_it_ends_as_others_do(villain):
    assert villain.ended == "settled"
    assert villain.title == "Villain"
    assert villain.url.startswith(f"{SECURE}/state/")


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/",
        "http://[::1]/",
        "https://name.test/",
    ],
)
def test_each_request_comes_to_the_handler_and_a_refusal_has_no_byte(report, site, url):
    assert report[url] == "refused: TypeError"
    assert url in site.urls


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "ftp://secure.test/"])
def test_other_schemes_reach_nothing(report, villain, site, url):
    assert report[url] == "refused: TypeError"
    assert not any(asked.startswith(url) for asked in site.urls)
    assert b"root:" not in villain.dom
    assert "root:" not in villain.text


def test_a_redirect_to_a_file_fails(report, site):
    assert report["/to-file"] == "refused: TypeError"
    assert site.urls.count(f"{SECURE}/to-file") == 2


def test_no_packet_goes_around_the_proxy(report, listeners, site):
    tcp, udp = listeners
    with pytest.raises(BlockingIOError):
        tcp.accept()
    with pytest.raises(BlockingIOError):
        udp.recv(1)
    assert report["transport"] != "reached"
    assert f"http://127.0.0.1:{tcp.getsockname()[1]}/" in site.urls


def test_dialogs_are_answered(report):
    assert report["dialogs"] == "false null"


def test_windows_do_not_open_and_are_links(report, villain, site):
    assert report["windows"] == 0
    assert not any("window.test" in url for url in site.urls)
    links = [link.url for link in villain.links if "window.test" in link.url]
    assert links[:2] == ["https://window.test/0", "https://window.test/1"]


def test_links_are_bounded_and_of_the_main_frame(villain):
    assert len(villain.links) <= 1000
    assert "https://away.test/" not in [link.url for link in villain.links]


def test_permissions_are_refused(report):
    assert report["notification"] == "denied"
    assert report["place"] == 1


def test_requests_of_workers_come_to_the_handler(report, site):
    assert report["worker"] == "worked"
    assert f"{SECURE}/from/worker.json" in site.urls
    assert "https://10.0.0.2/" in site.urls
    assert report["shared"] == "shared"
    assert f"{SECURE}/from/shared.json" in site.urls
    assert f"{SECURE}/from/service.json" in site.urls


def test_service_workers_answer_nothing(report, site):
    assert report["service"] == "server"
    assert f"{SECURE}/served.json" in site.urls


def test_requests_of_frames_of_other_sites_are_observed(villain, site):
    assert "https://other.test/of/frame.png" in site.urls
    assert "https://other.test/of/frame.png" in [event.url for event in villain.events]


def test_nothing_is_downloaded(villain, site, directory):
    assert villain.ended
    assert f"{SECURE}/attachment" in site.urls
    names = {path.name for path in directory.rglob("*")}
    assert not names & {"evil.sh", "saved.bin", "Downloads"}


def test_errors_are_bounded(villain):
    assert len(villain.console_errors) == 50
    assert max(map(len, villain.console_errors)) <= 600


def test_storage_ends_with_the_page(pages, villain):
    assert villain.ended
    page = "<body><script>document.body.append(`stored: ${localStorage.left}`)</script>"
    assert "stored: undefined" in pages.open(Site({f"{SECURE}/": page}), f"{SECURE}/").text


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "http://[bad/"])
def test_the_driver_opens_the_web_only(pages, url):
    page = pages.open(Site({}), url)
    assert (page.ended, page.dom) == ("notLoaded", b"")


def test_a_refused_page_is_not_loaded(pages):
    page = pages.open(Site({}))
    assert page.ended == "notLoaded"
    assert page.console_errors[0].startswith("net::ERR_")


def test_a_redirect_of_the_page_is_a_link(pages):
    site = Site({"/": ("Status: 302\nLocation: /there", ""), "/there": "there"})
    page = pages.open(site)
    assert page.ended == "notLoaded"
    assert [link.url for link in page.links] == [f"{HOST}/there"]
    assert site.urls == ["/"]


def test_a_page_that_never_answers_hangs(pages):
    page = pages.open(Site({"/": "<p>x</p><script>for (;;);</script>"}))
    assert page.ended == "hang"
    assert pages.open(Site({"/": "<p>next</p>"})).text == "next"


def test_a_page_that_is_never_idle_does_not_hang(pages, monkeypatch):
    monkeypatch.setattr(open_page, "HANG", 2.0)
    busy = """<p>x</p><script>
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      for (const end = performance.now() + 600; performance.now() < end;);
      port2.postMessage("");
    };
    onload = () => setTimeout(() => port2.postMessage(""), 50);
    </script>"""
    page = pages.open(Site({"/": busy}))
    assert (page.ended, page.text) == ("settled", "x")


def test_a_page_that_asks_without_end_is_cut_off(pages, monkeypatch):
    ahead = 0.0

    class Polled(Site):
        """The time of the page is over with its 11th request, however long that takes."""

        async def handle(self, request, reply):
            nonlocal ahead
            await super().handle(request, reply)
            if self.urls.count("/poll") > 10:
                ahead = 100.0

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead)
    monkeypatch.setattr(open_page, "time", clock)
    script = "<p>x</p><script>setInterval(() => fetch('/poll'), 50)</script>"
    page = pages.open(Polled({"/": script, "/poll": "x"}))
    assert (page.ended, page.text) == ("loadTime", "x")
    assert len(page.events) > 10


def test_bodies_do_not_come_through_the_pipe(pages, monkeypatch):
    sizes: list[int] = []
    receive = CdpClient.data_received

    def count(client: CdpClient, data: bytes) -> None:
        sizes.append(len(data))
        receive(client, data)

    monkeypatch.setattr(CdpClient, "data_received", count)
    script = """<body><script>
    fetch("/sent", { method: "POST", body: "x".repeat(3_000_000) });
    new Image().src = `data:image/png,${"x".repeat(3_000_000)}`;
    </script>"""
    site = Site({"/": script, "/sent": "y" * 3_000_000})
    assert pages.open(site).ended == "settled"
    assert site.requests[1].body == b"x" * 3_000_000
    assert sum(sizes) < 4_000_000


def test_many_elements_are_harmless(pages):
    script = """<p>x</p><script>
    const all = document.createDocumentFragment();
    for (let i = 0; i < 60000; i += 1) all.append(document.createElement("b"));
    document.body.append(all);
    </script>"""
    page = pages.open(Site({"/": script}), behaviours=("tall", "scroll", "lazy", "more"))
    assert (page.ended, page.text) == ("settled", "x")
    assert page.dom.count(b"<b>") == 60_000


def test_streams_that_never_end_are_not_awaited(pages):
    class Endless(Site):
        async def handle(self, request, reply):
            await super().handle(request, reply)
            if request.url.endswith("/events"):
                reply.begin(
                    200, b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n", "close"
                )
                reply.write(b"data: \xe5\xb9\xbf\n\n")
                await asyncio.sleep(60.0)

    script = """<p id=x></p><script>
    new EventSource("/events").onmessage = ({ data }) => { x.textContent = data; };
    </script>"""
    page = pages.open(Endless({"/": script}), load_time=20.0)
    assert (page.ended, page.text) == ("settled", "\u5e7f")


def test_endless_scrolling_ends(pages):
    script = """<body><script>
    const grow = () => { for (let i = 0; i < 50; i += 1) document.body.append(
      Object.assign(document.createElement("p"), { textContent: "again" })); };
    grow(); addEventListener("scroll", grow);
    let day = 0; setInterval(() => history.pushState({}, "", `?day=${day += 1}`), 20);
    </script>"""
    page = pages.open(Site({"/": script}), behaviours=("tall", "scroll"), behaviour_time=2.0)
    assert page.ended == "settled"
    assert f"{HOST}/?day=1" in [link.url for link in page.links]


def test_endless_routes_end(pages, monkeypatch):
    monkeypatch.setattr(behaviours, "ROUTES", 3)
    script = """<body><a href="#/0">0</a><script>
    onhashchange = () => document.body.insertAdjacentHTML(
      "beforeend", `<a href="#/${Math.random()}">next</a>`);
    </script>"""
    page = pages.open(Site({"/": script}), behaviours=("routes",))
    assert (page.ended, page.behaviours["routes"]) == ("settled", "3 routes")


def test_requests_of_frames_that_go_are_not_awaited(pages):
    pictures = {"/slow.png", "http://other.test/slow.png"}
    both = asyncio.Event()

    class Slow(Site):
        async def handle(self, request, reply):
            if request.url.endswith("/both"):
                await both.wait()
            await super().handle(request, reply)
            if request.url.endswith("/slow.png"):
                if pictures <= set(self.urls):
                    both.set()
                await asyncio.sleep(60.0)

    script = """<p>x</p><iframe src="/frame"></iframe><iframe src="http://other.test/"></iframe>
    <script>fetch("/both").then(() => {
      document.querySelectorAll("iframe").forEach((frame) => frame.remove());
    });</script>"""
    frame = "<script>onload = () => { new Image().src = '/slow.png'; };</script>"
    site = Slow({"/": script, "/both": "x", "/frame": frame, "http://other.test/": frame})
    page = pages.open(site)
    assert pictures <= set(site.urls)
    assert page.ended == "settled"


def test_a_large_document_is_not_taken(pages):
    script = "<body>x<script>document.body.append(new Comment('y'.repeat(10_000_001)))</script>"
    page = pages.open(Site({"/": script}))
    assert (page.ended, page.dom, page.text) == ("settled", b"", "x")


def test_the_total_time_is_bounded(pages):
    page = pages.open(Site({"/": "<script>setInterval(() => fetch('/x'), 50)</script>"}), time=1.0)
    assert page.ended == "pageTime"


def test_a_page_is_ended_from_outside(pages):
    page = pages.open(Site({"/": "x"}), stop=lambda context: context.stop.set("memory"))
    assert (page.ended, page.dom) == ("memory", b"")


def test_a_crash_of_the_renderer(pages):
    class Crashing(Site):
        context: PageContext

        async def handle(self, request, reply):
            await super().handle(request, reply)
            if request.url.endswith("/crash"):
                with contextlib.suppress(Exception):
                    cdp, session = self.context.cdp, self.context.session
                    await cdp.call("Page.crash", session=session, timeout=1.0)

    site = Crashing({"/": "<script>fetch('/crash')</script>", "/crash": "x"})
    page = pages.open(site, stop=lambda context: setattr(site, "context", context))
    assert page.ended == "crash"


@pytest.mark.parametrize("location", ["file:///etc/passwd", "view-source:/", "chrome://hang"])
def test_a_page_that_goes_elsewhere_stays(pages, location):
    script = f"<p>x</p><script>onload = () => {{ location = '{location}'; }};</script>"
    page = pages.open(Site({"/": script}))
    assert (page.ended, page.text) == ("settled", "x")
    assert not page.links


def test_the_end_of_the_process_that_draws_costs_no_page(pages):
    class Killing(Site):
        killed = 0

        async def handle(self, request, reply):
            await super().handle(request, reply)
            if request.url.endswith("/kill"):
                for pid in _drawing(pages.process.pid):
                    os.kill(pid, signal.SIGKILL)
                    self.killed += 1

    site = Killing({"/": "<p>x</p><script>fetch('/kill')</script>", "/kill": "x"})
    page = pages.open(site)
    assert (page.ended, page.text) == ("settled", "x")
    assert site.killed
    assert pages.open(Site({"/": "<p>next</p>"})).text == "next"


def _drawing(pid: int) -> list[int]:
    """The processes of a browser that draw for all pages."""
    commands = {each: Path(f"/proc/{each}/cmdline") for each in process_tree.list_processes(pid)}
    return [each for each, path in commands.items() if "=gpu-process" in path.read_text()]


def test_certificates_of_another_authority_are_no_good(installed_browser, tmp_path):
    """The proxy of another run, or one who has its key: only the own authority is trusted."""
    page = f"{SECURE}/"
    with browsing(installed_browser, tmp_path / "b", CertificateAuthority()) as others:
        refused = others.open(Site({page: "x"}), page)
        assert refused.ended == "notLoaded"
        assert refused.console_errors[0] == "net::ERR_CERT_AUTHORITY_INVALID"
        assert others.open(Site({"/": "plain"})).text == "plain"


def test_the_end_of_the_browser(pages):
    class Killing(Site):
        async def handle(self, request, reply):
            await super().handle(request, reply)
            if request.url.endswith("/kill"):
                os.kill(pages.process.pid, signal.SIGKILL)

    page = pages.open(Killing({"/": "<script>fetch('/kill')</script>", "/kill": "x"}))
    assert page.ended == "browserGone"
