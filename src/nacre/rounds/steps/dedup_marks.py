"""Marks of segments that `dedup` has compared, with its options.

If a segment was compared with other options, all segments are compared again, as the newest visit
of a page may be in any segment. All functions are pure.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.crawldb.settings import CycleDedupSettings
from nacre.rounds.tables.versions import SegmentState

COMPARED = "dedup"
"""The key of the mark of a compared segment."""


def covers(mark: object, settings: CycleDedupSettings) -> bool:
    """Return whether a comparison with the options of a mark covers the settings.

    Args:
        mark: The value of a mark; True, of an earlier version, for the default options.
        settings: `cycle.dedup`, with the options applied.
    """
    options = _options(mark)
    return (
        (options["group"], options["order"]) == (settings.group, list(settings.order))
        and options["canonical"] >= settings.canonical
        and options["near"] >= settings.near
    )


def mark_of(settings: CycleDedupSettings, before: object = None) -> dict[str, Any]:
    """Return the mark of a compared segment.

    Args:
        settings: The options.
        before: Its earlier mark; None for none. Its comparisons are included.
    """
    now = _plain(settings)
    old = _options(before) if before is not None else now
    if (old["group"], old["order"]) == (now["group"], now["order"]):
        now |= {name: now[name] or old[name] for name in ("canonical", "near")}
    return now


def compared_before(
    updated: Mapping[str, SegmentState], settings: CycleDedupSettings
) -> tuple[str, ...]:
    """Return the segments that were compared with options that do not cover the settings.

    Args:
        updated: Segments by name.
        settings: The options.
    """
    return tuple(
        name
        for name, state in updated.items()
        if COMPARED in state.more and not covers(state.more[COMPARED], settings)
    )


def mark_compared(
    segments: Mapping[str, SegmentState], settings: CycleDedupSettings
) -> dict[str, SegmentState | None]:
    """Return segments with the mark of these options.

    Args:
        segments: Segments by name.
        settings: The options.
    """
    return {
        name: msgspec.structs.replace(
            state, more={**state.more, COMPARED: mark_of(settings, state.more.get(COMPARED))}
        )
        for name, state in segments.items()
    }


def _plain(settings: CycleDedupSettings) -> dict[str, Any]:
    return settings.model_dump(mode="json", include={"group", "order", "canonical", "near"})


def _options(mark: object) -> dict[str, Any]:
    default = _plain(CycleDedupSettings())
    return {**default, **mark} if isinstance(mark, dict) else default
