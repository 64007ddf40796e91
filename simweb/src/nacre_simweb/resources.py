"""The resource of each URL of a world at a moment."""

from collections.abc import Callable
from functools import partial

from nacre_simweb.binaries import Binaries
from nacre_simweb.calendar import DAY
from nacre_simweb.coding import KINDS, BodyCoding, form
from nacre_simweb.content import ArticleWriter
from nacre_simweb.draw import Draw
from nacre_simweb.failures import CHALLENGE
from nacre_simweb.ground import Ground
from nacre_simweb.hinted import HintPages
from nacre_simweb.hints import changed
from nacre_simweb.life import ArticleLife
from nacre_simweb.names import Names, Target
from nacre_simweb.noise import (
    Noises,
    ReplyMoment,
    blanks,
    body_attributes,
    buster,
    noise_turn,
    related,
    snippet,
)
from nacre_simweb.page import SimulatedPage
from nacre_simweb.parameters import PageNoise
from nacre_simweb.render import TWINS, Frame, RenderedArticle, Renderer
from nacre_simweb.reply import Resource, redirect_links
from nacre_simweb.site import Article, date_of
from nacre_simweb.traps import HUGE, SLOW, Snares

HTML = "text/html; charset=utf-8"
"""Content-Type of pages."""
_NOTHING = SimulatedPage(b"")
_REFORMED = KINDS | {"related"}
"""Kinds of noise by which the length of a page or its links differ."""


class Resources:
    """Finds what a path means at a time.

    Args:
        world: The world.
        draw: Its random numbers.
    """

    def __init__(self, world: Ground, draw: Draw) -> None:
        shape = world.parameters.shape
        self._world = world
        self._draw = draw.at("replies")
        self.names = Names(shape.urls, shape.sections, draw)
        self._writer = ArticleWriter(shape, draw)
        self.renderer = Renderer(world.parameters, self.names, self._writer, draw)
        self.noises = Noises(world.parameters.noise, draw)
        self._snares = Snares(world.parameters.traps, draw)
        self._binaries = Binaries(world, self.names, self.renderer, draw)
        self._hints = HintPages(world, self.names)

    def find(self, host: int, origin: str, path: str, query: str, time: float) -> Resource:
        """Return the resource of a path.

        Args:
            host: Number of the host; -1 for none of this world.
            origin: Scheme and authority as asked for, for absolute links.
            path: Path of the URL.
            query: Query of the URL, without its question mark.
            time: Time of the world, seconds.
        """
        world = self._world
        if host < 0 or world.faults.silent(f"{host}{path}", time):
            return _without(0)
        if world.faults.down(host, time):
            return _without(503)
        if world.faults.challenged(f"{host}{path}", time):
            return Resource("wall", 200, -1, "", 0.0, HTML, lambda _: SimulatedPage(CHALLENGE))
        target = self.names.read(path)
        match target.kind:
            case "home":
                resource: Resource | None = self._home(host, origin, time)
            case "list":
                resource = self._list(host, origin, target, time)
            case "article":
                resource = self._article(host, origin, path, target, time)
            case "shared" | "image" | "file":
                resource = self._binaries.find(host, target, time)
            case _:
                resource = self._hints.find(host, origin, path, time)
                resource = resource or self._trap(host, origin, path, query, time)
        return resource or self._error(host, origin, time)

    def said(self, article: Article, version: int) -> object:
        """The text of a version: equal for versions of the same text, such as a reverted one.

        Args:
            article: Of what.
            version: Its number.
        """
        return self._writer.state(article, self._world.lives.of(article), version)

    # ---- articles

    def _article(self, host: int, origin: str, path: str, target: Target, time: float) -> Resource:
        world = self._world
        article = world.site.article(host, target.serial)
        if article is None or self.names.article(article, target.part) != path:
            return self._error(host, origin, time)
        life = world.lives.of(article)
        moved = time >= life.moved
        if article.born > time or (target.part and not moved):
            return self._error(host, origin, time)
        if moved and not target.part:
            if life.redirects:
                return _redirect(301, origin + self.names.article(article, 1))
            return self._error(host, origin, time)
        if not life.lives(time):
            return self._dead(host, origin, life, time)
        return self._alive(article, life, origin, time)

    def _dead(self, host: int, origin: str, life: ArticleLife, time: float) -> Resource:
        match life.end:
            case "home":
                return _redirect(302, f"{origin}/")
            case "gone":
                return self._error(host, origin, time, 410)
            case "soft":
                return self._error(host, origin, time, 200)
            case _:
                return self._error(host, origin, time)

    def _alive(self, article: Article, life: ArticleLife, origin: str, time: float) -> Resource:
        world = self._world
        template, since = world.template(article.host, time)
        version = life.version(time)
        kinds = self.noises.of_article(article)
        before, after = self._neighbours(article, time)
        moment = partial(self._moment, article.host, time)
        menu, newest = self._menu(article.host, time)
        frame = Frame(article.host, origin, template, kinds, ReplyMoment(time, self._draw), menu)

        def make(nonce: int) -> SimulatedPage:
            here = moment(article.serial, nonce)
            chosen = self._related(article.host, kinds, here)
            neighbours = tuple(
                self._entry(neighbour, time) for neighbour in (before, after) if neighbour
            )
            subject = RenderedArticle(article, life, version, chosen, neighbours)
            return self.renderer.article(frame._replace(moment=here), subject)

        def noise(nonce: int) -> tuple[object, ...]:
            return self._noise(article.host, kinds, moment(article.serial, nonce))

        neighbour_marks = (
            f"{each.serial}{self._moved(each, time)}" if each else "" for each in (before, after)
        )
        mark = ".".join(
            (str(version), str(template), *neighbour_marks, *(path for path, _ in menu))
        )
        since = max(since, newest, changed(life, time), after.born if after else article.born)
        return Resource(
            "article", 200, version, mark, since, HTML, make, noise if kinds else None,
            not _REFORMED & set(kinds), form=self._form(kinds, article.host, time, article.serial),
        )  # fmt: skip

    def _neighbours(self, article: Article, time: float) -> tuple[Article | None, Article | None]:
        """The articles born before and after it in its section; static pages link them once."""
        section = self._world.site.sections[article.host][article.section]
        before = section[article.number - 1] if article.number else None
        after = section[article.number + 1] if article.number + 1 < len(section) else None
        return before, after if after and after.born <= time else None

    def _entry(self, article: Article, time: float) -> tuple[str, str]:
        """Path and first headline of an article at a time."""
        moved = self._moved(article, time)
        return self.names.article(article, moved), self._writer.title(article)

    def _moved(self, article: Article, time: float) -> int:
        return int(time >= self._world.lives.of(article).moved)

    def _menu(self, host: int, time: float) -> tuple[tuple[tuple[str, str], ...], float]:
        """Paths and titles of the newest articles, and the birth of the last; 0 without a menu."""
        site, number = self._world.site, self._world.parameters.shape.menu
        born = site.known_before(host, time) if number else 0
        newest = [
            article
            for article in site.articles[host][max(born - number, 0) : born]
            if self._world.lives.of(article).lives(time)
        ]
        since = max((article.born for article in newest), default=0.0)
        return tuple(self._entry(article, time) for article in newest), since

    def _related(
        self, host: int, kinds: tuple[PageNoise, ...], moment: ReplyMoment
    ) -> tuple[tuple[str, str], ...]:
        if "related" not in kinds:
            return ()
        site = self._world.site
        born = site.known_before(host, moment.time)
        articles = related(site.articles[host], born, self._world.lives, moment)
        return tuple(self._entry(entry, moment.time) for entry in articles)

    def _moment(self, host: int, time: float, name: object, nonce: int) -> ReplyMoment:
        noise, draw = self._world.parameters.noise, self._draw.at(host, name)
        if not noise.daily:
            return ReplyMoment(time, draw.at(nonce))
        day, turns = int(time // DAY), self._draw.at("turn", host, name)
        last = noise_turn(turns, day, noise.daily)
        turn = noise_turn(turns.at("shown"), day, noise.daily * noise.shown)
        return ReplyMoment(time, draw.at(last), draw.at("shown", turn))

    def _form(
        self, kinds: tuple[PageNoise, ...], host: int, time: float, name: object
    ) -> Callable[[int], BodyCoding] | None:
        """How replies travel, by their number; None if they do not differ in it."""
        if not KINDS & set(kinds):
            return None
        language = self._world.parameters.shape.language
        return lambda nonce: form(kinds, language, self._moment(host, time, name, nonce).draw)

    def _noise(
        self, host: int, kinds: tuple[PageNoise, ...], moment: ReplyMoment
    ) -> tuple[object, ...]:
        """Return all that noise puts into a page."""
        return (
            *(snippet(kind, moment) for kind in kinds),
            buster(kinds, moment),
            body_attributes(kinds, moment),
            blanks(kinds, moment),
            self._related(host, kinds, moment),
        )

    # ---- lists

    def _home(self, host: int, origin: str, time: float) -> Resource:
        number = len(self._world.listings[host]) - 1
        traps = tuple(self._snares.entrances(self._draw.at(host, int(time))))
        return self._listing(host, origin, number, 0, time, traps)

    def _list(self, host: int, origin: str, target: Target, time: float) -> Resource:
        count = self._world.listings[host][target.serial].count(time)
        if target.part >= count:
            return self._error(host, origin, time)
        return self._listing(host, origin, target.serial, target.part, time, ())

    def _listing(
        self,
        host: int,
        origin: str,
        number: int,
        part: int,
        time: float,
        more: tuple[tuple[str, str], ...],
    ) -> Resource:
        world = self._world
        listing = world.listings[host][number]
        home = number == len(world.listings[host]) - 1
        template, since = world.template(host, time)
        version = listing.version(part, time)
        if version:
            since = max(since, listing.changes[part][version - 1])
        kinds = self.noises.of_host(host) if self._noisy(host, number) else ()
        kinds = tuple(kind for kind in kinds if kind != "related")
        menu, newest = self._menu(host, time)
        since = max(since, newest)
        frame = Frame(host, origin, template, kinds, ReplyMoment(time, self._draw), menu)

        def make(nonce: int) -> SimulatedPage:
            entries = [self._teaser(item, time) for item in listing.page(part, time)]
            entries += ((path, text, "") for path, text in more)
            pages = (
                []
                if home
                else [self.names.list_page(number, item) for item in range(listing.count(time))]
            )
            title = "Home" if home else self.names.section(number)
            here = self._moment(host, time, f"list{number}.{part}", nonce)
            return self.renderer.listing(frame._replace(moment=here), title, entries, pages)

        def noise(nonce: int) -> tuple[object, ...]:
            return self._noise(host, kinds, self._moment(host, time, f"list{number}.{part}", nonce))

        menu_mark = "".join(f".{path}" for path, _ in menu)
        mark = f"{version}.{template}{menu_mark}" + (f".{int(time)}" if more else "")
        kind = "home" if home else "list"
        return Resource(
            kind, 200, version, mark, since, HTML, make, noise if kinds else None,
            not more and not KINDS & set(kinds),
            form=self._form(kinds, host, time, f"list{number}.{part}"),
        )  # fmt: skip

    def _noisy(self, host: int, number: int) -> bool:
        share = self._world.parameters.noise.share
        return self._draw.at("noisy", host, number).uniform() < share

    def _teaser(self, article: Article, time: float) -> tuple[str, str, str]:
        path, title = self._entry(article, time)
        when = article.born
        if self._world.parameters.hints.teasers:
            when = changed(self._world.lives.of(article), time)
        return path, title, f"{date_of(when):%Y-%m-%d %H:%M}"

    # ---- the rest

    def _trap(self, host: int, origin: str, path: str, query: str, time: float) -> Resource:
        onward = self._snares.redirect(path)
        if onward:
            return _redirect(302, origin + onward)
        traps = self._world.parameters.traps
        mime = "application/octet-stream"
        if path == HUGE and traps.huge:
            return Resource(
                "trap", 200, -1, "", 0.0, mime, lambda _: SimulatedPage(bytes(traps.huge))
            )
        if path == SLOW and traps.slow:
            return Resource("trap", 200, -1, "", 0.0, mime, lambda _: SimulatedPage(b"slow" * 64))
        if path == TWINS and self.renderer.has_twins:
            return self._frames(host, origin, time)
        draw = self._draw.at("trap", host, path, query)
        page = self._snares.page(origin, path, query, draw)
        if page is None:
            return self._error(host, origin, time)
        return Resource("trap", 200, -1, query, 0.0, HTML, lambda _: page)

    def _frames(self, host: int, origin: str, time: float) -> Resource:
        """Return the same page under every query."""
        template, since = self._world.template(host, time)
        frame = Frame(host, origin, template, (), ReplyMoment(time, self._draw))
        return Resource(
            "trap", 200, -1, f"{host}.{template}", since, HTML,
            lambda _: self.renderer.frames(frame),
        )  # fmt: skip

    def _error(self, host: int, origin: str, time: float, status: int = 404) -> Resource:
        template, since = self._world.template(host, time)
        frame = Frame(host, origin, template, (), ReplyMoment(time, self._draw))
        return Resource(
            "error", status, -1, f"{host}.{template}", since, HTML,
            lambda _: self.renderer.error(frame),
        )  # fmt: skip


def _without(status: int) -> Resource:
    return Resource("none", status, -1, str(status), 0.0, "text/plain", lambda _: _NOTHING)


def _redirect(status: int, target: str) -> Resource:
    page = SimulatedPage(b"", redirect_links(target))
    return Resource(
        "redirect", status, -1, target, 0.0, "text/html", lambda _: page, location=target
    )
