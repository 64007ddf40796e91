"""WACZ files for other viewers: with a key, in parts, for pages of other origins."""

import io
import zipfile
from pathlib import Path

import pytest

from tests.replay_server.site import Server, new_archive, reply

HOST = "localhost:8411"


@pytest.fixture(scope="module")
def wacz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of another crawler."""
    folder = tmp_path_factory.mktemp("wacz")
    archive = new_archive(folder / "job", {"http://h.test/": reply(b"<h1>Home</h1>")})
    (warc,) = archive.folder.glob("*.warc.gz")
    index = warc.with_name("w0.cdxj").read_bytes()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as file:
        file.writestr(f"archive/{warc.name}", warc.read_bytes())
        file.writestr("indexes/index.cdxj", index)
        file.writestr("datapackage.json", '{"profile": "data-package", "resources": []}')
    path = folder / "书.wacz"
    path.write_bytes(data.getvalue())
    return path


def test_a_file_needs_a_key_and_other_origins_the_option(wacz: Path):
    target = "/x/files/%E4%B9%A6.wacz"
    closed, opened = (Server({"x": wacz}, cors=cors) for cors in (False, True))
    for server in (closed, opened):
        assert server.ask(HOST, target).status_code == 401
        answer = server.ask(HOST, target, server.bearer)
        assert answer.content == wacz.read_bytes()
        assert answer.headers["content-type"] == "application/wacz"
    assert "access-control-allow-origin" not in closed.ask(HOST, target, closed.bearer).headers
    assert closed.ask(HOST, target, method="OPTIONS").status_code == 401
    before = opened.ask(HOST, target, method="OPTIONS")
    assert before.status_code == 204
    assert "authorization" in before.headers["access-control-allow-headers"]
    assert opened.ask(HOST, target, opened.bearer).headers["access-control-allow-origin"] == "*"
    cdx = opened.ask(HOST, "/x/cdx?url=h.test/", opened.bearer)
    assert "access-control-allow-origin" not in cdx.headers


@pytest.mark.parametrize(
    ("field", "status", "length"), [("bytes=0-9", 206, 10), ("bytes=-4", 206, 4), ("x", 200, 0)]
)
def test_parts_of_a_file(wacz: Path, field: str, status: int, length: int):
    server = Server({"x": wacz}, cors=True)
    fields = {**server.bearer, "range": field}
    for method in ("GET", "HEAD"):
        answer = server.ask(HOST, "/x/files/%E4%B9%A6.wacz", fields, method)
        assert answer.status_code == status
        assert int(answer.headers["content-length"]) == (length or wacz.stat().st_size)
    beyond = server.ask(HOST, "/x/files/%E4%B9%A6.wacz", {**fields, "range": "bytes=999999-"})
    assert beyond.status_code == 416


@pytest.mark.parametrize("name", ["", "none.wacz", "../job/crawl.yaml", "%2e%2e%2fx", "crawl.yaml"])
def test_nothing_else_is_served(wacz: Path, name: str):
    server = Server({"x": wacz}, cors=True)
    assert server.ask(HOST, f"/x/files/{name}", server.bearer).status_code == 404


def test_pages_of_other_origins_read_files_alone(wacz: Path):
    server = Server({"x": wacz}, cors=True)
    for place in ("http://h.test/files/a.wacz", "cdx?url=http://h.test/files/"):
        answer = server.ask(HOST, f"/x/{place}", server.bearer)
        assert "access-control-allow-origin" not in answer.headers
        assert server.ask(HOST, f"/x/{place}", method="OPTIONS").status_code == 401
