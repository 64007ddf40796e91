"""Search servers on the loopback that keep documents: the parts of the protocols that are used.

They are written for these tests after the documentation of Solr and OpenSearch, and are not them.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Kept:
    """What a server has, and what it was asked.

    Attributes:
        documents: Those that are visible, by id.
        waiting: Those that a commit or refresh makes visible.
        refusals: Statuses of the next answers.
        answers: Bodies of the next answers, whatever they are to.
        requests: Method, path and body of each request.
        mappings: What the index was made with; None where there is none.
        login: The last Authorization.
        bad: Ids of documents that are refused.
    """

    def __init__(self) -> None:
        self.documents: dict[str, Any] = {}
        self.waiting: dict[str, Any] = {}
        self.refusals: list[int] = []
        self.answers: list[bytes] = []
        self.requests: list[tuple[str, str, bytes]] = []
        self.mappings: Any = None
        self.login: str | None = None
        self.bad: set[str] = set()

    def commit(self) -> None:
        self.documents = dict(self.waiting)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    kept: Kept

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        self.kept.requests.append((self.command, self.path, body))
        self.kept.login = self.headers.get("Authorization")
        if self.kept.refusals:
            status, answer = self.kept.refusals.pop(0), {"error": {"msg": "no room"}}
        else:
            status, answer = self.answer(url.path, parse_qs(url.query), body)
        data = self.kept.answers.pop(0) if self.kept.answers else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _any  # noqa: N815 - as the library calls them

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - likewise
        pass

    def answer(self, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        raise NotImplementedError


class _Solr(_Handler):
    def answer(self, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        if path == "/solr/core/select":
            found = {"numFound": len(self.kept.documents), "start": 0, "docs": []}
            return 200, {"responseHeader": {"status": 0}, "response": found}
        if path != "/solr/core/update":
            return 404, {"error": {"msg": "no such core", "code": 404}}
        said = json.loads(body)
        if isinstance(said, list):
            for one in said:
                if one["id"] in self.kept.bad:
                    return 400, {"error": {"msg": "unknown field 'x'", "code": 400}}
                self.kept.waiting[one["id"]] = one
        else:
            self._command(said)
        return 200, {"responseHeader": {"status": 0}}

    def _command(self, said: dict[str, Any]) -> None:
        if said == {"commit": {}}:
            self.kept.commit()
        elif said == {"delete": {"query": "*:*"}}:
            self.kept.waiting = {}
        else:
            for key in said["delete"]:
                self.kept.waiting.pop(key, None)


class _OpenSearch(_Handler):
    def answer(self, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        if path == "/_bulk":
            return 200, {"errors": True, "items": list(self._bulk(body.decode().splitlines()))}
        _, index, *rest = path.split("/")
        assert index == "pages"
        if rest == ["_refresh"]:
            self.kept.commit()
        elif rest == ["_delete_by_query"]:
            self.kept.waiting = {}
            self.kept.commit()
        elif self.command == "HEAD":
            return (200 if self.kept.mappings else 404), {}
        elif self.command == "PUT":
            self.kept.mappings = json.loads(body)["mappings"]["properties"]
        return 200, {"count": len(self.kept.documents), "acknowledged": True}

    def _bulk(self, lines: list[str]) -> Iterator[dict[str, Any]]:
        rest = iter(lines)
        for line in rest:
            ((action, place),) = json.loads(line).items()
            key = place["_id"]
            if action == "delete":
                status = 200 if self.kept.waiting.pop(key, None) else 404
                yield {"delete": {"_id": key, "status": status}}
                continue
            document = json.loads(next(rest))
            if key in self.kept.bad:
                error = {"type": "mapper_parsing_exception", "reason": "failed to parse [x]"}
                yield {action: {"_id": key, "status": 400, "error": error}}
                continue
            self.kept.waiting[key] = document
            yield {action: {"_id": key, "status": 201}}


@contextmanager
def solr() -> Iterator[tuple[str, Kept]]:
    """The URL of a core, and what it has."""
    with _running(_Solr) as (home, kept):
        yield f"{home}/solr/core", kept


@contextmanager
def opensearch() -> Iterator[tuple[str, Kept]]:
    """The URL of a node, and what its index `pages` has."""
    with _running(_OpenSearch) as found:
        yield found


@contextmanager
def _running(handler: type[_Handler]) -> Iterator[tuple[str, Kept]]:
    kept = Kept()
    own = type("Own", (handler,), {"kept": kept})
    server = ThreadingHTTPServer(("127.0.0.1", 0), own)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
