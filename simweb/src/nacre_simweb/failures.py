"""The failures of a server, as a function of the time."""

from bisect import bisect_right

from nacre_simweb.calendar import DAY, HOUR
from nacre_simweb.draw import Draw
from nacre_simweb.parameters import SimulatedFailures
from nacre_simweb.process import events

CHALLENGE = b"<!DOCTYPE html><html><title>Security check</title><p>Are you human?</p></html>"
"""What a firewall shows in place of a page, with status 200."""


class Faults:
    """The failures of a world.

    Args:
        settings: How many.
        draw: Random numbers of the world.
        end: End of the world, seconds.
    """

    def __init__(self, settings: SimulatedFailures, draw: Draw, end: float) -> None:
        self._settings = settings
        self._draw = draw.at("failures")
        self._end = end
        self._windows: dict[int, list[float]] = {}

    def down(self, host: int, time: float) -> bool:
        """The host answers 503."""
        if not self._settings.outages_per_day:
            return False
        draw = self._draw.at("outages", host)
        if host not in self._windows:
            rate = self._settings.outages_per_day / DAY
            self._windows[host] = events("poisson", draw, rate, 0.0, self._end)
        windows = self._windows[host]
        place = bisect_right(windows, time) - 1
        if place < 0:
            return False
        length = self._settings.outage_minutes * 60 * draw.at("length").exponential(place)
        return time < windows[place] + length

    def challenged(self, url: str, time: float) -> bool:
        """The URL answers with a challenge page for the day."""
        share = self._settings.challenged
        if not share:
            return False
        return self._draw.at("challenged", url, int(time // DAY)).uniform() < share

    def silent(self, url: str, time: float) -> bool:
        """The URL gives no reply at all."""
        share = self._settings.silent
        if not share:
            return False
        day, offset = divmod(time, DAY)
        draw = self._draw.at("silent", url, int(day))
        begun = draw.uniform(1) * DAY
        return draw.uniform() < share and (offset - begun) % DAY < HOUR
