"""Behaviours in a real browser, on pages of our own that need them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.browser.finding import InstalledBrowser
from nacre.browser.site_scripts import load_site_scripts
from nacre.core.rendered import RenderedLink, RenderedPage
from tests.browser.site import HOST, Pages, Site, browsing

EXAMPLES = Path(__file__).parents[2] / "examples" / "site-scripts"

pytestmark = pytest.mark.browser

FEED = """<!doctype html><title>Feed</title><style>
section { height: 700px } #inner { height: 200px; overflow-y: auto }
@media (max-width: 400px) { section { background: url(/phone.png) } }
</style>
<a href="#/about">about</a> <a href="#/contact">contact</a> <a href="/page">page</a>
<div id="view"></div><div id="sections"></div>
<div id="inner"><p style="height: 2000px">inner</p></div>
<img data-src="/lazy/late.png" alt=""><img srcset="/w/100.png 100w, /w/200.png 200w" alt="">
<details><summary>Details</summary><img src="/open.png" loading="lazy" alt="">within</details>
<button id="more">Show more</button> <button onclick="fetch('/menu')">Menu</button>
<button id="twice">加载更多</button><form action="/post"><button>Load more</button></form>
<a href="/next">Load more</a> <button aria-haspopup="menu" aria-expanded="false">Popup</button>
<button id="toggle" aria-expanded="false">Answer</button><p id="answer" hidden>The answer</p>
<script>
let count = 0;
for (let number = 0; number < 10; number += 1) {
  const section = sections.appendChild(document.createElement("section"));
  new IntersectionObserver(([entry], observer) => {
    if (entry.isIntersecting) {
      observer.disconnect();
      fetch(`/section/${number}.json`);
    }
  }).observe(section);
}
inner.onscroll = () => { if (inner.scrollTop > 1500) fetch("/inner.json"); };
more.onclick = (event) => {
  if (event.isTrusted) fetch("/more.json").then(() => {
    more.remove();
    sections.appendChild(document.createElement("p")).textContent = "More of it";
  });
};
twice.onclick = () => {
  count += 1;
  fetch(`/twice/${count}.json`);
  if (count === 3) twice.remove();
};
toggle.onclick = () => {
  const isOpen = toggle.getAttribute("aria-expanded") === "true";
  toggle.setAttribute("aria-expanded", String(!isOpen));
  answer.hidden = isOpen;
};
onhashchange = () => {
  const name = location.hash.slice(2);
  if (name) fetch(`/route/${name}.json`);
  view.innerHTML = `<h2>Route ${name}</h2><a href="#/deeper">deeper</a><a href="/of/${name}">x</a>`;
};
</script>"""

SCRIPT = """
// Opens the album, which no button does.
const selector = "#view h2";
export default async ({ page, log, link, limits }) => {
  const heading = await page.wait(selector, 1);
  log(`seen ${heading ? heading.textContent : "nothing"} for ${limits.clicks} clicks`);
  link("/from/script");
  link("javascript:alert(1)");
  for (const image of page.select("img")) page.scroll(image);
  await page.sleep(0.05);
};
"""


@pytest.fixture(scope="module")
def pages(
    installed_browser: InstalledBrowser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pages]:
    with browsing(installed_browser, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def site() -> Site:
    return Site({"/": FEED, **dict.fromkeys(FETCHED, "{}")})


FETCHED = (
    *(f"/section/{number}.json" for number in range(10)),
    *(f"/twice/{number}.json" for number in range(1, 4)),
    *("/more.json", "/inner.json", "/route/about.json", "/route/contact.json"),
    "/route/deeper.json",
)
PICTURES = ("/lazy/late.png", "/w/100.png", "/w/200.png", "/phone.png", "/open.png")


@pytest.fixture(scope="module")
def page(pages: Pages, site: Site) -> RenderedPage:
    """A page with all of them: one load for many tests."""
    return pages.open(
        site,
        viewport=(1000, 600),
        behaviours=("tall", "scroll", "lazy", "more", "media", "routes"),
        scripts=(("album.js", SCRIPT),),
        pictures=("view",),
        behaviour_time=30.0,
    )


def test_all_that_the_page_would_ask_for_is_asked_for(page, site):
    assert set(FETCHED) - set(site.urls) == set()
    assert set(PICTURES) - set(site.urls) == set()


def test_nothing_else_is_pressed(page, site):
    assert {"/menu", "/post", "/next", "/page"} & set(site.urls) == set()


def test_the_final_state_has_what_was_opened(page):
    assert "More of it" in page.text
    assert "The answer" in page.text
    assert "within" in page.text
    assert page.url == f"{HOST}/"


def test_routes_are_states_of_the_document(page):
    assert [route.url for route in page.routes] == [
        f"{HOST}/#/about",
        f"{HOST}/#/contact",
        f"{HOST}/#/deeper",
    ]
    assert b'<a href="/of/contact">' in page.routes[1].dom


def test_the_notes_say_what_was_done(page):
    notes = page.behaviours
    assert int(notes["tall"].removesuffix(" px")) > 7000
    assert notes["scroll"] != "0 steps"
    assert notes["lazy"] == "4 URLs"
    assert notes["more"] == "5 clicks, 1 details"
    assert notes["media"] == "0 elements"
    assert notes["routes"] == "3 routes"


def test_a_script_of_the_site_reports(page):
    assert page.links == (RenderedLink(f"{HOST}/from/script", "album.js"),)
    assert page.behaviours["album.js"] == "done seen Route  for 200 clicks"


def test_the_viewport_is_as_before(page):
    data = page.pictures["view"]
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (1000, 600)


WIDGETS = """<!doctype html><div class="carousel"><img id="slide" alt="">
<button class="next">next</button></div>
<div class="calendar"><a id="day" href="/day/0">day</a><button class="next">next</button></div>
<div class="comments"><button class="more">All comments</button></div><script>
const [turn, month] = document.querySelectorAll(".next");
let slides = 0, months = 0;
turn.onclick = () => { slide.src = `/slide/${(slides += 1) % 4}.png`; };
month.onclick = () => { day.href = `/day/${months += 1}`; };
document.querySelector(".more").onclick = (event) => {
  fetch("/comments.json");
  event.target.parentElement.innerHTML =
    '<p class="comment">a <a class="replies" onclick="fetch(`/replies.json`)">2 replies</a></p>';
};
</script>"""


def test_the_examples_work(pages):
    scripts = load_site_scripts(["carousel.js", "calendar.js", "comments.js"], EXAMPLES)
    site = Site({"/": WIDGETS, "/comments.json": "{}", "/replies.json": "{}"})
    page = pages.open(site, scripts=tuple((script.name, script.source) for script in scripts))
    assert page.behaviours == {
        "carousel.js": "done 5 turns",
        "calendar.js": "done 12 months, 13 links",
        "comments.js": "done 2 clicks",
    }
    assert {f"/slide/{number}.png" for number in range(4)} <= set(site.urls)
    assert {"/comments.json", "/replies.json"} <= set(site.urls)
    assert len(page.links) == 13


MOVING = """<!doctype html><p id="place">home</p><button>Show more</button>
<video src="/v.mp4"></video>
<script>
document.querySelector("button").onclick = () => {
  history.pushState({}, "", "/other?page=2");
  place.textContent = "other";
};
onpopstate = () => { place.textContent = "home"; };
</script>"""


def test_a_script_that_leaves_the_page_ends_its_behaviours(pages):
    page = pages.open(Site({"/": MOVING}), behaviours=("more", "media"))
    assert page.behaviours == {"more": "1 clicks, 0 details"}
    assert page.links == (RenderedLink(f"{HOST}/other?page=2", "navigation"),)
    assert (page.url, page.text.partition("\n")[0]) == (f"{HOST}/", "home")


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("export default async () => missing();", "(failed: ReferenceError: missing is not"),
        ("export default async () => { this is no script };", "(failed: SyntaxError"),
        ("export default ({ log }) => { log('a\\ud800'); throw 7; };", "a\ufffd (failed: 7)"),
    ],
)
def test_a_script_that_fails_says_why(pages, script, note):
    page = pages.open(Site({"/": "x"}), scripts=(("bad.js", script),))
    assert (page.ended, page.text) == ("settled", "x")
    assert page.behaviours["bad.js"].startswith(note)
