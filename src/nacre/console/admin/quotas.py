"""`/api/v1/quota`: bytes that jobs may use, each and together, for admins."""

from typing import Final

import msgspec

from nacre.console.call import AdminCall, Call
from nacre.console.forms import go_back
from nacre.console.links import ItemList
from nacre.console.route_row import Answer
from nacre.core.clock import iso
from nacre.errors import NacreError
from nacre.fleet.job_books import ALL_JOBS, DiskQuotaBook, KeptQuota, limit_of
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message
from nacre.ops.fields import ShortText, Whole
from nacre.web.decoding import sent_form, text_of
from nacre.web.live.hub import Notice
from nacre.web.versions import EditedThing, edited

_PAGE: Final = "/admin/quotas"


class QuotaItem(msgspec.Struct, frozen=True):
    """A quota in the list.

    Attributes:
        job: Id of the job; "" for all jobs together.
        limit: Bytes that may be used; 0 for none, if the job is held because of the total quota.
        used: Bytes that were used at the last measurement.
        measured: When it was last measured, RFC 3339; null for never.
        level: `free`, `warning` (from 90 %) or `full`.
        held: The console has paused the job.
        trouble: Why the job could not be paused or released; "" for no trouble.
    """

    job: str
    limit: int
    used: int
    measured: str | None
    level: str
    held: bool
    trouble: str


class QuotaList(ItemList[QuotaItem], frozen=True):
    """All quotas."""


class QuotaWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A quota to set.

    Attributes:
        limit: Bytes that may be used; 0 for none.
        job: Id of the job; "" for all jobs together.
    """

    limit: Whole
    job: ShortText = ""


async def list_quotas(call: AdminCall) -> QuotaList:
    """The quotas of the jobs that one sees, and that of all."""
    return QuotaList(quota_items(call, call.parts.quotas), None, call.now)


def quota_items(call: Call, book: DiskQuotaBook) -> tuple[QuotaItem, ...]:
    """The quotas of the jobs that one sees; that of all jobs first, for who sees all."""
    quotas = book.all()
    paths = [] if call.identity.places else [("", ALL_JOBS)]
    paths += [(job.id, str(job.layout.root)) for job, _ in call.snapshots()]
    return tuple(_item(job, quotas[path]) for job, path in paths if path in quotas)


def _item(job: str, quota: KeptQuota) -> QuotaItem:
    measured = iso(quota.measured) if quota.measured else None
    return QuotaItem(
        job, quota.limit, quota.used, measured, quota.level.value, quota.held, quota.trouble
    )


async def quotas_version(call: AdminCall) -> EditedThing:
    """The limits, by job."""
    return edited({item.job: item.limit for item in quota_items(call, call.parts.quotas)})


async def set_quota(call: AdminCall) -> QuotaItem:
    """Set a quota; it is measured within seconds.

    Raises:
        RefusedRequestError: There is no such job (404), or it is for all jobs, and the requester
            sees only some (403).
    """
    request: QuotaWish = call.body
    path = ALL_JOBS
    if request.job:
        path = str(call.job(request.job).layout.root)
    elif call.identity.places:
        label = ", ".join(call.identity.places)
        raise RefusedRequestError(
            403,
            "place",
            message(
                "console.quota-of-all",
                "{name} sees only {value}; the quota of all is not theirs",
                name=call.identity.name,
                value=label,
            ),
        )
    book = call.parts.quotas
    call.note.job = request.job
    call.note.change({"limit": book.find(path).limit}, {"limit": request.limit})
    book.set(path, request.limit)
    return _item(request.job, book.find(path))


async def set_quota_by_form(call: AdminCall) -> Answer:
    """Set a quota by the form of /admin, whose limit has a unit, such as `500 GB`."""
    form = await sent_form(call.request)
    try:
        request = QuotaWish(limit_of(text_of(form, "limit")), text_of(form, "job"))
        await set_quota(call._replace(body=request))
    except NacreError as error:
        return go_back(call, _PAGE, Notice("error", error.message))
    return go_back(call, _PAGE, Notice("done", call.language.texts.gettext("The quota is set.")))
