"""Forms of pages: their fields, and what pages have in common that wait for a task."""

from collections.abc import Sequence
from typing import Final

from starlette.datastructures import UploadFile
from starlette.requests import Request

from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import sent_form
from nacre.console.readers.background import HeldTask
from nacre.console.task_answers import facts_of
from nacre.ops.roles import Role


async def fields_of(call: Call) -> dict[str, str]:
    """The text fields of a form; of two with one name, the last.

    Raises:
        RefusedRequestError: The form cannot be read (400).
    """
    form = await sent_form(call.request)
    return {name: value for name, value in form.items() if isinstance(value, str)}


async def file_of(call: Call, name: str) -> UploadFile | None:
    """The file of a field of a form; None where none was chosen."""
    found = (await sent_form(call.request)).get(name)
    return found if isinstance(found, UploadFile) and found.size else None


_RUNS: Final = 50
"""Runs that a field offers."""


def offered_runs(names: Sequence[str], chosen: str) -> list[str]:
    """The runs that a field offers: the newest ones, and the one that is chosen (pure).

    Args:
        names: All runs, the newest first.
        chosen: The one that is chosen; hostile; "" for none.
    """
    newest = list(names[:_RUNS])
    return [*newest, chosen] if chosen in names[_RUNS:] else newest


def in_place(request: Request) -> bool:
    """Whether htmx sent a form: it puts the answer into a place of the page."""
    return "hx-request" in request.headers


def may_operate(call: Call) -> bool:
    """Whether who asks may change something."""
    return call.identity.role >= Role.OPERATOR


def never_ran_page(call: Call, title: str, current: str) -> PageAnswer | None:
    """The page in place of one that shows what a run has found; None for a job that has run.

    Args:
        call: The request.
        title: Title of the page.
        current: Name of its tab.

    Raises:
        JobError: The state of the job is another user's.
    """
    job = call.job()
    if job.layout.has_store:
        return None
    return PageAnswer("never_ran.html", {"job": job.id, "title": title, "current": current})


def wait_page(call: Call, task: HeldTask) -> PageAnswer:
    """The page in place of one whose answer takes longer; it asks again by itself."""
    return PageAnswer("wait.html", {"job": call.job().id, "task": facts_of(task)}, 202)
