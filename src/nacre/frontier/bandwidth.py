"""What an operator may set about bandwidth, and when."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import field_validator

from nacre.config.component import Bytes, Component, Seconds, setting
from nacre.frontier.calendar import parse_days, parse_hours


class WindowSettings(Component):
    """Some hours of the week. What it does not say stays as it is outside of them."""

    days: str = setting("mon-sun", "Days of the week: `mon-fri`, `sat,sun`.")
    hours: str = setting(
        "0-24", "Hours of the day: `9-17`, `22:30-6`; past midnight they belong to the day before."
    )
    total: Bytes | None = setting(None, "Bandwidth of the whole crawl; 0: no limit.", unit="B/s")
    per_host: Bytes | None = setting(None, "Bandwidth of one host; 0: no limit.", unit="B/s")
    parallel: int | None = setting(
        None, "Fetches at the same time.", unit="fetches", ge=1, le=10_000
    )
    min_delay: Seconds | None = setting(
        None, "Shortest politeness delay, whatever else says.", unit="s"
    )

    @field_validator("days")
    @classmethod
    def _check_days(cls, value: str) -> str:
        parse_days(value)
        return value

    @field_validator("hours")
    @classmethod
    def _check_hours(cls, value: str) -> str:
        parse_hours(value)
        return value


class BandwidthSettings(Component):
    """How much of the line the crawl may take. Heads and bodies of replies count."""

    total: Bytes = setting(0, "Limit of the whole crawl; 0: none.", unit="B/s", sheets=False)
    per_host: Bytes = setting(
        0,
        "Limit of one host, by reading more slowly and waiting longer between fetches; 0: none.",
        unit="B/s",
    )
    time_zone: str = setting(
        "UTC", "Time zone of the windows, such as `Asia/Shanghai`.", sheets=False
    )
    windows: tuple[WindowSettings, ...] = setting(
        (), "What holds at other hours; where several do, the last one wins.", sheets=False
    )

    @field_validator("time_zone")
    @classmethod
    def _check_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(
                "no time zone that this system knows; write it as Europe/Vienna (the package "
                "tzdata of the system has them)"
            ) from error
        return value
