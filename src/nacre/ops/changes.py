"""The change feed of a job: what its runs found new, changed and gone."""

from typing import Annotated

import msgspec

from nacre.inspect.changes.feed import ChangeFeed
from nacre.inspect.changes.reading import ChangeFilter, read_feed
from nacre.inspect.view import View
from nacre.ops.fields import LineText, ShortText, Typed


class ChangesQuery(msgspec.Struct, frozen=True):
    """A selection of changes; all conditions must hold.

    Attributes:
        since: Only changes of this run and later ones, by its number or name; or since this time.
        match: Only URLs in which this regular expression is found.
        kind: Only these kinds: new, changed, gone, moved, back.
        most: Number of changes; the newest are chosen.
    """

    since: Annotated[ShortText, Typed("RUN|TIME")] = ""
    match: Annotated[LineText, Typed("REGEX", letter="-r")] = ""
    kind: Annotated[ShortText, Typed("KIND,…")] = ""
    most: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


def read_changes(view: View, query: ChangesQuery) -> ChangeFeed:
    """Return the changes of the runs that ended, the newest first.

    Raises:
        ConfigError: A part of the query has no meaning.
    """
    kinds = tuple(kind for part in query.kind.split(",") if (kind := part.strip()))
    chosen = ChangeFilter(query.since, query.match, kinds, query.most)
    return read_feed(view.store, view.settings.name or view.layout.root.name, chosen)
