"""`POST /j/J/wanted`: the button by which a kind of URLs is wanted, and its banner goes."""

from urllib.parse import quote

from starlette.responses import RedirectResponse

from nacre.console.api.wanted_kinds import WantedKinds, keep_wanted
from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.wanted_book import kinds_of
from nacre.console.live.notices import Notice
from nacre.console.pages.acting import shown
from nacre.console.pages.forms import fields_of
from nacre.console.problems import RefusedRequestError


async def answer(call: Call) -> PageAnswer | RedirectResponse:
    """Keep that a kind of URLs is wanted."""
    job, _ = call.job(), call.language.texts.gettext
    prefix = (await fields_of(call)).get("prefix", "").strip()
    known = call.services.poller.snapshot(job).crowded
    if known is None or known.prefix != prefix:
        raise RefusedRequestError(
            409, "not-crowded", f"most of what waits is not of {prefix} any more: look again"
        )
    keep_wanted(call, WantedKinds(kinds_of(call.services.wanted.of(job), (prefix,))))
    said = _("It is wanted: nothing is said about {place} any more.").format(place=prefix)
    return shown(call, [Notice("done", said)], f"/j/{quote(job.id, safe='')}")
