"""What an operator may set about visiting a site again."""

from typing import Literal

from nacre.config.component import Component, Seconds, setting
from nacre.history.recrawl.ranking import DAY
from nacre.history.schedule.settings import ScheduleSettings


class RecrawlSettings(Component):
    """How a site is visited again."""

    schedule: ScheduleSettings = setting(
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
        "Share of all changes that a visit should find, as estimated; pages that are left over "
        "are not visited. 1 visits every page.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least: float = setting(
        0.002,
        "Chance of a change below which a page is not visited (but for the floor and the lots): "
        "0.002 makes at most 500 requests for one change; 0 is no limit.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_silent: float = setting(
        0.05,
        "The same for pages of which a sitemap says nothing that was right so far: changes that it "
        "told were there, and pages drawn by lot of which it told none had not changed.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    least_file: float = setting(
        0.1,
        "The same for attached files: they are large and seldom change, and hardly any hint tells "
        "of them.",
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
        "Every embed is visited at least so often; 0 for no floor.",
        unit="s",
        live=False,
        sheets=False,
    )
    floor: Seconds = setting(
        180 * DAY,
        "Every page and attached file is visited at least so often; 0 for no floor.",
        unit="s",
        live=False,
        sheets=False,
    )
    lots: float = setting(
        0.003,
        "Share of the known pages drawn by lot each time: they measure the recall.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    idle_parameters: Literal["report", "skip"] = setting(
        "report",
        "Query parameters whose value never changed a page, in five pairs of pages or more: "
        "`report` names them; `skip` lets new URLs wait that differ from a known page in such "
        "parameters alone, but for one in twenty, which tests whether that still holds.",
        live=False,
        sheets=False,
    )
    trap_share: float = setting(
        0.02,
        "Share of the visits of a run (of its budget, or of the known pages where these are fewer) "
        "that places without end may take together: calendars, filters, session ids; at least "
        "ten visits. What is over waits for the next run; 0 visits none, 1 sets no limit.",
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
        "Names made up and asked for in a run, in the directories with the most pages: so a page "
        "that says with status 200 that it is gone can be told. Each directory once a month.",
        unit="requests",
        ge=0,
        live=False,
        sheets=False,
    )
    gap_probes: int = setting(
        0,
        "Requests of a run, a twentieth of its budget at most, for URLs that nobody linked: where "
        "URLs are numbered as they appear, numbers in short gaps of the latest two hundred. Those "
        "that lead to a page less often than one in twenty end. 0: none, as nobody named them.",
        unit="requests",
        ge=0,
        live=False,
        sheets=False,
    )
    hints: bool = setting(
        True,
        "Believe sitemaps, feeds and lists as far as they earned it.",
        live=False,
        sheets=False,
    )
    half_life: Seconds = setting(
        180 * DAY,
        "Age at which what was seen of a page counts half; 0: for ever.",
        unit="s",
        live=False,
        sheets=False,
    )
    drift: float = setting(
        0.0,
        "Forget at once what was seen of a page before when its latest visits (those of a sixth of "
        "the half-life) are so much likelier at the rates that they speak for: logarithm of the "
        "ratio; 4 takes clear cases only. 0: never, it fades with the half-life alone.",
        unit="nats",
        ge=0,
        live=False,
        sheets=False,
    )
    index_half_life: Seconds = setting(
        45 * DAY, "The same for the new links of an index page.", unit="s", live=False, sheets=False
    )
