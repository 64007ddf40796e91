"""Text that does not say how it is written is read as its site writes it: all its links are found.

The servers here answer to what a browser would ask for and to nothing else: paths in UTF-8, queries
in the encoding of the page. No reply and no page names an encoding, and most pages hold one word.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from nacre.core.crawluri import Outlink
from nacre.core.urlshape import shaped
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.settings import ExtractSettings
from nacre.uri.parse import parse
from nacre.wire.charset import decode, detect
from nacre.wire.guess import Hints
from tests.cli.site import nacre, running
from tests.crawl.jobs import Crawled
from tools import debs

pytestmark = pytest.mark.crawl

CHINESE = (
    "通知公告 校园新闻 图书馆 学校 教务处 招生就业 学术讲座 科研动态 党建工作 规章制度 "
    "联系我们 下载专区 "
    "师资队伍 学生工作 国际交流 院系设置 本科教育 研究生 校历 移动 联通 牡丹"
)
TAIWANESE = (
    "最新消息 學生事務處 圖書館 學術講座 招生資訊 聯絡我們 檔案下載 師資 教務處 國際交流 校園 規章"
)
JAPANESE = (
    "お知らせ 図書館 学術講演会 入試情報 研究 学生生活 国際交流 資料請求 アクセス 規程 教員 表"
)
KOREAN = "공지사항 도서관 학술행사 입학안내 연구 학생활동 국제교류 자료실 오시는길 규정 교수진 대학"
RUSSIAN = "Новости Библиотека Расписание Приём Наука Студентам Документы Контакты Кафедры Институт"
POLISH = "Wiadomości Książki Łączność Źródła Ogłoszenia Życie Zajęcia Pracownicy naukowi Zgłoś"
GREEK = "Ανακοινώσεις Βιβλιοθήκη Έρευνα Φοιτητές Εκδηλώσεις Επικοινωνία Σπουδές Τμήματα"
HTML = "text/html"
SITES = {
    "gbk": CHINESE,
    "big5": TAIWANESE,
    "cp932": JAPANESE,
    "euc_jp": JAPANESE,
    "iso2022_jp": JAPANESE,
    "euc_kr": KOREAN,
    "cp1251": RUSSIAN,
    "koi8_r": RUSSIAN,
    "cp1250": POLISH,
    "cp1253": GREEK,
}


def pages_of(codec: str) -> dict[bytes, tuple[str, bytes]]:
    """What a site has: type and body by target, its escapes resolved."""
    found: dict[bytes, tuple[str, bytes]] = {}
    words = SITES[codec].split()

    def add(path: str, kind: str, text: str, query: str = "") -> None:
        target = path.encode() + (b"?" + query.encode(codec) if query else b"")
        found[target] = kind, text.encode(codec)

    add(
        "/",
        HTML,
        "<script src=/menu.js></script><link rel=stylesheet href=s.css><a href=n>news</a>",
    )
    add(
        "/menu.js",
        "text/javascript",
        f"go('/menu/{words[0]}.html?q={words[1]}'); // {SITES[codec]}",
    )
    add(f"/menu/{words[0]}.html", HTML, words[0], f"q={words[1]}")
    add("/s.css", "text/css", f"a {{ background: url(bg/{words[0]}.gif) }}")
    add(f"/bg/{words[0]}.gif", "image/gif", "GIF89a")
    links = (f"<a href='/file/{word}.doc'>{word}</a><a href='/l?c={word}'>" for word in words)
    add("/n", HTML, "<li>".join(links))
    for word in words:
        add(f"/file/{word}.doc", "application/msword", "x")
        add("/l", HTML, f"<a href='/i?a=1&t={word}'>{word}</a>", f"c={word}")
        add("/i", HTML, f"<p>{word}</p>", f"a=1&t={word}")
    return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages: Mapping[bytes, tuple[str, bytes]]

    def do_GET(self) -> None:
        kind, body = self.pages.get(unquote_to_bytes(self.path), ("", b""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def served(codec: str) -> AbstractContextManager[str]:
    """A site in an encoding."""
    return serving(pages_of(codec))


@contextmanager
def serving(pages: Mapping[bytes, tuple[str, bytes]]) -> Iterator[str]:
    """Serve pages on a port of their own; the URL of the home page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Site", (Handler,), {"pages": pages}))
    server.daemon_threads = True
    with running(server) as url:
        yield url


@pytest.mark.parametrize("codec", SITES)
def test_all_pages_of_a_site_without_declarations_are_found(codec: str, tmp_path: Path):
    wanted = pages_of(codec)
    with served(codec) as home:
        done = nacre(
            "crawl", home, "--delay", 0, "--out", tmp_path / "job", "--quiet", "--browser", "never"
        )
        assert done.code == 0, done.err
    log = Crawled(tmp_path / "job", "").log
    got = {unquote_to_bytes(line.url[len(home) - 1 :]) for line in log if line.status == 200}
    assert sorted(wanted.keys() - got) == []
    missed = [line.url for line in log if line.status == 404 and not line.extra]
    assert missed == []


def test_the_choice_stands_in_the_crawl_log(tmp_path: Path):
    with served("gbk") as home:
        assert nacre("crawl", home, "--delay", 0, "--out", tmp_path / "job", "--quiet").code == 0
    logs = (tmp_path / "job").glob("runs/*/logs/crawl.log")
    lines = next(logs).read_text().splitlines()
    told = {line.split()[3].partition("?")[0]: line.split()[11] for line in lines}
    assert "usingCharsetDetected:GBK" in told[f"{home}n"].split(",")
    assert "usingCharsetDetected:GBK" in told[f"{home}menu.js"].split(",")
    assert "Charset" not in told[home]
    assert any("usingCharsetOfVia:GBK" in line for line in lines)


def test_explain_and_history_find_a_url_however_it_is_typed(tmp_path: Path):
    job = tmp_path / "job"
    with served("gbk") as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "--quiet").code == 0
    as_requested = f"{home}l?c=%CD%A8%D6%AA%B9%AB%B8%E6"
    for typed in (
        f"{home}l?c=通知公告",
        as_requested,
        as_requested.lower(),
        parse(f"{home}l?c=通知公告"),
    ):
        told = nacre("explain", job, typed)
        assert told.code == 0, told.err
        assert told.out.splitlines()[0] == as_requested
        assert f"reads       {home}l?c=通知公告" in told.out
        assert "status 200" in told.out
        assert as_requested in nacre("history", job, "url", typed).out
    unknown = nacre("explain", job, f"{home}l?c=没有")
    assert unknown.out.splitlines()[0] == parse(f"{home}l?c=没有")


def test_reports_of_a_page_take_it_as_people_type_it_and_show_it_so(tmp_path: Path):
    job = tmp_path / "job"
    with served("gbk") as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "--quiet").code == 0
        assert nacre("recrawl", job, "--quiet").code == 0
    told = nacre("report", job, "timeline", f"{home}l?c=通知公告")
    assert told.code == 0, told.err
    assert f"{home}l?c=通知公告" in told.out
    assert "%CD%A8" in told.out
    templates = nacre("report", job, "templates").out
    assert "/file/图书馆.doc" in templates or "%" not in templates


@pytest.mark.parametrize("codec", ["utf-8", "gbk", "big5"])
def test_percent_escapes_are_letters_of_a_template(codec: str):
    name = "".join(f"%{byte:02X}" for byte in "附件".encode(codec))
    one = shaped(f"http://a.test/{name}1096.doc?{name}={name}7")
    assert one.name == "http://a.test/附件{int}.doc/?附件=附件{int}"
    assert [token.text for token in one.tokens] == ["1096", "7"]


REAL = {
    "zh": ("libreoffice-help-zh-cn", "text/swriter/**/*.html", ("gbk",)),
    "ja": ("apache2-doc", "manual/ja/**/*.html", ("cp932", "euc_jp", "iso2022_jp")),
    "ko": ("apache2-doc", "manual/ko/**/*.html", ("cp949",)),
    "tr": ("apache2-doc", "manual/tr/**/*.html", ("cp1254",)),
    "fr": ("apache2-doc", "manual/fr/**/*.html", ("cp1252",)),
}
DECLARED = re.compile(r"<\?xml[^>]*>|<meta[^>]*charset[^>]*>", re.IGNORECASE)


def real_pages(package: str, pattern: str) -> Iterator[str]:
    """Pages of a Debian package without what they declare."""
    files = sorted(debs.ensure(package).glob(f"**/{pattern}"))[::5][:25]
    assert len(files) > 10
    for file in files:
        data = file.read_bytes()
        yield DECLARED.sub("", decode(data, detect(data, None)[0]))


@pytest.mark.parametrize("language", REAL)
def test_real_pages_are_read_as_they_were_written(language: str):
    package, pattern, codecs = REAL[language]
    for text in real_pages(package, pattern):
        for codec in codecs:
            body = text.encode(codec, "xmlcharrefreplace")
            if body.isascii() and codec != "iso2022_jp":
                continue
            found, _ = detect(body, None, "http://www.example.com/")
            assert decode(body, found) == decode(body, codec)


def links_of(document: Document) -> list[Outlink]:
    found = extract(document, ExtractSettings(infer_favicon=False)).outlinks
    return [link for link in found if link.charset]


def test_what_the_element_of_a_link_says_travels_with_it():
    page = (
        b"<a charset=gbk href=a rel=x>a</a><a charset=big5 href=b>b</a><area charset=koi8-r href=c>"
        b"<script charset=sjis src=d.js></script><link rel=stylesheet charset=euc-kr href=e.css>"
    )
    html = links_of(Document("http://a.test/", mime="text/html", body=page))
    sheet = b"<?xml-stylesheet href='s.css' charset='gb2312'?><r/>"
    xml = links_of(Document("http://a.test/", mime="text/xml", body=sheet))
    found = {link.url.rpartition("/")[2]: link.charset for link in (*html, *xml)}
    html_says = {"a": "gbk", "b": "big5", "c": "koi8-r", "d.js": "sjis", "e.css": "euc-kr"}
    assert found == html_says | {"s.css": "gb2312"}


@pytest.mark.parametrize("kind", ["text/css", "text/javascript", "text/xml", "text/plain"])
def test_text_of_any_kind_is_looked_at(kind: str):
    body = f"<r>/* {CHINESE} */ url(/图.png) '/图.png'</r>".encode("gbk")
    document = Document("http://a.test/x", mime=kind, body=body, hints=Hints(via="big5hkscs"))
    result = extract(document, ExtractSettings(infer_favicon=False))
    assert result.charset == "gbk"
    assert result.annotations == ["usingCharsetDetected:GBK"]


def test_large_documents_are_read_so_too(tmp_path: Path):
    words = CHINESE.split()
    body = b"<!--" + b"x" * 1_100_000 + b"-->" + "".join(
        f"<a href='/l?c={word}'>{word}</a>" for word in words
    ).encode("gbk")  # fmt: skip
    pages = {b"/": (HTML, body)}
    pages |= {f"/l?c={word}".encode("gbk"): (HTML, b"x") for word in words}
    with serving(pages) as home:
        done = nacre(
            "crawl", home, "--delay", 0, "--out", tmp_path / "job", "--quiet", "--browser", "never"
        )
    assert done.code == 0, done.err
    log = Crawled(tmp_path / "job", "").log
    assert sum(line.status == 200 for line in log) == 1 + len(words)


def test_new_pages_of_a_recrawl_are_read_as_the_page_that_tells_of_them(tmp_path: Path):
    pages = pages_of("gbk")
    job = tmp_path / "job"
    with serving(pages) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "--quiet").code == 0
        words = ("牡丹江", "联合", "移动网")
        kind, body = pages[b"/n"]
        for word in words:
            link = f"<li><a href='/l?c={word}'>{word}</a>".encode("gbk")
            pages[b"/l?" + f"c={word}".encode("gbk")] = HTML, link.replace(b"/l?c=", b"/i?t=")
            pages[b"/i?" + f"t={word}".encode("gbk")] = HTML, b"x"
            body += link
        pages[b"/n"] = kind, body
        done = nacre("recrawl", job, "--full", "--quiet")
        assert done.code == 0, done.err
    log = (job / "runs").glob("*/logs/crawl.log")
    lines = [line.split() for file in sorted(log) for line in file.read_text().splitlines()]
    got = {unquote_to_bytes(line[3][len(home) - 1 :]) for line in lines if line[1] == "200"}
    assert {f"/i?t={word}".encode("gbk") for word in words} <= got
    charsets = {part for line in lines for part in line[11].split(",") if "Charset" in part}
    assert {charset.partition(":")[2] for charset in charsets} == {"GBK"}
