"""Pages of a world as HTML."""

import re

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
