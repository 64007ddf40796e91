import time

import pytest

from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.html.page import TokenPage, TreePage, is_tame, read_page, with_end_tags
from nacre.extract.settings import ExtractSettings


def attack(size: int, opening: str = "<b id={}>") -> bytes:
    """A page whose every paragraph repeats a thousand elements in a tree."""
    left_open = "".join(opening.format(n) for n in range(1000))
    return f"<p>{left_open}</p>{'<p>x' * size}".encode()


def test_common_pages_become_trees():
    page = b"<p><code class=x>a</code> <a href=y>b</a>" * 5_000
    assert is_tame(page, "utf-8")
    assert isinstance(read_page(page, "utf-8"), TreePage)


@pytest.mark.parametrize("opening", ["<b id={}>", "<FONT\ncolor={}>", "<i/x={}>"])
def test_pages_that_would_explode_as_trees_do_not(opening: str):
    assert not is_tame(attack(9000, opening), "utf-8")
    assert isinstance(read_page(attack(9000, opening), "utf-8"), TokenPage)


def test_closing_tags_in_advance_do_not_help_an_attack():
    assert not is_tame(b"</b>" * 1000 + attack(9000), "utf-8")


@pytest.mark.parametrize(
    "closed",
    ["<table><tr><td></b></table>", "<!--</b>-->", "<select></b></select>", "<i t='</b>'>"],
)
def test_end_tags_that_close_nothing_do_not_help_an_attack(closed: str):
    left_open = "".join(f"<p><b a{n}>{closed}</p>" for n in range(1000))
    assert not is_tame(f"{left_open}{'<p>x' * 9000}".encode(), "utf-8")


def test_a_large_page_is_tame_when_few_kinds_of_elements_can_be_open():
    page = b"<p><code class=x>a</code><em>b</em>" * 30_000
    assert is_tame(page, "utf-8")
    assert not is_tame(page + b"<b><i><u><s><tt><big><small>" * 5, "utf-8")


def test_small_pages_cannot_explode():
    assert is_tame(attack(2900), "utf-8")


@pytest.mark.parametrize(
    ("opening", "is_harmless"),
    [
        ("<b id='x'>", False),  # no more than three are kept, but that is not plain to see
        ('<b id="x">', True),
        ('<B ID="x"\tclass="y z" >', True),
        ("<b id=x>", True),
        ('<b id=">{}">', False),  # the tag goes on behind the first `>`
        ('<b x=\'"\' y=">{}">', False),
        ('<b id="{}">', False),
    ],
)
def test_only_tags_that_are_plainly_equal_count_once(opening: str, is_harmless: bool):
    assert is_tame(attack(9000, opening), "utf-8") is is_harmless


def test_wide_encodings_are_never_tame_when_large():
    assert not is_tame(("<p>" * 9000).encode("utf-16"), "utf-16-le")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "gb18030", "euc_jp", "no-such", "hex"])
def test_any_encoding_can_be_read(encoding: str):
    page = read_page(b"<a href=x>\xff\xfe", encoding)
    assert [node.attr("href") for node in page.nodes({"a"})] == ["x"]


@pytest.mark.parametrize("kind", ["tree", "tokens"])
def test_both_readings_answer_alike(kind: str):
    text = (
        '<ul><li><a href=x title="y">some <b>text</b><img alt=pic></a><span style=s href=z></span>'
    )
    page = read_page(text.encode(), "utf-8") if kind == "tree" else TokenPage(text)
    (node,) = page.nodes({"a"})
    assert (node.tag, node.attr("href"), node.attr("none")) == ("a", "x", None)
    assert (page.text(node), page.alt(node)) == ("some text", "pic")
    styles, odd = page.styled_and_odd()
    assert [found.tag for found in odd] == ["span"]
    assert [found.tag for found in page.having({"title"})] == ["a"]
    assert list(styles) == ["s"]
    assert [len(found.attrs or ()) for found in page.nodes({"a", "img", "span"})] == [2, 1, 2]
    pairs = {node.tag: list(pairs) for node, pairs in page.all()}
    assert pairs["a"] == [("href", "x"), ("title", "y")]


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b"<title/>", b"<title></title>"),
        (b'<script src="a/b.js" />x', b'<script src="a/b.js" ></script>x'),
        (b"<style a='/>'/>", b"<style a='/>'></style>"),
        (b"<iframe\nsrc='x'/><br/>", b"<iframe\nsrc='x'></iframe><br/>"),
        (b"<script>a/>b</script>", b"<script>a/>b</script>"),
        (b"<titles/>", b"<titles/>"),
        (b"<title", b"<title"),
    ],
)
def test_empty_elements_are_ended(body, read):
    assert with_end_tags(body) == read


@pytest.mark.parametrize(
    ("mime", "contexts"),
    [
        ("application/xhtml+xml", ["script/@src", "a/@href"]),
        ("text/xml", ["script/@src", "a/@href"]),
        ("text/html", ["script/@src"]),
    ],
)
def test_a_page_goes_on_behind_them_where_a_browser_reads_xml(mime, contexts):
    body = b"<html><script src='a.js'/><a href='b'>c</a></html>"
    document = Document("http://a.test/", mime=mime, body=body)
    found = extract(document, ExtractSettings(infer_favicon=False))
    assert [link.context for link in found.outlinks] == contexts


@pytest.mark.parametrize("piece", [b"<title ", b"<title '", b'<style "/', b"<xmp /", b"'/>\""])
def test_hostile_pages_take_linear_time(piece):
    start = time.process_time()
    with_end_tags(b"/>" + piece * 200_000)
    assert time.process_time() - start < 2


LABEL = (
    "<a href=1><div>Foo</div><p>Bar</p>x<br>y<b>善</b>\n本<ruby>漢<rp>(</rp><rt>k</rt></ruby>字</a>"
)


@pytest.mark.parametrize("kind", [TokenPage, lambda text: read_page(text.encode(), "utf-8")])
def test_blocks_of_a_label_stand_apart_and_readings_are_none_of_it(kind):
    page = kind(LABEL)
    label = page.label(next(page.nodes({"a"})))
    assert " ".join(label.split()) == "Foo Bar x y善 本漢字"
