"""Noise: what differs between two replies and means nothing.

All of it has a fixed width, so that the size of a page does not depend on it.
"""

from collections.abc import Callable
from typing import NamedTuple

from nacre_simweb.draw import Draw
from nacre_simweb.life import Lives
from nacre_simweb.parameters import Noise, PageNoise
from nacre_simweb.site import Article, date_of


class Noises:
    """The kinds of noise of a host and its pages.

    Args:
        settings: The world's noise.
        draw: Its random numbers.
    """

    def __init__(self, settings: Noise, draw: Draw) -> None:
        self._settings = settings
        self._draw = draw.at("noise")

    def of_host(self, host: int) -> tuple[PageNoise, ...]:
        """Two to four kinds, those that its templates know."""
        kinds = self._settings.kinds
        if not kinds:
            return ()
        draw = self._draw.at("host", host)
        count = 2 + draw.below(3)
        return tuple(sorted({draw.pick(kinds, number + 1) for number in range(count)}))

    def of_article(self, article: Article) -> tuple[PageNoise, ...]:
        """Return the kinds of one article; none for most."""
        if self._draw.at("page", *article.key).uniform() >= self._settings.share:
            return ()
        return self.of_host(article.host)


def noise_turn(draw: Draw, day: int, daily: float) -> int:
    """Return the day on which the noise of a page changed last.

    Args:
        draw: Random numbers of the page.
        day: The day.
        daily: Chance of a change on a day.
    """
    while day > 0 and draw.at("day", day).uniform() >= daily:
        day -= 1
    return day


class ReplyMoment(NamedTuple):
    """The moment of one reply: what noise depends on.

    Attributes:
        time: When, seconds.
        draw: Random numbers of this reply alone.
        shown: Random numbers of the noise that a reader sees; None: those of the reply.
    """

    time: float
    draw: Draw
    shown: Draw | None = None


def snippet(kind: PageNoise, moment: ReplyMoment) -> str:
    """Return the markup of one kind of noise; "" for those that change the page elsewhere."""
    make = _SNIPPETS.get(kind)
    draw = moment.shown if kind in _SHOWN and moment.shown is not None else moment.draw
    return make(moment.time, draw.at(kind)) if make else ""


_SHOWN: frozenset[PageNoise] = frozenset(("rotating", "wording"))
_QUOTES = tuple(
    f"Readers say: {text:.<44}"
    for text in (
        "it saves us a week of work in every month",
        "we found what we had been looking for",
        "the answers are short, and they are right",
        "nothing else is as easy to keep up to date",
        "our colleagues asked us where it is from",
    )
)
"""Blocks of text of which a page shows one."""
_WORDINGS = ("Start today: your first month is free!", "Your first month is free: start today!")
"""The two texts of an experiment."""

_SNIPPETS: dict[PageNoise, Callable[[float, Draw], str]] = {
    "clock": lambda time, _: f'<span class="clock">今日日期 {date_of(time):%Y-%m-%d %X}</span>',
    "counter": lambda _, draw: (
        f'<span class="views">浏览次数：{100_000 + draw.below(900_000)}</span>'
    ),
    "advert": lambda _, draw: f'<div class="ad" data-slot="{draw.hex(8)}">AD-{draw.hex(12)}</div>',
    "token": lambda _, draw: f'<input type="hidden" name="csrf" value="{draw.hex(32)}">',
    "ago": lambda _, draw: f'<span class="ago">{10 + draw.below(50)}分钟前更新</span>',
    "rotating": lambda _, draw: f"<blockquote>{draw.pick(_QUOTES)}</blockquote>",
    "wording": lambda _, draw: f"<p>{draw.pick(_WORDINGS)}</p>",
    "variant": lambda _, draw: f'<div class="ab-{draw.pick("ab")}"></div>',
}


def buster(kinds: tuple[PageNoise, ...], moment: ReplyMoment) -> str:
    """Return a cache-buster for the query of an inline reference; "" for none."""
    return f"?v={moment.draw.at('buster').hex(8)}" if "buster" in kinds else ""


def body_attributes(kinds: tuple[PageNoise, ...], moment: ReplyMoment) -> str:
    """Attributes of the body, in an order that may vary."""
    pair = ['class="page"', 'id="top"']
    if "order" in kinds and moment.draw.at("order").uniform() < 0.5:
        pair.reverse()
    return " ".join(pair)


def blanks(kinds: tuple[PageNoise, ...], moment: ReplyMoment) -> str:
    """White space of a fixed length and varying kind."""
    if "blanks" not in kinds:
        return "\n"
    byte = moment.draw.at("blanks").bytes(1)[0]
    return "".join(" " if byte >> bit & 1 else "\n" for bit in range(8))


def related(
    articles: tuple[Article, ...], born: int, lives: Lives, moment: ReplyMoment
) -> list[Article]:
    """Random links to articles that are there.

    Args:
        articles: All articles of the host.
        born: Number of them that are born.
        lives: Their lives.
        moment: This reply.
    """
    draw = moment.draw.at("related")
    candidates = [articles[draw.below(born, number)] for number in range(3)] if born else []
    return [article for article in candidates if lives.of(article).lives(moment.time)]
