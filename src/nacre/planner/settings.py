"""The settings of visiting a site again."""

from typing import Literal

from pydantic import model_validator

from nacre.config.component import Component, Seconds, section, setting
from nacre.planner.schedules.schedules import DAY
from nacre.planner.schedules.timetable import ScheduleSettings

WITHOUT_EFFECT = frozenset(("drift", "gap_probes"))
"""Settings of earlier versions that jobs may still have; `nacre check` warns of them."""


class RecrawlSettings(Component):
    """Settings of how a site is visited again: choice of pages, schedules."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out(cls, values: object) -> object:
        """Leave out what an earlier version knew, so that its jobs open."""
        if not isinstance(values, dict):
            return values
        return {name: value for name, value in values.items() if name not in WITHOUT_EFFECT}

    schedule: ScheduleSettings = section(
        ScheduleSettings, "When pages are visited again: as the planner sees fit, or by the clock."
    )
    aim: Literal["fresh", "balanced", "versions"] = setting(
        "versions",
        "Under a budget: `fresh` keeps copies current and gives up pages that change "
        "constantly, `versions` captures as many versions as possible, `balanced` is between "
        "these.",
        live=False,
        sheets=False,
    )
    recall: float = setting(
        0.995,
        "Share of all changes that a run should find, as estimated; once it is expected, the "
        "remaining pages are not visited. 1 visits every page.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least: float = setting(
        0.004,
        "Lowest chance of a change for which a page is visited, apart from `floor` and `lots`: "
        "0.004 makes at most 250 requests for one change; 0: no limit.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_silent: float = setting(
        0.05,
        "The same for pages that a proven sitemap does not name as changed: the changes that it "
        "named were real, and pages drawn at random that it did not name had not changed.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_file: float = setting(
        0.1,
        "The same for attached files: they are large, change seldom, and hints rarely name them.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_embed: float = setting(
        0.1,
        "The same for embeds: style sheets, scripts, images. They are also visited when pages "
        "that need them, or others in their folder, changed.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    embed_floor: Seconds = setting(
        365 * DAY,
        "Every embed is visited at least once in this time; 0 for no floor.",
        unit="s",
        live=False,
        sheets=False,
    )
    floor: Seconds = setting(
        180 * DAY,
        "Every page and attached file is visited at least once in this time; 0 for no floor.",
        unit="s",
        live=False,
        sheets=False,
    )
    lots: float = setting(
        0.003,
        "Share of the known pages that each run visits at random; they measure its recall.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    idle_parameters: Literal["report", "skip"] = setting(
        "report",
        "What to do about query parameters whose value never changed a page, in five pairs of "
        "pages or more. `report`: list them; `skip`: also do not visit new URLs that differ from "
        "a known page only in such parameters, except one in twenty as a test.",
        live=False,
        sheets=False,
    )
    trap_share: float = setting(
        0.02,
        "Largest share of a run's visits for crawler traps (calendars, filters, session ids), "
        "all of them together: of its budget, or of the known pages if these are fewer; at least "
        "ten visits. The rest waits for the next run. 0: none, 1: no limit.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    gap: Seconds = setting(
        3600.0,
        "Shortest time from the beginning of one pass to that of the next, when `nacre recrawl "
        "--continuous` begins them as pages become due.",
        unit="s",
        gt=0,
        live=False,
        sheets=False,
    )
    audits: float = setting(
        0.01,
        "Share of the visits without validators, to check whether a 304 would be correct; a "
        "site with false 304s is visited without validators for 90 days.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    probes: int = setting(
        10,
        "Requests of a run for invented names, in the directories with the most pages: they "
        "show how a site answers for a page that is gone, even with status 200. Each directory "
        "once a month.",
        unit="requests",
        ge=0,
        live=False,
        sheets=False,
    )
    hints: bool = setting(
        True,
        "Use hints of sitemaps, feeds and lists on changes, according to their past accuracy.",
        live=False,
        sheets=False,
    )
    half_life: Seconds = setting(
        180 * DAY,
        "Age at which an observation of a page has half its weight; 0: observations keep their "
        "full weight.",
        unit="s",
        live=False,
        sheets=False,
    )
    index_half_life: Seconds = setting(
        45 * DAY, "The same for the new links of an index page.", unit="s", live=False, sheets=False
    )
