"""`nacre record`: what goes through the proxy is stored byte for byte."""

import asyncio
import gzip
from collections import Counter
from pathlib import Path

import pytest
import uvloop
from msgspec import convert, structs
from typer.testing import CliRunner

from nacre.browser.authority import CertificateAuthority
from nacre.browser.driver import open_page
from nacre.browser.finding import InstalledBrowser
from nacre.browser.process import BrowserLaunch, BrowserProcess, open_context
from nacre.cli.app import app
from nacre.cli.running import describe_start
from nacre.cli.status_text import done_text
from nacre.core.events import Alert, StateChanged
from nacre.core.rendered import PageTask
from nacre.errors import ConfigError, JobError
from nacre.job.job import Job
from nacre.job.overview import JobOverview
from nacre.machine.layout import Layout
from nacre.ops.record import RecordRequest, certificate_of, prepare_recording
from nacre.ops.status import stored_status
from tests.fetch.certificates import Authority
from tests.job.recordings import blocks, recording, serving_site

OK = b"HTTP/1.1 200 OK\r\n"
PACKED = gzip.compress(b"packed " * 100, mtime=0)
REPLIES = {
    "/length": OK + b"content-TYPE:  text/plain \r\nContent-Length: 5\r\n\r\nhello",
    "/close": OK + b"\r\nuntil the end",
    "/chunked": OK + b"Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nTrailer: t\r\n\r\n",
    "/gzip": OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED) + PACKED,
    "/missing": b"HTTP/1.1 404 Nothing Here\r\nContent-Length: 3\r\n\r\nno!",
    "/moved": b"HTTP/1.1 302 Found\r\nLocation: /length\r\nContent-Length: 0\r\n\r\n",
    "/same": b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
    "/old": b"HTTP/1.0 200 OK\r\n\r\nold",
    "/part": b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nab",
}  # fmt: skip


def reply_to(request: bytes) -> bytes:
    return REPLIES[request.split(b" ")[1].decode()]


def by_type(root: Path, *wanted: str) -> dict[str, list[tuple[str, bytes]]]:
    found: dict[str, list[tuple[str, bytes]]] = {kind: [] for kind in wanted}
    for kind, url, block in blocks(root):
        if kind in found:
            found[kind].append((url, block))
    return found


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_every_exchange_is_stored_as_it_crossed_the_wire(scheme: str, tmp_path: Path) -> None:
    tls = Authority(tmp_path).context("127.0.0.1") if scheme == "https" else None
    root = tmp_path / "job"

    async def main() -> list[tuple[bytes, bytes]]:
        async with (
            serving_site(reply_to, tls) as site,
            recording(root, assignments=("fetch.tls=record",)) as recorder,
        ):
            for path, reply in REPLIES.items():
                assert await recorder.fetch(site.url(path, scheme)) == reply
            posted = await recorder.fetch(
                site.url("/length", scheme), method="POST",
                headers="X-Odd:  kept\r\nContent-Length: 4\r\n", body=b"a=b\n",
            )  # fmt: skip
            assert posted == REPLIES["/length"]
            return site.exchanges

    exchanges = uvloop.run(main())
    records = by_type(root, "request", "response", "revisit")
    assert Counter(block for _, block in records["request"]) == Counter(
        request for request, _ in exchanges
    )
    assert len(exchanges) == len(REPLIES) + 1
    stored = [block for _, block in records["response"]]
    assert sorted(stored) == sorted(REPLIES.values())
    assert len(records["revisit"]) == 1  # the reply to POST has the body of the GET
    assert exchanges[-1][0].startswith(b"POST /length HTTP/1.1\r\nHost: 127.0.0.1:")
    assert exchanges[-1][0].endswith(b"\r\nX-Odd: kept\r\nContent-Length: 4\r\n"
                                     b"Connection: keep-alive\r\n\r\na=b\n")  # fmt: skip
    for words in (["archive", str(root), "check"], ["check", str(root)]):
        check = CliRunner().invoke(app, words)
        assert check.exit_code == 0, check.output
    resumed = CliRunner().invoke(app, ["run", str(root)])
    assert (resumed.exit_code, "nacre record --out" in resumed.output) == (2, True)


SCRIPT = b"""
fetch('/api', {method: 'POST', body: 'q'}).then(reply => reply.text()).then(text => {
    document.title = text;
})
"""
SITE = {
    "/": (b"text/html", b"<script src=/x.js></script><img src=/a.svg><img src=/b.svg>"),
    "/x.js": (b"text/javascript", SCRIPT),
    "/api": (b"text/plain", b"answer"),
    "/a.svg": (b"image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "/b.svg": (b"image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
}


def page_reply(request: bytes) -> bytes:
    kind, body = SITE[request.split(b" ")[1].decode()]
    chunks = b"%x;x=y\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    return OK + b"content-TYPE: " + kind + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks


@pytest.mark.browser
def test_a_browser_is_recorded(installed_browser: InstalledBrowser, tmp_path: Path) -> None:
    root = tmp_path / "job"
    (tmp_path / "profile").mkdir()

    async def main() -> list[tuple[bytes, bytes]]:
        tls = Authority(tmp_path).context("127.0.0.1")
        async with (
            serving_site(page_reply, tls) as site,
            recording(root, assignments=("fetch.tls=record",)) as recorder,
        ):
            trust = CertificateAuthority.open_in(root / "recorder").spki_hash
            plan = BrowserLaunch(
                installed_browser, tmp_path / "profile", isolated=False, authority=trust
            )
            browser = BrowserProcess(plan)
            await browser.start()
            try:
                context = await open_context(browser, recorder.port)
                state = await open_page(context, PageTask(site.url("/", "https")))
            finally:
                await browser.stop()
            assert (state.ended, state.title) == ("settled", "answer")
            return site.exchanges

    exchanges = uvloop.run(main())
    records = by_type(root, "request", "response", "revisit")
    assert Counter(block for _, block in records["request"]) == Counter(
        request for request, _ in exchanges
    )
    replies = [block for _, block in records["response"]]
    assert sorted([*replies, page_reply(b"GET /b.svg HTTP/1.1")]) == sorted(
        reply for _, reply in exchanges
    )
    assert len(records["revisit"]) == 1


def test_a_second_recording_goes_on_and_knows_what_the_first_stored(tmp_path: Path) -> None:
    starts = list[str]()

    async def main() -> None:
        async with serving_site(reply_to) as site:
            for _ in range(2):
                async with recording(tmp_path) as recorder:
                    job = recorder.job

                    def collect(event: object, job: Job = job) -> None:
                        is_start = isinstance(event, StateChanged) and event.new == "RUNNING"
                        if is_start and job.session is not None:
                            starts.append(describe_start(job.session))

                    job.events.subscribe(collect)
                    await recorder.fetch(site.url("/length"))

    uvloop.run(main())
    (run,) = (folder.name for folder in (tmp_path / "runs").iterdir())
    assert starts == [f"run {run} begins", f"resumes run {run}: 1 request recorded so far"]
    records = by_type(tmp_path, "response", "revisit")
    assert (len(records["response"]), len(records["revisit"])) == (1, 1)


def test_private_networks_are_closed_unless_they_are_opened(tmp_path: Path) -> None:
    async def main() -> int:
        async with serving_site(reply_to) as site:
            async with recording(tmp_path, allow_private=False) as recorder:
                assert await recorder.fetch(site.url("/length")) == b""
            return len(site.exchanges)

    assert uvloop.run(main()) == 0
    assert by_type(tmp_path, "response")["response"] == []
    (line,) = next(tmp_path.glob("runs/*/logs/crawl.log")).read_text().splitlines()
    assert "/length" in line
    assert line.endswith(" addressRefused")


def test_a_certificate_that_no_browser_would_trust_is_not_hidden(tmp_path: Path) -> None:
    tls = Authority(tmp_path).context("127.0.0.1")
    alerts = list[str]()

    def collect(event: object) -> None:
        if isinstance(event, Alert):
            alerts.append(event.message)

    async def main() -> int:
        async with serving_site(reply_to, tls) as site:
            async with recording(tmp_path / "job") as recorder:
                recorder.job.events.subscribe(collect)
                assert await recorder.fetch("http://127.0.0.1:9/closed") == b""
                assert await recorder.fetch(site.url("/length", "https")) == b""
                assert await recorder.fetch(site.url("/gzip", "https")) == b""
            return len(site.exchanges)

    assert uvloop.run(main()) == 0
    (alert,) = alerts
    assert alert.startswith("the certificate of https://127.0.0.1:")
    assert "certificate verify failed" in alert
    assert "use --set fetch.tls=record. This is said once" in alert
    assert "_ssl.c" not in alert
    lines = next(tmp_path.glob("job/runs/*/logs/crawl.log")).read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["-2", "-2", "-2"]


def test_a_certificate_that_is_refused_is_told_before_a_closed_port(tmp_path: Path) -> None:
    """A name with several addresses, only one of which has a server."""
    tls = Authority(tmp_path).context("other.test")
    root, urls = tmp_path / "job", list[str]()

    async def main() -> None:
        async with serving_site(reply_to, tls) as site, recording(root) as recorder:
            urls.append(f"https://localhost:{site.port}/length")
            assert await recorder.fetch(urls[0]) == b""

    uvloop.run(main())
    explained = CliRunner().invoke(app, ["explain", str(root), urls[0]])
    assert "certificate verify failed" in explained.output


def test_a_request_in_process_is_finished_when_the_recording_ends(tmp_path: Path) -> None:
    async def main() -> None:
        waits, goes = asyncio.Event(), asyncio.Event()

        async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            waits.set()
            await goes.wait()
            writer.write(REPLIES["/length"])
            writer.close()

        server = await asyncio.start_server(slow, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with recording(tmp_path) as recorder:
            task = asyncio.create_task(recorder.fetch(f"http://127.0.0.1:{port}/length"))
            await waits.wait()
            asyncio.get_running_loop().call_later(0.2, goes.set)
        assert await task == REPLIES["/length"]
        server.close()

    uvloop.run(main())
    assert by_type(tmp_path, "response")["response"][0][1] == REPLIES["/length"]


def test_an_open_address_needs_the_key(tmp_path: Path) -> None:
    recordings = [
        prepare_recording(RecordRequest(listen=listen, with_key=wants), tmp_path)
        for listen, wants in (("0.0.0.0:0", False), ("127.0.0.1:0", True), ("127.0.0.1:0", False))
    ]
    for prepared in recordings:
        prepared.plan.sock.close()
    first, second, third = (prepared.plan.key for prepared in recordings)
    assert len(first) >= 20
    assert (second, third) == (first, "")
    assert (tmp_path / "recorder" / "key").stat().st_mode & 0o077 == 0
    assert (tmp_path / "recorder").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("listen", ["localhost", "host:8089", "127.0.0.1:x", "127.0.0.1:70000", ""])
def test_an_address_that_is_none(listen: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--listen"):
        prepare_recording(RecordRequest(listen=listen), tmp_path)


@pytest.mark.parametrize(
    ("listen", "address"),
    [
        ("0", "http://127.0.0.1:"),
        (":0", "http://127.0.0.1:"),
        ("localhost:0", "http://127.0.0.1:"),
        ("[::1]:0", "http://[::1]:"),
    ],
)
def test_forms_of_an_address(listen: str, address: str, tmp_path: Path) -> None:
    prepared = prepare_recording(RecordRequest(listen=listen), tmp_path)
    prepared.plan.sock.close()
    assert prepared.address.startswith(address)
    assert prepared.plan.key == ""


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    first = prepare_recording(RecordRequest(listen="127.0.0.1:0"), tmp_path / "a")
    port = first.plan.sock.getsockname()[1]
    with pytest.raises(ConfigError, match=f"--listen 127.0.0.1:{port}"):
        prepare_recording(RecordRequest(listen=f"127.0.0.1:{port}"), tmp_path / "b")
    assert not (tmp_path / "b").exists()
    first.plan.sock.close()


def test_a_job_that_crawls_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "crawl.yaml").write_text("seeds: [http://127.0.0.1/]\n")
    with pytest.raises(JobError, match="--out"):
        prepare_recording(RecordRequest(), tmp_path)
    with pytest.raises(JobError, match="--out"):
        certificate_of(tmp_path)
    assert not (tmp_path / "recorder").exists()


def test_a_pause_refuses_requests(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving_site(reply_to) as site, recording(tmp_path) as recorder:
            assert await recorder.fetch(site.url("/length")) == REPLIES["/length"]
            session = recorder.job.session
            assert session is not None
            session.hold("operator")
            assert await recorder.fetch(site.url("/close")) == b""
            session.release("operator")
            assert await recorder.fetch(site.url("/close")) == REPLIES["/close"]
            assert len(site.exchanges) == 2

    uvloop.run(main())


def test_wrong_settings_make_no_job(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.timeout"):
        prepare_recording(RecordRequest(assignments=("fetch.timeout=soon",)), tmp_path)
    assert not (tmp_path / "crawl.yaml").exists()


def test_the_file_of_the_certificate(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["record", "--out", str(tmp_path / "new"), "--ca"])
    assert result.exit_code == 0
    assert certificate_of(tmp_path / "new").read_bytes().startswith(b"-----BEGIN CERT")
    assert result.output.strip().endswith("recorder/ca.pem")


def test_a_refused_address_is_told_once_and_requests_are_counted(tmp_path: Path) -> None:
    root, alerts, urls = tmp_path / "job", list[str](), list[str]()

    def collect(event: object) -> None:
        if isinstance(event, Alert):
            alerts.append(event.message)

    async def main() -> None:
        async with (
            serving_site(reply_to) as site,
            recording(root, allow_private=False) as recorder,
        ):
            recorder.job.events.subscribe(collect)
            urls.append(site.url("/length"))
            assert await recorder.fetch(site.url("/length")) == b""
            assert await recorder.fetch(site.url("/gzip")) == b""
            assert not site.exchanges

    uvloop.run(main())
    (alert,) = alerts
    assert "127.0.0.1 is refused" in alert
    assert "--allow-private" in alert
    overview = convert(stored_status(Layout(root))["overview"], JobOverview)
    assert (overview.recorded, overview.failed_pages, overview.discovered) == (2, 2, 0)
    assert done_text(overview) == "2 requests recorded"
    assert done_text(structs.replace(overview, recorded=0)) == "nothing so far"
    status = CliRunner().invoke(app, ["status", str(root)])
    assert status.exit_code == 0
    assert status.output.count("nacre record --out") == 2
    assert "nacre run" not in status.output
    explained = CliRunner().invoke(app, ["explain", str(root), urls[0]])
    assert explained.output.count("127.0.0.1 is refused") == 1
