"""What robots.txt says of a URL, as far as it was fetched."""

from nacre.job.explaining.explanation import RobotsAnswer
from nacre.job.visit.robots_cache import RobotsCache
from nacre.scope.robots import RobotsPolicy, RobotsState
from nacre.uri.parse import origin, request_target


def robots_answer(
    cache: RobotsCache, url: str, policy: RobotsPolicy, overlay: int = 0
) -> RobotsAnswer | None:
    """What was fetched, expired or not, or what the policy puts in its place; None without one.

    Args:
        cache: What is known.
        url: The URL.
        policy: Under the settings of the URL.
        overlay: Number of these settings.
    """
    if not url.startswith(("http:", "https:")):
        return None
    site = origin(url)
    last = cache.last(site)
    entry = cache.get(site, last.expires - 1.0 if last else 0.0, overlay)
    if policy is RobotsPolicy.IGNORE or entry is None:
        allowed = True if policy is RobotsPolicy.IGNORE else None
        return RobotsAnswer(str(policy), site, allowed=allowed)
    row, rules = entry
    permitted, line = row.state is RobotsState.ALLOW, ""
    if rules is not None:
        permitted, line = rules.verdict(request_target(url))
    return RobotsAnswer(
        str(policy),
        site,
        str(row.state),
        row.status,
        None if row.state is RobotsState.REDIRECT else permitted,
        line,
        rules.crawl_delay if rules else None,
        row.error,
    )
