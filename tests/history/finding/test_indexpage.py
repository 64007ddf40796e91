"""Index or content: by URL and looks, corrected by behaviour."""

import pytest

from nacre.core.pageview import Shape
from nacre.extract.pageview import page_view
from nacre.history.finding.indexpage import Behaviour, LinkFacts, index_probability
from nacre.history.finding.urlshape import shaped

LIST = "<ul>" + "".join(
    f"<li><a href=/2024/t2024010{n}_{n}.html>关于做好第{n}项工作的通知</a><span>2024-01-0{n}</span>"
    for n in range(1, 10)
)
ARTICLE = (
    "<div class=nav><a href=/>首页</a><a href=/xw/>新闻</a></div><h1>通知</h1>"
    + "<p>"
    + "各单位要高度重视,认真组织实施,确保各项工作落到实处。" * 30
    + "</p>"
)
INDEXES = [
    ("http://a.cn/", LIST),
    ("http://a.cn/xw/", LIST),
    ("http://a.cn/xw/index_2.html", LIST),
    ("http://a.cn/list?page=3", LIST),
    ("http://a.cn/column_77.htm", LIST),
]
CONTENTS = [
    ("http://a.cn/2024/t20240101_1.html", ARTICLE),
    ("http://a.cn/view?id=77", ARTICLE),
    ("http://a.cn/art/4711.html", ARTICLE),
    ("http://a.cn/how-to-build-a-boat", ARTICLE),
]


def _probability(url: str, html: str, behaviour: Behaviour | None = None) -> float:
    facts = LinkFacts(content=9, same_template=1.0) if html is LIST else LinkFacts()
    return index_probability(shaped(url), page_view(html).shape, facts, behaviour or Behaviour())


@pytest.mark.parametrize(("url", "html"), INDEXES)
def test_index_pages(url: str, html: str) -> None:
    assert _probability(url, html) > 0.9


@pytest.mark.parametrize(("url", "html"), CONTENTS)
def test_content_pages(url: str, html: str) -> None:
    assert _probability(url, html) < 0.1


def test_shapes_tell_lists_from_texts() -> None:
    one, other = page_view(LIST).shape, page_view(ARTICLE).shape
    assert one.group == 9
    assert one.dated >= 9
    assert one.anchors / one.text > 0.6
    assert other.longest > 600
    assert other.links == 2
    assert page_view("").shape == Shape()


def test_behaviour_outweighs_looks() -> None:
    url = "http://a.cn/2024/special.html"
    fertile, steady = Behaviour(), Behaviour()
    for _ in range(3):
        fertile.observe(4, text_kept=False, links_kept=False)
        steady.observe(0, text_kept=True, links_kept=True)
    plain = _probability(url, ARTICLE)
    assert _probability(url, ARTICLE, fertile) > plain
    assert _probability(url, LIST, steady) < _probability(url, LIST)


def test_the_seed_is_likely_an_index() -> None:
    at_seed = index_probability(shaped("http://a.cn/x"), Shape(), LinkFacts(), Behaviour(), 0)
    deeper = index_probability(shaped("http://a.cn/x"), Shape(), LinkFacts(), Behaviour(), 3)
    assert at_seed > deeper
