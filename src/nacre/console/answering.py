"""Answers of handlers, as their routes send them: one handler serves a page and a REST path.

A handler returns a typed result, or a task that runs in the background. The route decides: a page
shows the result by its view, waits for the task, or leads from a form to the page of the task; the
interface for programs sends the result, or says where to ask for it (202).
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.console.call import Call, NounCall, P, PageAnswer
from nacre.console.forms import may_operate, never_ran_page, wait_page
from nacre.console.links import filters_of, job_path, page_links
from nacre.console.route_row import Answer, AnyRow, RouteHandler, RouteRow, RouteView
from nacre.console.task_answers import later, read
from nacre.ops.operation import Role
from nacre.web.gate import SAFE
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import ReaderTask

_QUICK: Final = 1.5
"""Seconds that a form waits for its task, so that most show their result at once."""
_BACK: Final = 8_000
"""Characters of the cursors of former pages."""


def read_row(path: str, task: ReaderTask[Any, Any], summary: str) -> RouteRow[object]:
    """Return the route of what a task of a reader process reads.

    Args:
        path: Path for programs; its parameters and the query are the fields of the task's request.
        task: The task.
        summary: What it reads, in a sentence.
    """
    fields = {field.name for field in msgspec.structs.fields(task.request)}
    query = None if all(f"{{{name}}}" in path for name in fields) else task.request
    handler, answer = reading(task), task.answer
    return RouteRow("GET", path, Role.VIEWER, handler, summary, query=query, answer=answer)


def with_page(
    row: RouteRow[P], path: str, view: RouteView[P], query: type[msgspec.Struct] | None = None
) -> tuple[RouteRow[P], RouteRow[P]]:
    """Return a route of programs and the page that shows the answer of its handler.

    Args:
        row: The route.
        path: Path of the page.
        view: How the page shows the answer.
        query: Struct of the query of the page; None for that of programs.
    """
    page = RouteRow(row.verb, path, row.role, row.handler, row.summary, query or row.query)
    return page._replace(view=view, changes=row.changes), row


def reading(task: ReaderTask[Any, Any]) -> RouteHandler[object]:
    """Return the handler that runs a task of a reader process.

    The fields of its request are those of the query and the parameters of the path.

    Args:
        task: The task.
    """
    names = [field.name for field in msgspec.structs.fields(task.request)]

    async def handle(call: Call) -> Answer:
        values = {**call.params, **_fields(call.query)}
        request = task.request(**{name: values[name] for name in names if name in values})
        return await read(call, task, request)

    return handle


def _fields(query: msgspec.Struct | None) -> dict[str, object]:
    return {} if query is None else msgspec.structs.asdict(query)


async def answer_of(row: RouteRow[P], call: NounCall[P]) -> Answer:
    """Run the handler of a route, and return its answer as the route sends it.

    Raises:
        NacreError: The handler refuses, or its task failed.
    """
    view = row.view
    if view is not None and view.title:
        title = call.language.texts.gettext(view.title)
        if (page := never_ran_page(call, title, view.tab)) is not None:
            return page
    answer = await row.handler(call)
    if isinstance(answer, HeldTask):
        return await _task_answer(row, call, answer)
    if answer is None:
        return Response(status_code=row.status)
    if view is None or isinstance(answer, PageAnswer):
        return answer
    return await _page_of(view, call, answer)


def page_facts(call: Call) -> dict[str, object]:
    """Return the facts of every page: the query, the `job` of the path, and who `may` change it."""
    facts: dict[str, object] = {"query": call.query, "may": may_operate(call)}
    if "job" in call.params:
        facts["job"] = str(call.params["job"])
    return facts


async def _page_of(view: RouteView[P], call: NounCall[P], answer: Answer) -> Answer:
    """Return the page of an answer: it is `found`, with `ways` to the other pages of a list."""
    facts: dict[str, object] = {"found": answer}
    if hasattr(call.query, "after"):
        facts["ways"] = list_links(call, filters_of(call.query), getattr(answer, "next", None))
    more = {} if view.facts is None else await view.facts(call, answer)
    if isinstance(more, HeldTask):
        return wait_page(more)
    if isinstance(more, PageAnswer):
        return more
    return PageAnswer(view.template, {**facts, **more})


def list_links(
    call: Call, filters: Mapping[str, str], following: str | None
) -> tuple[str, str, str]:
    """Return the links to the first, the previous and the next page of the list of a request.

    Args:
        call: The request; its query has `after`, and `back` on pages.
        filters: The fields of the query that stay.
        following: The cursor of the next page; None for none.
    """
    back = call.request.query_params.get("back", "")[:_BACK]
    return page_links(filters, call.query.after, back, following)


async def _task_answer(row: AnyRow, call: Call, task: HeldTask) -> Answer:
    """Return the answer of a request whose task runs in the background."""
    if row.is_api:
        if not task.is_question:  # a question has waited already
            result = await task.outcome(task.patience)
            if task.ended and row.answer is not None:
                return msgspec.convert(result, row.answer)
        return later(task)
    if row.verb in SAFE:
        return wait_page(task)
    await task.wait(_QUICK)
    if task.problem is not None:
        call.note.outcome = task.problem.code  # its page says why; the audit log has the refusal
    return RedirectResponse(f"{job_path(task.job)}/tasks/{task.id}", 303)
