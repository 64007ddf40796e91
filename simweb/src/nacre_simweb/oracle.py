"""The hidden truth of a world for oracles: rates, structure, events. Policies never see it."""

from urllib.parse import urlsplit

from nacre_simweb.calendar import DAY, START
from nacre_simweb.listing import Listing
from nacre_simweb.names import Target
from nacre_simweb.world import World


class Oracle:
    """Answers about a world, by URL and in seconds since the epoch.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._targets: dict[str, tuple[int, Target]] = {}

    def rate(self, url: str, now: float) -> float:
        """Edits of a page a day to be expected now; of a list, new links a day."""
        host, target = self._target(url)
        if target.kind == "article":
            article = self._world.site.article(host, target.serial)
            return self._world.lives.rate(article, now - START) * DAY if article else 0.0
        listing = self._listing(host, target)
        if listing is None or target.part:
            return 0.0
        births = sum(event.kind == "in" for event in listing.events)
        return births / self._world.parameters.days

    def is_list(self, url: str) -> bool:
        """The URL is a list or start page."""
        return self._target(url)[1].kind in {"list", "home"}

    def state(self, url: str, now: float) -> tuple[str, int]:
        """Return the state of a URL now: kind and version."""
        resource = self._world.respond(url, now - START).resource
        return resource.kind, resource.version

    def living(self, now: float) -> list[str]:
        """URLs of all articles and lists that there are now."""
        time, world = now - START, self._world
        names = world.resources.names
        urls = list(world.starts)
        for host, articles in enumerate(world.site.articles):
            origin = f"http://{world.site.hosts[host]}"
            for number, listing in enumerate(world.listings[host][:-1]):
                urls += (
                    origin + names.list_page(number, part) for part in range(listing.count(time))
                )
            urls += (
                origin + names.article(article, int(time >= world.lives.of(article).moved))
                for article in articles
                if world.lives.of(article).lives(time)
            )
        return urls

    def _target(self, url: str) -> tuple[int, Target]:
        cached = self._targets.get(url)
        if cached is None:
            parts = urlsplit(url)
            host = self._world.site.host_number(parts.hostname or "")
            target = self._world.resources.names.read(parts.path)
            cached = self._targets[url] = host, target
        return cached

    def _listing(self, host: int, target: Target) -> Listing | None:
        if target.kind == "home":
            return self._world.listings[host][-1]
        return self._world.listings[host][target.serial] if target.kind == "list" else None
