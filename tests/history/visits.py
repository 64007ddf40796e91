"""Visits as the planner is told of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Link(NamedTuple):
    """See `nacre.planner.visited.SeenLink`."""

    url: str
    hop: str = "L"
    text: str = ""
    lastmod: str = ""
    rel: str = ""


class Visit(NamedTuple):
    """See `nacre.planner.visited.Visited`."""

    url: str
    time: float
    status: int
    digest: str
    mime: str
    length: int
    links: Sequence[Link]
    body: Callable[[], bytes]
    rendered: bool = False
    wall: str = ""
