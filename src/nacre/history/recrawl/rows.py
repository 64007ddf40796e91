"""Rows of pages, as the planner makes them (pure)."""

from nacre.core.pagerow import PageRow
from nacre.history.finding.urlshape import shaped


def unknown_page(url: str, now: float, depth: int) -> PageRow:
    """The row of a page that was never heard of before."""
    return PageRow(url, template=shaped(url).name, first_seen=now, evidence=b"", depth=depth)
