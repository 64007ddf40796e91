"""Learns from a visit: about the page itself, and through `links` about other pages (pure)."""

import math
from functools import partial

from msgspec import structs

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer, Existence, Life, after
from nacre.planner.change_rate.calibration import simple_chance
from nacre.planner.change_rate.events import section_of
from nacre.planner.change_rate.rates import (
    NO_EVIDENCE,
    Classes,
    chance_of_change,
    observe,
    remaining_share,
)
from nacre.planner.change_rate.value import DAY
from nacre.planner.discovery.hints import HintSource
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.links import Links
from nacre.planner.phases.embeds import EmbedSigns
from nacre.planner.phases.phase import MOST_ERRORS
from nacre.planner.step import PAGING, Observed, PlannerInputs, Step
from nacre.planner.visited import Visited, VisitFinding, unknown_page
from nacre.wire.mime_sniff import is_unknown_type

_EMBEDDED = (
    *("image/", "audio/", "video/", "font/", "text/css", "text/javascript"),
    *("application/javascript", "application/x-javascript", "application/font"),
)
_MAJORITY = 0.5
"""Least chance of an event that explains a change of a page: if less of a section changed, some of
its pages may change often. A guess that no goal depends on."""
_MOVED = 0.02
"""Difference of chances from which evidence is written again: a bound of work."""


class Learning:
    """Learns from visits.

    Args:
        known: The inputs of the planner.
        step: The current step.
        classes: Priors of the rates of change.
        embeds: Follows signs that embeds and files changed.
    """

    def __init__(
        self, inputs: PlannerInputs, step: Step, classes: Classes, embeds: EmbedSigns
    ) -> None:
        self._rows, self._sites, self._judge, self._settings = inputs
        self._step = step
        self._classes = classes
        self._embeds = embeds
        self._links = Links(inputs, step)

    def learn(self, visit: Visited) -> VisitFinding:
        """Learn from a visit."""
        step = self._step
        row = self._rows.get(visit.url) or unknown_page(visit.url, visit.time, 0)
        if not row.visits and visit.status == 200:
            row.classify(kind_of(visit.mime))
        if step.take_pair(visit.url):
            step.unconfirmed.was_paired(visit.url, self._judge.pair(row, visit))
            return VisitFinding(Answer.SILENT, reason="pair")
        finding, before = self._judge.judge(row, visit), row.last_visit
        choice = step.chosen.get(visit.url)
        if finding.answer is Answer.SILENT:
            row.unanswered()
        else:
            self._observe(row, visit, finding, choice.propensity if choice else 1.0)
        if choice is not None and choice.reason == PAGING:
            self._page_was_read(row, finding)
        self._rows.put(row)
        step.touched[row.url] = None
        if finding.answer is not Answer.SILENT:
            self._links.follow(row, visit, before)
            self._embeds.saw(row, visit, finding)
        if finding.kind.is_change and row.kind is PageKind.PAGE and row.index < 0.5:
            step.looked_changed.append(row.url)
        return finding

    def _page_was_read(self, row: PageRow, finding: VisitFinding) -> None:
        """Try a page of a list that gave no answer again, in a limited number of further steps."""
        if finding.answer is not Answer.SILENT or row.errors >= MOST_ERRORS:
            self._sites.was_read(row.url)

    def settle(self) -> None:
        """Learn after the step from all its visits together: about events and lists."""
        step = self._step
        step.unconfirmed.settle()
        self._blame_events()
        self._links.settle()

    def _observe(
        self, row: PageRow, visit: Visited, finding: VisitFinding, propensity: float
    ) -> None:
        """Learn about the page itself."""
        step = self._step
        changed = finding.kind.is_change or (row.life == Life.LIVE and _is_missing(finding.answer))
        if row.visits and row.life == Life.LIVE:
            self._learn_rate(row, visit.time, finding, changed=changed)
        if row.visits and row.life == Life.LIVE and row.kind is PageKind.PAGE:
            learn = partial(
                self._sites.learn_hints,
                structs.replace(row) if finding.suspect else row,
                visit.time,
                changed=changed,
                propensity=propensity,
            )
            if finding.suspect:
                step.unconfirmed.note(row.url, finding.suspect, learn)
            else:
                learn()
        answer = finding.answer
        if _is_second_look(row):
            self._sites.learn_return(row.url, back=answer is Answer.THERE)
        if answer in {Answer.MISSING, Answer.SOFT} and set(row.told) - {HintSource.CO_CHANGE}:
            # Its site says so too: no second look is needed.
            answer = Answer.GONE
        state = Existence(Life(row.life), row.life_since, row.looks, row.target)
        state = after(state, answer, visit.time, _target(visit))
        row.live(str(state.life), state.since, state.looks, state.target)
        differs = answer is Answer.THERE and visit.digest not in {"", row.digest}
        noise = bool(row.digest) and not changed and differs
        row.answered(visit.time, changed=changed, noise=noise)
        step.found += row.kind is not PageKind.EMBED and (changed or row.visits == 1)
        if finding.answer is Answer.THERE:
            row.showed(visit.digest, visit.length, finding.listing)

    def _learn_rate(
        self, row: PageRow, now: float, finding: VisitFinding, *, changed: bool
    ) -> None:
        time = self._sites.time(row.url)
        days = max(0.0, (now - row.last_visit) / DAY)
        own = promised = chance_of_change(self._classes.posterior(row), days)
        # A change that youth explains says little of the page's own rate: like noise.
        calm = (1.0 - finding.noise) * math.exp(-time.young(row, row.last_visit, now))
        self._step.compared[section_of(row)] += not row.evidence
        event = 0.0
        # Where a sitemap tells of changes, or only the pages' own rates count, a new frame is none.
        framed = finding.kind is ChangeClass.TEMPLATE and self._settings.hints
        is_observed = changed or (framed and not self._sites.covers(row, self._step.time))
        if row.kind is PageKind.PAGE:
            own = self._sites.forecasting(row, time).own(row, self._classes.posterior(row), days)
            look = 1.0 - (1.0 - own) * calm
            event = self._learn_forecast(row, (look, promised), now, days, changed=is_observed)
        observed = Observed(structs.replace(row), days, calm, event, promised)
        if changed:
            self._step.observe(row.url, observed)
        row.rated(self._evidence(observed, event, changed=changed))
        expected = 1.0 - (1.0 - own) * (1.0 - event)
        self._sites.learn_age(row, now, expected, changed=changed)

    def _learn_forecast(
        self,
        row: PageRow,
        chances: tuple[float, float],
        now: float,
        days: float,
        *,
        changed: bool,
    ) -> float:
        """Learn from a page about the events of its sections, and about forecasts.

        Args:
            row: As before the visit.
            chances: Chance that its own rate, its youth or noise make it look changed, and the
                chance by its rate alone, not corrected.
            now: Time of the visit.
            days: Days since the visit before.
            changed: A reader sees a difference.

        Returns:
            Probability that an event has changed it.
        """
        own, promised = chances
        events, forecasts = self._sites.events(row.url), self._sites.forecasts(row.url)
        choice = self._step.chosen.get(row.url)
        if choice is not None and not row.told:
            simple = simple_chance(row, days, self._step.every)
            forecasts.score(choice.chance, simple, changed=changed)
        mapped = self._sites.covers(row, self._step.time)
        if not row.told and row.index < INDEX and not mapped:
            # A list changes with each new link: it says little of other pages. A sitemap tells.
            events.look(row, own, now, changed=changed)
        event = events.share(row)
        if not row.told and not changed:
            forecasts.learn(promised, changed=0.0)
        return event

    def _evidence(self, observed: Observed, event: float, *, changed: bool) -> bytes:
        """Return the evidence after a visit; an event is no evidence for the page's own rate.

        Args:
            observed: The result of the visit.
            event: Probability that an event has changed the page.
            changed: It had changed.
        """
        return observe(
            observed.before.evidence or NO_EVIDENCE,
            observed.days,
            changed=changed,
            noise=1.0 - observed.calm * (1.0 - (event if event >= _MAJORITY else 0.0)),
            keep=remaining_share(observed.days, self._settings.half_life / DAY),
        )

    def _blame_events(self) -> None:
        """Learn again from changes that later visits of the step attribute to an event."""
        step = self._step
        for url, observed in step.take_observed().items():
            event = self._sites.events(url).share(observed.before)
            if not observed.before.told and observed.before.kind is PageKind.PAGE:
                by_rate = (1.0 - event) * observed.promised
                share = by_rate / (by_rate + event) if event > 0.0 else 1.0
                self._sites.forecasts(url).learn(observed.promised, changed=observed.calm * share)
            row = self._rows.get(url)
            if row is None or row.last_visit != step.time or abs(event - observed.event) < _MOVED:
                continue
            row.rated(self._evidence(observed, event, changed=True))
            self._rows.put(row)


def _target(visit: Visited) -> str:
    return next((link.url for link in visit.links if link.hop == "R"), "")


def _is_second_look(row: PageRow) -> bool:
    """Whether a visit checks if a gone page is back, or if a dead link works."""
    dead = row.life == Life.GONE or (row.life == Life.SUSPECT and not row.digest)
    return dead and row.visits > 0 and not row.told


def _is_missing(answer: Answer) -> bool:
    return answer in {Answer.MISSING, Answer.GONE, Answer.SOFT, Answer.MOVED}


def kind_of(mime: str) -> PageKind:
    """The purpose of visits to a URL with this media type; "" for an unknown one."""
    if mime.startswith(_EMBEDDED):
        return PageKind.EMBED
    is_page = "html" in mime or "xml" in mime or is_unknown_type(mime)
    return PageKind.PAGE if is_page else PageKind.FILE
