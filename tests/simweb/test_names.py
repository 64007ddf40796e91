"""URLs of a world, both ways."""

from typing import get_args

import pytest

from nacre_simweb.calendar import DAY
from nacre_simweb.draw import Draw
from nacre_simweb.names import SECTION_NAMES, Names, Target
from nacre_simweb.parameters import UrlStyle
from nacre_simweb.site import Article

STYLES = get_args(UrlStyle)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("moved", [0, 1])
def test_the_path_of_an_article_is_read_back(style, moved):
    names = Names(style, 30, Draw(5))
    paths = set()
    for serial in range(300):
        article = Article(0, serial % 30, serial // 30, serial, serial * DAY)
        path = names.article(article, moved)
        assert names.read(path) == Target("article", serial, moved)
        assert names.article(article, moved) == path
        paths.add(path)
    assert len(paths) == 300


@pytest.mark.parametrize("style", STYLES)
def test_other_paths_are_read_back(style):
    names = Names(style, 25, Draw(5))
    article = Article(0, 3, 4, 77, 0.0)
    assert names.read("/") == names.read("/index.html") == Target("home")
    assert names.read(names.image(article, 2)) == Target("image", 77, 2)
    assert names.read(names.file(article)) == Target("file", 77)
    for number in range(6):
        assert names.read(names.shared(number)) == Target("shared", number)
    for section in range(25):
        for part in (0, 1, 12):
            assert names.read(names.list_page(section, part)) == Target("list", section, part)


@pytest.mark.parametrize(
    "path", ["/none", "/xwzx", "/zzzz/", "/upload/x.jpg", "/static/e1.exe", "/events99/", "//"]
)
def test_other_paths_name_nothing(path):
    assert Names("dated", 25, Draw(5)).read(path) == Target("")


def test_sections_beyond_the_names_have_a_number():
    names = Names("dated", 45, Draw(5))
    assert names.section(0) == SECTION_NAMES[0]
    assert names.section(len(SECTION_NAMES)) == f"{SECTION_NAMES[0]}1"
    assert len({names.section(number) for number in range(45)}) == 45


@pytest.mark.parametrize("style", ["hashed", "slug"])
def test_hidden_names_have_no_order_and_differ_from_seed_to_seed(style):
    articles = [Article(0, 0, n, n, 0.0) for n in range(50)]
    one, other = ([Names(style, 5, Draw(seed)).article(a) for a in articles] for seed in (1, 2))
    assert one != sorted(one)
    assert not set(one) & set(other)
