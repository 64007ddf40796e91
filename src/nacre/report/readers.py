"""Who reads which report: names in groups, for the list of `nacre report` and the documentation."""

from enum import StrEnum


class Audience(StrEnum):
    """Who reads a report."""

    CURATOR = "curators"
    OPERATOR = "operators"
    DEVELOPER = "developers"


PURPOSES = {
    Audience.CURATOR: "what of a site is kept, and how it changes",
    Audience.OPERATOR: "how a crawl goes, what it costs, and what is in its way",
    Audience.DEVELOPER: "why the crawler did what it did",
}
"""What each wants to know."""
