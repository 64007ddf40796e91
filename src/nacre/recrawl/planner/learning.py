"""Learns from a visit: of the page itself, and through `links` of others (pure)."""

import math
from functools import partial

from msgspec import structs

from nacre.core.pagerow import PageKind, PageRow
from nacre.recrawl.planner.change_detection.deletion import Answer, Existence, Life, after
from nacre.recrawl.planner.change_rate.rates import (
    NO_EVIDENCE,
    RECENT,
    Classes,
    chance_of_change,
    has_drifted,
    kept,
    mean_rate,
    observe,
    recent_evidence,
    with_recent,
)
from nacre.recrawl.planner.change_rate.value import DAY
from nacre.recrawl.planner.discovery.hints import HintSource
from nacre.recrawl.planner.discovery.index_pages import INDEX
from nacre.recrawl.planner.links import Links
from nacre.recrawl.planner.phases.embeds import EmbedSigns
from nacre.recrawl.planner.phases.phase import MOST_ERRORS
from nacre.recrawl.planner.step import PAGING, PlannerInputs, Step
from nacre.recrawl.planner.visited import Visited, VisitFinding, unknown_page
from nacre.wire.mime_sniff import is_unknown_type

_EMBEDDED = (
    *("image/", "audio/", "video/", "font/", "text/css", "text/javascript"),
    *("application/javascript", "application/x-javascript", "application/font"),
)


class Learning:
    """Takes in what visits showed.

    Args:
        known: What the planner knows and wants.
        step: The current step.
        classes: Priors of the rates of change.
        embeds: Follows signs that embeds and files changed.
    """

    def __init__(
        self, known: PlannerInputs, step: Step, classes: Classes, embeds: EmbedSigns
    ) -> None:
        self._rows, self._sites, self._judge, self._settings = known
        self._step = step
        self._classes = classes
        self._embeds = embeds
        self._links = Links(known, step)

    def learn(self, visit: Visited) -> VisitFinding:
        """Take in what a visit showed."""
        step = self._step
        row = self._rows.get(visit.url) or unknown_page(visit.url, visit.time, 0)
        if not row.visits and visit.status == 200:
            row.classify(kind_of(visit.mime))
        if step.take_pair(visit.url):
            step.unconfirmed.was_paired(visit.url, self._judge.pair(row, visit))
            return VisitFinding(Answer.SILENT, reason="pair")
        finding = self._judge.judge(row, visit)
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
            self._links.follow(row, visit)
            self._embeds.saw(row, visit, finding)
        if finding.kind.is_change and row.kind is PageKind.PAGE and row.index < 0.5:
            step.looked_changed.append(row.url)
        return finding

    def _page_was_read(self, row: PageRow, finding: VisitFinding) -> None:
        """A page of a list that gave no answer is tried in a limited number of further steps."""
        if finding.answer is not Answer.SILENT or row.errors >= MOST_ERRORS:
            self._sites.was_read(row.url)

    def settle(self) -> None:
        """After the lists of the step were read: each learns its own pace of new links."""
        step = self._step
        step.unconfirmed.settle()
        self._links.settle()

    def _observe(
        self, row: PageRow, visit: Visited, finding: VisitFinding, propensity: float
    ) -> None:
        """Learn of the page itself."""
        step = self._step
        changed = finding.kind.is_change or (row.life == Life.LIVE and _is_missing(finding.answer))
        if row.visits and row.life == Life.LIVE:
            self._learn_rate(row, visit.time, finding, changed=changed)
        if row.visits and row.life == Life.LIVE and row.kind is PageKind.PAGE:
            learn = partial(
                self._learn_of_others,
                now=visit.time,
                dated=finding.dated,
                propensity=propensity,
                changed=changed,
            )
            if finding.suspect:
                before = structs.replace(row)
                step.unconfirmed.note(row.url, finding.suspect, partial(learn, before))
            else:
                learn(row)
        answer = finding.answer
        if answer in {Answer.MISSING, Answer.SOFT} and set(row.told) - {HintSource.CO_CHANGE}:
            # Its site says so too: no second look is needed.
            answer = Answer.GONE
        state = Existence(Life(row.life), row.life_since, row.looks, row.target)
        state = after(state, answer, visit.time, _target(visit))
        row.live(str(state.life), state.since, state.looks, state.target)
        other = answer is Answer.THERE and visit.digest not in {"", row.digest}
        noise = bool(row.digest) and not changed and other
        row.answered(visit.time, changed=changed, noise=noise)
        step.found += row.kind is not PageKind.EMBED and (changed or row.visits == 1)
        if finding.answer is Answer.THERE:
            row.showed(visit.digest, visit.length, finding.dated, finding.listing)

    def _learn_of_others(
        self, row: PageRow, now: float, dated: int, propensity: float, *, changed: bool
    ) -> None:
        """Learn which sources announced a change, and what changed with it; `row` is as before."""
        self._sites.learn_hints(row, now, changed=changed, propensity=propensity)
        if row.dated:
            self._sites.learn_date(row, now, dated, changed=changed)
        if row.index < INDEX:
            self._sites.note_together(row, now, changed=changed)

    def _learn_rate(
        self, row: PageRow, now: float, finding: VisitFinding, *, changed: bool
    ) -> None:
        time = self._sites.time(row.url)
        days = time.days(row.last_visit, now)
        plain = (now - row.last_visit) / DAY
        own = chance_of_change(self._classes.posterior(row), days)
        # A change that youth explains says little of the page's own rate: like noise.
        calm = (1.0 - finding.noise) * math.exp(-time.young(row, row.last_visit, now))
        self._step.compared[row.template] += not row.evidence
        evidence = observe(
            row.evidence or NO_EVIDENCE,
            days,
            changed=changed,
            noise=1.0 - calm,
            keep=kept(plain, self._settings.half_life / DAY),
        )
        row.rated(evidence)
        if self._settings.drift:
            self._watch_drift(row, days, plain, changes=calm * changed)
        self._sites.learn_age(row, now, own, changed=changed)

    def _watch_drift(self, row: PageRow, days: float, plain: float, *, changes: float) -> None:
        """What was seen long ago is forgotten when the latest visits contradict it."""
        believed = self._classes.posterior(row)
        keep = kept(plain, self._settings.half_life / DAY / RECENT)
        recent = with_recent(row.recent, mean_rate(believed), days, changes=changes, keep=keep)
        drifted = has_drifted(believed, recent, self._classes.prior(row), self._settings.drift)
        row.rated(recent_evidence(recent) if drifted else row.evidence, recent)


def _target(visit: Visited) -> str:
    return next((link.url for link in visit.links if link.hop == "R"), "")


def _is_missing(answer: Answer) -> bool:
    return answer in {Answer.MISSING, Answer.GONE, Answer.SOFT, Answer.MOVED}


def kind_of(mime: str) -> PageKind:
    """The purpose of visits to a URL with this media type; "" for an unknown one."""
    if mime.startswith(_EMBEDDED):
        return PageKind.EMBED
    is_page = "html" in mime or "xml" in mime or is_unknown_type(mime)
    return PageKind.PAGE if is_page else PageKind.FILE
