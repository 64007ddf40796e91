"""`/api/v1/jobs/J/wanted-kinds`: kinds of URLs of which no banner warns, however many wait."""

from typing import Annotated

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.wanted_book import MOST, kinds_of
from nacre.console.forms import shown
from nacre.console.links import job_path
from nacre.console.live.hub import job_topic
from nacre.console.live.notices import Notice
from nacre.console.problems import RefusedRequestError
from nacre.console.versions import EditedThing, edited
from nacre.messages import message
from nacre.ops.fields import LineText


class WantedKinds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The kinds of URLs of a job that are wanted.

    Attributes:
        prefixes: Beginnings of their URLs, the oldest first, 100 at most.
    """

    prefixes: Annotated[tuple[LineText, ...], msgspec.Meta(max_length=MOST)] = ()


class WantedForm(msgspec.Struct, frozen=True):
    """The button of a banner.

    Attributes:
        prefix: Beginning of the URLs of the kind.
    """

    prefix: LineText = ""


async def show_wanted(call: Call) -> WantedKinds:
    """The kinds of URLs of a job that are wanted."""
    return WantedKinds(call.services.wanted.of(call.job()))


async def wanted_version(call: Call) -> EditedThing:
    """The wanted kinds of a job, which are edited as a whole."""
    return edited(await show_wanted(call))


async def set_wanted(call: Call) -> WantedKinds:
    """Set which kinds of URLs of a job are wanted, and notify its viewers."""
    wish: WantedKinds = call.body
    job, book = call.job(), call.services.wanted
    before = WantedKinds(book.of(job))
    after = WantedKinds(book.set(job, wish.prefixes))
    call.note.change(msgspec.to_builtins(before), msgspec.to_builtins(after))
    call.services.hub.changed(job_topic(job.id))
    return after


async def add_wanted(call: Call) -> PageAnswer | RedirectResponse:
    """Add the kind of URLs of which a banner warns to those that are wanted; a button.

    Raises:
        RefusedRequestError: Most queued URLs are of another kind now (409).
    """
    job, prefix = call.job(), call.body.prefix
    kind = call.services.poller.snapshot(job).crowded
    if kind is None or kind.prefix != prefix:
        raise RefusedRequestError(
            409,
            "not-crowded",
            message(
                "console.kind-outdated",
                "most of what waits is not of {prefix} any more: look again",
                prefix=prefix,
            ),
        )
    prefixes = kinds_of(call.services.wanted.of(job), (prefix,))
    await set_wanted(call._replace(body=WantedKinds(prefixes)))
    text = call.language.texts.gettext("It is wanted: nothing is said about {place} any more.")
    return shown(call, [Notice("done", text.format(place=prefix))], job_path(job.id))
