"""Routes and access: each route without, with a foreign and with an expired ticket."""

import json
from pathlib import Path

import httpx
import pytest

from nacre.catalogue.holdings import open_holding
from nacre.fleet.requester import Requester
from nacre.ops.operation import Role
from nacre.replay_server import programs
from nacre.replay_server.access import SESSION_LIFE, TICKET_LIFE
from nacre.replay_server.shelf import LocalShelf
from nacre.replay_server.sites import ReplaySite
from nacre.replay_server.viewer import find_timeline, start_rows
from tests.replay.archives import Archive, record
from tests.replay_server.site import FIRST, KEY, SECOND, Server, date_of, new_archive, reply

VIEWER = "replay.localhost:8411"
FRAME = {"sec-fetch-dest": "empty", "x-nacre-worker": "iframe"}
VIEWS = (
    "/view/{demo}/",
    "/view/{demo}/*/http://h.test/",
    f"/view/{{demo}}/{FIRST}/http://h.test/",
    "/view/{demo}/9/http://h.test/",
    "/view/{demo}/prefix/http://h.test/",
    "/view/{demo}/go?url=http://h.test/",
    f"/view/{{demo}}/raw?u=http://h.test/&t={FIRST}",
)
CAPTURES = (
    f"/{FIRST}mp_/http://h.test/",
    f"/{FIRST}id_/http://h.test/",
    f"/{FIRST}mp_/http://h.test/film.mp4",
    "/mp_/http://h.test/gone",
)
PROGRAMS = (
    "/demo/http://h.test/",
    f"/demo/{FIRST}/http://h.test/",
    f"/demo/{FIRST}id_/http://h.test/",
    "/demo/timemap/link/http://h.test/",
    "/demo/timemap/json/http://h.test/",
    "/demo/timemap/cdxj/http://h.test/",
    "/demo/cdx?url=http://h.test/",
    "/demo/outbackcdx?url=http://h.test/",
    "/",
)
OPEN = ("/-/boot", "/-/boot.js", "/-/viewer.js", "/-/replay.css")
"""Paths without a check: files of Nacre, and the page that trades a ticket."""


def _labels(server: Server) -> dict[str, str]:
    return server.labels


@pytest.mark.parametrize("target", VIEWS)
def test_a_page_of_the_viewer_needs_a_ticket_of_its_job(server: Server, target: str):
    target = target.format(**server.labels)
    fine = server.cookie("anna", "demo")
    assert server.view(target, fine).status_code in {200, 302, 303}
    for fields in (
        {},
        server.cookie("anna", "other"),
        server.cookie("ben", "other"),
        {"cookie": "__Host-replay=x"},
    ):
        answer = server.view(target, fields)
        assert answer.status_code == 401
        assert "h.test" not in answer.text.replace(target.replace("&", "&amp;"), "")
    server.now.time += SESSION_LIFE
    assert server.view(target, fine).status_code == 401


@pytest.mark.parametrize("target", CAPTURES)
def test_a_capture_needs_a_ticket_of_its_job(server: Server, target: str):
    host, fine = server.content("demo"), server.cookie("anna", "demo")
    assert server.ask(host, target, {**FRAME, **fine}).status_code in {200, 404}
    for fields in ({}, server.cookie("anna", "other"), server.cookie("ben", "other")):
        for more in (FRAME, {"sec-fetch-dest": "script"}, {}):
            answer = server.ask(host, target, {**more, **fields})
            assert answer.status_code == 401
            assert "Home" not in answer.text
    server.now.time += SESSION_LIFE
    assert server.ask(host, target, {**FRAME, **fine}).status_code == 401


def test_a_user_who_does_not_see_a_job_gets_no_ticket_for_it(server: Server):
    """Whatever the ticket says: places hold at each request."""
    fields = server.cookie("ben", "demo")
    assert server.view("/view/{demo}/".format(**server.labels), fields).status_code == 401
    assert server.ask(server.content("demo"), CAPTURES[0], {**FRAME, **fields}).status_code == 401


def test_a_session_ends_with_its_user(server: Server):
    fields = server.cookie("anna", "demo")
    server.users.pop("anna")
    assert server.view("/view/{demo}/".format(**server.labels), fields).status_code == 401


@pytest.mark.parametrize("target", PROGRAMS)
@pytest.mark.parametrize("host", ["localhost:8411", "127.0.0.1:8411", "[::1]:8411"])
def test_programs_need_a_key(server: Server, target: str, host: str):
    assert server.ask(host, target, server.bearer).status_code in {200, 302}
    for fields in ({}, {"authorization": "Bearer x"}, server.cookie("anna")):
        answer = server.ask(host, target, fields)
        assert answer.status_code == 401
        assert "h.test" not in answer.text


def test_an_unknown_name_gets_the_names_that_the_key_may_see(server: Server):
    answer = server.ask("localhost", "/none/http://h.test/", server.bearer)
    assert answer.status_code == 404
    assert "the names are: demo" in answer.text
    server.seen["anna"] = set()
    answer = server.ask("localhost", "/none/http://h.test/", server.bearer)
    assert (answer.status_code, "demo" in answer.text) == (404, False)
    assert "demo" not in server.ask("localhost", "/none/http://h.test/").text


def test_a_key_sees_what_its_owner_sees(server: Server):
    server.seen["anna"] = {"other"}
    assert server.ask("localhost", "/demo/http://h.test/", server.bearer).status_code == 404
    assert "secret" not in server.ask("localhost", "/demo/http://secret.test/", server.bearer).text
    assert [item["name"] for item in server.ask("localhost", "/", server.bearer).json()] == [
        "other"
    ]


@pytest.mark.parametrize("target", OPEN)
def test_files_of_our_own_are_open(server: Server, target: str):
    answer = server.ask(server.content("demo"), target)
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "host", ["evil.test", "evil.test:8411", "", "replay.localhost.evil.test", "j.replay.localhost"]
)
def test_other_hosts_are_misdirected(server: Server, host: str):
    answer = server.ask(host, "/", server.bearer)
    assert answer.status_code == 421
    assert "--replay-host" in answer.text


def test_two_hosts_are_misdirected(server: Server):
    fields = [("host", "replay.localhost"), ("host", "evil.test")]
    assert server.ask("", "/", more=fields).status_code == 421


@pytest.mark.parametrize("target", [*CAPTURES, *OPEN, "/sw.js", "/view/x/"])
def test_no_script_of_a_worker_but_ours(server: Server, target: str):
    fields = {"service-worker": "script", **server.cookie("anna"), "x-nacre-worker": "iframe"}
    answer = server.ask(server.content("demo"), target, fields)
    assert answer.status_code == 403
    assert server.view(target, fields).status_code == 403
    assert server.ask("localhost", target, {**fields, **server.bearer}).status_code == 403


# ---- tickets


def _trade(
    server: Server, ticket: str, host: str = VIEWER, job: str = "demo", **fields: str
) -> httpx.Response:
    body = json.dumps({"ticket": ticket, "label": server.labels[job]}).encode()
    sent = {
        "sec-fetch-site": "same-origin",
        **{name.replace("_", "-"): value for name, value in fields.items()},
    }
    return server.ask(host, "/-/ticket", sent, "POST", body)


def test_a_ticket_is_traded_for_a_cookie_on_each_origin(server: Server):
    for host in (VIEWER, server.content("demo")):
        answer = _trade(server, server.access.ticket("anna", server.labels["demo"]), host)
        assert answer.status_code == 204
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        fields = {"cookie": cookie.partition(";")[0]}
        assert server.view("/view/{demo}/".format(**server.labels), fields).status_code == 200


def test_expired_used_and_foreign_tickets_are_refused(server: Server):
    label = server.labels["demo"]
    expired = server.access.ticket("anna", label)
    server.now.time += TICKET_LIFE
    assert _trade(server, expired).status_code == 401
    used = server.access.ticket("anna", label)
    assert _trade(server, used).status_code == 204
    assert _trade(server, used).status_code == 401
    foreign = server.access.ticket("anna", server.labels["other"])
    assert _trade(server, foreign).status_code == 401
    assert _trade(server, foreign, server.content("demo"), "other").status_code == 401
    assert _trade(server, "x").status_code == 401


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_other_origins_trade_no_tickets(server: Server, site: str):
    ticket = server.access.ticket("anna", server.labels["demo"])
    assert _trade(server, ticket, sec_fetch_site=site).status_code == 403
    assert _trade(server, ticket).status_code == 204


@pytest.mark.parametrize("body", [b"", b"x", b"[]", b"{}", b'{"ticket": 1, "label": ""}', b"\xff"])
def test_other_bodies_trade_nothing(server: Server, body: bytes):
    fields = {"sec-fetch-site": "same-origin"}
    assert server.ask(VIEWER, "/-/ticket", fields, "POST", body).status_code == 400


def test_a_long_body_is_refused(server: Server):
    fields = {"sec-fetch-site": "same-origin"}
    assert server.ask(VIEWER, "/-/ticket", fields, "POST", b" " * 10_000).status_code == 403


def test_a_key_is_typed_on_the_page(server: Server):
    fields = {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}
    label = server.labels["demo"]
    body = f"key={KEY}&label={label}&to=/view/{label}/".encode()
    answer = server.ask(VIEWER, "/-/key", fields, "POST", body)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/view/{label}/")
    wrong = server.ask(VIEWER, "/-/key", fields, "POST", body.replace(KEY.encode(), b"x"))
    assert wrong.status_code == 401
    away = f"key={KEY}&label={label}&to=//evil.test/".encode()
    assert server.ask(VIEWER, "/-/key", fields, "POST", away).headers["location"] == "/"
    assert (
        server.ask(
            VIEWER, "/-/key", {**fields, "sec-fetch-site": "cross-site"}, "POST", body
        ).status_code
        == 403
    )


# ---- headers


def test_the_viewer_frames_only_the_pages_of_its_job(server: Server):
    label = server.labels["demo"]
    answer = server.view(f"/view/{label}/{FIRST}/http://h.test/", server.cookie())
    policy = answer.headers["content-security-policy"]
    assert f"frame-src http://j{label}.replay.localhost:8411;" in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in answer.headers["permissions-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert 'sandbox="allow-scripts allow-same-origin allow-forms"' in answer.text


def test_a_capture_governs_nothing(server: Server):
    fields = {**FRAME, **server.cookie()}
    answer = server.ask(server.content("demo"), f"/{FIRST}mp_/http://h.test/moved", fields)
    assert answer.status_code == 302
    assert answer.headers["location"] == f"/{FIRST}mp_/http://other.test/"
    for name in ("set-cookie", "strict-transport-security", "clear-site-data"):
        assert name not in answer.headers
        assert f"x-archive-orig-{name}" in answer.headers
    policy = answer.headers["content-security-policy"]
    assert "worker-src 'self' blob:;" in policy
    assert "sandbox allow-scripts" in policy
    assert "frame-ancestors 'self' http://replay.localhost:8411" in policy


def test_a_page_by_itself_leads_to_the_viewer(server: Server):
    fields = {"sec-fetch-dest": "document", **server.cookie()}
    answer = server.ask(server.content("demo"), f"/{FIRST}mp_/http://h.test/", fields)
    assert answer.status_code == 302
    label = server.labels["demo"]
    assert (
        answer.headers["location"]
        == f"http://replay.localhost:8411/view/{label}/{FIRST}/http://h.test/"
    )


def test_a_page_without_the_worker_gets_the_page_that_installs_it(server: Server):
    fields = {"sec-fetch-dest": "iframe", **server.cookie()}
    answer = server.ask(server.content("demo"), f"/{FIRST}mp_/http://h.test/", fields)
    assert answer.status_code == 200
    assert "boot.js" in answer.text
    assert "Home" not in answer.text


# ---- captures


def test_captures_of_a_page(server: Server):
    host, fields = server.content("demo"), {**FRAME, **server.cookie()}
    page = server.ask(host, f"/{SECOND}mp_/http://h.test/", fields)
    assert "Changed" in page.text
    assert page.headers["memento-datetime"] == "Sat, 21 Nov 2026 10:00:00 GMT"
    again = server.ask(host, f"/{SECOND}mp_/http://h.test/", {**fields, "if-none-match": '"x"'})
    assert again.status_code == 200
    gbk = server.ask(host, f"/{FIRST}mp_/http://other.test/", fields)
    assert "书" in gbk.text
    css = server.ask(
        host, f"/{FIRST}mp_/http://h.test/s.css", {**fields, "sec-fetch-dest": "style"}
    )
    assert f"/{FIRST}mp_/http://h.test/b.png" in css.text
    odd = server.ask(host, f"/{FIRST}mp_/http://h.test/old", fields)
    assert (odd.status_code, odd.headers["x-archive-orig-status"]) == (200, "999 Denied")


def test_a_page_with_a_slash_at_its_end_is_shown_there(tmp_path: Path):
    """Its relative URLs are right only there; the server of the live site redirects as well."""
    archive = Archive(tmp_path / "demo")
    moved = reply(b"", "text/html", "301 Moved", "Location: /docs/")
    archive.add(
        record(moved, url="http://h.test/docs", date=date_of(FIRST)),
        record(reply(b"<img src=a.png>"), url="http://h.test/docs/", date=date_of(FIRST)),
    )
    server = Server({"demo": tmp_path / "demo"})
    host, fields = server.content("demo"), {**FRAME, **server.cookie()}
    answer = server.ask(host, f"/{FIRST}mp_/http://h.test/docs", fields)
    assert (answer.status_code, answer.content) == (307, b"")
    assert answer.headers["location"] == f"/{FIRST}mp_/http://h.test/docs/"
    assert "sandbox" in answer.headers["content-security-policy"]
    page = server.ask(host, answer.headers["location"], fields)
    assert page.status_code == 200
    assert "<img src=a.png>" in page.text
    raw = server.ask(host, f"/{FIRST}id_/http://h.test/docs", fields)
    assert raw.status_code == 200


@pytest.mark.parametrize(
    ("field", "status", "length", "place"),
    [
        ("bytes=0-9", 206, 10, "bytes 0-9/2048"),
        ("bytes=2000-", 206, 48, "bytes 2000-2047/2048"),
        ("bytes=-8", 206, 8, "bytes 2040-2047/2048"),
        ("bytes=2048-", 416, 0, "bytes */2048"),
        ("bytes=0-1,4-5", 200, 2048, None),
        ("pages=1", 200, 2048, None),
        ("", 200, 2048, None),
    ],
)
def test_parts_of_media(server: Server, field: str, status: int, length: int, place: str | None):
    fields = {**server.cookie(), "sec-fetch-dest": "video", **({"range": field} if field else {})}
    target = f"/{FIRST}mp_/http://h.test/film.mp4"
    for method in ("GET", "HEAD"):
        answer = server.ask(server.content("demo"), target, fields, method)
        assert answer.status_code == status
        assert answer.headers["content-length"] == str(length)
        assert answer.headers.get("content-range") == place
        assert len(answer.content) == (length if method == "GET" else 0)


@pytest.mark.parametrize(
    ("target", "field", "status", "body", "place"),
    [
        ("whole.mp4", "", 200, b"0123456789", None),
        ("whole.mp4", "bytes=0-", 206, b"0123456789", "bytes 0-9/10"),
        ("whole.mp4", "bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("whole.mp4", "bytes=10-", 416, b"", "bytes */10"),
        ("part.mp4", "", 206, b"3456", "bytes 3-6/10"),
        ("part.mp4", "bytes=4-", 206, b"456", "bytes 4-6/10"),
        ("part.mp4", "bytes=4-5", 206, b"45", "bytes 4-5/10"),
        ("part.mp4", "bytes=0-", 416, b"", "bytes */10"),
    ],
)
def test_parts_of_media_that_were_captured_in_parts(
    tmp_path: Path, target: str, field: str, status: int, body: bytes, place: str | None
):
    part = "206 Partial Content"
    pages = {
        "http://h.test/whole.mp4": reply(
            b"0123456789", "video/mp4", part, "Content-Range: bytes 0-9/10"
        ),
        "http://h.test/part.mp4": reply(b"3456", "video/mp4", part, "Content-Range: bytes 3-6/10"),
    }
    server = Server({"demo": new_archive(tmp_path / "demo", pages).root})
    fields = {**server.cookie(), "sec-fetch-dest": "video", **({"range": field} if field else {})}
    answer = server.ask(server.content("demo"), f"/{FIRST}mp_/http://h.test/{target}", fields)
    assert (answer.status_code, answer.content) == (status, body)
    assert answer.headers.get("content-range") == place


def test_what_is_not_archived(server: Server):
    host, fields = server.content("demo"), server.cookie()
    page = server.ask(host, f"/{FIRST}mp_/http://h.test/none", {**FRAME, **fields})
    assert page.status_code == 404
    assert "nacre explain crawls/demo http://h.test/none" in page.text
    assert "never asks the live web" in page.text
    picture = server.ask(
        host, f"/{FIRST}mp_/http://h.test/no.png", {**fields, "sec-fetch-dest": "image"}
    )
    assert (picture.status_code, picture.headers["content-type"]) == (
        404,
        "text/plain; charset=utf-8",
    )


# ---- the viewer


def test_the_viewer_of_a_page(server: Server):
    label, fields = server.labels["demo"], server.cookie()
    newest = server.view(f"/view/{label}/9/http://h.test/", fields)
    assert newest.headers["location"] == f"/view/{label}/{SECOND}/http://h.test/"
    page = server.view(f"/view/{label}/{SECOND}/http://h.test/", fields).text
    assert "2 captures" in page
    assert f'href="/view/{label}/{FIRST}/http://h.test/" rel="prev"' in page
    assert f'src="http://j{label}.replay.localhost:8411/-/boot#t=' in page
    bar = server.view(f"/view/{label}/{SECOND}/http://h.test/", {**fields, "x-nacre-part": "bar"})
    assert "<iframe" not in bar.text
    listed = server.view(f"/view/{label}/*/http://h.test/", fields).text
    assert listed.index("2026-11-20 10:00:00") < listed.index("2026-11-21 10:00:00")


def test_the_viewer_speaks_chinese(server: Server):
    fields = {**server.cookie(), "accept-language": "zh-CN"}
    page = server.view(f"/view/{server.labels['demo']}/{SECOND}/http://h.test/", fields).text
    assert 'lang="zh-CN"' in page
    assert "This is an archive" not in page


def test_markup_in_urls_is_text(server: Server):
    label, fields = server.labels["demo"], server.cookie()
    url = "http://h.test/%3Cscript%3E'\"><script>alert(1)</script>"
    for target in (f"/view/{label}/{FIRST}/{url}", f"/view/{label}/*/{url}"):
        assert "<script>alert" not in server.view(target, fields).text
    answer = server.ask(server.content("demo"), f"/{FIRST}mp_/{url}", {**FRAME, **fields})
    assert "<script>alert" not in answer.text


def test_the_start_page_has_the_first_page_of_each_host(server: Server):
    page = server.view(f"/view/{server.labels['demo']}/", server.cookie()).text
    assert "http://h.test/" in page
    assert "http://other.test/" in page
    assert "film.mp4" not in page


def test_the_start_page_begins_with_the_seeds(tmp_path: Path):
    pages = ("http://a.test/1", "http://a.test/网页", "http://b.test/")
    archive = new_archive(tmp_path / "job", dict.fromkeys(pages, reply(b"<p>page")))
    lines = "# list\nhttp://a.test/网页\nhttp://gone.test/\n"
    (archive.root / "seeds.txt").write_text(lines, "utf-8")
    shelf = LocalShelf([archive.root], open_holding([archive.root]))
    opened = shelf.open(shelf.items(Requester("anna", Role.VIEWER))[0])
    assert [row.url for row in start_rows(opened, 9)] == [pages[1], pages[2]]


@pytest.mark.parametrize("media", ["text/html", "text/css"])
def test_a_page_that_is_larger_than_what_is_read_at_once_is_whole(tmp_path: Path, media: str):
    body = b"/* words */\n" * 200_000 + b"END"
    new_archive(tmp_path / "demo", {"http://h.test/large": reply(body, media)})
    server = Server({"demo": tmp_path / "demo"})
    fields = {**server.cookie(), **FRAME}
    answer = server.ask(server.content("demo"), f"/{FIRST}mp_/http://h.test/large", fields)
    assert answer.content.endswith(body)


def _answer_in_frame(folder: Path, captured: bytes, destination: str = "iframe") -> httpx.Response:
    """The answer to a request of a page for a capture."""
    new_archive(folder / "demo", {"http://h.test/x": captured})
    server = Server({"demo": folder / "demo"})
    fields = {**server.cookie(), "x-nacre-worker": destination}
    return server.ask(server.content("demo"), f"/{FIRST}mp_/http://h.test/x", fields)


@pytest.mark.parametrize(
    ("media", "body", "sent"),
    [
        (None, "<!doctype html><a href=http://o.test/>", "text/html; charset=windows-1252"),
        (None, "<html><meta charset=gbk><a href=http://o.test/>书", "text/html; charset=gbk"),
        ("", " \n<TITLE >中国的图书馆目录</title><a href=http://o.test/>",
         "text/html; charset=gbk"),
        ("*/*; charset=gbk", "<p><a href=http://o.test/>书", "text/html; charset=gbk"),
        ("html", "<!-- x --><a href=http://o.test/>", "text/html; charset=windows-1252"),
        ("image/svg+xml", "<svg><a href=http://o.test/ /></svg>", "image/svg+xml; charset=utf-8"),
        ("image/svg+xml", "<?xml version='1.0' encoding='gbk'?><svg><a href=http://o.test/ />书"
         "</svg>", "image/svg+xml; charset=gbk"),
        (None, "<?xml version='1.0'?><s:svg><a href=http://o.test/ /></s:svg>",
         "text/xml; charset=utf-8"),
        ("application/xml", "<!-- x --><html><a href=http://o.test/ /></html>",
         "application/xml; charset=utf-8"),
    ],
)  # fmt: skip
def test_what_a_browser_takes_for_a_page_is_rewritten(
    tmp_path: Path, media: str | None, body: str, sent: str
):
    captured = reply(body.encode("gbk"), media or "")
    if media is None:
        captured = captured.replace(b"Content-Type: \r\n", b"")
    answer = _answer_in_frame(tmp_path, captured)
    assert f"href=/{FIRST}mp_/http://o.test/".encode() in answer.content
    assert answer.headers.get_list("content-type") == [sent]


def test_a_drawing_in_utf_16_is_rewritten_in_any_type_of_xml(tmp_path: Path):
    body = "<svg><a href='http://o.test/'/></svg>".encode("utf-16")
    answer = _answer_in_frame(tmp_path, reply(body, "text/xml"))
    assert f"'/{FIRST}mp_/http://o.test/'".encode("utf-16-le") in answer.content


@pytest.mark.parametrize("media", ["", "text/css", "text/plain"])
def test_what_is_loaded_as_a_style_sheet_is_rewritten(tmp_path: Path, media: str):
    body = b"p { background: url(http://o.test/) }"
    answer = _answer_in_frame(tmp_path, reply(body, media), "style")
    assert f"url(/{FIRST}mp_/http://o.test/)".encode() in answer.content


@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("", "a text with <a href=http://o.test/>"), ("", "\x89PNG\r\n\x1a\n<a href=http://o.test/>"),
        ("text/plain", "<html><a href=http://o.test/>"),
        ("text/xml", "<rss><a href='http://o.test/'/></rss>"),
        ("", "<?xml version='1.0'?><rss xmlns:h='http://www.w3.org/1999/xhtml'><a href='http://o.test/'/></rss>"),
        ("application/atom+xml", "<feed><svg href='http://o.test/'/></feed>"),
        ("application/json", '"<html><a href=http://o.test/>"'),
    ],
)  # fmt: skip
def test_what_is_no_page_is_sent_as_captured(tmp_path: Path, media: str, body: str):
    answer = _answer_in_frame(tmp_path, reply(body.encode("latin-1"), media))
    assert answer.content == body.encode("latin-1")
    assert answer.headers.get("content-type", "") == media


def test_the_bar_leads_to_the_search_of_the_console_for_its_url(tmp_path: Path):
    new_archive(tmp_path / "demo", {"http://h.test/?a=1&b": reply(b"<p>page")})
    server = Server({"demo": tmp_path / "demo"}, console="http://localhost:8410")
    target = f"/view/{server.labels['demo']}/{FIRST}/http://h.test/?a=1&b"
    link = "http://localhost:8410/j/demo/captures?q=http%3A%2F%2Fh.test%2F%3Fa%3D1%26b"
    assert f'href="{link}"' in server.view(target, server.cookie()).text


def test_a_captured_time_that_is_none_is_refused(server: Server):
    label = server.labels["demo"]
    answer = server.view(f"/view/{label}/raw?u=http://h.test/&t=abc", server.cookie())
    assert (answer.status_code, "14 digits" in answer.text) == (400, True)


def test_a_query_of_too_many_parameters_is_refused(server: Server):
    query = "&".join(f"filter=={number}" for number in range(101))
    answer = server.ask("localhost:8411", f"/demo/cdx?url=h.test&{query}", server.bearer)
    assert (answer.status_code, "send fewer" in answer.text) == (400, True)


@pytest.mark.parametrize("label", ["x;sandbox", "x,y", "0123456789AB", "0123456789abc"])
def test_a_path_adds_nothing_to_the_policy_of_its_page(server: Server, label: str):
    answer = server.view(f"/view/{label}/", server.cookie())
    policy = answer.headers["content-security-policy"]
    assert "frame-src 'none';" in policy
    assert label not in policy


@pytest.mark.parametrize(
    ("media", "body"),
    [("multipart/form-data; boundary=x", b"garbage"), ("multipart/form-data", b"\xff"), ("", b"%")],
)
def test_a_form_that_has_no_key_is_refused(server: Server, media: str, body: bytes):
    fields = {
        "sec-fetch-site": "same-origin",
        "content-type": media,
        "content-length": str(len(body)),
    }
    assert server.ask(VIEWER, "/-/key", fields, "POST", body).status_code == 401


def test_a_ticket_that_is_no_text_is_refused(server: Server):
    body = b'{"ticket": "\xff", "label": "x"}'
    fields = {"sec-fetch-site": "same-origin", "content-length": str(len(body))}
    assert server.ask(VIEWER, "/-/ticket", fields, "POST", body).status_code == 400


@pytest.mark.parametrize(
    ("time", "place"), [("", 2100), ("9", 2100), ("2026", 2100), ("20260101000000", 0)]
)
def test_of_many_captures_the_requested_is_in_the_toolbar(tmp_path: Path, time: str, place: int):
    stamps = [f"20260101{n // 3600:02}{n // 60 % 60:02}{n % 60:02}" for n in range(2101)]
    archive = Archive(tmp_path / "job")
    dates = map(date_of, stamps)
    archive.add(*(record(reply(b"x"), date=date) for date in dates), compress=False)
    shelf = LocalShelf([archive.root], open_holding([archive.root]))
    opened = shelf.open(shelf.items(Requester("anna", Role.VIEWER))[0])
    timeline = find_timeline(opened, "http://h.test/", time)
    assert timeline.current is not None
    assert (timeline.current.timestamp, timeline.current.is_current) == (stamps[place], True)
    assert (len(timeline.rows), timeline.has_more) == (2000, True)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("h.test/", "9/http://h.test/"),
        ("http://h.test/two?a=1", "9/http://h.test/two?a=1"),
        ("http://h.test/t*", "prefix/http://h.test/t"),
        ("", ""),
    ],
)
def test_the_box_for_urls(server: Server, text: str, place: str):
    label = server.labels["demo"]
    target = f"/view/{label}/go?{httpx.QueryParams({'url': text})}"
    answer = server.view(target, server.cookie())
    assert answer.headers["location"] == f"/view/{label}/{place}"


def test_the_list_of_archives(server: Server):
    label = server.labels["demo"]
    assert server.view("/", server.cookie("anna", "demo")).headers["location"] == f"/view/{label}/"
    both = server.view("/", server.cookie()).text
    assert "demo" in both
    assert "other" in both
    assert "demo" not in server.view("/").text


# ---- Memento


def test_a_timegate(server: Server):
    fields = {**server.bearer, "accept-datetime": "Fri, 20 Nov 2026 12:00:00 GMT"}
    answer = server.ask("localhost:8411", "/demo/http://h.test/", fields)
    assert answer.status_code == 302
    assert answer.headers["location"] == f"http://localhost:8411/demo/{FIRST}/http://h.test/"
    assert answer.headers["vary"] == "accept-datetime"
    assert 'rel="original"' in answer.headers["link"]
    newest = server.ask("localhost:8411", "/demo/http://h.test/", server.bearer)
    assert SECOND in newest.headers["location"]
    bad = server.ask("localhost", "/demo/http://h.test/", {**server.bearer, "accept-datetime": "x"})
    assert bad.status_code == 400


def test_a_memento(server: Server):
    answer = server.ask("localhost:8411", f"/demo/{FIRST}/http://h.test/", server.bearer)
    assert answer.headers["memento-datetime"] == "Fri, 20 Nov 2026 10:00:00 GMT"
    assert 'rel="timegate"' in answer.headers["link"]
    assert answer.headers["content-security-policy"].startswith("sandbox")
    raw = server.ask("localhost:8411", f"/demo/{FIRST}id_/http://h.test/", server.bearer)
    assert raw.text.startswith('<!doctype html><title>Home & "more"')
    assert raw.headers["content-disposition"] == "attachment"


def test_of_many_captures_a_timegate_chooses_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(programs, "_MOST", 3)
    archive = Archive(tmp_path / "demo")
    stamps = [f"202611{day:02}100000" for day in range(1, 10)]
    archive.add(*(record(reply(b"x"), url="http://h.test/", date=date_of(t)) for t in stamps))
    server = Server({"demo": archive.root})
    date = {**server.bearer, "accept-datetime": "Tue, 03 Nov 2026 12:00:00 GMT"}
    gate = server.ask("localhost:8411", "/demo/http://h.test/", date)
    assert stamps[2] in gate.headers["location"]
    answer = server.ask("localhost:8411", f"/demo/{stamps[2]}/http://h.test/", server.bearer)
    for place, relation in ((0, "first"), (1, "prev"), (2, ""), (3, "next"), (8, "last")):
        words = f"{relation} memento".strip()
        assert f'{stamps[place]}/http://h.test/>; rel="{words}"' in answer.headers["link"]


@pytest.mark.parametrize("form", ["link", "json", "cdxj"])
def test_timemaps(server: Server, form: str):
    answer = server.ask("localhost", f"/demo/timemap/{form}/http://h.test/", server.bearer)
    assert answer.status_code == 200
    assert FIRST in answer.text
    assert SECOND in answer.text
    none = server.ask("localhost", f"/demo/timemap/{form}/http://none.test/", server.bearer)
    assert none.status_code == 404


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        ("cdx?url=http://h.test/", 2),
        ("cdx?url=h.test/&matchType=host&filter=~mimetype:video.*", 1),
        ("cdx?url=h.test/&output=json&limit=1", 1),
        ("outbackcdx?url=http://h.test/", 2),
        ("cdx?url=http://none.test/", 0),
    ],
)
def test_the_cdx_server(server: Server, target: str, lines: int):
    answer = server.ask("localhost", f"/demo/{target}", server.bearer)
    assert answer.status_code == 200
    assert len(answer.text.splitlines()) == lines


def test_a_malformed_query_of_the_cdx_server(server: Server):
    answer = server.ask("localhost", "/demo/cdx?matchType=x", server.bearer)
    assert answer.status_code == 400
    assert "url" in answer.text


# ---- one host


def test_a_site_without_names_for_jobs_shows_pages_without_scripts(jobs: dict[str, Path]):
    server = Server(jobs, ReplaySite("replay.example.org", 0, "https", is_single=True))
    label, host = server.labels["demo"], "replay.example.org"
    page = server.ask(host, f"/view/{label}/{FIRST}/http://h.test/", server.cookie()).text
    start = page.index('src="/-/c/') + len('src="')
    place = page[start : page.index('"', start)]
    answer = server.ask(host, place, {"sec-fetch-dest": "iframe"})
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-forms; default-src 'none'")
    assert "script" not in policy
    grant = place.split("/")[3]
    assert f"https://replay.example.org/-/c/{grant}/{FIRST}mp_/http://h.test/two?a=1" in answer.text
    other = place.replace(grant, server.access.path_grant("ben", label))
    assert server.ask(host, other, {"sec-fetch-dest": "iframe"}).status_code == 401
    assert server.ask(host, place.replace(grant, "x")).status_code == 401


def test_a_request_of_a_frame_without_a_url_belongs_to_the_page_that_wrote_it(server: Server):
    host = server.content("demo")
    fields = {**server.cookie(), "referer": f"http://{host}/{FIRST}mp_/http://h.test/two?a=1"}
    stray = server.ask(host, "/film.mp4?x=y", fields)
    assert stray.status_code == 307
    assert stray.headers["location"] == f"/{FIRST}mp_/http://h.test/film.mp4?x=y"
    assert server.ask(host, "/film.mp4", server.cookie()).status_code == 404


@pytest.mark.parametrize(("kind", "is_changed"), [("worker", True), ("script", False)])
def test_the_script_of_a_worker_begins_with_that_of_replay(
    tmp_path: Path, kind: str, is_changed: bool
):
    text = "\ufeff'use strict'; postMessage('中');"
    script = reply(text.encode(), "text/javascript; charset=gbk")
    new_archive(tmp_path / "demo", {"http://h.test/w.js": script})
    server = Server({"demo": tmp_path / "demo"})
    fields = {"sec-fetch-dest": "empty", "x-nacre-worker": kind, **server.cookie()}
    answer = server.ask(server.content("demo"), f"/{FIRST}mp_/http://h.test/w.js", fields)
    if is_changed:
        start = f'"use strict";self.nacre = ["{FIRST}", "http://h.test/w.js", "captured"];'
        assert answer.content.startswith(start.encode())
        assert answer.content.endswith(text[1:].encode())
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert "/* shared.js */" not in answer.text
    else:
        assert answer.content == text.encode()
