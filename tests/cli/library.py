"""The site of a small public library in China, in UTF-8 or in GBK, that changes when it is told.

Its notices have counters of visits, its old pages no title in any header, and the links of the GBK
site are escaped as a browser of a Chinese reader sends them.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote_to_bytes

NOTICES = {
    "关于国庆节期间开馆时间的通知": "10月1日至3日闭馆，10月4日起照常开放。",
    "数字资源试用通知": "《中国方志库》开通试用，馆内读者可免费检索。",
    "古籍阅览室预约须知": "请提前三个工作日预约，并携带有效证件。",
    "少年儿童阅读推广活动公告": "本周六上午九时在报告厅举行故事会。",
    "读者证办理指南": "凭身份证可在一楼总服务台办理读者证。",
    "文献捐赠征集启事": "面向社会征集地方文献、家谱、手稿等资料。",
}
"""Title and text of the notices."""
_FOOT = "<p>版权所有 青山县图书馆 联系电话 0000-1234567</p>"


class Library:
    """What the site shows.

    Args:
        charset: Of pages, and of the bytes that its links escape.
    """

    def __init__(self, charset: str = "utf-8") -> None:
        self.charset = charset
        self.notices = dict(NOTICES)
        self.views = 100
        self.home = ""

    def path(self, title: str) -> str:
        """The path of a notice, as links have it."""
        return quote(f"/通知公告/{title}.html", encoding=self.charset)

    def url(self, title: str) -> str:
        """The URL of a notice."""
        return self.home.rstrip("/") + self.path(title)

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, media type and body."""
        self.views += 1
        name = unquote_to_bytes(path).decode(self.charset, "replace").removesuffix(".html")
        if path == "/robots.txt":
            return 200, "text/plain", "User-agent： *\nDisallow： /读者/\n".encode()
        if path == "/logo.png":
            return 200, "image/png", b"\x89PNG\r\n\x1a\n" + bytes(600)
        if path == "/":
            return 200, "text/html", self._home()
        title = name.rpartition("/")[2]
        if name.startswith("/通知公告/") and title in self.notices:
            return 200, "text/html", self._page(title, f"<p>{self.notices[title]}</p>")
        return 404, "text/html", self._page("找不到页面", "<p>您访问的页面不存在。</p>")

    def _home(self) -> bytes:
        links = "".join(f'<li><a href="{self.path(t)}">{t}</a></li>' for t in self.notices)
        dead = f'<a href="{self.path("已撤下的旧通知")}">旧通知</a>'
        body = f'<img src="/logo.png"><h2>通知公告</h2><ul>{links}</ul>{dead}'
        return self._page("青山县图书馆", body)

    def _page(self, title: str, body: str) -> bytes:
        counter = f"<p>浏览次数:{self.views}</p>" if title in self.notices else ""
        text = (
            f'<html><head><meta charset="{self.charset}"><title>{title}</title></head>'
            f"<body><h1>{title}</h1>{body}{counter}{_FOOT}</body></html>"
        )
        return text.encode(self.charset)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        status, kind, body = server.library.answer(self.path)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    library: Library


@contextmanager
def library(charset: str = "utf-8") -> Iterator[Library]:
    """Serve it on loopback."""
    found, server = Library(charset), _Server(("127.0.0.1", 0), _Handler)
    server.library = found
    found.home = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
