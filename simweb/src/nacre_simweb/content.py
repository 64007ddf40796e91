"""The content of an article at a version: the edits up to it, one after the other."""

from typing import NamedTuple

from nacre_simweb.draw import Draw
from nacre_simweb.life import ArticleLife, Change
from nacre_simweb.parameters import Language, SiteShape
from nacre_simweb.site import Article, date_of
from nacre_simweb.words import paragraph, title, words


class PartVersions(NamedTuple):
    """The numbers of the versions that last touched each part of an article.

    Attributes:
        title: The headline.
        paragraphs: Each paragraph as a whole.
        patches: One word in each paragraph; 0 for none since the paragraph was written.
        date: The deadline that the text names.
        table: A cell of its table.
    """

    title: int
    paragraphs: tuple[int, ...]
    patches: tuple[int, ...]
    date: int
    table: int


class Text(NamedTuple):
    """The text of an article.

    Attributes:
        title: Headline.
        paragraphs: The paragraphs.
        deadline: A date that matters; editors change it alone.
        cells: The cells of its table.
    """

    title: str
    paragraphs: tuple[str, ...]
    deadline: str
    cells: tuple[str, ...]


class ArticleWriter:
    """The author of the texts of articles."""

    def __init__(self, shape: SiteShape, draw: Draw) -> None:
        self._paragraphs = shape.paragraphs
        self._language: Language = shape.language
        self._draw = draw.at("content")
        self._states: dict[tuple[int, int, int], list[PartVersions]] = {}

    def text(self, article: Article, life: ArticleLife, version: int) -> Text:
        """Return the text of a version, from 0."""
        state = self.state(article, life, version)
        draw, language = self._draw.at(*article.key), self._language
        paragraphs = []
        for place, (written, patched) in enumerate(
            zip(state.paragraphs, state.patches, strict=True)
        ):
            patch = draw.at("patch", place, patched) if patched else None
            paragraphs.append(paragraph(draw.at("p", place, written), language, patch))
        day = article.born + 86400 * (20 + draw.at("deadline").below(300, state.date))
        form = "%Y年%m月%d日" if language == "zh" else "%d %B %Y"
        cells = words(draw.at("table"), language, 4)
        cells.append(str(1000 + draw.at("cell").below(9000, state.table)))
        return Text(
            self.title(article, state.title),
            tuple(paragraphs),
            date_of(day).strftime(form),
            tuple(cells),
        )

    def title(self, article: Article, written: int = 0) -> str:
        """Return a headline; that of the first version where no other is asked for."""
        return title(self._draw.at("title", *article.key, written), self._language)

    def state(self, article: Article, life: ArticleLife, version: int) -> PartVersions:
        """Return the version that touched each part last."""
        states = self._states.get(article.key)
        if states is None:
            states = self._states[article.key] = [self._first(article)]
        while len(states) <= version:
            number = len(states)
            states.append(self._edited(article, states, number, life.versions[number].change))
        return states[version]

    def _first(self, article: Article) -> PartVersions:
        count = 2 + self._draw.at("count", *article.key).below(2 * self._paragraphs - 1)
        return PartVersions(0, (0,) * count, (0,) * count, 0, 0)

    def _edited(
        self, article: Article, states: list[PartVersions], number: int, change: Change
    ) -> PartVersions:
        before = states[-1]
        draw = self._draw.at("edit", *article.key, number)
        match change:
            case "revert":
                return (
                    states[max(number - 2, 0)]
                    if number > 1
                    else self._rewritten(before, draw, number)
                )
            case "date":
                return before._replace(date=number)
            case "table":
                return before._replace(table=number)
            case "minor":
                place = draw.below(len(before.patches))
                return before._replace(patches=_replaced(before.patches, place, number))
            case _:
                return self._rewritten(before, draw, number)

    @staticmethod
    def _rewritten(before: PartVersions, draw: Draw, number: int) -> PartVersions:
        """Replace one to three paragraphs, sometimes the headline too."""
        paragraphs, patches = before.paragraphs, before.patches
        for place in range(1 + draw.below(3)):
            chosen = draw.below(len(paragraphs), place + 1)
            paragraphs = _replaced(paragraphs, chosen, number)
            patches = _replaced(patches, chosen, 0)
        renamed = draw.uniform(9) < 0.15
        return before._replace(
            title=number if renamed else before.title, paragraphs=paragraphs, patches=patches
        )


def _replaced(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])
