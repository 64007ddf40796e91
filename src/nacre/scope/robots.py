"""What robots.txt is for, and what a reply to the request for it means. Source: RFC 9309."""

from enum import StrEnum

from nacre.config.component import Bytes, Component, Seconds, setting

MAX_BYTES = 512_000
"""What RFC 9309 2.5 asks a crawler to read at least: 500 KiB."""


class RobotsPolicy(StrEnum):
    """What is done with robots.txt."""

    OBEY = "obey"
    IGNORE = "ignore"
    CUSTOM = "custom"


class RobotsSettings(Component):
    """Robots exclusion. For meta robots and X-Robots-Tag see `extract.obey_meta_robots`."""

    policy: RobotsPolicy = setting(
        RobotsPolicy.OBEY, "`obey`; `ignore`: not even fetched; `custom`: `custom` replaces it."
    )
    custom: str = setting("", "The robots.txt that holds for every site with policy `custom`.")
    agent: str = setting(
        "nacre",
        "Product token that groups are matched against; of several with commas between them, the "
        "groups of all count.",
        pattern=r"\w",
    )
    ttl: Seconds = setting(
        86400.0,
        "How long a fetched robots.txt is valid. Not too short: a queue may wait long between "
        "robots.txt and the next page.",
        unit="s",
        ge=3600,
    )
    calculate_only: bool = setting(
        default=False,
        doc="Fetch what robots.txt forbids all the same, and annotate it `robotExcluded`.",
    )
    max_redirects: int = setting(5, "Redirects of robots.txt followed.", ge=0)
    max_bytes: Bytes = setting(MAX_BYTES, "Bytes of it that are read.", unit="bytes")


class RobotsState(StrEnum):
    """What is known of an origin's robots.txt.

    RULES: they are there. ALLOW: there is none, so everything is allowed. UNREACHABLE: nobody knows
    what it says, so nothing is. REDIRECT: it is elsewhere, and that is fetched next.
    """

    RULES = "rules"
    ALLOW = "allow"
    UNREACHABLE = "unreachable"
    REDIRECT = "redirect"


def outcome_of(status: int) -> RobotsState:
    """What a fetch status says: RFC 9309 2.3.1.

    2xx are rules, 3xx lead elsewhere, 4xx mean that there is none (429 too: its queue slows down).
    5xx, failures of DNS or of the network, and whatever else is no reply forbid everything.
    """
    if 200 <= status < 300:
        return RobotsState.RULES
    if 300 <= status < 400:
        return RobotsState.REDIRECT
    if 400 <= status < 500:
        return RobotsState.ALLOW
    return RobotsState.UNREACHABLE
