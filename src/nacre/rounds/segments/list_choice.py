"""The choice of a `generate`, stored in its first segment, for `explain`."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nacre.crawldb.select import Place, SelectOptions
from nacre.rounds.storage import Storage


class ListChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The data of the choice of a `generate` that cannot be computed again.

    Attributes:
        tests: The attributes of its `SelectOptions`.
        ends: The end of each list: sort value and tie; None if it has all candidates.
        segments: The segments of the lists.
        cuts: For each list the number of URLs of hosts that exceed the time limit.
    """

    tests: dict[str, Any]
    ends: list[tuple[float, int] | None]
    segments: list[str]
    cuts: list[dict[str, int]]


class GivenChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of a `generate --urls`: the URLs of files, and those that filters refused.

    Attributes:
        files: The files as the operator typed them; "" for typed URLs.
        urls: URLs that are in the list.
        refused: The first keys that a filter refused, each with its file and line.
        refused_count: The number of all that were refused.
    """

    files: list[str]
    urls: int
    refused: dict[str, str] = {}
    refused_count: int = 0


GIVEN = "given"
"""Mark of a segment of given URLs: the number of the version that made it."""


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
        cuts=[dict(cut) for cut in cuts],
    )
    storage.put(choice_name(segments[0]), msgspec.json.encode(choice))


def write_given(storage: Storage, choice: GivenChoice, segment: str) -> None:
    """Write the choice of a `generate --urls` before it is committed."""
    storage.put(choice_name(segment), msgspec.json.encode(choice))
