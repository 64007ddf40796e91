"""Is a page an index, whose links matter, or content, whose text does? Pure.

A logistic classifier with weights set by hand, corrected by how the page behaves from visit to
visit. It gives a probability; where it is not sure, a page gets both treatments.
"""

import math
import re

import msgspec

from nacre.core.pageview import Shape
from nacre.history.finding.urlshape import Shaped

_LISTING = re.compile(
    r"(?i)(?:^|/)(?:index|list|node|column|channel|category|archive|archives|section|tag|news|notice)"
    r"(?:[_-]?(?:\d+|\{\w+\}))?(?:\.\w{2,5})?$|[?&](?:page|p|pageno|pageindex|start|offset)="
)
_PAGED = re.compile(r"(?i)(?:index|list|page)[_-](?:\d+|\{int\})|[?&](?:page|p|pageno|pageindex)=")
_LONG_ANCHOR = 24
_MANY_LINKS = 8
_LABELS = 2


class Behaviour(msgspec.Struct, array_like=True):
    """How a page behaved so far; kept with its history.

    Attributes:
        visits: Visits after the first.
        fertile: Those that showed at least two new links of one template.
        steady: Those at which its text stayed and its links too.
    """

    visits: int = 0
    fertile: int = 0
    steady: int = 0

    def observe(self, new_links: int, *, text_kept: bool, links_kept: bool) -> None:
        """Count a visit.

        Args:
            new_links: New links of its most frequent template.
            text_kept: The longest block of text was still there.
            links_kept: Its content links were the same.
        """
        self.visits += 1
        self.fertile += new_links >= _LABELS
        self.steady += text_kept and links_kept


class LinkFacts(msgspec.Struct, frozen=True):
    """What a page's links say.

    Attributes:
        content: Links into content templates of its host.
        same_template: Of these, the share in the most frequent template.
        feed: The page names a feed, or a next page.
    """

    content: int = 0
    same_template: float = 0.0
    feed: bool = False


def index_probability(
    one: Shaped, shape: Shape, links: LinkFacts, behaviour: Behaviour, depth: int = 0
) -> float:
    """Probability that a page is an index page.

    Args:
        one: Its URL, with placeholders.
        shape: What it looks like.
        links: What its links say.
        behaviour: How it behaved.
        depth: Hops from the seed; 0 is the seed.
    """
    score = _by_url(one, depth) + _by_looks(shape, links) + _by_behaviour(behaviour)
    return 1.0 / (1.0 + math.exp(-score))


def _by_url(one: Shaped, depth: int) -> float:
    path = "/".join(segment for segment in one.segments[1:] if not segment.startswith("?"))
    query = [segment for segment in one.segments if segment.startswith("?")]
    kinds = {token.kind for token in one.tokens}
    score = -0.4
    if not path or path.endswith("/"):
        score += 1.3
    if _LISTING.search("/" + path) or any(_LISTING.search(part) for part in query):
        score += 1.2
    if _PAGED.search("/" + path) or any(_PAGED.search(part) for part in query):
        score += 0.8
    elif kinds & {"date", "unix", "unixms", "uuid", "hex", "slug"}:
        score -= 1.8
    elif "int" in kinds:
        score -= 0.8
    return score + (0.8 if depth == 0 else 0.0)


def _by_looks(shape: Shape, links: LinkFacts) -> float:
    density = shape.anchors / shape.text if shape.text else 0.0
    score = 3.2 * (density - 0.5)
    if shape.group >= _MANY_LINKS and shape.group_length >= _LONG_ANCHOR:
        score += 1.5
    if shape.dated >= _MANY_LINKS:
        score += 0.8
    score -= 1.6 * min(1.0, shape.longest / 600.0)
    if links.content >= _MANY_LINKS:
        score += 1.2 * links.same_template
    return score + (0.4 if links.feed else 0.0)


def _by_behaviour(behaviour: Behaviour) -> float:
    """What was seen outweighs what it looks like."""
    score = 0.0
    if behaviour.fertile >= _LABELS:
        score += 3.0
    if behaviour.steady >= _LABELS and not behaviour.fertile:
        score -= 1.5
    return score
