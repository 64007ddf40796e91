"""The pages of a frontier: queues, queued URIs, the wizard that changes them, import and export."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec
from starlette.responses import RedirectResponse, Response, StreamingResponse

from nacre.console.answering import list_links
from nacre.console.call import Call, PageAnswer
from nacre.console.frontier.changes import OF_URIS, FrontierWish, check_change
from nacre.console.frontier.queues import QueueList, QueuesQuery
from nacre.console.frontier.tree import BranchItem, TreeQuery, show_tree
from nacre.console.frontier.uris import (
    ExportPart,
    ExportQuery,
    ExportRequest,
    UriList,
    UrisQuery,
    containing,
    count_affected,
    has_bare_mark,
    with_escapes,
)
from nacre.console.frontier.uris import export_part as read_part
from nacre.console.links import exact, exclude_link, filters_of, job_path, page_link
from nacre.console.settings.changes import list_exclusions
from nacre.console.task_answers import ask, begin_reading, facts_of, read, seen_task
from nacre.core.message_data import to_plain
from nacre.editing.exclusion import ScopeExclusion
from nacre.errors import NacreError
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message
from nacre.ops.fields import LineText, ShortText
from nacre.ops.queued_uris import FrontierPreview, PreviewWish
from nacre.uri.surt import queue_root
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import NoRequest

_QUICK = 1.5
"""Seconds that the wizard waits for its count, so that most show it at once."""


class UrisPageQuery(UrisQuery, frozen=True):
    """The query of the page of URIs.

    Attributes:
        place: Place in the tree of hosts; "" for the top.
        path: Beginning of the paths within the queue; "" for all.
        branch: The branch of the tree behind which it begins.
        whole: The queue is counted to its end.
    """

    place: LineText = ""
    path: LineText = ""
    branch: LineText = ""
    whole: bool = False


class ChangePageQuery(msgspec.Struct, frozen=True):
    """The query of the wizard.

    Attributes:
        action: The action.
        urls: Text or expression in the URLs.
        kind: `contains`: `urls` is a text; `regex`: it is an expression.
        queues: Expression for queue keys.
        task: The preview that was begun; "" for none.
    """

    action: ShortText = "delete"
    urls: LineText = ""
    kind: Literal["contains", "regex"] = "contains"
    queues: LineText = ""
    task: ShortText = ""


class PreviewForm(msgspec.Struct, frozen=True):
    """The form of the wizard; its fields are those of `ChangePageQuery`."""

    action: ShortText = "delete"
    urls: LineText = ""
    kind: Literal["contains", "regex"] = "contains"
    queues: LineText = ""


async def queue_facts(call: Call, answer: QueueList) -> Mapping[str, Any]:
    """The facts of the page of queues."""
    query: QueuesQuery = call.query
    if query.key and query.sort.removeprefix("-") != "name":
        query = msgspec.structs.replace(query, sort="name")
    filters = filters_of(query)
    ways = [
        page_link(filters, {} if query.after or query.before or query.key else None),
        page_link(filters, {"before": answer.previous} if answer.previous else None),
        page_link(filters, {"after": answer.next} if answer.next else None),
    ]
    return {"query": query, "ways": ways, "exact": exact, "root_of": queue_root}


async def uri_facts(call: Call, answer: UriList) -> Mapping[str, Any] | HeldTask:
    """The facts of the page of URIs: the tree, and the links of the list."""
    query: UrisPageQuery = call.query
    place = TreeQuery(query.place, query.queue, query.path, query.branch, query.whole)
    tree = await read(call, show_tree, place)
    if isinstance(tree, HeldTask):
        return tree
    job = call.job().id
    return {
        "ways": list_links(call, filters_of(query, UrisQuery), answer.next), "tree": tree,
        "branches": [
            (item, _branch_link(item, query), row_exclusion(job, item.name, query))
            for item in tree.items
        ],
        "trail": _trail(call, query),
    }  # fmt: skip


def row_exclusion(job: str, name: str, query: UrisPageQuery) -> str:
    """The wizard that excludes a directory or program of a queue; "" for a single URL.

    Args:
        job: Id of the job.
        name: The row of the tree: a path.
        query: Of the page.
    """
    if not query.queue or not name.endswith(("/", "?")):
        return ""
    return exclude_link(job, queue_root(query.queue) + name.removeprefix("/"))


def _branch_link(branch: BranchItem, query: UrisPageQuery) -> str:
    """The link of a branch; "" for a URL."""
    if query.queue:
        below = branch.name.endswith("/") and branch.name != query.path
        return "?" + urlencode({"queue": query.queue, "path": branch.name}) if below else ""
    return "?" + urlencode({"queue": branch.queue} if branch.queue else {"place": branch.name})


def _trail(call: Call, query: UrisPageQuery) -> list[tuple[str, str]]:
    """The places above this one in the tree, with their links."""
    trail = [(call.language.texts.gettext("All"), "?")]
    name, at = query.queue or query.place, 0
    while (at := name.find(",", at) + 1) > 0:
        trail.append((name[:at], "?" + urlencode({"place": name[:at]})))
    if query.queue:
        if trail[-1][0] == query.queue:
            trail.pop()
        trail.append((query.queue, "?" + urlencode({"queue": query.queue})))
    path, at = query.path, 1
    while (at := path.find("/", at) + 1) > 0:
        link = "?" + urlencode({"queue": query.queue, "path": path[:at]})
        trail.append((path[:at], link))
    return trail


async def change_page(call: Call) -> PageAnswer:
    """The wizard: an expression, a count with samples, and the count typed to confirm."""
    query: ChangePageQuery = call.query
    task = facts_of(seen_task(call, query.task)) if query.task else None
    if task is not None:
        question = task.asked
        query = msgspec.structs.replace(query, action=question["action"], queues=question["queues"])
        if query.kind == "regex" or containing(query.urls) != question["urls"]:
            # The page has another text, or none: show the expression that was counted.
            query = msgspec.structs.replace(query, urls=question["urls"], kind="regex")
    facts = {
        "wish": query, "task": task, "of_uris": query.action in OF_URIS,
        "excluded": await _excluded(call) if query.action == "exclude" else None,
        "bare_mark": query.kind == "regex" and has_bare_mark(query.urls),
    }  # fmt: skip
    return PageAnswer("frontier_change.html", facts)


async def _excluded(call: Call) -> tuple[ScopeExclusion, ...] | None:
    """The expressions that the scope excludes, each with its rule; None if it cannot be read."""
    try:
        return (await ask(call, list_exclusions, NoRequest())).items
    except NacreError:  # the settings page shows the errors of the file
        return None


async def preview(call: Call) -> Response:
    """Begin the count of the wizard."""
    form: PreviewForm = call.body
    urls = with_escapes(form.urls) if form.kind == "regex" else containing(form.urls)
    request = PreviewWish(form.action, urls, form.queues)
    _check_preview(request)
    # Who asks for a count wants that of now: a trap grows by thousands in the minute before.
    call.readers.changed(call.job().layout.root, call.clock.now())
    task = begin_reading(call, call.job(), count_affected.name, **to_plain(request))
    await task.wait(_QUICK)
    facts = urlencode({"task": task.id, "kind": form.kind, "urls": form.urls})
    return RedirectResponse(f"{job_path(call.job().id)}/frontier/change?{facts}", 303)


async def count(call: Call) -> FrontierPreview | HeldTask:
    """Count what a change affects, with samples; it changes nothing."""
    _check_preview(call.body)
    return await read(call, count_affected, call.body)


def _check_preview(request: PreviewWish) -> None:
    """Refuse a preview that is not possible.

    Raises:
        RefusedRequestError: What comes back by `include` is known when it is done (422).
    """
    check_change(request.action, FrontierWish(request.urls, request.queues, everything=True))
    if request.action == "include":
        raise RefusedRequestError(
            422,
            "no-preview",
            message("console.no-preview-of-include", "there is no preview of `include`"),
        )


async def import_page(_: Call) -> PageAnswer:
    """The forms of import and export."""
    return PageAnswer("import.html", {})


async def export(call: Call) -> Response:
    """The queued URIs as a recovery journal, which `import` takes; read as it is sent."""
    query: ExportQuery = call.query
    check_change("delete", FrontierWish(query.urls, query.queues, everything=True))

    def part_after(place: tuple[str, bytes] | None) -> ExportRequest:
        return ExportRequest(query.urls, query.queues, after=place)

    first = await ask(call, read_part, part_after(None))

    async def texts() -> AsyncIterator[bytes]:
        part: ExportPart = first
        yield part.text.encode("utf-8", "backslashreplace")
        while part.next is not None:
            part = await ask(call, read_part, part_after(part.next))
            yield part.text.encode("utf-8", "backslashreplace")

    place = {"content-disposition": f'attachment; filename="{call.job().name}-frontier.recover"'}
    return StreamingResponse(texts(), headers=place, media_type="text/plain; charset=utf-8")
