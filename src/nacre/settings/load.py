"""Reads the settings of a job from all layers, and checks them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nacre.config.check import Loaded, load_partly
from nacre.config.layer import Layer
from nacre.errors import ConfigError, Problem
from nacre.machine.layout import Layout
from nacre.settings.layers import inner_layers, job_layers, outer_layers, own_layers
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import sheet_problems
from nacre.settings.variables import expand_variables


def load_job(
    layout: Layout, assignments: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> Loaded[JobSettings]:
    """Return the settings of a job, from all layers: user, includes, file, environment, `--set`.

    Raises:
        JobError: The directory is not a job.
        ConfigError: With every problem of every layer.
    """
    loaded, problems = examine_job(layout, assignments, environ)
    if problems or loaded is None:
        raise ConfigError(problems)
    return loaded


def examine_job(
    layout: Layout, assignments: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> tuple[Loaded[JobSettings] | None, list[Problem]]:
    """Load as `load_job`, but return the problems, so that other problems can be added.

    Raises:
        JobError: The directory is not a job.
    """
    return examine_layers(layout, job_layers(layout, assignments, environ), environ)


def examine_text(
    layout: Layout, text: str, environ: Mapping[str, str] | None = None
) -> tuple[Loaded[JobSettings] | None, list[Problem]]:
    """As `examine_job`, with another text in place of the job's file, which need not exist."""
    layers = inner_layers(own_layers(layout, text), layout.root)
    return examine_layers(layout, [*layers, *outer_layers((), environ)], environ)


def examine_layers(
    layout: Layout, layers: Sequence[Layer], environ: Mapping[str, str] | None
) -> tuple[Loaded[JobSettings] | None, list[Problem]]:
    """Check layers, weakest first, fill in variables, and check the sheets.

    Returns:
        The settings, None if nothing can be read; and every problem, in the order of the files.
    """
    loaded, problems = load_partly(JobSettings, layers, layout.root)
    if loaded is None:
        return None, problems
    name = loaded.settings.name or layout.root.name
    named = loaded.settings.model_copy(update={"name": name})
    settings, more = expand_variables(named, os.environ if environ is None else environ)
    loaded = replace(loaded, settings=settings)
    placed = (_with_place(loaded, problem) for problem in more)
    all_problems = [*problems, *placed, *sheet_problems(loaded, layout.root)]
    return loaded, sorted(all_problems, key=lambda p: (p.file, p.line, p.path))


def _with_place(loaded: Loaded[JobSettings], problem: Problem) -> Problem:
    origin = loaded.place(problem.path)
    return problem._replace(file=origin.file, line=origin.line)
