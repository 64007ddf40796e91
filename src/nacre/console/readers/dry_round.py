"""Task of reader processes for batch crawls: a dry run of the next round."""

from collections.abc import Mapping
from typing import Any

from nacre.engine.clock import SystemClock
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.journal import FETCH, FETCHED, GENERATED, UPDATE, waiting
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import GenerateOptions, GenerateResult, generate, generate_counters
from nacre.rounds.tables.versions import Cycle, CycleVersion
from nacre.settings.load import load_job
from nacre.store.layout import Layout


def dry_round(layout: Layout, _: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the next generate would list; nothing is changed.

    Args:
        layout: The directory.

    Returns:
        `at`: the step that an earlier list waits for, "" for none; the counts as in `list` of
        `rounds_facts`; `units`, `longest` (s) and `next_due` (ms; None for none).

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    loaded = load_job(layout, ())
    own = loaded.settings.cycle
    cycle = Cycle.open(layout.root, own.storage)
    engine = LocalEngine(1)
    try:
        context = StepContext(
            layout=layout, loaded=loaded, cycle=cycle, engine=engine,
            clock=round(SystemClock().now() * 1000), dry=True,
        )  # fmt: skip
        options = GenerateOptions(
            own.generate.top, own.generate.units or LocalEngine().workers, own.generate.segments,
            time_limit=own.fetch.time_limit,
        )  # fmt: skip
        found = generate(context, options)
    finally:
        engine.close()
    return _told(found, cycle.newest())


def _told(result: GenerateResult, version: CycleVersion) -> dict[str, Any]:
    at = UPDATE if waiting(version, FETCHED) else ""
    return {
        "at": FETCH if waiting(version, GENERATED) else at,
        **generate_counters(result),
        "units": result.units,
        "longest": result.longest,
        "next_due": result.next_due,
    }
