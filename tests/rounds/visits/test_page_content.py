"""Content of pages: signatures, pages that say that they are gone, simhashes."""

import hashlib
from gzip import compress

import pytest

from nacre.core.capture import BytesBody, Capture
from nacre.core.processor import Visit
from nacre.planner.change_detection.change import ChangeSettings
from nacre.rounds.visits.page_content import OpenedPage, PageContent, page_reader, page_signer
from nacre.settings.settings import JobSettings
from tests.rounds.visits.test_page_links import visited


def fetched(
    body: bytes, mime: str = "text/html", charset: str = "gb18030", coding: bytes = b""
) -> Visit:
    visit = visited()
    headers = [(b"Content-Encoding", coding)] if coding else []
    capture = Capture(
        "http://a.test/", b"", b"", BytesBody(body), 200, headers=headers, payload_length=len(body)
    )
    visit.received(capture, mime)
    visit.parsed(charset, frozenset(), [])
    return visit


def signed(name: str, body: bytes, mime: str = "text/html", charset: str = "gb18030") -> bytes:
    settings = ChangeSettings.model_validate({"signature": name})
    sign = page_signer(settings)
    assert sign is not None
    return sign(OpenedPage(fetched(body, mime, charset)))


def test_signatures_are_those_of_nutch():
    page = "<title>图书</title><p>国家图书馆 国家图书馆 国家图书馆 archive archive".encode(
        "gb18030"
    )
    other = page.replace(b"<p>", b"<p class=x>")
    assert signed("md5", page) == hashlib.md5(page, usedforsecurity=False).digest()
    assert signed("md5", page) != signed("md5", other)
    for kind in ("text-profile", "text-profile-cjk"):
        assert signed(kind, page) == signed(kind, other)
        # Without text the bytes sign.
        assert signed(kind, page, "image/png") == signed("md5", page)
    changed = page.replace("图书馆".encode("gb18030"), "博物馆".encode("gb18030"))
    assert signed("text-profile-cjk", changed) != signed("text-profile-cjk", page)


def test_what_compares_two_versions_has_no_signature():
    assert page_signer(ChangeSettings()) is None


def read(text: str, encoding: str, **cycle: object) -> PageContent:
    settings = JobSettings.model_validate({"name": "x", "seeds": [], "cycle": cycle})
    reader = page_reader(settings)
    assert reader is not None
    return reader(fetched(text.encode(encoding), charset=encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("<title>404</title><p>您访问的页面不存在</p>", True),
        ("<p>Sorry, this page could NOT FOUND</p>", True),
        ("<p>国家图书馆</p>", False),
        ("<p>您访问的页面不存在</p>" + "<p>国家图书馆的文章</p>" * 300, False),
        ("<!-- not found --><p>国家图书馆</p>", False),
    ],
)
def test_short_pages_that_say_so_are_gone(text: str, encoding: str, gone: bool):
    assert read(text, encoding) == PageContent(soft_404=gone)


def test_nothing_is_read_where_nothing_is_asked():
    said = {"name": "x", "seeds": [], "cycle": {"update": {"soft_404": "success"}}}
    assert page_reader(JobSettings.model_validate(said)) is None
    assert not OpenedPage(fetched(b"not found", "image/png")).says_gone()
    assert not OpenedPage(visited()).says_gone()
    packed = fetched(compress("<p>页面未找到</p>".encode()), charset="utf-8", coding=b"gzip")
    assert OpenedPage(packed).says_gone()


CHINESE = "<p>国家图书馆是国家总书库、国家书目中心、国家古籍保护中心、也是国家典籍博物馆。</p>"


def test_the_same_text_in_two_encodings_has_one_simhash():
    near = {"dedup": {"near": True}}
    made = {name: read(CHINESE, name, **near).simhash for name in ("gbk", "utf-8", "utf-16")}
    assert len(set(made.values())) == 1
    assert made["gbk"] is not None
    assert read(CHINESE, "gbk").simhash is None
    assert read("<p>书</p>", "gbk", **near).simhash is None
