"""What an operator may set about schedules: when a page is visited again without the planner."""

from typing import Literal, Self

from pydantic import model_validator

from nacre.config.component import Component, Seconds, section, setting
from nacre.history.schedule.nutch import NutchSettings
from nacre.history.schedule.schedules import DAY, HERITRIX, HOUR, STORMCRAWLER, Calendar, Factors

Kind = Literal[
    "worth",
    "fixed",
    "calendar",
    "nutch-default",
    "nutch-adaptive",
    "nutch-mime-adaptive",
    "heritrix",
    "stormcrawler",
]


class NutchTimes(NutchSettings):
    """Nutch's schedules in a job."""

    mime_file: str = setting(
        "",
        "File of rates by media type, as Nutch's `adaptive-mimetypes.txt` has them (type, growth, "
        "shrinkage, parted by tabs), relative to the job; empty: none. `mime_rates` go before it.",
        live=False,
        sheets=False,
    )
    retry_max: int = setting(
        3,
        "Failures in a row after which a page counts as gone (`db.fetch.retry.max`).",
        unit="visits",
        ge=1,
        live=False,
    )


class FactorTimes(Component):
    """An interval that shrinks when a page changed and grows when it did not."""

    first: Seconds = setting(DAY, "First interval.", unit="s", gt=0, live=False)
    first_text: Seconds = setting(DAY, "First interval of text.", unit="s", gt=0, live=False)
    first_image: Seconds = setting(DAY, "First interval of images.", unit="s", gt=0, live=False)
    unknown: Seconds = setting(
        DAY, "Time until the next visit after one that said nothing.", unit="s", gt=0, live=False
    )
    shortest: Seconds = setting(HOUR, "Shortest interval.", unit="s", gt=0, live=False)
    longest: Seconds = setting(28 * DAY, "Longest interval.", unit="s", gt=0, live=False)
    grow: float = setting(1.5, "Factor for a page that did not change.", ge=1, live=False)
    shrink: float = setting(0.5, "Factor for one that did.", gt=0, le=1, live=False)


class HeritrixTimes(FactorTimes):
    """Wait factors of Heritrix 1.14's adaptive revisiting; its defaults."""

    first_text: Seconds = setting(DAY / 2, "First interval of text.", unit="s", gt=0, live=False)
    first_image: Seconds = setting(2 * DAY, "First interval of images.", unit="s", gt=0, live=False)
    unknown: Seconds = setting(
        3 * DAY,
        "Time until the next visit after one that said nothing.",
        unit="s",
        gt=0,
        live=False,
    )
    shrink: float = setting(
        HERITRIX.shrink,
        "Factor for a page that changed: 1 divided by Heritrix's changed-factor.",
        gt=0,
        le=1,
        live=False,
    )

    @property
    def factors(self) -> Factors:
        """The rule."""
        return Factors(self.first, self.shortest, self.longest, self.grow, self.shrink)


class StormTimes(FactorTimes):
    """StormCrawler's adaptive scheduler; its defaults."""

    unknown: Seconds = setting(
        2 * HOUR, "Time until the next visit after one that said nothing.", unit="s", gt=0,
        live=False,
    )  # fmt: skip
    longest: Seconds = setting(
        STORMCRAWLER.longest, "Longest interval.", unit="s", gt=0, live=False
    )
    shrink: float = setting(
        0.5, "Share of the way to `shortest` that is left after a change.", gt=0, le=1, live=False
    )

    @property
    def factors(self) -> Factors:
        """The rule."""
        return Factors(
            self.first, self.shortest, self.longest, self.grow, self.shrink, towards_shortest=True
        )


class ScheduleSettings(Component):
    """When a page is visited again; sheets can tell sites and parts of them apart."""

    kind: Kind = setting(
        "worth",
        "`worth`: the planner chooses by what a visit is worth. `fixed`: every `interval`; "
        "`calendar`: at `at`; `nutch-default`, `nutch-adaptive`, `nutch-mime-adaptive`: Nutch's "
        "schedules (`nutch`); `heritrix`: Heritrix 1's wait factors; `stormcrawler`: its adaptive "
        "scheduler. Under all but `worth` a run visits what is due, and new links.",
        live=False,
    )
    interval: Seconds = setting(
        7 * DAY, "For `fixed`: time between visits.", unit="s", gt=0, live=False
    )
    at: str = setting(
        "@daily",
        "For `calendar`: times in cron's five fields, or `@hourly`, `@daily`, `@weekly`, "
        "`@monthly`, `@yearly`.",
        live=False,
    )
    time_zone: str = setting(
        "UTC", "For `calendar`: its time zone, such as Asia/Shanghai.", live=False
    )
    nutch: NutchTimes = section(NutchTimes, "For `nutch-default` and the like.")
    heritrix: HeritrixTimes = section(HeritrixTimes, "For `heritrix`.")
    stormcrawler: StormTimes = section(StormTimes, "For `stormcrawler`.")

    @model_validator(mode="after")
    def _is_a_calendar(self) -> Self:
        Calendar(self.at, self.time_zone)
        return self
