from msgspec import structs

from nacre.annotations import COOKIE_WALL
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.engine.candidates.candidates import through_walls

A, B, C = (f"http://a.test/{name}" for name in "abc")


def led(parent: CrawlURI, target: str, *, cookies: bool = False, status: int = 302) -> CrawlURI:
    child = CrawlURI(target, b"", "", via=parent.url, path=parent.path + "R")
    visit = Visit(parent, status=status, sets_cookies=cookies)
    return through_walls(visit, [child])[0]


def again(uri: CrawlURI) -> bool:
    assert uri.force_fetch == (COOKIE_WALL in uri.annotations)
    return uri.force_fetch


PAGE = CrawlURI(A, b"", "", path="L")


def test_back_to_itself_with_a_cookie():
    assert again(led(PAGE, A, cookies=True))
    assert not again(led(PAGE, A))
    assert not again(led(PAGE, B, cookies=True))
    assert not again(led(PAGE, A, cookies=True, status=200)), "a page that renews itself"


def test_back_over_others_with_a_cookie_on_the_way():
    assert again(led(led(PAGE, B, cookies=True), A))
    assert again(led(led(PAGE, B), A, cookies=True))
    assert again(led(led(led(PAGE, B), C, cookies=True), A))
    assert not again(led(led(led(PAGE, B), C), A))


def test_only_once():
    once = led(PAGE, A, cookies=True)
    assert not again(led(once, A, cookies=True))
    assert not again(led(led(once, B, cookies=True), A, cookies=True))


def test_robots_txt_has_rules_of_its_own():
    robots = structs.replace(PAGE, path="P")
    assert not again(led(robots, A, cookies=True))


def test_other_links_of_a_redirect_are_left_alone():
    child = CrawlURI(A, b"", "", via=A, path="LI")
    assert through_walls(Visit(PAGE, status=302, sets_cookies=True), [child]) == [child]
