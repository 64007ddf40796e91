"""The score of an archive: from the WARCs and the server's log, never from the crawler's claims.

The measures are explained in docs/simweb.md; articles, files, lists and embeds apart. The same
archive gives the same bytes.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from nacre_simweb.calendar import DAY
from nacre_simweb.cost import costs, savings
from nacre_simweb.draw import Draw
from nacre_simweb.driver import Driver, Forecast
from nacre_simweb.forecasts import forecast_quality, rate_error
from nacre_simweb.holdings import Holdings
from nacre_simweb.judgement import judgements
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.policy import Policy, WithRates, WithRegister
from nacre_simweb.recall import (
    CountedWindow,
    Measures,
    deletion,
    discovery,
    epoch_recall,
    version_recall,
)
from nacre_simweb.servelog import Row
from nacre_simweb.steadiness import blur, coherence, freshness
from nacre_simweb.truth import Track, Truth
from nacre_simweb.world import World

Score = dict[str, Measures]
"""Measures by group."""

_CLOSING = 31 * DAY


class Claims(NamedTuple):
    """The claims of a policy; they are scored, and have no influence on recall.

    Attributes:
        rates: Changes a day, by URL; None for a policy without a model.
        forecasts: Its forecasts.
        register: URLs that it holds to be gone since when, seconds; None for no register.
    """

    rates: Mapping[str, float] | None = None
    forecasts: Sequence[Forecast] = ()
    register: dict[str, float] | None = None


def claims_of(policy: Policy, driver: Driver) -> Claims:
    """Return the claims of a policy about itself, once it was driven."""
    rates = policy.rates() if isinstance(policy, WithRates) else None
    register = policy.register() if isinstance(policy, WithRegister) else None
    return Claims(rates, driver.forecasts, register)


def score(
    world: World, archive: KeptCaptures, window: CountedWindow, claims: Claims | None = None
) -> Score:
    """Score an archive.

    Args:
        world: The world that was crawled.
        archive: What was kept of it, and the server's log.
        window: The steps.
        claims: What the policy says of itself.
    """
    claimed = claims or Claims()
    tracks = list(Truth(world).tracks.values())
    groups = {kind: [t for t in tracks if t.kind == kind] for kind in _KINDS}
    articles, holdings = groups["article"], Holdings(archive)
    draw = Draw(world.seed).at("score")
    result: Score = {
        "epoch": epoch_recall(articles, holdings, window),
        "versions": version_recall(articles, holdings, window),
        "new_pages": discovery(articles, holdings, window),
        "deletions": deletion(articles, holdings, window, claimed.register),
        "currency": {
            **freshness(articles, holdings, window),
            "coherence_embeds": coherence(_embedding(tracks), holdings, window, draw.at("embeds")),
            "coherence_lists": coherence(_listed(world, tracks), holdings, window, draw.at("list")),
            "blur": blur(articles, holdings, window, draw.at("blur")),
        },
        "judgement": judgements(world, archive),
        "cost": costs(world, archive, window),
        "saving": savings(world, archive, tracks, window),
        "model": {
            "rate_rmse_ln": rate_error(world, claimed.rates, window.end),
            **forecast_quality(archive, claimed.forecasts),
        },
        "invariants": _invariants(world, archive),
    }
    for kind in ("list", "file", "embed"):
        result[f"epoch_{kind}s"] = epoch_recall(groups[kind], holdings, window)
        result[f"versions_{kind}s"] = version_recall(groups[kind], holdings, window)
    return result


_KINDS = ("article", "list", "file", "embed")


def _embedding(tracks: Sequence[Track]) -> list[tuple[Track, Track]]:
    """Return each page with its own embeds."""
    by_url = {track.url: track for track in tracks}
    return [
        (by_url[track.page], track)
        for track in tracks
        if track.kind == "embed" and track.page in by_url
    ]


def _listed(world: World, tracks: Sequence[Track]) -> list[tuple[Track, Track]]:
    """Return each start page with the articles of its host."""
    by_url = {track.url: track for track in tracks}
    pairs = []
    for track in tracks:
        if track.kind == "article" and track.born > 0:
            start = f"http://{urlsplit(track.url).netloc}/"
            pairs.append((by_url[start], track))
    return pairs if world.starts else []


def _invariants(world: World, archive: KeptCaptures) -> Measures:
    """Hard rules: all must be 0."""
    rows = archive.rows
    return {
        "politeness_violations": float(_too_soon(world, rows)),
        "robots_violations": float(sum(_is_forbidden(world, row) for row in rows)),
        "scope_violations": float(
            sum(world.site.host_number(urlsplit(row.url).hostname or "") < 0 for row in rows)
        ),
        "archive_problems": float(len(archive.problems)),
    }


def _too_soon(world: World, rows: Sequence[Row]) -> int:
    """Requests of a host within its Crawl-delay; robots.txt itself is free."""
    delay = world.parameters.crawl_delay
    if not delay or all(row.at == row.time for row in rows):
        return 0
    last: dict[str, float] = {}
    count = 0
    for row in rows:
        if row.kind == "robots":
            continue
        host = urlsplit(row.url).netloc
        count += row.at - last.get(host, -delay) < delay * 0.999
        last[host] = row.at
    return count


def _is_forbidden(world: World, row: Row) -> bool:
    path = urlsplit(row.url).path
    if path.startswith("/private/"):
        return True
    closes = world.parameters.failures.robots_changes and row.time >= _CLOSING
    return closes and path.startswith(f"/{world.resources.names.section(0)}/")


def score_bytes(scores: object) -> bytes:
    """Return a score file."""
    return msgspec.json.format(msgspec.json.encode(scores), indent=1) + b"\n"
