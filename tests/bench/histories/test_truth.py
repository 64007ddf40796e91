import pytest

from bench.histories.truth import difference, linked_paths, shown, sight_of

PAGE = '<html><head><script>1</script></head><body class="{c}"><p>Terms of {n} May</p>{more}'


def page(c: str = "a", n: str = "3", more: str = "") -> bytes:
    return PAGE.format(c=c, n=n, more=more).encode()


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (page(c="b"), "markup"),
        (page(more="<!-- built 7 --><style>p {}</style><script>x = 2</script>"), "markup"),
        (page(n="4"), "numbers"),
        (page(more='<a href="/new">  </a>'), "text"),
        (page(more="<p>条款</p>"), "text"),
        (page(more="<p>&eacute;</p>"), "text"),
        (page(more="<script type='x-template'>shown</script>"), "text"),
    ],
)
def test_classes_of_a_difference(other: bytes, kind: str):
    assert difference(sight_of(page()), sight_of(other)) == kind


def test_text_and_links_that_a_reader_sees():
    body = b"<p>a &amp;\n b</p><a class=x href='/t?x=1'>c</a><!-- <a href='/no'>n</a> -->\xff"
    assert shown(body) == ("a & b c \ufffd", [b"/t?x=1"])


def test_links_of_a_site_without_queries():
    body = (
        b'<a href="b.html#x">1</a><img src="/i.png?v=1"><a href="//other.test/">2</a>'
        b'<!-- <a href="/no">3</a> --><a href="../c&amp;d">4</a>'
    )
    root = "http://127.0.0.1:8"
    assert linked_paths(body, f"{root}/x/a.html", root) == ["/c&d", "/i.png", "/x/b.html"]
