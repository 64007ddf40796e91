"""Reads some sections of a job's settings, for commands that need no others.

Other sections are neither imported nor checked, which takes most of the time. `load_job` reports
problems of the requested sections or of the whole file, so that messages are equal everywhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from nacre.config.check import Loaded, load_partly
from nacre.config.component import Component, section
from nacre.config.layer import Layer
from nacre.crawldb.settings import CycleSettings
from nacre.machine.layout import Layout
from nacre.planner.settings import RecrawlSettings
from nacre.settings.layers import job_layers

S = TypeVar("S", bound=Component)

OTHERS = frozenset(
    (
        *("name", "seeds", "scope", "uri", "engine", "chains", "frontier", "traps", "politeness"),
        *(
            "robots",
            "fetch",
            "identity",
            "network",
            "dns",
            "cookies",
            "extract",
            "browser",
            "walls",
            "rights",
            "dedup",
            "keep",
        ),
        *("change", "archive", "bandwidth", "quotas", "limits", "disk", "store", "action"),
        *("checkpoint", "alerts", "metrics", "sheets", "sheet_associations"),
    )
)
"""The names of `JobSettings` beside those of `TableSettings`: a test compares them."""


class TableSettings(Component):
    """The settings of a job that commands need which only read the tables of batch rounds."""

    cycle: CycleSettings = section(CycleSettings, "Batch rounds.", sheets=False)
    recrawl: RecrawlSettings = section(RecrawlSettings, "Incremental runs.")


def load_tables(
    layout: Layout, assignments: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> Loaded[TableSettings]:
    """Return the settings that commands need which only read tables, from the layers of `load_job`.

    Raises:
        JobError: The directory is not a job.
        ConfigError: They are invalid; it has every problem of every layer, as from `load_job`.
    """
    layers = job_layers(layout, assignments, environ)
    section_names = TableSettings.model_fields.keys()
    wrong = any(layer.problems or layer.tree.keys() - section_names - OTHERS for layer in layers)
    if not wrong:
        sections = [_select_sections(layer, section_names) for layer in layers]
        if not any(layer.tree for layer in sections):
            return Loaded(TableSettings.model_construct(), {})  # no validator need be made
        loaded, problems = load_partly(TableSettings, sections, layout.root)
        if loaded is not None and not problems:
            return loaded
    from nacre.settings.load import load_job  # noqa: PLC0415 - imports all sections

    whole = load_job(layout, assignments, environ)
    settings = TableSettings.model_construct(
        cycle=whole.settings.cycle, recrawl=whole.settings.recrawl
    )
    return Loaded(settings, whole.origins, whole.unknown)


def _select_sections(layer: Layer, names: Iterable[str]) -> Layer:
    """Return a layer with some sections alone."""
    return replace(layer, tree={name: layer.tree[name] for name in names if name in layer.tree})
