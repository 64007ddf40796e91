"""The worlds by name. Half of them contain no page that follows a Poisson process.

Two are after the sites of the National Library of China's paper.
"""

from collections.abc import Callable
from typing import Literal

from nacre.errors import ConfigError
from nacre_simweb.parameters import (
    Births,
    Deaths,
    Edits,
    Moves,
    Noise,
    PageNoise,
    SimulatedFailures,
    SimulatedHints,
    SimulatedTraps,
    SiteShape,
    Templates,
    Validators,
    WorldParameters,
)
from nacre_simweb.process import Kind

HintName = Literal["none", "honest", "partial", "lying"]
_WITHOUT_POISSON: tuple[tuple[Kind, float], ...] = (
    ("bursty", 0.3),
    ("calendar", 0.2),
    ("periodic", 0.2),
    ("heavy", 0.3),
)


def _gov_twin() -> WorldParameters:
    """www.gov.cn of the paper: 7,436 pages, some 120 of them lists, +646 in a quarter."""
    shape = SiteShape(
        pages=7316, sections=24, list_size=80, language="zh", urls="dashed", paragraphs=8,
        shared_embeds=12, own_embeds=3, embed_bytes=60_000,
    )  # fmt: skip
    edits = Edits(hot=0.002, hot_per_day=0.6)
    return WorldParameters(
        domain="gov-twin.test", shape=shape, births=Births(per_day=8.7), edits=edits
    )


def _mct_twin() -> WorldParameters:
    """www.mct.gov.cn of the paper: 1,971 pages that become 2,488 in a quarter. No Poisson page."""
    shape = SiteShape(
        pages=1930, sections=14, list_size=80, language="zh", urls="dated", paragraphs=6,
        shared_embeds=8, own_embeds=2, embed_bytes=20_000,
    )  # fmt: skip
    edits = Edits(processes=_WITHOUT_POISSON)
    return WorldParameters(
        domain="mct-twin.test", shape=shape, births=Births(per_day=6.4), edits=edits
    )


def _news() -> WorldParameters:
    """Many articles a day, corrected in their first hours, then never."""
    shape = SiteShape(pages=3000, sections=10, language="zh", urls="dated", shared_embeds=8)
    edits = Edits(
        untouched=0.9, hot=0.01, hot_per_day=4, early_per_day=2.0, early_days=0.5, rhythm="news",
        processes=(("bursty", 0.7), ("heavy", 0.3)),
    )  # fmt: skip
    births = Births(per_day=40, rhythm="news")
    return WorldParameters(domain="news.test", shape=shape, births=births, edits=edits)


def _culture() -> WorldParameters:
    """A small site of a museum: little happens."""
    shape = SiteShape(pages=300, sections=6, language="zh", urls="numbered", attachments=0.2)
    return WorldParameters(
        domain="culture.test", shape=shape, births=Births(per_day=0.5), edits=Edits(every=1200)
    )


def _wiki() -> WorldParameters:
    """Bursts of edits, names without order, few deletions."""
    shape = SiteShape(pages=2000, sections=8, urls="slug", own_embeds=1)
    edits = Edits(
        untouched=0.2, every=120, hot=0.05, hot_per_day=2, early_per_day=1.0, early_days=2,
        rhythm="flat", processes=(("bursty", 0.6), ("heavy", 0.4)), reverts=0.08,
    )  # fmt: skip
    births = Births(per_day=5, rhythm="flat")
    return WorldParameters(domain="wiki.test", shape=shape, births=births, edits=edits)


def _forum() -> WorldParameters:
    """Threads that grow for days, with session ids in links."""
    shape = SiteShape(pages=2500, sections=12, urls="thread", own_embeds=0, shared_embeds=6)
    edits = Edits(untouched=0.8, every=200, early_per_day=4.0, early_days=2.0, rhythm="news")
    return WorldParameters(
        domain="forum.test", shape=shape, births=Births(per_day=30, rhythm="news"), edits=edits,
        noise=Noise(share=0.9), traps=SimulatedTraps(sessions=True),
    )  # fmt: skip


def _shop() -> WorldParameters:
    """Prices change by the clock of a job; nearly all pages are noisy; goods come and go."""
    shape = SiteShape(pages=2000, sections=15, urls="hashed", own_embeds=3)
    edits = Edits(
        untouched=0.3, every=20, hot=0.1, hot_per_day=1, early_per_day=0, rhythm="flat",
        processes=(("calendar", 0.6), ("periodic", 0.4)),
    )  # fmt: skip
    return WorldParameters(
        domain="shop.test", shape=shape, births=Births(per_day=10, rhythm="flat"), edits=edits,
        noise=Noise(share=0.95), deaths=Deaths(per_year=0.8), traps=SimulatedTraps(facets=6),
    )  # fmt: skip


def _docs() -> WorldParameters:
    """Documentation: releases change half of it at once."""
    shape = SiteShape(pages=800, sections=10, urls="path", own_embeds=0, shared_embeds=5)
    births = Births(per_day=0.2, releases=(20, 55, 80), rhythm="flat")
    edits = Edits(untouched=0.9, hot=0, early_per_day=0, processes=(("heavy", 1.0),))
    return WorldParameters(
        domain="docs.test", shape=shape, births=births, edits=edits, noise=Noise(share=0.05),
        validators=Validators(modes=(("both", 1.0),)),
    )  # fmt: skip


def _dying() -> WorldParameters:
    """Nobody minds it any more: pages go away, half of them without saying so."""
    deaths = Deaths(per_year=1.5, missing=0.35, gone=0.05, soft=0.45, home=0.15, back=0.1)
    return WorldParameters(
        domain="dying.test", shape=SiteShape(pages=1000, language="zh", urls="dated"),
        births=Births(per_day=0.05), deaths=deaths, edits=Edits(untouched=0.9, hot=0),
        failures=SimulatedFailures(outages_per_day=0.3, silent=0.02, challenged=0.01),
    )  # fmt: skip


def _trap() -> WorldParameters:
    """All traps and failures at once."""
    traps = SimulatedTraps(
        calendar=True, sessions=True, facets=8, loop=True, wide=1_000_000, slow=True,
        huge=50_000_000,
    )  # fmt: skip
    failures = SimulatedFailures(
        outages_per_day=0.5, silent=0.01, throttle=240, wall=600, robots_changes=True
    )
    return WorldParameters(
        domain="trap.test", shape=SiteShape(pages=400), traps=traps, failures=failures,
        validators=Validators(modes=(("stable", 0.5), ("now", 0.5))),
    )  # fmt: skip


def _multi_host() -> WorldParameters:
    """A farm of forty small sites with holidays and a strict Crawl-delay. No Poisson page."""
    shape = SiteShape(hosts=40, pages=4000, sections=4, language="zh", urls="numbered")
    return WorldParameters(
        domain="farm.test", shape=shape, births=Births(per_day=12, rhythm="holidays"),
        edits=Edits(processes=_WITHOUT_POISSON, rhythm="holidays"), moves=Moves(redesign=45),
        crawl_delay=10,
    )  # fmt: skip


def _terms() -> WorldParameters:
    """After archives of terms of service: noise from day to day, and few real changes."""
    kinds: tuple[PageNoise, ...] = ("token", "buster", "blanks", "rotating", "wording")
    shape = SiteShape(hosts=10, pages=85, sections=1, urls="slug", paragraphs=20, own_embeds=0)
    edits = Edits(
        untouched=0, every=165, sigma=1.0, hot=0, early_per_day=0, minor=0.6,
        processes=_WITHOUT_POISSON,
    )  # fmt: skip
    return WorldParameters(
        domain="terms.test", shape=shape, births=Births(per_day=0.02), edits=edits,
        noise=Noise(share=0.65, kinds=kinds, daily=0.74, shown=0.06), deaths=Deaths(per_year=0.02),
    )  # fmt: skip


def _manual() -> WorldParameters:
    """After the site of a product: a release changes all titles; twins and a menu; few edits."""
    shape = SiteShape(
        pages=2900, sections=10, urls="path", own_embeds=0, shared_embeds=5, menu=12, twins=0.02
    )
    edits = Edits(
        untouched=0.95, every=550, sigma=1.0, hot=0, early_per_day=0, processes=_WITHOUT_POISSON
    )
    return WorldParameters(
        domain="manual.test", shape=shape, births=Births(per_day=0.2, rhythm="flat"), edits=edits,
        noise=Noise(share=0), templates=Templates(per_day=1 / 140, versioned=True), days=280,
    )  # fmt: skip


def _app() -> WorldParameters:
    """A museum's application: every page is the same shell, and its content a JSON reply."""
    shape = SiteShape(
        pages=1500, sections=10, list_size=40, language="zh", urls="numbered", shared_embeds=2,
        app=True,
    )  # fmt: skip
    edits = Edits(processes=_WITHOUT_POISSON)
    deaths = Deaths(soft=1.0, missing=0.0, gone=0.0, home=0.0)
    return WorldParameters(
        domain="app.test", shape=shape, births=Births(per_day=4), edits=edits, deaths=deaths
    )


def _small() -> WorldParameters:
    """Sixty pages where everything happens often: for tests and first looks."""
    shape = SiteShape(pages=50, sections=3, list_size=10, language="zh", shared_embeds=3)
    edits = Edits(untouched=0.3, every=10, hot=0.1, hot_per_day=1)
    return WorldParameters(
        domain="small.test", shape=shape, births=Births(per_day=1.0, sigma=0.5), edits=edits,
        deaths=Deaths(per_year=2.0), moves=Moves(redirected_per_year=0.4, silent_per_year=0.2),
        templates=Templates(per_day=1 / 20), days=60,
    )  # fmt: skip


ARCHETYPES: dict[str, Callable[[], WorldParameters]] = {
    "gov-twin": _gov_twin,
    "mct-twin": _mct_twin,
    "news": _news,
    "culture": _culture,
    "wiki": _wiki,
    "forum": _forum,
    "shop": _shop,
    "docs": _docs,
    "dying": _dying,
    "trap": _trap,
    "multi-host": _multi_host,
    "terms": _terms,
    "manual": _manual,
    "app": _app,
    "small": _small,
}
"""The worlds that `--world` names."""


def archetype(name: str, hints: HintName = "none") -> WorldParameters:
    """A world by name.

    Args:
        name: A key of `ARCHETYPES`.
        hints: `none`: neither sitemap, feed, teasers nor validators; `honest`: all, and true;
            `partial`: a sitemap that reports 80 % of the changes; one of five reports is false;
            `lying`: all, and false.

    Raises:
        ConfigError: There is no world of that name.
    """
    if name not in ARCHETYPES:
        names = ", ".join(sorted(ARCHETYPES))
        raise ConfigError(f"--world: there is no world {name!r}; there are {names}")
    parameters = ARCHETYPES[name]()
    hint_settings, validators = _HINTS[hints]
    return parameters.model_copy(update={"hints": hint_settings, "validators": validators})


_HINTS: dict[HintName, tuple[SimulatedHints, Validators]] = {
    "none": (SimulatedHints(teasers=False), Validators(modes=(("none", 1.0),))),
    "honest": (SimulatedHints(sitemap="honest", feed=50), Validators(modes=(("both", 1.0),))),
    "partial": (
        SimulatedHints(sitemap="partial", recall=0.8, false_per_day=0.005, teasers=False),
        Validators(modes=(("none", 1.0),)),
    ),
    "lying": (
        SimulatedHints(sitemap="partial", recall=0.3, false_per_day=0.05, teasers=False),
        Validators(modes=(("stable", 0.5), ("now", 0.5))),
    ),
}
