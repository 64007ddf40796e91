"""The protocol of a policy: it decides which URLs to visit at each step, and sees only HTTP.

Nacre's own planner and every baseline are policies. The same policy runs on the real crawler and
in the decision-only mode; it cannot tell which.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from nacre_simweb.page import SimulatedLink

EmbedMode = Literal["new", "all"]


class WantedVisit(NamedTuple):
    """A visit that a policy wants.

    Attributes:
        url: Of what.
        chance: Its forecast that the page changed; None for no forecast. Scored, never used.
        fresh: Ask without validators, whatever is known of them.
    """

    url: str
    chance: float | None = None
    fresh: bool = False


class VisitOutcome(NamedTuple):
    """The outcome of a visit, as a policy sees it: HTTP and nothing else.

    Attributes:
        url: The URL.
        time: When, seconds since the epoch.
        status: HTTP status; 304 too; 0 for no reply.
        digest: Of the payload: equal for equal bytes; "" if there are none.
        mime: Content-Type, parameters cut.
        etag: ETag; "" when absent.
        modified: Last-Modified; "" when absent.
        length: Bytes of the body received.
        links: Links of the page, redirects and embeds too, each target once, in their order.
        body: Gives the body; dear in the decision-only mode, so ask only where it is needed.
        rendered: The body is the final document of a page that was run in a browser.
        wall: Verdict on a reply that is no page of the site; "" for a page.
    """

    url: str
    time: float
    status: int
    digest: str
    mime: str
    etag: str
    modified: str
    length: int
    links: tuple[SimulatedLink, ...]
    body: Callable[[], bytes]
    rendered: bool = False
    wall: str = ""


class Task(NamedTuple):
    """The task of a policy, passed at its start.

    Attributes:
        starts: URLs to begin with; everything on their hosts is wanted.
        start: Time of the first step, seconds since the epoch.
        every: Time between steps, seconds.
        days: How many days there will be steps.
        share: Requests a step, as a share of the pages known after the first; None for no limit.
        seed: For policies that draw lots.
    """

    starts: tuple[str, ...]
    start: float
    every: float
    days: float
    share: float | None
    seed: int


class Policy(Protocol):
    """A policy. The first step is a full crawl under no budget; all later ones are budgeted.

    Attributes:
        name: Its name in tables.
        conditional: Its requests carry the validators of the last 200.
        dedup: What it fetches again unchanged is stored as a revisit.
        embeds: `new`: embeds are fetched when they are first seen, unless it asks for them; `all`:
            with every visit of a page, each once a step.
    """

    name: str
    conditional: bool
    dedup: bool
    embeds: EmbedMode

    def begin(self, task: Task) -> None:
        """Once, before the first step."""
        ...

    def choose(self, now: float, room: int) -> Sequence[WantedVisit]:
        """Choose what to visit next; asked again after its outcomes, until it wants nothing more.

        Args:
            now: Time of the step, seconds since the epoch.
            room: Requests of pages left in this step.
        """
        ...

    def learn(self, outcome: VisitOutcome) -> None:
        """Learn from a visit, and from those of embeds."""
        ...


@runtime_checkable
class WithRates(Protocol):
    """A policy that estimates rates of change: they are scored."""

    def rates(self) -> dict[str, float]:
        """Changes a day, by URL."""
        ...


@runtime_checkable
class WithRegister(Protocol):
    """A policy that knows which pages are gone: that is scored too."""

    def register(self) -> dict[str, float]:
        """Since when a page is gone, seconds since the epoch, by URL."""
        ...
