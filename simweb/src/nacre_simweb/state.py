"""The state of the planner and its knowledge of the site: size of rows, index pages, rules."""

import time

import msgspec

from nacre.core.pagerow import PageRow
from nacre.core.urlshape import shaped
from nacre.planner.change_rate.rates import (
    LISTS,
    NO_EVIDENCE,
    PAGES,
    Classes,
    layout,
    observe,
)
from nacre.planner.change_rate.value import Hazard, SiteTime
from nacre.planner.discovery.link_rules import LinkHistory, LinkRule
from nacre.planner.ranking import Ranking, ValueTerms
from nacre.planner.visited import Rows
from nacre_simweb.calendar import DAY
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.parameters import UrlStyle
from nacre_simweb.recall import Measures, share
from nacre_simweb.truth import Truth
from nacre_simweb.world import World

_LISTS = frozenset({"list", "home"})
_INDEX = 0.5
_DECISIONS = 20_000
RULES: dict[UrlStyle, LinkRule] = {
    "dated": LinkRule.TIMESTAMP,
    "dashed": LinkRule.TIMESTAMP,
    "numbered": LinkRule.SEQUENCE,
    "thread": LinkRule.SEQUENCE,
    "path": LinkRule.SEQUENCE,
    "slug": LinkRule.KEY,
    "hashed": LinkRule.KEY,
}
"""The rule that each way of naming articles calls for: T shows the day of birth, S a serial number
that rises from birth to birth, K neither (reference 2.8)."""


def state(archive: KeptCaptures, rows: Rows) -> Measures:
    """Bytes of a row beside its URL and template, and F1 of index pages against the log."""
    kinds = {row.url: row.kind for row in archive.rows if row.status == 200}
    sizes, hits, called, there = [], 0, 0, 0
    for row in rows.scan():
        named = len(row.url) + len(row.template)
        sizes.append(len(msgspec.msgpack.encode(row)) - named)
        kind = kinds.get(row.url)
        if kind in _LISTS or kind == "article":
            index = row.index >= _INDEX
            hits += index and kind in _LISTS
            called += index
            there += kind in _LISTS
    return {
        "row_bytes": share(sum(sizes), len(sizes)),
        "index_f1": share(2 * hits, called + there),
    }


def rules(world: World, every: float = DAY) -> float | None:
    """Share of the links of new articles whose template got the right rule.

    Args:
        world: Its naming of articles determines the right rule.
        every: Time between looks at the lists, seconds.
    """
    histories: dict[str, LinkHistory] = {}
    wider: dict[str, LinkHistory] = {}
    born = [article for article in Truth(world).tracks.values() if article.kind == "article"]
    for track in sorted(born, key=lambda article: article.born):
        if track.born > 0 and track.spans[0].change == "new":
            shape = shaped(track.url)
            epoch = world.epoch((track.born // every + 1) * every)
            histories.setdefault(shape.name, LinkHistory()).add(shape.tokens, epoch)
            wider.setdefault(layout(shape.name), LinkHistory()).add(shape.tokens, epoch)
    right = RULES[world.parameters.shape.urls]
    total = good = 0
    for name, own in histories.items():
        history = own if own.speaks else wider[layout(name)]
        total += own.count
        good += own.count * (history.choice().rule is right)
    return share(good, total)


def decisions_a_second() -> float:
    """Bids for pages that the planner makes in a second of processor time, on this machine."""
    evidences = [
        observe(NO_EVIDENCE, 1.0 + number % 40, changed=not number % 7) for number in range(280)
    ]
    rows = [
        PageRow(f"http://a.test/{number}", visits=2, evidence=evidences[number % 280])
        for number in range(_DECISIONS)
    ]
    classes = Classes(lambda row: row.evidence, PAGES)
    classes.fit(rows[:1000])
    terms = ValueTerms(1.0, 0.0, versions=True)
    ranking = Ranking(classes, Classes(lambda row: row.arrivals, LISTS), terms)
    site = SiteTime(Hazard())
    began = time.process_time()
    for row in rows:
        ranking.visit(row, 7 * DAY, site, ())
    return _DECISIONS / (time.process_time() - began)
