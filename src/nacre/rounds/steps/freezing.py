"""Freeze a segment: the settings of its units, and the place of its seeds."""

from typing import Any

from nacre.crawldb.seeds import SEEDS
from nacre.rounds.segments.frozen_settings import freeze
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.seed_rows import seed_view
from nacre.rounds.tables.seed_index import seed_mark
from nacre.rounds.tables.seed_lines import guard_lines
from nacre.rounds.tables.tables import buckets_of
from nacre.rounds.tables.versions import CycleVersion


def freeze_segment(context: StepContext, version: CycleVersion, segment: str) -> dict[str, Any]:
    """Write the current settings for all units of a segment.

    Seeds are not copied: the units look them up in the table of the version. They only get the
    lines of seeds that open addresses.

    Args:
        context: The context of the driver.
        version: The version with the seeds.
        segment: Id of the segment.

    Returns:
        The marks of its seeds for the state of the segment (`SegmentState.more`).

    Raises:
        ConfigError: The configuration contains a secret in plain text.
    """
    view, storage = seed_view(context, version), context.cycle.storage
    lines = list(view.lines)
    if view.place is not None:
        mapped = tuple(context.settings.dns.hosts)
        with context.place.open() as work:
            lines = guard_lines(work, buckets_of(context.cycle, version, SEEDS), mapped)
    freeze(context.layout, context.loaded, lines, storage, segment)
    return {} if view.place is None else seed_mark(view.place)
