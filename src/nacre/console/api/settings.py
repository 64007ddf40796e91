"""`/api/v1/jobs/J/settings`, `sheets` and `dry-run`: single settings, and what holds for a URL."""

from typing import Any

import msgspec

from nacre.console.access.reach import may_name_files
from nacre.console.access.roles import Requester
from nacre.console.api.config import ask
from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError
from nacre.console.services import ConsoleServices
from nacre.core.clock import iso
from nacre.inspect.explain.dry_run import DryRunAnswer
from nacre.job.apply_change import Changed, ChangeRequest
from nacre.job.control import BY, NotRunningError, ask_command
from nacre.job.settings_change import AffectedUrls
from nacre.ops.fields import LineText, LineTexts, Text, Texts

MOST_URLS = 1_000
"""URLs of one dry run."""
_PATIENCE = 60.0


class SettingsPatch(msgspec.Struct, frozen=True, kw_only=True):
    """A change of settings, applied as a whole or not at all.

    Attributes:
        assignments: `path=value` texts; the value is read as YAML.
        place: A URL or SURT prefix for which alone they hold, in a sheet that is made for it; ""
            for the whole job.
        preview: Change nothing; count the queued URIs that would be affected.
    """

    assignments: Texts = ()
    place: LineText = msgspec.field(default="", name="for")
    preview: bool = False


class ChangedValue(msgspec.Struct, frozen=True):
    """A value before and after.

    Attributes:
        path: Its path.
        before: What it was; null for nothing.
        after: What it is; null for nothing.
    """

    path: str
    before: Any
    after: Any


class ChangedSettings(msgspec.Struct, frozen=True):
    """A change that was made or looked at.

    Attributes:
        changes: Each value.
        running: The job runs, and has taken it.
        preview: Nothing was changed.
        touched: The queued URIs that it would affect; null where it was made.
    """

    changes: tuple[ChangedValue, ...]
    running: bool
    preview: bool
    touched: AffectedUrls | None = None


class UrlQuestion(msgspec.Struct, frozen=True):
    """URLs to be tried.

    Attributes:
        urls: At most 1,000; without a scheme as in a seed list.
        text: A text of `crawl.yaml` that is tried beside the saved one; null for none.
    """

    urls: LineTexts
    text: Text | None = None


class UrlTrial(msgspec.Struct, frozen=True):
    """The dry run of one URL.

    Attributes:
        now: With the text that was sent, else with the saved one.
        saved: With the saved text, where it decides otherwise; null where nothing changes.
    """

    now: DryRunAnswer
    saved: DryRunAnswer | None = None


class UrlTrials(msgspec.Struct, frozen=True):
    """Dry runs.

    Attributes:
        items: One for each URL, in their order.
        changed: How many of them the text that was sent changes.
        next: Always null: all are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[UrlTrial, ...]
    changed: int
    next: None
    as_of: str


async def patch_settings(call: Call) -> ChangedSettings:
    """Change single settings, of a running job at once."""
    wanted: SettingsPatch = call.body
    if not wanted.assignments:
        sample = '`{"assignments": ["politeness.min_delay=5"]}`'
        raise RefusedRequestError(422, "nothing", f"no assignment is given, such as {sample}")
    request = ChangeRequest(
        assignments=list(wanted.assignments), place=wanted.place, preview=wanted.preview
    )
    return await change(call, call.job(), request)


async def change(call: Call, job: FoundJob, request: ChangeRequest) -> ChangedSettings:
    """Ask the running job for a change, or change the file of one that lies still.

    Args:
        call: Who asks.
        job: The job.
        request: The change.

    Raises:
        ConfigError: It cannot be made; with each reason.
        RefusedRequestError: It names a file, and the asker may not (403).
    """
    await require_may_name(call.services, call.identity, job, request)
    plain: dict[str, Any] = msgspec.to_builtins(request)
    who = f"{call.identity.name} via console"
    try:
        answer = await ask_command(
            job.layout.socket, "change", _PATIENCE, change=plain, **{BY: who}
        )
        made, running = msgspec.convert(answer["changed"], Changed), True
    except NotRunningError:
        found = await ask(call, "change-settings", job, _PATIENCE, change=plain, who=who)
        made, running = msgspec.convert(found, Changed), False
    changes = tuple(ChangedValue(*one) for one in made.said)
    if request.preview:
        call.note.change(None, {"preview": [one.path for one in changes]})
    else:
        call.note.change(
            {one.path: one.before for one in changes}, {one.path: one.after for one in changes}
        )
    return ChangedSettings(changes, running, request.preview, made.touched)


async def require_may_name(
    services: ConsoleServices, who: Requester, job: FoundJob, request: ChangeRequest
) -> None:
    """Refuse a change that names files, servers or networks if that is for admins alone.

    Args:
        services: The parts of the console.
        who: Who asks.
        job: The job.
        request: The change.

    Raises:
        RefusedRequestError: It does (403).
    """
    if may_name_files(who.role, is_remote=services.reach.is_remote, places=who.places):
        return
    change = msgspec.to_builtins(request)
    named = await services.readers.ask("named-files", job.layout.root, _PATIENCE, change=change)
    if named:
        raise RefusedRequestError(
            403, "files", f"only administrators may change {', '.join(named)}: it names a "
            "file, a program, a variable, a server, a network or a port",
        )  # fmt: skip


async def dry_run(call: Call) -> UrlTrials:
    """The outlook of URLs, by the saved text or another one."""
    wanted: UrlQuestion = call.body
    return await tried(call, call.job(), wanted)


async def tried(call: Call, job: FoundJob, wanted: UrlQuestion) -> UrlTrials:
    """The dry runs of URLs.

    Raises:
        RefusedRequestError: There are none, or too many (422).
        ConfigError: The text has problems.
    """
    if not 0 < len(wanted.urls) <= MOST_URLS:
        said = f"{len(wanted.urls):,} URLs: send 1 to {MOST_URLS:,}"
        raise RefusedRequestError(422, "urls", said)
    found = await ask(
        call, "dry-run", job, _PATIENCE, urls=wanted.urls, text=wanted.text,
        files=call.may_name_files,
    )  # fmt: skip
    items = tuple(msgspec.convert(one, UrlTrial) for one in found)
    changed = sum(item.saved is not None for item in items)
    return UrlTrials(items, changed, None, iso(call.services.clock.now()))
