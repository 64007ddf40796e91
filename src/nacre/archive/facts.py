"""What the writer is told of a capture beyond the exchange itself."""

from collections.abc import Sequence

import msgspec

from nacre.archive.delta import Delta
from nacre.core.crawluri import Outlink
from nacre.core.history import RevisitProfile


class CaptureFacts(msgspec.Struct, frozen=True):
    """What the crawl knows of a capture.

    Attributes:
        via: URL of the page that led there; "" for a seed.
        path: Hop path from the seed; "" for a seed.
        is_seed: A seed.
        source: Source tag; "" when tags are off.
        force_fetch: Was fetched though seen before.
        outlinks: Links found in it, in order.
        annotations: As in crawl.log.
        charset: Charset used to read it; "" when none was.
        robots: Directives of meta robots and X-Robots-Tag, lower case, obeyed or not.
        verdict: What history says: `new`, `changed`, `unchanged` …; "" when it was not asked.
        revisit: Set when it is not to be stored in full.
        delta: Set when it is to be stored as a difference.
        confirms: Record id of the difference that the reply says is still what is served; "" for
            none.
    """

    via: str = ""
    path: str = ""
    is_seed: bool = False
    source: str = ""
    force_fetch: bool = False
    outlinks: Sequence[Outlink] = ()
    annotations: Sequence[str] = ()
    charset: str = ""
    robots: frozenset[str] = frozenset()
    verdict: str = ""
    revisit: RevisitProfile | None = None
    delta: Delta | None = None
    confirms: str = ""
