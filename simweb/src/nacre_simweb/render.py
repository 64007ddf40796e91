"""Articles, lists and start pages as HTML."""

from html import escape
from typing import NamedTuple

from nacre_simweb.content import ArticleWriter
from nacre_simweb.draw import Draw
from nacre_simweb.life import ArticleLife
from nacre_simweb.names import Names
from nacre_simweb.noise import ReplyMoment, blanks, body_attributes, buster, snippet
from nacre_simweb.page import Builder, SimulatedPage
from nacre_simweb.parameters import PageNoise, WorldParameters
from nacre_simweb.site import Article, date_of

TWINS = "/frames/index.html"
"""Path of the frame page."""
_LABELS = {
    "zh": (
        "首页", "上一篇", "下一篇", "截止日期", "附件下载", "相关阅读", "版权所有", "尾页", "框架",
    ),
    "en": (
        "Home", "Previous", "Next", "Deadline", "Attachment", "Related", "All rights reserved",
        "Page", "Frames",
    ),
}  # fmt: skip


class Frame(NamedTuple):
    """The frame around the content of a page.

    Attributes:
        host: Number of the host.
        origin: `http://host`, for absolute links.
        template: Number of changes of the boilerplate so far.
        kinds: Kinds of noise on this page.
        moment: This reply.
        menu: Paths and titles of the articles in the menu.
    """

    host: int
    origin: str
    template: int
    kinds: tuple[PageNoise, ...]
    moment: ReplyMoment
    menu: tuple[tuple[str, str], ...] = ()


class RenderedArticle(NamedTuple):
    """An article, as a page is made of it.

    Attributes:
        article: Which.
        life: Its life.
        version: Version to show.
        related: Articles that noise links to.
        neighbours: Paths and titles of the articles before and after it.
    """

    article: Article
    life: ArticleLife
    version: int
    related: tuple[tuple[str, str], ...] = ()
    neighbours: tuple[tuple[str, str], ...] = ()


class Renderer:
    """Makes the pages of a world.

    Args:
        parameters: The world.
        names: Its URLs.
        writer: Its texts.
        draw: Random numbers for attachments.
    """

    def __init__(
        self, parameters: WorldParameters, names: Names, writer: ArticleWriter, draw: Draw
    ) -> None:
        self._parameters = parameters
        self._names = names
        self._writer = writer
        self._draw = draw.at("files")
        self._labels = _LABELS[parameters.shape.language]

    def has_file(self, article: Article) -> bool:
        """The article has an attachment."""
        share = self._parameters.shape.attachments
        return self._draw.at(*article.key).uniform() < share

    @property
    def has_twins(self) -> bool:
        """Some articles link to the frame page."""
        return self._parameters.shape.twins > 0

    def _has_twin(self, article: Article) -> bool:
        share = self._parameters.shape.twins
        return self._draw.at("twin", *article.key).uniform() < share

    def article(self, frame: Frame, subject: RenderedArticle) -> SimulatedPage:
        """Return the page of an article."""
        article = subject.article
        text = self._writer.text(article, subject.life, subject.version)
        page = self._begin(frame, text.title)
        page.add(f"<h1>{escape(text.title)}</h1>")
        page.add(f'<div class="info">{date_of(article.born):%Y-%m-%d}</div><div id="main">')
        for place, paragraph in enumerate(text.paragraphs):
            page.add(f"<p>{escape(paragraph)}</p>\n")
            if place < self._parameters.shape.own_embeds:
                page.embed(self._names.image(article, place))
        for place in range(len(text.paragraphs), self._parameters.shape.own_embeds):
            page.embed(self._names.image(article, place))
        page.add(f"<p>{self._labels[3]}: {text.deadline}</p><table><tr>")
        page.add(*(f"<td>{escape(cell)}</td>" for cell in text.cells), "</tr></table></div>")
        if self.has_file(article):
            page.link(self._names.file(article), self._labels[4])
        if self._has_twin(article):
            page.link(f"{TWINS}?{article.serial}", self._labels[8])
        self._aside(page, subject)
        return self._end(page, frame)

    def _aside(self, page: Builder, subject: RenderedArticle) -> None:
        for label, (path, title) in zip(self._labels[1:3], subject.neighbours, strict=False):
            page.add(f"<div>{label}: ")
            page.link(path, title)
            page.add("</div>")
        if subject.related:
            page.add(f'<div class="related">{self._labels[5]}: ')
            for path, title in subject.related:
                page.link(path, title)
            page.add("</div>")

    def listing(
        self, frame: Frame, title: str, entries: list[tuple[str, str, str]], pages: list[str]
    ) -> SimulatedPage:
        """Return a list page.

        Args:
            frame: What surrounds it.
            title: Its headline.
            entries: Path, title and teaser of each article.
            pages: Paths of all pages of the list.
        """
        page = self._begin(frame, title)
        page.add(f"<h2>{escape(title)}</h2><ul>\n")
        for path, text, teaser in entries:
            page.add("<li>")
            page.link(path, text)
            page.add(f"<span>{teaser}</span></li>\n")
        page.add('</ul><div class="pages">')
        for number, path in enumerate(pages):
            page.link(path, f"{self._labels[7]} {number + 1}")
        page.add("</div>")
        return self._end(page, frame)

    def frames(self, frame: Frame) -> SimulatedPage:
        """Return the page that all articles link to, each with a different query."""
        page = self._begin(frame, self._labels[8])
        page.add(f"<p>{self._labels[8]}</p>")
        return self._end(page, frame)

    def error(self, frame: Frame) -> SimulatedPage:
        """Return the page for missing URLs; the same for all URLs of a host."""
        zh = self._parameters.shape.language == "zh"
        text = "您访问的页面不存在或已删除" if zh else "The page was not found"
        page = self._begin(frame, text)
        page.add(f"<h1>{text}</h1><p>404</p>")
        return self._end(page, frame)

    def _begin(self, frame: Frame, title: str) -> Builder:
        page = Builder(frame.origin)
        language = self._parameters.shape.language
        page.add(f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8">')
        version = f" (3.{frame.template})" if self._parameters.templates.versioned else ""
        page.add(f"<title>{escape(title)}{version}</title>")
        if "buster" in frame.kinds:
            page.add(f'<meta name="build" content="{buster(frame.kinds, frame.moment)}">')
        for number in range(self._parameters.shape.shared_embeds):
            page.embed(self._names.shared(number))
        page.add(f"</head><body {body_attributes(frame.kinds, frame.moment)}>")
        page.add(f'<div class="head v{frame.template}"><ul>')
        page.link("/", self._labels[0])
        for section in range(self._parameters.shape.sections):
            page.link(self._names.list_page(section, 0), self._names.section(section))
        for path, text in frame.menu:
            page.link(path, text)
        page.add("</ul></div>\n")
        return page

    def _end(self, page: Builder, frame: Frame) -> SimulatedPage:
        page.add(*(snippet(kind, frame.moment) for kind in frame.kinds))
        page.add(blanks(frame.kinds, frame.moment))
        page.add(f'<div class="foot">{self._labels[6]} {2026 + frame.template}</div>')
        page.add("</body></html>\n")
        return page.page()
