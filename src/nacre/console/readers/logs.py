"""The tasks of a reader process that read logs: lines, and the past of a run."""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.console.logs.lines import LogFilter, wanted_lines
from nacre.console.logs.pages import BUDGET, LogQuestion, log_path, read_page
from nacre.console.logs.progress import read_past
from nacre.core.message_data import to_builtins
from nacre.store.layout import Layout


def find_lines(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A `LogPage` of the lines that pass a filter."""
    wants = wanted_lines(msgspec.convert(arguments["filter"], LogFilter))
    asked = LogQuestion(
        arguments["after"], arguments["before"], arguments["limit"], wants,
        arguments.get("budget", BUDGET),
    )  # fmt: skip
    path = log_path(layout, arguments["name"], arguments["run"])
    found: dict[str, Any] = to_builtins(read_page(path, asked))
    return found


def read_progress(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A `ProgressPast` of the last run."""
    found: dict[str, Any] = to_builtins(read_past(layout, arguments["seconds"]))
    return found
