import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.document import Document
from nacre.extract.html.elements import HANDLERS
from nacre.extract.html.page import TokenPage
from nacre.extract.html.walk import _KNOWN_TEXTS, _MANY, MAX_DEPTH, Walk, candidates
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings


def walk(markup: str, budget: int = 1000) -> Walk:
    settings = ExtractSettings(anchor_text=True)
    links = LinkCollector(Document(url="http://a.test/"), settings)
    made = Walk(TokenPage(markup), links, HANDLERS, text_budget=budget)
    made.run()
    return made


def test_links_that_differ_in_their_fragment_are_looked_at_once():
    made = walk("<a href=x#1>one</a><a href=x#2>two</a><a href=x>three</a>")
    assert [link.text for link in made.links.outlinks] == ["one"]


def test_scripts_that_differ_behind_a_hash_are_not_the_same():
    first, second = (
        "<a href=\"javascript:f('#','/a.html')\"></a>",
        "<a href=\"javascript:f('#','/b.html')\">",
    )
    made = walk(first + second)
    assert [link.url[-7:] for link in made.links.outlinks] == ["/a.html", "/b.html"]


def test_text_ends_with_its_budget():
    made = walk("<a href=x>12345</a><a href=y>6789</a><a href=z>0</a>", budget=8)
    assert [link.text for link in made.links.outlinks] == ["12345", "6789", ""]


def test_texts_are_remembered_and_not_very_many_nor_long_ones():
    long = "x " * 60
    page = f'<a href=/a> one\n two </a><a href=/b>{long}</a><a href=/c><img alt=" p  q "></a>'
    for _ in range(2):
        links = walk(page).links
        assert [link.text for link in links.outlinks] == ["one two", long.strip(), "p q"]
    assert long not in _KNOWN_TEXTS
    assert _KNOWN_TEXTS[" one\n two "] == "one two"
    walk("".join(f"<a href=/{n}>{n}</a>" for n in range(_MANY + 2)), 10**6)
    assert len(_KNOWN_TEXTS) <= _MANY


def test_scripts_are_read_up_to_their_budget():
    made = walk("<script>'/a.html'</script><script>'/b.html'</script>", budget=4)
    assert [link.url for link in made.links.outlinks] == ["http://a.test/a.html"]


def test_documents_within_are_kept_for_later_to_a_depth():
    made = walk("<noscript><p></noscript><noscript>no markup</noscript>")
    assert made.inner == [("<p>", 1)]
    made.depth = MAX_DEPTH
    made.nested("<p>")
    assert len(made.inner) == 1


def test_some_elements_only():
    links = LinkCollector(Document(url="http://a.test/"), ExtractSettings())
    made = Walk(TokenPage("<a href=x><img src=y>"), links, HANDLERS, text_budget=0)
    made.run({"img"})
    assert [link.context for link in links.outlinks] == ["img/@src"]


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("", []),
        ("  , ,", []),
        ("a.png", ["a.png"]),
        ("a.png 1x,b.png 2x", ["a.png", "b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        ("a,b,c,,, d 1x", ["a,b,c", "d"]),
        ("a 1x, data:image/gif;base64,R0==, b", ["a", "data:image/gif;base64,R0==", "b"]),
        ("a 1x(x,y), b", ["a", "b"]),
        ("a (never closed, b", ["a"]),
        ("\n a\t100w\n,\n b\f2x", ["a", "b"]),
    ],
)
def test_candidates(value: str, urls: list[str]):
    assert candidates(value) == urls


@given(st.text(alphabet="a,() \n1x", max_size=60))
def test_urls_are_never_empty_and_hold_no_space(value: str):
    assert all(url and not any(map(str.isspace, url)) for url in candidates(value))


def test_length_is_no_limit():
    assert len(candidates(", ".join(f"/i/{n}.png {n}w" for n in range(20_000)))) == 20_000
