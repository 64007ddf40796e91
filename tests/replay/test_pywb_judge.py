"""pywb as a judge: its CDX server gives the same answers, and it replays from an index of ours."""

import json
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import create_connection
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from nacre.catalogue.lookup import CaptureIndex
from nacre.replay.cdx_answers import answer_cdx
from nacre.replay.cdx_queries import CdxQueryError
from nacre.replay.matching import ReplayAnswer, ReplayRequest, replay_request
from tests.replay.archives import HTTP, PAGE, Archive, record, sha1
from tools.nginx import free_port

JUDGES = Path(__file__).parents[2] / ".venv-judges" / "bin"

pytestmark = pytest.mark.skipif(not JUDGES.is_dir(), reason="no judges here: run `make judges`")

SITE = "http://h.test/"
SECOND = "第二".encode()


def form(body: bytes, reply: bytes, date: str) -> list[bytes]:
    """A POST with its reply, as two records."""
    head = b"POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    answer = record(PAGE + reply, url=SITE + "form", date=date, Record_ID="<urn:uuid:form>")
    request = record(
        head + length + body, "request", SITE + "form", date,
        "application/http; msgtype=request", Concurrent_To="<urn:uuid:form>",
    )  # fmt: skip
    return [answer, request]


def fill(archive: Archive) -> None:
    """Pages, redirects, errors, a revisit, forms, a domain with a subdomain."""
    days = ["2014-01-26T20:06:24Z", "2014-01-27T17:12:38Z", "2014-02-01T00:00:00Z"]
    archive.add(
        record(PAGE + b"first", url=SITE, date=days[0], Payload_Digest=sha1(b"first")),
        record(PAGE + SECOND, url=SITE, date=days[1], Payload_Digest=sha1(SECOND)),
        *form(b"a=1&b=2", b"posted", days[0]),
        record(
            PAGE, "revisit", SITE, days[2], Payload_Digest=sha1(b"first"), Refers_To_Date=days[0],
            Refers_To_Target_URI=SITE, Profile="http://netpreserve.org/warc/1.1/revisit/"
            "identical-payload-digest",
        ),
    )  # fmt: skip
    moved = b"HTTP/1.1 301 Moved\r\nLocation: https://www.h.test/a/\r\nContent-Length: 0\r\n\r\n"
    chunked = b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nTransfer-Encoding: chunked\r\n\r\n"
    archive.add(
        record(moved, url=SITE + "a", date=days[0]),
        record(PAGE + b"secure", url="https://www.h.test/a/", date=days[1]),
        record(b"HTTP/1.1 404 No\r\nContent-Type: text/plain\r\n\r\nno", url=SITE + "a/b?x=1",
               date=days[0]),
        record(chunked + b"3\r\na{}\r\n0\r\n\r\n", url=SITE + "s.css?v=3", date=days[0]),
        record(PAGE + b"sub", url="http://sub.h.test/x", date=days[0]),
        record(b"text", "resource", SITE + "r.txt", days[0], "text/plain"),
        record(PAGE + b"other", url="http://h.test.example/", date=days[0], media=HTTP),
        compress=False,
    )  # fmt: skip


def serve_index(index: CaptureIndex) -> ThreadingHTTPServer:
    """A CDX server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            values = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
            text = "".join(answer_cdx(index, values).lines).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Judge(NamedTuple):
    """pywb with two collections of one archive: `files` reads its index, `served` asks ours."""

    base: str
    archive: Archive

    def get(self, path: str, data: bytes | None = None) -> tuple[int, dict[str, str], bytes]:
        """Follow pywb's own redirects (307) to the URL as captured, but no archived ones."""
        opener = urllib.request.build_opener(NoRedirects)
        try:
            with opener.open(self.base + path, data, timeout=60) as reply:
                return reply.status, dict(reply.headers), reply.read()
        except urllib.error.HTTPError as error:
            if error.code == 307:
                return self.get(error.headers["Location"].removeprefix(self.base), data)
            return error.code, dict(error.headers), error.read()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


@pytest.fixture(scope="module")
def judge(tmp_path_factory) -> Iterator[Judge]:
    folder = tmp_path_factory.mktemp("pywb")
    archive = Archive(folder / "job")
    fill(archive)
    server = serve_index(archive.open()[1])
    port = free_port()
    place = f"{archive.folder}/"
    config = {
        "collections": {
            "files": {"index_paths": place, "archive_paths": place},
            "served": {
                "index": f"cdx+http://127.0.0.1:{server.server_port}/cdx",
                "archive_paths": place,
            },
        }
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    command = [str(JUDGES / "wayback"), "-b", "127.0.0.1", "-p", str(port), "-d", str(folder)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        while process.poll() is None and not is_open(port):
            pass
        assert process.poll() is None, (folder / "log").read_text()
        yield Judge(f"http://127.0.0.1:{port}", archive)
    finally:
        process.terminate()
        process.wait()
        server.shutdown()
        server.server_close()


def is_open(port: int) -> bool:
    try:
        create_connection(("127.0.0.1", port), 0.2).close()
    except OSError:
        return threading.Event().wait(0.1)
    return True


QUERIES = [
    {"url": SITE},
    {"url": "www.h.test"},
    {"url": SITE, "limit": "2"},
    {"url": SITE, "limit": "1", "sort": "reverse"},
    {"url": SITE, "reverse": "1", "limit": "2"},
    {"url": SITE, "from": "2014", "to": "201401"},
    {"url": SITE, "from": "20140127"},
    {"url": SITE, "to": "20140126200624"},
    {"url": SITE, "closest": "20140127", "limit": "1"},
    {"url": SITE, "closest": "20140127", "sort": "closest"},
    {"url": SITE, "closest": "2015"},
    {"url": SITE + "*"},
    {"url": SITE + "a", "matchType": "prefix"},
    {"url": SITE + "a/", "matchType": "prefix"},
    {"url": SITE + "a/b?*"},
    {"url": SITE + "zzz", "matchType": "host"},
    {"url": "*.h.test"},
    {"url": "sub.h.test", "matchType": "domain"},
    {"url": SITE + "none", "allowFuzzy": "0"},
    {"url": SITE + "*", "filter": "mime:html"},
    {"url": SITE + "*", "filter": "!mime:html"},
    {"url": SITE + "*", "filter": "=status:404"},
    {"url": SITE + "*", "filter": "!=status:200"},
    {"url": SITE + "*", "filter": "~urlkey:.*a.?b"},
    {"url": SITE + "*", "filter": "!~url:.*form"},
    {"url": SITE + "*", "filter": "blah:200"},
    {"url": SITE + "*", "filter": "mimetype:css"},
    {"url": "*.h.test", "filter": ["mime:html", "=status:200"]},
    {"url": SITE + "*", "fl": "urlkey,timestamp,status"},
    {"url": SITE + "*", "fields": "url,offset"},
    {"url": SITE, "collapseTime": "6"},
    {"url": SITE, "collapseTime": "4"},
    {"url": "*.h.test", "collapseTime": "8", "filter": "!mime:revisit"},
    {"url": SITE, "resolveRevisits": "1"},
    {"url": SITE, "resolveRevisits": "1", "collapseTime": "6", "sort": "reverse"},
]


@pytest.mark.parametrize("output", ["cdxj", "json"])
@pytest.mark.parametrize("query", QUERIES, ids=urlencode)
def test_the_cdx_server_of_pywb_answers_the_same(judge, query, output):
    parameters = {"output": output, "allowFuzzy": "0"} | query
    status, _, theirs = judge.get("/files/cdx?" + urlencode(parameters, doseq=True))
    assert status == 200
    values = {
        key: value if isinstance(value, list) else [value] for key, value in parameters.items()
    }
    ours = "".join(answer_cdx(judge.archive.open()[1], values).lines)
    assert rows(ours) == rows(theirs.decode())


def rows(text: str) -> list[dict[str, str]]:
    """Rows without what pywb adds: the name of the index file, and the collection."""
    result = []
    for line in text.splitlines():
        key, _, fields = line.partition("{")
        row = {"key": key, **json.loads("{" + fields)}
        result.append({name: value for name, value in row.items() if not name.startswith("source")})
    return result


@pytest.mark.parametrize(
    "query", [{"url": SITE, "output": "foo"}, {"url": SITE, "matchType": "foo"}]
)
def test_what_pywb_refuses_is_refused(judge, query):
    status, _, text = judge.get("/files/cdx?" + urlencode(query))
    assert status == 400
    with pytest.raises(CdxQueryError) as caught:
        answer_cdx(judge.archive.open()[1], {key: [value] for key, value in query.items()})
    assert str(caught.value).startswith(json.loads(text)["message"])


REPLAYED = [
    ("20140126200624", SITE),
    ("20140127171238", SITE),
    ("20140201000000", SITE),
    ("2014", SITE),
    ("20140126200624", SITE + "a"),
    ("20140127171238", SITE + "a"),
    ("20140126200624", SITE + "a/b?x=1"),
    ("20140126200624", SITE + "s.css?v=3"),
    ("20140126200624", SITE + "s.css?v=4"),
    ("20140126200624", "http://sub.h.test/x"),
    ("20140126200624", SITE + "r.txt"),
]


@pytest.mark.parametrize("collection", ["files", "served"])
@pytest.mark.parametrize(("timestamp", "url"), REPLAYED)
def test_pywb_replays_the_same(judge, collection, timestamp, url):
    """Also by our CDX server, whose answers lead it to the records."""
    status, headers, body = judge.get(f"/{collection}/{timestamp}id_/{url}")
    holding, index = judge.archive.open()
    answer = replay_request(holding, index, ReplayRequest(url, timestamp))
    assert isinstance(answer, ReplayAnswer)
    exchange = answer.exchange
    assert (exchange.status, exchange.body.readall()) == (status, body)
    assert exchange.header("content-type") == headers.get("Content-Type", "")
    path = f"/{exchange.capture.timestamp}id_/"
    assert path in headers["Content-Location"]


@pytest.mark.parametrize("collection", ["files", "served"])
def test_a_form(judge, collection):
    path = f"/{collection}/20140126200624id_/{SITE}form"
    status, _, body = judge.get(path, b"a=1&b=2")
    assert (status, body) == (200, b"posted")
    holding, index = judge.archive.open()
    request = ReplayRequest(SITE + "form", "20140126200624", "POST", "a=1&b=2")
    answer = replay_request(holding, index, request)
    assert isinstance(answer, ReplayAnswer)
    assert answer.exchange.body.readall() == b"posted"
