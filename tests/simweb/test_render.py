"""Pages of a world as HTML."""

import re
from itertools import pairwise

import pytest

from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY
from nacre_simweb.reply import SimulatedReply
from nacre_simweb.validators import Request
from nacre_simweb.world import World
from tests.simweb.worlds import articles_where, url_of

START = "http://www.small.test/"


def shown(world: World, url: str, time: float = 0.0, nonce: int = 0) -> tuple[SimulatedReply, str]:
    """A reply and its page; the world writes no entities into addresses."""
    reply = world.respond(url, time, Request(nonce))
    return reply, reply.page.body.decode()


def targets(page: str) -> list[str]:
    return re.findall(r'<a href="([^"]*)"', page)


def quiet(**shape: object) -> World:
    parameters = archetype("small", "honest")
    still = parameters.noise.model_copy(update={"share": 0.0})
    changed = parameters.shape.model_copy(update=shape)
    return World(parameters.model_copy(update={"noise": still, "shape": changed}), 7)


def test_an_article_has_its_title_paragraphs_and_images() -> None:
    world = quiet(own_embeds=3, shared_embeds=2, paragraphs=4)
    article = articles_where(world, lambda life: life.moved > 5e6)
    reply, page = shown(world, url_of(world, article))
    (title,) = re.findall("<h1>(.+?)</h1>", page)
    assert f"<title>{title}</title>" in page
    _, _, main = page.partition('<div id="main">')
    assert main.count("<p>") >= 2
    names = world.resources.names
    images = re.findall('<img src="([^"]*)" alt="">', main)
    assert images == [names.image(article, number) for number in range(3)]
    embeds = [link.url for link in reply.page.links if link.hop == "E"]
    assert len(embeds) == 3 + 2


@pytest.mark.parametrize("path", ["", "xwzx/", "nowhere"])
def test_what_a_page_says_of_its_links_is_what_is_in_its_markup(path: str) -> None:
    reply, page = shown(quiet(), START + path)
    links = {link.url.removeprefix(START[:-1]) for link in reply.page.links if link.hop == "L"}
    assert set(targets(page)) == links
    assert links


def test_a_list_has_an_entry_for_each_article_and_links_its_pages() -> None:
    world = quiet(list_size=10, pages=40, sections=1)
    _, page = shown(world, START + "xwzx/")
    entries, _, pages = page.partition('<div class="pages">')
    assert 0 < entries.count("<span>") <= 10
    found = targets(pages)
    assert found[:2] == ["/xwzx/", "/xwzx/index_1.html"]
    assert len(found) > 2


def test_neighbours_and_attachments_are_linked() -> None:
    world = quiet(attachments=1.0)
    before, article = world.site.sections[0][0][:2]
    reply, _ = shown(world, url_of(world, article))
    links = {link.url for link in reply.page.links}
    assert START[:-1] + world.resources.names.file(article) in links
    assert url_of(world, before) in links
    assert world.resources.renderer.has_file(article)
    assert not quiet(attachments=0.0).resources.renderer.has_file(article)


@pytest.mark.parametrize(("language", "text"), [("zh", "首页"), ("en", "Home")])
def test_labels_are_in_the_language_of_the_world(language: str, text: str) -> None:
    _, page = shown(quiet(language=language), START)
    assert f'<html lang="{language}">' in page
    assert f'<a href="/">{text}</a>' in page


def test_the_error_page_is_the_same_for_all_of_a_host_until_its_template_changes() -> None:
    world = quiet()
    first, other = shown(world, START + "nowhere")[1], shown(world, START + "elsewhere", 1.0)[1]
    assert first == other
    later = {shown(world, START + "nowhere", day * DAY)[1] for day in range(60)}
    assert len(later) > 1


def test_noise_stands_outside_what_the_article_says() -> None:
    parameters = archetype("small", "honest")
    noise = parameters.noise.model_copy(update={"share": 1.0, "kinds": ("clock", "token")})
    world = World(parameters.model_copy(update={"noise": noise}), 7)
    article = articles_where(world, lambda life: life.moved > 5e6)
    one, two = (shown(world, url_of(world, article), nonce=nonce)[1] for nonce in range(2))
    assert one != two
    assert len(one) == len(two)
    main = re.compile('<div id="main">.*?</div>', re.DOTALL)
    assert main.findall(one) == main.findall(two) != []


def made(name: str, pages: int = 60, **parts: dict[str, object]) -> World:
    """A small world after real histories."""
    parameters = archetype(name)
    changed = {part: getattr(parameters, part).model_copy(update=facts)
               for part, facts in {"shape": {"pages": pages}, **parts}.items()}  # fmt: skip
    return World(parameters.model_copy(update=changed), 7)


def main_text(page: str) -> str:
    return page.partition('<div id="main">')[2].partition("</div>")[0]


def test_a_release_changes_the_version_in_all_titles_and_no_text() -> None:
    world = made(
        "manual",
        templates={"per_day": 1 / 20},
        deaths={"per_year": 0.0},
        moves={"redirected_per_year": 0.0, "silent_per_year": 0.0},
    )
    release = world.templates[0][0]
    for article in world.site.articles[0][:5]:
        url = url_of(world, article)
        _, before = shown(world, url, release - 1)
        _, after = shown(world, url, release + 1)
        assert ("(3.0)</title>" in before, "(3.1)</title>" in after) == (True, True)
        assert main_text(before) == main_text(after)


def test_twins_have_the_same_bytes_until_the_next_release() -> None:
    world = made("manual", shape={"pages": 60, "twins": 1.0}, templates={"per_day": 1 / 20})
    articles = world.site.articles[0][:9]
    links = {
        target
        for article in articles
        for target in targets(shown(world, url_of(world, article))[1])
        if "?" in target
    }
    assert links == {f"/frames/index.html?{article.serial}" for article in articles}
    origin = world.starts[0].removesuffix("/")
    assert len({shown(world, origin + link)[1] for link in links}) == 1
    release = world.templates[0][0]
    url = origin + min(links)
    assert shown(world, url, release - 1)[1] != shown(world, url, release + 1)[1]
    plain = made("manual", shape={"pages": 60, "twins": 0.0})
    assert shown(plain, url)[0].status == 404


def test_the_menu_of_every_page_has_the_newest_articles() -> None:
    world = made("manual", births={"per_day": 2.0}, deaths={"per_year": 0.0})
    first, last = world.site.articles[0][0], world.site.articles[0][-1]
    path = world.resources.names.article(last)
    for url in (world.starts[0], url_of(world, first)):
        early, late = (world.respond(url, last.born + shift, Request(0)) for shift in (-1, 1))
        head = [reply.page.body.decode().partition("</ul>")[0] for reply in (early, late)]
        assert [path in text for text in head] == [False, True]
        assert len(targets(head[1])) == 1 + 10 + 12


def test_noise_of_terms_lasts_for_days_and_is_the_same_for_pairs() -> None:
    world = made(
        "terms",
        noise={"share": 1.0, "kinds": ("token",)},
        edits={"untouched": 1.0},
        templates={"per_day": 0.0},
    )
    url, days = url_of(world, world.site.articles[0][0]), 60
    pages = [
        shown(world, url, (day + 0.5) * DAY, nonce)[1] for day in range(days) for nonce in (0, 1)
    ]
    assert pages[::2] == pages[1::2]
    changes = sum(one != other for one, other in pairwise(pages[::2]))
    assert 0.4 * days < changes < 0.8 * days
    assert len({len(page) for page in pages}) == 1


@pytest.mark.parametrize(("kind", "most"), [("rotating", 5), ("wording", 2)])
def test_blocks_and_experiments_have_few_texts(kind: str, most: int) -> None:
    world = made(
        "terms",
        noise={"share": 1.0, "kinds": (kind,), "shown": 1.0},
        edits={"untouched": 1.0},
        templates={"per_day": 0.0},
    )
    url = url_of(world, world.site.articles[0][0])
    pages = {shown(world, url, (day + 0.5) * DAY)[1] for day in range(60)}
    assert len(pages) == most
    assert len({len(page) for page in pages}) == 1


@pytest.mark.slow
def test_the_rates_of_terms_are_those_of_the_histories() -> None:
    """Measured on two archives of terms: 47 % of page-days differ, and 3 % of noise is read."""
    world, days = made("terms", 85, templates={"per_day": 0.0}), 40
    differing = seen = visits = 0
    for article in [each for host in world.site.articles for each in host][:60]:
        pages = [
            world.respond(url_of(world, article), day * DAY, Request(0)) for day in range(days)
        ]
        for old, new in pairwise(pages):
            if old.status == new.status == 200 and old.resource.version == new.resource.version:
                visits += 1
                differing += old.page.body != new.page.body
                quotes = [re.findall(rb"<blockquote>.*?</blockquote>|<p>[^<]*free[^<]*</p>",
                                     page.page.body) for page in (old, new)]  # fmt: skip
                seen += quotes[0] != quotes[1]
    assert 0.3 < differing / visits < 0.6
    assert 0.01 < seen / differing < 0.12
