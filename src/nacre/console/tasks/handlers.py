"""`/api/v1/tasks` and `/j/J/tasks`: what runs in the background, and its results."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from nacre.console.answering import with_page
from nacre.console.call import Call, PageAnswer
from nacre.console.links import job_path
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.console.task_answers import TaskFacts, TaskList, facts_of, seen_task
from nacre.core.clock import iso
from nacre.fleet.refusals import not_found
from nacre.messages import message
from nacre.ops.operation import Role


async def list_tasks(call: Call) -> TaskList:
    """All tasks, the newest first."""
    items = tuple(facts_of(task) for task in call.tasks.tasks if call.sees(task.job))
    return TaskList(items, None, iso(call.clock.now()))


async def get_task(call: Call) -> TaskFacts:
    """A task: its progress, and its result.

    Raises:
        RefusedRequestError: There is none, also of the job of the path (404).
    """
    task = seen_task(call)
    if "job" in call.request.path_params and task.job != call.job().id:
        raise not_found(message("console.task-of-job", "such task of this job"))
    return facts_of(task)


async def cancel_task(call: Call) -> Response:
    """Cancel a task; completed steps are kept. A task that has ended does not change."""
    await seen_task(call).cancel()
    return Response(status_code=204)


_BACK: Final = {
    "seeds": "seeds",
    "restore": "checkpoints",
    "push": "files",
    "withdraw": "files",
    "check-archive": "files",
    "export-captures": "captures",
}
"""The pages from which tasks are begun, if that is not the frontier's."""


async def task_facts(call: Call, task: TaskFacts) -> Mapping[str, Any] | PageAnswer:
    """The facts of the page of a task; it asks again by itself until the task is over."""
    if task.what == "dry-round" and task.state == "done":
        return PageAnswer("dry_round.html", {"found": task.result})
    _ = call.language.texts.gettext
    return {
        "again": _again(task), "overview": job_path(task.job), "rule": _rule_link(task),
        "task": task, "title": _title(call, task), "said": _result_text(call, task),
        "back": f"{job_path(task.job)}/{_BACK.get(task.what, 'frontier')}",
        "tallied": [
            ("lines", _("Lines")), ("scheduled", _("Scheduled")), ("known", _("Known before")),
            ("done", _("Marked as done")), ("passed", _("Of no account")),
            ("rejected", _("Not taken")),
        ],
    }  # fmt: skip


def _again(task: TaskFacts) -> dict[str, str]:
    """Return the form fields that repeat the count of a refused change; {} if it has no count."""
    if task.problem is None or task.problem.code != "count-differs":
        return {}
    request = {name: str(task.asked[name]) for name in ("urls", "queues")}
    return {"action": task.what, "kind": "regex", **request}


def _rule_link(task: TaskFacts) -> str:
    """Return the link to the rule that received an expression, or to all rules if it was there."""
    if task.what != "exclude" or not isinstance(task.result, dict):
        return ""
    form = f"{job_path(task.job)}/settings/form"
    path, _, number = str(task.result["rule"]).rpartition(".")
    return f"{form}?card={path}+{number}#{path}-{number}-card" if path else form


def _title(call: Call, task: TaskFacts) -> str:
    _ = call.language.texts.gettext
    if task.state == "running":
        return _("One moment")
    return _("Done") if task.state == "done" else _("Not done")


def _result_text(call: Call, task: TaskFacts) -> str:
    """Return the result of a task as a sentence."""
    if not isinstance(task.result, dict):
        return ""
    _, changed = call.language.texts.gettext, task.result.get("changed", 0)
    if task.what == "check-archive":
        damaged = task.result["damaged"]
        return _("The archive is damaged.") if damaged else _("The archive is whole.")
    if task.what == "export-captures":
        return _("The file is written.")
    texts = {
        "delay": _("The delay is set by a sheet: {text}"),
        "restore": _("The store is that of the checkpoint now; the former one is kept in {text}"),
    }
    if task.what in texts:
        return texts[task.what].format(text=task.result.get("text", ""))
    if task.what == "include" and task.result.get("over"):
        return _(
            "The scope takes them again. No run goes on, so that nothing waits now: a recrawl "
            "finds those that the pages it visits link to, and a recrawl of everything finds all."
        )
    return _counted(call, task.what, changed)


def _counted(call: Call, kind: str, number: int) -> str:
    """Return the result of a task as a sentence with the number of changes."""

    def ngettext(singular: str, many: str) -> str:
        return call.language.texts.ngettext(singular, many, number).format(number=f"{number:,}")

    nouns = {
        "delete": ngettext(
            "{number} waiting URI was deleted.", "{number} waiting URIs were deleted."
        ),
        "exclude": ngettext(
            "The scope excludes them now; {number} waiting URI was deleted.",
            "The scope excludes them now; {number} waiting URIs were deleted.",
        ),
        "include": ngettext(
            "The scope takes them again; {number} URI that was deleted or refused waits again.",
            "The scope takes them again; {number} URIs that were deleted or refused wait again.",
        ),
        "first": ngettext(
            "{number} URI was moved to the front of its queue.",
            "{number} URIs were moved to the front of their queues.",
        ),
        "forget": ngettext(
            "{number} URI was forgotten: it is crawled again once it is found.",
            "{number} URIs were forgotten: they are crawled again once they are found.",
        ),
        "retire": ngettext("{number} queue was retired.", "{number} queues were retired."),
        "unretire": ngettext(
            "{number} queue was brought back.", "{number} queues were brought back."
        ),
        "wake": ngettext("{number} queue was woken.", "{number} queues were woken."),
        "reconsider": ngettext(
            "{number} queue changed its place.", "{number} queues changed places."
        ),
        "import": ngettext("{number} URI was scheduled.", "{number} URIs were scheduled."),
        "seeds": ngettext("{number} seed was scheduled.", "{number} seeds were scheduled."),
        "push": ngettext(
            "{number} index was posted to OutbackCDX; it has all now.",
            "{number} indexes were posted to OutbackCDX; it has all now.",
        ),
        "withdraw": ngettext(
            "{number} index was posted to OutbackCDX; lines gone here are deleted there.",
            "{number} indexes were posted to OutbackCDX; lines gone here are deleted there.",
        ),
    }
    return nouns.get(kind, "")


TASK_ROUTES: tuple[RouteRow[object], ...] = (
    *with_page(RouteRow("GET", f"{API}/tasks/{{task}}", Role.VIEWER, get_task,
                        "A task: its progress and result.", answer=TaskFacts),
               "/j/{job}/tasks/{task}", RouteView("task.html", task_facts)),
    RouteRow("GET", f"{API}/tasks", Role.VIEWER, list_tasks,
             "The tasks in the background.", answer=TaskList),
    RouteRow("DELETE", f"{API}/tasks/{{task}}", Role.OPERATOR, cancel_task, "End a task.",
             status=204),
)  # fmt: skip
"""Its rows."""
