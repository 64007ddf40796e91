"""The change feed of a job: a page, a REST path, and feeds for readers."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.links import job_path
from nacre.console.task_answers import ask
from nacre.core.clock import parse_time
from nacre.core.message_data import to_json
from nacre.inspect.changes.atom import (
    ATOM_TYPE,
    JSON_FEED_TYPE,
    FeedAddresses,
    atom_feed,
    json_feed,
)
from nacre.inspect.changes.feed import ChangeFeed, PostedChanges, entries_by_run
from nacre.inspect.changes.markup import FeedLanguage
from nacre.inspect.changes.reading import posted_changes
from nacre.inspect.changes.wording import (
    KIND_WORDS,
    PIECE_WORDS,
    entry_note,
    feed_notes,
    more_note,
    run_counts,
    run_title,
)
from nacre.machine.layout import Layout
from nacre.ops.changes import ChangesQuery, feed_language, read_changes
from nacre.web.conditional import validated_answer
from nacre.web.workers.task import reader_task
from nacre.web.workers.views import VIEWS

_Render = Callable[[ChangeFeed, FeedLanguage, FeedAddresses], bytes]


@reader_task("changes")
def list_changes(layout: Layout, query: ChangesQuery) -> ChangeFeed:
    """Read the changes of a job."""
    with VIEWS.looking(layout) as view:
        return read_changes(view.view(), query)


class NamedRun(msgspec.Struct, frozen=True):
    """A run that is over.

    Attributes:
        run: Its name.
    """

    run: str


@reader_task("run-changes")
def list_changes_of_run(layout: Layout, request: NamedRun) -> PostedChanges:
    """Read the changes of a run for a webhook."""
    with VIEWS.looking(layout) as view:
        return posted_changes(view.view().store, request.run)


async def change_facts(call: Call, feed: ChangeFeed) -> Mapping[str, Any]:
    """The facts of the page of changes."""
    job, query = call.job().id, call.request.url.query
    api = f"/api/v1{job_path(job).replace('/j/', '/jobs/', 1)}/changes"
    more = f"?{query}" if query else ""
    return {
        "base": job_path(job),
        "kinds": KIND_WORDS,
        "entries": entries_by_run(feed),
        "pieces": PIECE_WORDS,
        "note_of": entry_note,
        "more_of": more_note,
        "notes_of": feed_notes,
        "counts_of": run_counts,
        "title_of": run_title,
        "atom": f"{api}/atom{more}",
        "json_feed": f"{api}/json-feed{more}",
    }


async def get_changes(call: Call) -> Response:
    """The changes as JSON, with validators."""
    return await _answer(call, lambda feed, _, __: to_json(feed), "application/json")


async def get_atom(call: Call) -> Response:
    """The changes as Atom."""
    return await _answer(call, atom_feed, f"{ATOM_TYPE}; charset=utf-8")


async def get_json_feed(call: Call) -> Response:
    """The changes as JSON Feed."""
    return await _answer(call, json_feed, JSON_FEED_TYPE)


async def _answer(call: Call, render: _Render, media: str) -> Response:
    """Return a feed in a format, or 304."""
    feed = await ask(call, list_changes, call.query)
    language = feed_language("zh" if call.language.tag.startswith("zh") else "en")
    body = render(feed, language, _addresses(call))
    modified = parse_time(feed.updated) if feed.entries else 0.0
    return validated_answer(call.request.headers, body, media, modified, call.clock.now())


def _addresses(call: Call) -> FeedAddresses:
    """Return the addresses of the feed, as the request has its host."""
    url = call.request.url
    home = url.replace(path=f"{job_path(call.job().id)}/changes", query="")
    return FeedAddresses(str(home), str(url), str(url))
