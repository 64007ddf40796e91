"""Endless and hostile places."""

import re
from collections.abc import Iterator

from nacre_simweb.draw import Draw
from nacre_simweb.page import Builder, SimulatedPage
from nacre_simweb.parameters import SimulatedTraps

_CALENDAR = re.compile(r"/calendar/(\d{1,4})-(\d{1,2})\Z")
_FACET = re.compile(r"/facets/([0-9-]*)\Z")
_LOOP = re.compile(r"/loop/([0-4])\Z")
_RING = 5
HUGE, SLOW, WIDE = "/huge.bin", "/slow.bin", "/wide.html"


class Snares:
    """The traps of a world.

    Args:
        settings: Which there are.
        draw: Random numbers, for session ids.
    """

    def __init__(self, settings: SimulatedTraps, draw: Draw) -> None:
        self._settings = settings
        self._draw = draw.at("traps")

    def entrances(self, draw: Draw) -> Iterator[tuple[str, str]]:
        """Links of the start page that lead into them: path and text."""
        settings = self._settings
        if settings.calendar:
            yield "/calendar/2026-1", "Calendar"
        if settings.sessions:
            yield f"/search?sid={draw.at('sid').hex(16)}", "Search"
        if settings.facets:
            yield "/facets/", "Filter"
        if settings.loop:
            yield "/loop/0", "Mirror"
        for there, path in (
            (settings.wide, WIDE), (settings.slow, SLOW), (settings.huge, HUGE),
        ):  # fmt: skip
            if there:
                yield path, path[1:]

    def redirect(self, path: str) -> str:
        """Return the target of a redirect of the ring; "" for no redirect."""
        match = _LOOP.match(path) if self._settings.loop else None
        return f"/loop/{(int(match[1]) + 1) % _RING}" if match else ""

    def page(self, origin: str, path: str, query: str, draw: Draw) -> SimulatedPage | None:
        """Return the page of a trap; None: there is none."""
        settings = self._settings
        page = Builder(origin)
        page.add(f"<!DOCTYPE html><html><body><p>{path}</p>")
        if settings.calendar and (match := _CALENDAR.match(path)):
            _calendar(page, int(match[1]), int(match[2]))
        elif settings.sessions and path == "/search" and query.startswith("sid="):
            for number in range(3):
                page.link(f"/search?sid={draw.at('next', number).hex(16)}", f"{number}")
        elif settings.facets and (match := _FACET.match(path)):
            _facets(page, match[1], settings.facets)
        elif settings.wide and path == WIDE:
            for number in range(settings.wide):
                page.link(f"/wide/{number}.html", str(number))
        else:
            return None
        page.add("</body></html>")
        return page.page()


def _calendar(page: Builder, year: int, month: int) -> None:
    later, earlier = year * 12 + month, year * 12 + month - 2
    page.link(f"/calendar/{later // 12}-{later % 12 + 1}", "Next")
    if earlier >= 12:
        page.link(f"/calendar/{earlier // 12}-{earlier % 12 + 1}", "Previous")


def _facets(page: Builder, chosen: str, count: int) -> None:
    facets = [facet for facet in chosen.split("-") if facet]
    for number in range(count):
        if str(number) not in facets:
            page.link("/facets/" + "-".join([*facets, str(number)]), str(number))
