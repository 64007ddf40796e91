"""A calendar without end: months, weeks and days before and after today, and a page for each event.

Each view leads to the next and the last one for ever, as those of most calendar applications do.
"""

import random
from datetime import date, timedelta
from functools import cached_property
from urllib.parse import parse_qs, urlsplit

from bench.worlds.world import Reply, html, words

_TODAY = date(2026, 11, 22)
_MOST = 365 * 400


class Calendar:
    """The application.

    Args:
        events: How many events it has, within two years of today.
    """

    name = "calendar"
    start = "/"

    def __init__(self, _root: object = None, events: int = 150) -> None:
        chance = random.Random(3)
        self._events = {
            number: (
                _TODAY + timedelta(days=chance.randint(-200, 200)),
                words(chance, 4).title(),
                words(chance, 120),
            )
            for number in range(1, events + 1)
        }

    @cached_property
    def truth(self) -> frozenset[str]:
        """The events, and the page about the calendar."""
        return frozenset(f"/event/{number}" for number in self._events) | {"/about"}

    def page(self, path: str) -> str:
        """Return an event, by its path without a query."""
        return path if "?" not in path else ""

    def reply(self, path: str) -> Reply:
        """Return a view, an event, or the home page."""
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path.strip("/").split("/"):
            case [""]:
                return self._month(_TODAY)
            case ["about"]:
                return _page_of("About", f"<p>{words(random.Random(1), 90)}</p>")
            case ["event", number] if number.isdigit() and int(number) in self._events:
                return self._event(int(number), query)
            case ["calendar", view]:
                return self._view(view, query.get("date", ""))
            case _:
                return Reply(404, (("Content-Type", "text/plain"),), b"no such page\n")

    def _view(self, view: str, text: str) -> Reply:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return Reply(404, (("Content-Type", "text/plain"),), b"no such day\n")
        if abs((day - _TODAY).days) > _MOST:
            return Reply(404, (("Content-Type", "text/plain"),), b"too far\n")
        if view == "month":
            return self._month(day)
        days = [day + timedelta(days=number) for number in range(7 if view == "week" else 1)]
        step = timedelta(days=len(days))
        body = "".join(
            f"<h2>{current:%A, %d %B %Y}</h2>{self._listed(current)}" for current in days
        )
        return _page_of(
            f"{view.title()} of {day:%d %B %Y}", _around(view, day - step, day + step) + body
        )

    def _month(self, day: date) -> Reply:
        first = day.replace(day=1)
        after = (first + timedelta(days=32)).replace(day=1)
        before = (first - timedelta(days=1)).replace(day=1)
        cells = []
        current = first
        while current < after:
            link = f'<a href="/calendar/day?date={current}">{current.day}</a>'
            week = (
                f'<a href="/calendar/week?date={current}">week</a>'
                if current.weekday() == 0
                else ""
            )
            cells.append(f"<td>{link} {week} {self._listed(current)}</td>")
            current += timedelta(days=1)
        table = f"<table><tr>{''.join(cells)}</tr></table>"
        return _page_of(f"{first:%B %Y}", _around("month", before, after) + table)

    def _listed(self, day: date) -> str:
        items = [
            f'<li><a href="/event/{number}">{title}</a></li>'
            for number, (when, title, _) in self._events.items()
            if when == day
        ]
        return f"<ul>{''.join(items)}</ul>" if items else ""

    def _event(self, number: int, query: dict[str, str]) -> Reply:
        when, title, text = self._events[number]
        links = "".join(
            f' <a href="/event/{number}?view={view}">{view}</a>'
            for view in ("print", "ical", "mail")
        )
        body = f"<p>{when:%A, %d %B %Y}</p><p>{text}</p>"
        if query:
            return html(f"<title>{title}</title><h1>{title}</h1>{body}")
        return _page_of(title, f'{body}<p>{links} <a href="/calendar/day?date={when}">day</a></p>')


def _around(view: str, before: date, after: date) -> str:
    other_views = "".join(
        f' <a href="/calendar/{name}?date={before}">{name}</a>'
        for name in ("month", "week", "day")
        if name != view
    )
    return (
        f'<p><a href="/calendar/{view}?date={before}">earlier</a> '
        f'<a href="/calendar/{view}?date={after}">later</a>{other_views}</p>'
    )


def _page_of(title: str, body: str) -> Reply:
    menu = '<p><a href="/">today</a> <a href="/about">about</a></p>'
    return html(f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1>{menu}{body}")
