"""`POST /admin/quota`: the form of the page /admin that sets a quota."""

from starlette.responses import RedirectResponse

from nacre.console.api.quota import QuotaWish, change_quota
from nacre.console.call import Call
from nacre.console.decoding import sent_form, text_of
from nacre.console.fleet.quota_book import limit_of
from nacre.console.live.notices import Notice
from nacre.errors import NacreError


async def answer(call: Call) -> RedirectResponse:
    """Set the quota, and go back to the page, which says what came of it."""
    form = await sent_form(call.request)
    notice = Notice("done", call.language.texts.gettext("The quota is set."))
    try:
        change_quota(call, QuotaWish(limit_of(text_of(form, "limit")), text_of(form, "job")))
    except NacreError as error:
        notice = Notice("error", error.message)
    if call.session is not None:
        call.services.notices.add(call.identity.session, notice)
    return RedirectResponse("/admin#quotas", status_code=303)
