"""`/j/J/frontier` and `/j/J/uris`: queues and waiting URIs, and the wizard that changes them."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlencode

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.console.api.frontier import (
    PreviewWish,
    QueuesQuery,
    TreeQuery,
    UrisQuery,
    begin_count,
    branch_list,
    queue_list,
    queues_arguments,
    tree_arguments,
    uri_list,
    uris_arguments,
)
from nacre.console.api.tasks import seen_task
from nacre.console.background.answers import facts_of, read_or_later
from nacre.console.background.frontier_work import (
    ACTIONS,
    OF_URIS,
    FrontierWish,
    begin_change,
    begin_delay,
    begin_import,
    lines_file,
)
from nacre.console.call import Call, PageAnswer
from nacre.console.cursors import page_way
from nacre.console.decoding import converted
from nacre.console.expressions import containing, has_bare_mark, with_escapes
from nacre.console.pages.forms import fields_of, file_of, may_operate, never_ran_page, wait_page
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.background import HeldTask
from nacre.errors import NacreError
from nacre.ops.fields import LineText, ShortText
from nacre.uri.expressions import beginning_with
from nacre.uri.surt import queue_root

_QUICK = 1.5
"""Seconds that a form waits for its task, so that most show their result at once."""


class FrontierPageQuery(QueuesQuery, frozen=True):
    """The query of the page of queues: that of the interface for programs."""


class UrisPageQuery(UrisQuery, frozen=True):
    """The query of the page of URIs.

    Attributes:
        place: Place in the tree of hosts; "" for the top.
        path: Beginning of the paths within the queue; "" for all.
        branch: The branch of the tree behind which it begins.
        whole: The queue is counted to its end.
        back: The cursors of the pages between the first one and this one.
    """

    place: LineText = ""
    path: LineText = ""
    branch: LineText = ""
    whole: bool = False
    back: LineText = ""


class ChangePageQuery(msgspec.Struct, frozen=True):
    """The query of the wizard.

    Attributes:
        action: What is to be done.
        urls: What URLs have in them.
        kind: `contains`: `urls` is a text as it is; `regex`: it is an expression.
        queues: Expression for queue keys.
        task: The preview that was begun; "" for none.
    """

    action: ShortText = "delete"
    urls: LineText = ""
    kind: Literal["contains", "regex"] = "contains"
    queues: LineText = ""
    task: ShortText = ""


def _text(call: Call) -> Callable[[str], str]:
    return call.language.texts.gettext


def base_of(call: Call) -> str:
    """Beginning of the paths of a job's pages."""
    return f"/j/{quote(call.job().id, safe='')}"


def exact(queue: str) -> str:
    """The expression that only one queue key matches."""
    return f"^{re.escape(queue)}$"


def state_names(call: Call) -> dict[str, str]:
    """The states of queues in words."""
    _ = _text(call)
    return {
        "ready": _("ready"),
        "in_process": _("in process"),
        "snoozed": _("snoozed"),
        "inactive": _("inactive"),
        "ineligible": _("ineligible"),
        "retired": _("retired"),
        "exhausted": _("exhausted"),
    }


async def queues_page(call: Call) -> PageAnswer:
    """The queues, sorted and filtered, with what can be done to each."""
    query: FrontierPageQuery = call.query
    if query.key and query.sort.removeprefix("-") != "name":
        query = msgspec.structs.replace(query, sort="name")  # keys have a place in that order alone
    job, _ = call.job(), _text(call)
    if (nothing := never_ran_page(call, _("Frontier"), "frontier")) is not None:
        return nothing
    found, held = await read_or_later(call, job, "queues", **queues_arguments(query))
    if held is not None:
        return wait_page(call, held)
    columns = [
        ("name", _("Queue")),
        ("waiting", _("Waiting")),
        ("needs", _("Needs")),
        ("delay", _("Delay")),
        ("backoff", _("Backoff")),
        ("spent", _("Spent")),
        ("precedence", _("Precedence")),
        ("failures", _("Failures")),
    ]
    listed = queue_list(found)
    filters = {"sort": query.sort, "re": query.re, "state": query.state}
    ways = [
        link_of(filters, {} if query.after or query.before or query.key else None),
        link_of(filters, {"before": listed.previous} if listed.previous else None),
        link_of(filters, {"after": listed.next} if listed.next else None),
    ]
    facts = {
        "job": job.id, "found": listed, "query": query, "columns": columns,
        "states": state_names(call), "may": may_operate(call), "exact": exact, "ways": ways,
        "root_of": queue_root,
    }  # fmt: skip
    return PageAnswer("frontier.html", facts)


def link_of(filters: Mapping[str, str], place: Mapping[str, str] | None) -> str:
    """The link to another page of a list; "" for none.

    Args:
        filters: The fields of the query that stay; empty ones are left out.
        place: Those that name the page; None where there is no such page.
    """
    if place is None:
        return ""
    return "?" + urlencode({name: value for name, value in {**filters, **place}.items() if value})


def ways_of(
    filters: Mapping[str, str], after: str, back: str, following: str | None
) -> tuple[str, str, str]:
    """The links to the first, the previous and the next page of a list that goes forward only.

    Args:
        filters: The fields of the query that stay.
        after: The cursor of this page; "" for the first.
        back: Those of the pages between the first one and this one.
        following: The cursor of the next page; None for none.
    """
    way = page_way(after, back, following)
    first = link_of(filters, {} if after else None)
    return first, link_of(filters, way.previous), link_of(filters, way.next)


async def uris_page(call: Call) -> PageAnswer:
    """The tree of what waits, and a list of it."""
    query: UrisPageQuery = call.query
    job = call.job()
    title = _text(call)("Waiting URIs")
    if (nothing := never_ran_page(call, title, "frontier")) is not None:
        return nothing
    tree_query = TreeQuery(query.place, query.queue, query.path, query.branch, query.whole)
    tree, held = await read_or_later(call, job, "tree", **tree_arguments(tree_query))
    if held is not None:
        return wait_page(call, held)
    wanted = msgspec.structs.replace(query, re=with_escapes(query.re))
    found = await call.services.readers.ask("uris", job.layout.root, **uris_arguments(wanted))
    branches, listed = branch_list(tree), uri_list(found)
    filters = {"queue": query.queue, "re": query.re, "prefix": query.prefix}
    facts = {
        "ways": ways_of(filters, query.after, query.back, listed.next),
        "job": job.id, "found": listed, "query": query, "typed": query.re,
        "tree": branches, "place": query.place, "path": query.path,
        "branches": [
            (
                item, _branch_link(item.name, item.queue, query),
                row_exclusion(job.id, item.name, query),
            )
            for item in branches.items
        ],
        "may": may_operate(call),
        "trail": _trail(call, query),
    }  # fmt: skip
    return PageAnswer("uris.html", facts)


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


def exclude_link(job: str, prefix: str) -> str:
    """The wizard that excludes URLs, with the expression for what begins like one.

    Args:
        job: Id of the job.
        prefix: The URL.
    """
    options = urlencode({"action": "exclude", "urls": beginning_with(prefix), "kind": "regex"})
    return f"/j/{quote(job, safe='')}/frontier/change?{options}"


def _branch_link(name: str, queue: str, query: UrisPageQuery) -> str:
    """Where a branch leads; "" for a URL."""
    if query.queue:
        below = name.endswith("/") and name != query.path
        return "?" + urlencode({"queue": query.queue, "path": name}) if below else ""
    return "?" + urlencode({"queue": queue} if queue else {"place": name})


def _trail(call: Call, query: UrisPageQuery) -> list[tuple[str, str]]:
    """The places above this one in the tree, with their links."""
    _ = _text(call)
    found = [(_("All"), "?")]
    name, at = query.queue or query.place, 0
    while (at := name.find(",", at) + 1) > 0:
        found.append((name[:at], "?" + urlencode({"place": name[:at]})))
    if query.queue:
        if found[-1][0] == query.queue:
            found.pop()
        found.append((query.queue, "?" + urlencode({"queue": query.queue})))
    path, at = query.path, 1
    while (at := path.find("/", at) + 1) > 0:
        link = "?" + urlencode({"queue": query.queue, "path": path[:at]})
        found.append((path[:at], link))
    return found


def _action_names(call: Call) -> list[tuple[str, str]]:
    _ = _text(call)
    known = {
        "exclude": _("Exclude from the scope, and delete what waits"),
        "delete": _("Delete waiting URIs"),
        "first": _("Move waiting URIs to the front"),
        "forget": _("Forget that URIs were crawled"),
        "retire": _("Retire queues"),
        "unretire": _("Bring queues back"),
        "wake": _("Wake queues"),
        "reconsider": _("Check budgets and order of queues again"),
    }
    return [(name, known[name]) for name in known if name in ACTIONS]


async def change_page(call: Call) -> PageAnswer:
    """The wizard: an expression, a count with samples, and the count typed to confirm."""
    query: ChangePageQuery = call.query
    task = facts_of(seen_task(call, query.task)) if query.task else None
    if task is not None:
        asked = task.asked
        query = msgspec.structs.replace(query, action=asked["action"], queues=asked["queues"])
        if query.kind == "regex" or containing(query.urls) != asked["urls"]:
            # The page has another text, or none: what was counted stands there as it was.
            query = msgspec.structs.replace(query, urls=asked["urls"], kind="regex")
    facts = {
        "job": call.job().id, "wish": query, "actions": _action_names(call), "task": task,
        "of_uris": query.action in OF_URIS, "may": may_operate(call),
        "confirm": _confirmation(call, query.action, task),
        "excluded": await _excluded(call) if query.action == "exclude" else None,
        "bare_mark": query.kind == "regex" and has_bare_mark(query.urls),
    }  # fmt: skip
    return PageAnswer("frontier_change.html", facts)


async def _excluded(call: Call) -> list[dict[str, str]] | None:
    """The expressions that the scope excludes, each with its rule; None where it cannot be read."""
    try:
        found: list[dict[str, str]] = await call.services.readers.ask(
            "exclusions", call.job().layout.root
        )
    except NacreError:  # the page of settings says what is wrong with the file
        return None
    return found


def _confirmation(call: Call, action: str, task: Any) -> str:  # noqa: ANN401 - facts or None
    """The button that repeats what it does."""
    if task is None or task.result is None:
        return ""
    count = task.result["count"]

    def ngettext(one: str, many: str) -> str:
        return call.language.texts.ngettext(one, many, count).format(number=f"{count:,}")

    known = {
        "exclude": ngettext(
            "Exclude, and delete {number} waiting URI", "Exclude, and delete {number} waiting URIs"
        ),
        "delete": ngettext("Delete {number} waiting URI", "Delete {number} waiting URIs"),
        "first": ngettext("Move {number} URI to the front", "Move {number} URIs to the front"),
        "forget": ngettext("Forget {number} URI", "Forget {number} URIs"),
        "retire": ngettext("Retire {number} queue", "Retire {number} queues"),
        "unretire": ngettext("Bring {number} queue back", "Bring {number} queues back"),
        "wake": ngettext("Wake {number} queue", "Wake {number} queues"),
        "reconsider": ngettext("Check {number} queue again", "Check {number} queues again"),
    }
    return known[action]


def _see(path: str) -> Response:
    return RedirectResponse(path, 303)


async def preview(call: Call) -> Response:
    """Begin the count of the wizard."""
    fields = await fields_of(call)
    typed = fields.get("urls", "").strip()
    kind = "regex" if fields.get("kind") == "regex" else "contains"
    urls = with_escapes(typed) if kind == "regex" else containing(typed)
    wish = PreviewWish(fields.get("action", "delete"), urls, fields.get("queues", "").strip())
    # Who asks for a count wants that of now: a trap grows by thousands in the minute before.
    call.services.readers.changed(call.job().layout.root, call.services.clock.now())
    held = begin_count(call, wish)
    await held.wait(_QUICK)
    shown = urlencode({"task": held.id, "kind": kind, "urls": typed})
    return _see(f"{base_of(call)}/frontier/change?{shown}")


async def do_change(call: Call) -> Response:
    """Do what the wizard or a row of the page was asked for."""
    fields = await fields_of(call)
    expect = fields.get("expect", "")
    if expect and re.sub(r"[\s,.']", "", fields.get("typed", "")) != expect:
        raise RefusedRequestError(
            422, "not-confirmed",
            f"to confirm, type {expect}, the number that was counted; nothing was changed",
        )  # fmt: skip
    names = ("urls", "queues", "everything", "expect", "expect_queues")
    wish = converted(
        {name: fields[name] for name in names if fields.get(name)}, FrontierWish, "form"
    )
    held = begin_change(call, call.job(), fields.get("action", ""), wish)
    return await _told(call, held)


async def _told(call: Call, held: HeldTask) -> Response:
    await held.wait(_QUICK)
    if held.problem is not None:
        call.note.outcome = held.problem.code  # its page says why; the audit log has the refusal
    return _see(f"{base_of(call)}/tasks/{held.id}")


async def set_delay(call: Call) -> Response:
    """Give a host another politeness delay, by a sheet."""
    fields = await fields_of(call)
    held = begin_delay(call, call.job(), fields.get("queue", ""), fields.get("delay", ""))
    return await _told(call, held)


async def import_page(call: Call) -> PageAnswer:
    """The forms of import and export."""
    _ = _text(call)
    modes = [
        ("import", _("URLs, or lines of a journal")),
        ("recover", _("A recovery journal: what is done is marked, the rest is scheduled")),
        ("crawl-log", _("A crawl.log: what is done is marked, what failed is scheduled")),
        ("seeds", _("A seed list")),
    ]
    facts = {"job": call.job().id, "modes": modes, "may": may_operate(call)}
    return PageAnswer("import.html", facts)


async def do_import(call: Call) -> Response:
    """Take a file or lines into the frontier."""
    fields, upload = await fields_of(call), await file_of(call, "file")
    with lines_file(_suffix(upload)) as file:
        if upload is not None:
            while data := await upload.read(1 << 20):
                file.write(data)
        else:
            file.write(fields.get("lines", "").encode("utf-8", "backslashreplace"))
        file.flush()
        await call.request.close()  # with the file of the form
        held = begin_import(
            call, call.job(), Path(file.name), fields.get("mode", "import"),
            scoped=fields.get("scoped") == "1", force=fields.get("force") == "1",
        )  # fmt: skip
    return await _told(call, held)


def _suffix(upload: Any) -> str:  # noqa: ANN401 - a file or None
    name = "" if upload is None else str(upload.filename or "")
    return ".txt.gz" if name.lower().endswith(".gz") else ".txt"
