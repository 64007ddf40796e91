"""The check of the browser of this machine, with the settings of a job or those of the user."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.errors import ConfigError

if TYPE_CHECKING:
    from nacre.browser.checking import BrowserFact
    from nacre.browser.settings import BrowserSettings


def examine_browser(
    directory: Path | None, assignments: Sequence[str] = ()
) -> "Sequence[BrowserFact]":
    """Start the browser, load a page in it, and return the facts; see `check_browser`.

    Args:
        directory: A job whose settings hold; None: the settings of the user.
        assignments: Other settings, `path=value`.

    Raises:
        JobError: The directory is not a job.
        ConfigError: The settings have problems.
    """
    import asyncio

    from nacre.browser.checking import check_browser
    from nacre.machine.clock import SystemClock

    return asyncio.run(check_browser(_load_settings(directory, assignments), SystemClock()))


def _load_settings(directory: Path | None, assignments: Sequence[str]) -> "BrowserSettings":
    from nacre.machine.layout import Layout
    from nacre.settings.layers import inner_layers, outer_layers
    from nacre.settings.load import examine_layers, load_job

    if directory is not None:
        return load_job(Layout(directory), assignments).settings.browser
    here = Layout(Path())
    layers = [*inner_layers((), here.root), *outer_layers(assignments, None)]
    loaded, problems = examine_layers(here, layers, None)
    if problems or loaded is None:
        raise ConfigError(problems)
    return loaded.settings.browser
