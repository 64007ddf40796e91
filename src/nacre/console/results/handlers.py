"""Handlers of a job's seeds and URLs: what is read with the state of the console, and new seeds."""

from typing import Any

import msgspec

from nacre.console.call import Call
from nacre.console.frontier.changes import ImportForm, import_lines
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.background import HeldTask
from nacre.console.results.urls import ExplainedUrl, ExplainRequest, explain_url
from nacre.console.task_answers import read
from nacre.messages import message
from nacre.ops.fields import Text, Texts


class NewSeeds(msgspec.Struct, frozen=True):
    """Seeds for a job.

    Attributes:
        lines: Lines of a seed list: URLs, `+` and `-` directives.
        retry: They are seeds already, and are to be fetched again.
    """

    lines: Texts
    retry: bool = False


class SeedsForm(msgspec.Struct, frozen=True):
    """The form of new seeds; its fields are those of `NewSeeds`."""

    lines: Text = ""
    retry: bool = False


class SeedsTaken(msgspec.Struct, frozen=True):
    """The result of new seeds, or of a retry: how many were scheduled, counts, rejected lines."""

    changed: int
    tally: dict[str, int]
    rejected: tuple[dict[str, Any], ...]


async def add_seeds(call: Call) -> HeldTask:
    """Add seeds to the run, or fetch some of them again.

    Raises:
        RefusedRequestError: There is no line with a URL (422).
    """
    wish: NewSeeds | SeedsForm = call.body
    text = wish.lines if isinstance(wish, SeedsForm) else "\n".join(wish.lines)
    if not text.strip():
        raise RefusedRequestError(
            422, "no-seeds", message("console.no-url-line", "there is no line with a URL")
        )
    options = ImportForm(mode="import" if wish.retry else "seeds", force=wish.retry)
    return import_lines(call, f"{text}\n", options)


async def explain(call: Call) -> ExplainedUrl | HeldTask:
    """Explain why a URL was or was not crawled."""
    running = call.services.poller.snapshot(call.job()).running
    return await read(call, explain_url, ExplainRequest(call.query.u, running))
