"""Marks of segments that `dedup` has compared: with which options it did so.

A segment that was compared with other options is compared again, and then all of them are: what
counts of a page is its newest visit, in whatever segment that is. All functions are pure.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.crawldb.settings import CycleDedupSettings
from nacre.rounds.tables.versions import SegmentState

COMPARED = "dedup"
"""The word by which a segment is marked that was compared."""


def covers(mark: object, settings: CycleDedupSettings) -> bool:
    """Whether the options of a mark find all that settings look for.

    Args:
        mark: The value of a mark; True, of an earlier version: the usual options.
        settings: `cycle.dedup`, with what options say.
    """
    said = _options(mark)
    return (
        (said["group"], said["order"]) == (settings.group, list(settings.order))
        and said["canonical"] >= settings.canonical
        and said["near"] >= settings.near
    )


def mark_of(settings: CycleDedupSettings, before: object = None) -> dict[str, Any]:
    """The mark of a segment that was compared.

    Args:
        settings: The options.
        before: Its mark so far; None for none. What that found beside is still marked.
    """
    now = _plain(settings)
    old = _options(before) if before is not None else now
    if (old["group"], old["order"]) == (now["group"], now["order"]):
        now |= {name: now[name] or old[name] for name in ("canonical", "near")}
    return now


def compared_before(
    updated: Mapping[str, SegmentState], settings: CycleDedupSettings
) -> tuple[str, ...]:
    """The segments that were compared with options that do not cover the settings.

    Args:
        updated: Segments by name.
        settings: The options.
    """
    return tuple(
        name
        for name, state in updated.items()
        if COMPARED in state.more and not covers(state.more[COMPARED], settings)
    )


def marked_as_compared(
    segments: Mapping[str, SegmentState], settings: CycleDedupSettings
) -> dict[str, SegmentState | None]:
    """Segments with the mark of these options.

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
    usual = _plain(CycleDedupSettings())
    return {**usual, **mark} if isinstance(mark, dict) else usual
