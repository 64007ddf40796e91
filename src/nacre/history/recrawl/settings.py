"""What an operator may set about visiting a site again."""

from typing import Literal

from nacre.config.component import Component, Seconds, section, setting
from nacre.history.recrawl.ranking import DAY
from nacre.history.schedule.settings import ScheduleSettings


class RecrawlSettings(Component):
    """How a site is visited again."""

    schedule: ScheduleSettings = section(
        ScheduleSettings, "When pages are visited again: as the planner sees fit, or by the clock."
    )
    aim: Literal["fresh", "balanced", "versions"] = setting(
        "versions",
        "Under a budget: `fresh` keeps copies current and gives up on pages that change all the "
        "time, `versions` catches as many versions as it can, `balanced` lies between.",
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
        0.002,
        "Lowest chance of a change for which a page is visited, apart from `floor` and `lots`: "
        "0.002 makes at most 500 requests for one change; 0: no limit.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_silent: float = setting(
        0.05,
        "The same for pages that a proven sitemap does not name as changed: the changes that it "
        "named were real, and pages drawn by lot that it did not name had not changed.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_file: float = setting(
        0.1,
        "The same for attached files: they are large, change seldom, and hardly any hint tells of "
        "them.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_embed: float = setting(
        0.1,
        "The same for embeds: style sheets, scripts, images. They are visited all the same when "
        "pages that need them, or others in their folder, changed.",
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
        "Share of the known pages that each run visits by lot; they measure its recall.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    idle_parameters: Literal["report", "skip"] = setting(
        "report",
        "What to do about query parameters whose value never changed a page, in five pairs of "
        "pages or more. `report`: name them; `skip`: also leave out new URLs that differ from a "
        "known page in such parameters alone, except one in twenty, which tests whether that "
        "still holds.",
        live=False,
        sheets=False,
    )
    trap_share: float = setting(
        0.02,
        "Largest share of a run's visits for places without end (calendars, filters, session "
        "ids), all of them together: of its budget, or of the known pages where these are fewer; "
        "at least ten visits. The rest waits for the next run. 0: none, 1: no limit.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    gap: Seconds = setting(
        3600.0,
        "Shortest time from the beginning of one pass to that of the next, where `nacre recrawl "
        "--continuous` begins them as pages become due.",
        unit="s",
        gt=0,
        live=False,
        sheets=False,
    )
    audits: float = setting(
        0.01,
        "Share of the visits that ask without validators, to see whether a 304 would have been "
        "true; a site that lied is asked without them for 90 days.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    probes: int = setting(
        10,
        "Requests of a run for made-up names, in the directories with the most pages: they show "
        "how a site answers for a page that is gone, were it with status 200. Each directory once "
        "a month.",
        unit="requests",
        ge=0,
        live=False,
        sheets=False,
    )
    gap_probes: int = setting(
        0,
        "Requests of a run, a twentieth of its budget at most, for URLs that nobody linked: where "
        "pages are numbered as they appear, the numbers that are missing in short gaps among the "
        "latest two hundred. A kind of URL of which fewer than one in twenty lead to a page is "
        "given up. 0: none.",
        unit="requests",
        ge=0,
        live=False,
        sheets=False,
    )
    hints: bool = setting(
        True,
        "Use what sitemaps, feeds and lists tell of changes, as far as it has proved true.",
        live=False,
        sheets=False,
    )
    half_life: Seconds = setting(
        180 * DAY,
        "Age at which what was seen of a page counts half; 0: it always counts in full.",
        unit="s",
        live=False,
        sheets=False,
    )
    drift: float = setting(
        0.0,
        "Forget what was seen of a page long ago as soon as its latest visits (those of a sixth "
        "of the half-life) contradict it so clearly: logarithm of how much likelier they are at "
        "the rates that they suggest. 4: clear cases only; 0: never, what was seen fades with the "
        "half-life alone.",
        unit="nats",
        ge=0,
        live=False,
        sheets=False,
    )
    index_half_life: Seconds = setting(
        45 * DAY, "The same for the new links of an index page.", unit="s", live=False, sheets=False
    )
