"""Pages taken apart: what counts as the same, what as a piece, and that nothing breaks it.

What a page says of its own last change.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import Piece
from nacre.extract.pageview import (
    has_text,
    is_file,
    page_title,
    page_view,
    stable_address,
    visible_text,
)

PAGE = (
    '<html><head><title>公告</title><meta name="PubDate" content="2024-01-02"></head><body>'
    '<div class="nav"><ul><li><a href="/a">一</a><li><a href="/b">二</a></ul></div>'
    '<div id="c12"><h1>关于延长期限的公告</h1><p>各单位:<br>期限为2024年12月底。</p>'
    '<table><tr><td>一月<td>12</table><a href="/f/表.pdf?t=99">附件</a><img src="/i.png"></div>'
)


def _texts(html: str, kind: str) -> list[str]:
    return [piece.text for piece in page_view(html).pieces if piece.kind == kind]


def test_a_page_falls_into_its_pieces() -> None:
    assert _texts(PAGE, "title") == ["公告"]
    assert _texts(PAGE, "heading") == ["关于延长期限的公告"]
    assert _texts(PAGE, "nav") == ["一", "二", "附件"]
    assert _texts(PAGE, "text") == ["各单位:", "期限为2024年12月底。", "一月", "12"]
    assert _texts(PAGE, "nav-link") == ["/a", "/b"]
    assert _texts(PAGE, "file") == ["/f/表.pdf"]
    assert _texts(PAGE, "image") == ["/i.png"]
    assert _texts(PAGE, "date") == ["2024-01-02"]


def test_pieces_of_one_list_share_their_place() -> None:
    view = page_view("<ul><li>one<li>two</ul><p>three</p>")
    one, two, three = view.pieces
    assert one.place == two.place != three.place


def test_numbers_in_names_do_not_tell_places_apart() -> None:
    first = page_view('<div id="post-17"><p>x</p></div>').pieces
    second = page_view('<div id="post-42"><p>x</p></div>').pieces
    assert first == second


SAME_MARKUP = [
    ('<p class="a" id="b">x</p>', '<p id="b" class="a">x</p>'),
    ("<p>x y</p>", "<p>\n  x\ty </p>"),
    ("<p>x</p>", "<p>x</p><!-- built 12:00 -->"),
    ("<p>x</p><script>var t=1</script>", "<p>x</p><script>var t=2</script>"),
    ('<input name="csrf_token" value="a">', '<input name="csrf_token" value="b">'),
    ('<input type="hidden" name="v" value="a">', '<input type="hidden" name="v" value="b">'),
    ('<img src="/a.png?v=17">', '<img src="/a.png?v=18">'),
    ('<a href="/x;jsessionid=1A">l</a>', '<a href="/x;jsessionid=2B">l</a>'),
    ("<p>１２ ＡＢ</p>", "<p>12 AB</p>"),  # noqa: RUF001 - full width on purpose
    ('<p style="color:red" onclick="a()">x</p>', "<p>x</p>"),
]


@pytest.mark.parametrize(("one", "two"), SAME_MARKUP)
def test_what_never_matters(one: str, two: str) -> None:
    first, second = page_view(one).pieces, page_view(two).pieces
    assert [each.text for each in first] == [each.text for each in second]


OTHER_MARKUP = [
    ("<p>期限为2024年12月底</p>", "<p>期限为2025年12月底</p>"),
    ('<a href="/x?id=1">l</a>', '<a href="/x?id=2">l</a>'),
    ("<td>1</td>", "<td>2</td>"),
    ('<img src="/a.png">', '<img src="/b.png">'),
]


@pytest.mark.parametrize(("one", "two"), OTHER_MARKUP)
def test_what_does_matter(one: str, two: str) -> None:
    assert page_view(one).pieces != page_view(two).pieces


ADDRESSES = [
    ("/a?b=1#c", "/a?b=1"),
    ("/a?_=123&b=1", "/a?b=1"),
    ("/a?b=1&t=1700000000", "/a?b=1"),
    ("/a?t=draft", "/a?t=draft"),
    ("/a.css?ver=5.1.2", "/a.css"),
    ("/a?PHPSESSID=xy&b=1", "/a?b=1"),
    ("/a;jsessionid=77?b=1", "/a?b=1"),
    ("/a?time=", "/a"),
    ("", ""),
]


@pytest.mark.parametrize(("address", "expected"), ADDRESSES)
def test_addresses_without_what_changes(address: str, expected: str) -> None:
    assert stable_address(address) == expected


def test_files_are_known_by_their_name() -> None:
    assert is_file("/a/b.PDF?x=1")
    assert is_file("c.docx")
    assert not is_file("/pdf/")
    assert not is_file("/a.html")


PAPER_SAME = [
    ("<p>a</p><h1>x</h1>", "<p>a</p><h1>y</h1>"),  # headings do not count
    ("<p><span>a</span></p>", "<p>a</p>"),  # a text in both counts once
    ("<div>a<br>b</div>", "<div>a<br/>b</div>"),
    ("<li>a</li>", "<li>b</li>"),
]
PAPER_OTHER = [
    ("<p>a</p>", "<p>b</p>"),
    ("<div>a<br>b</div>", "<div>a<br>c</div>"),
    ("<div>a<br>b</div>", "<div>d<br>b</div>"),
    ("<td><span>1</span></td>", "<td><span>2</span></td>"),
    ("<p>a</p><p>b</p>", "<p>b</p><p>a</p>"),
]


@pytest.mark.parametrize(("one", "two"), PAPER_SAME)
def test_the_paper_does_not_see(one: str, two: str) -> None:
    assert page_view(one).paper == page_view(two).paper


@pytest.mark.parametrize(("one", "two"), PAPER_OTHER)
def test_the_paper_sees(one: str, two: str) -> None:
    assert page_view(one).paper != page_view(two).paper


def test_nothing_of_a_long_block_is_left_out() -> None:
    long = "word " * 5_000
    one, two = page_view(f"<pre>{long}end</pre>"), page_view(f"<pre>{long}END</pre>")
    assert one.pieces != two.pieces
    assert "".join(piece.text for piece in one.pieces) == f"{long}end"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "/a?t=" + "1" * 1_000_000 + "x",
        "/a?" + "sid" * 300_000,
        "/a?" + "t=1&" * 200_000,
        "/a?" + "v=." * 300_000,
    ],
)
def test_a_hostile_address_is_read_once(text: str) -> None:
    assert stable_address(text).startswith("/a")


def test_xhtml_goes_on_behind_elements_that_are_empty() -> None:
    view = page_view('<?xml version="1.0"?><html><title/><script src="a"/><p>x</p><p>y</p></html>')
    assert [piece.text for piece in view.pieces] == ["x", "y"]


def test_a_page_without_end_is_cut() -> None:
    view = page_view("<p>x</p>" * 50, max_pieces=20)
    assert view.truncated
    assert len(view.pieces) == 20


def test_deep_nesting_is_bounded() -> None:
    view = page_view("<div>" * 100_000 + "x")
    assert view.pieces == (Piece("text", view.pieces[0].place, "x"),)


@given(st.text(alphabet="<>/ap bri=\"'!-&;é中divulx ", max_size=200))
def test_any_text_is_taken_apart(text: str) -> None:
    view = page_view(text)
    assert not view.truncated
    assert page_view(text) == view


@given(st.text(alphabet=st.sampled_from("ab 图\n<>/!-ptscriyle"), max_size=300), st.integers(1, 60))
def test_the_size_of_a_text_is_seen_without_the_rest(text: str, size: int) -> None:
    assert has_text(text, size) == (page_view(text).shape.text >= size)
    xhtml = f'<?xml version="1.0"?><html><script/><p>{text}'
    assert has_text(xhtml, size) == (page_view(xhtml).shape.text >= size)


def test_scripts_are_no_text() -> None:
    page = "<title>图书馆</title><script>" + "x" * 99 + "</script><p>not found"
    assert has_text(page, 17)
    assert not has_text(page, 18)


SEEN = [
    ("<img src=/a.png alt='{}'>", "text"),
    ("<input type=submit value='{}'>", "text"),
    ("<input type=image alt='{}' src=/b.png>", "text"),
    ("<input name=q placeholder='{}'>", "text"),
    ("<textarea placeholder='{}'></textarea>", "text"),
    ("<select><optgroup label='{}'><option>x</select>", "text"),
    ("<iframe srcdoc='&lt;p>{}&lt;script>x&lt;/script>'></iframe>", "text"),
    ("<frameset><frame src='/{}.html'></frameset>", "image"),
    ("<object data='/{}.swf'></object>", "image"),
    ("<a href=/a><img src=/a.png alt='{}'></a>", "nav"),
    ("<meta http-equiv=Refresh content='0; url=/{}'>", "link"),
]


@pytest.mark.parametrize("word", ["price", "价格"])
@pytest.mark.parametrize(("markup", "kind"), SEEN)
def test_what_a_reader_sees_of_attributes(markup: str, kind: str, word: str) -> None:
    pieces = page_view(markup.format(word)).pieces
    assert any(piece.kind == kind and word in piece.text for piece in pieces)
    assert not any("script" in piece.text for piece in pieces)


def test_attributes_that_nobody_reads() -> None:
    view = page_view(
        "<input type=hidden value=a placeholder=b><input type=checkbox value=c><p class=d>"
    )
    assert not view.pieces
    assert page_view("<img alt=a><p>b</p>").text == "b", "signatures are of the text between tags"


UNSEEN = [
    "<iframe src=/t?{} style='display: none; visibility: hidden' height=0 width=0></iframe>",
    "<iframe src=/t?{} style='border:0;visibility:hidden'></iframe>",
    "<iframe src=/t?{} hidden></iframe>",
    "<iframe src=/t?{} aria-hidden=true></iframe>",
    "<img src=/t?{} width=1 height=1>",
    "<img src=/t.gif?{} width=1px height=0px>",
    "<img src=/t?{} style='height:1px; width: 1px !important'>",
    "<img src=/t?{} style='DISPLAY:NONE'>",
    "<object data=/t?{} hidden></object>",
]


@pytest.mark.parametrize("markup", UNSEEN)
def test_frames_and_pictures_that_a_browser_does_not_draw(markup: str) -> None:
    assert not page_view(markup.format("价格=1")).pieces


DRAWN = [
    "<iframe src=/t?{} width=100% height=400></iframe>",
    "<iframe src=/t?{} style='width:1px' height=40></iframe>",
    "<iframe src=/t?{} title='hidden treasures' class=hidden></iframe>",
    "<img src=/t?{} width=1 height=100>",
    "<img src=/t?{} width=10 height=10>",
    "<img src=/t?{} style='max-width:1px;max-height:1px'>",
    "<img src=/t?{} style='border-width:1px' height=1>",
    "<img src=/{}.png style='display:none'>",
    "<img src=/t?{} aria-hidden=true>",
    "<video src=/t?{} hidden></video>",
]


@pytest.mark.parametrize("markup", DRAWN)
def test_frames_and_pictures_that_a_reader_may_see(markup: str) -> None:
    assert page_view(markup.format("a")).pieces != page_view(markup.format("b")).pieces


def _hidden(mail: str, key: int) -> str:
    return bytes([key, *(letter ^ key for letter in mail.encode())]).hex()


def test_hidden_mailboxes_are_compared_by_what_a_reader_sees() -> None:
    link = (
        "<p><a href='/cdn-cgi/l/email-protection#{0}'><span data-cfemail={0}>[protected]</span></a>"
    )
    views = [page_view(link.format(_hidden("info@例.example", key))) for key in (0x40, 0x2E)]
    assert views[0].pieces == views[1].pieces
    assert {"info@例.example", "mailto:info@例.example"} <= {
        piece.text for piece in views[0].pieces
    }
    assert page_view(link.format(_hidden("new@example.com", 0x40))).pieces != views[0].pieces


@pytest.mark.parametrize("hidden", ["", "zz", "4", "40", "é"])
def test_no_hidden_mailbox_is_left_as_it_is(hidden: str) -> None:
    pieces = page_view(f"<a href='/cdn-cgi/l/email-protection#{hidden}'>x</a>").pieces
    assert [piece.kind for piece in pieces] == ["nav", "nav-link"]


LINES = [
    ("<p>a<br>b</p>", [False, True]),
    ("<p>a</p><p>b</p>", [False, False]),
    ("<p>a<br></p><p>b</p>", [False, False]),
    ("<p>a<br><b>b</b></p>c", [False, True, False]),
    ("a<hr>b<br>甲", [False, False, True]),
]


@pytest.mark.parametrize(("markup", "lines"), LINES)
def test_lines_of_a_block(markup: str, lines: list[bool]) -> None:
    assert [piece.is_line for piece in page_view(markup).pieces] == lines


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>A &amp;\n  B</title>", "A & B"),
        ("<html><head><title>\u56fd\u5bb6</title><title>x</title>", "\u56fd\u5bb6"),
        ("<head><script>'<title>no</title>'</script><title>yes</title>", "yes"),
        ("<body><svg><title>icon</title></svg>", ""),
        ("<title>never ends", "never ends"),
        ("no markup", ""),
    ],
)
def test_the_title_of_a_page(page, title):
    assert page_title(page) == title


def test_the_visible_text_of_a_page():
    page = "<title>T</title><body>a <b>b</b><script>no()</script>\u4e2d\u6587<p>end"
    assert visible_text(page, 100) == "a b \u4e2d\u6587 end"
    assert visible_text("<p>word" * 100, 10) == "word word "


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [("", "a c"), (' id="shadowrootmode"', "a c"), (' shadowrootmode="open"', "a b c")],
)
def test_a_declared_shadow_root_is_text(attributes: str, expected: str) -> None:
    page = f"<p>a</p><x-y><template{attributes}><style>s</style><p>b</p></template></x-y><p>c</p>"
    assert visible_text(page, 100) == expected
    assert page_view(page).text == expected
