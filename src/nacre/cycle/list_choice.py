"""The choice of a `generate`, kept beside its segments for who asks later why a URL is in none."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nacre.crawldb.select import Place, SelectOptions
from nacre.cycle.storage import Storage


class ListChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of a `generate`, as far as it cannot be computed again.

    Attributes:
        tests: The attributes of its `SelectOptions`.
        ends: Where each list ended: sort value and tie; None: it took all.
        segments: The segments of the lists.
        cuts: Of each list the URLs that were kept of hosts that need longer than the time limit.
    """

    tests: dict[str, Any]
    ends: list[tuple[float, int] | None]
    segments: list[str]
    cuts: list[dict[str, int]]


def choice_name(segment: str) -> str:
    """Name of the file of a choice, in the folder of its first segment."""
    return f"segments/{segment}/choice.json"


def write_choice(
    storage: Storage,
    options: SelectOptions,
    ends: Sequence[Place | None],
    segments: Sequence[str],
    cuts: Sequence[Mapping[str, int]],
) -> None:
    """Write the choice of a `generate` before it is committed."""
    choice = ListChoice(
        tests=options._asdict(),
        ends=[None if end is None else (end.sort, end.tie) for end in ends],
        segments=list(segments),
        cuts=[dict(one) for one in cuts],
    )
    storage.put(choice_name(segments[0]), msgspec.json.encode(choice))
