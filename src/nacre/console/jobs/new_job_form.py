"""`/new`: the form of a new job.

It works without script; with it, the dry run follows the typing.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse

from nacre.console.actions import REQUESTS, act
from nacre.console.call import JobCall, PageAnswer
from nacre.console.jobs.buttons import job_name, notice_of
from nacre.console.jobs.new_jobs import (
    NewJobWish,
    check_new,
    fields_of_new,
    job_places,
    look,
    make,
    reaches,
    samples,
    with_values,
)
from nacre.console.settings.form_page import changed_values
from nacre.errors import ConfigError, NacreError, Problem
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message
from nacre.ops.seed_input import decode_list, first_url
from nacre.settings.layers import list_profiles
from nacre.web.decoding import lines_of, sent_form, text_of
from nacre.web.live.hub import Notice
from nacre.web.problems import problem_of
from nacre.wire.urltext import readable_url


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


SCOPES: Final[Mapping[str, tuple[str, str, str]]] = {
    "page": (_("This page"), _("only this page, and what it shows"),
             _("only {what}, and what it shows")),
    "prefix": (_("This folder"), _("everything in the folder of the URL"),
               _("everything under {what}")),
    "host": (_("This host"), _("everything on the host of the URL"),
             _("every page of {what}, in whatever folder")),
    "domain": (_("This domain"), _("the host, and all hosts below its name"),
               _("{what}, and all hosts below that name")),
    "site": (_("This site"), _("all hosts of the registered domain"),
             _("all hosts of {what}")),
    "any": (_("Everything"), _("every link, on whatever host: set a limit"),
            _("every link, on whatever host: set a limit")),
}  # fmt: skip
"""The title of each scope; its consequence without a seed, and with one."""
_ROOT_FOLDER: Final = _("the URL has no folder: the same as This host")
"""The consequence of the scope `prefix` for a root URL, whose folder is the whole host."""

_LIMITS: Final = {
    "contact": ("fetch", "contact"),
    "delay": ("politeness", "delay"),
    "parallel": ("engine", "parallel"),
    "documents": ("limits", "documents"),
    "bytes": ("limits", "bytes"),
    "time": ("limits", "time"),
    "browser": ("browser", "use"),
}
"""The settings of the fields."""
BROWSER_USES: Final[Mapping[str, str]] = {
    "": _("as the profile says, else none"),
    "auto": _("those with a sign that they need one"),
    "always": _("all"),
    "never": _("none"),
}
"""Which pages are run in a browser: `browser.use`, and its text."""
_LARGEST_FILE: Final = 20_000_000


async def new_job_page(call: JobCall) -> PageAnswer:
    """The form; empty, but for the template or the profile that the address names."""
    query = call.request.query_params
    template, profile = query.get("template", "")[:200], query.get("profile", "")[:200]
    if not template:
        return PageAnswer("new.html", form_facts(call, {"profile": profile} if profile else {}))
    job = call.job(template)
    fields = {"template": job.id, "tags": ", ".join(call.parts.books.labels.of(job).tags)}
    return PageAnswer("new.html", form_facts(call, fields))


def form_facts(call: JobCall, fields: Mapping[str, str]) -> dict[str, object]:
    """The values that the form shows.

    Args:
        call: The request.
        fields: What was typed so far, by field.
    """
    translate = call.language.texts.gettext
    scope = fields.get("scope", "prefix")
    url = first_url(fields.get("seeds", "").splitlines())
    cards = []
    scopes = reaches(url)
    whole_host = next((scope.what for scope in scopes if scope.kind == "host"), "")
    for reach in scopes:
        title, plain, named = SCOPES[reach.kind]
        if reach.kind == "prefix" and reach.what == whole_host:
            named = _ROOT_FOLDER
        words = (
            translate(named).replace("{what}", readable_url(reach.what))
            if reach.what
            else translate(plain)
        )
        cards.append((reach.kind, translate(title), words, reach.kind == scope))
    return {
        "all_fields": (), "sections": (), "typed": {}, "search": "", "section": "", "total": 0,
        "fields": fields, "cards": cards, "problems": (), "decisions": (), "checked": False,
        "warnings": (), "unsaved": False,
        "has_more": any(fields.get(name, usual) != usual for name, usual in _MORE.items()),
        "profiles": [(profile.name, profile.purpose) for profile in list_profiles()],
        "templates": [job.id for job, _ in call.snapshots()],
        "places": [place.label for place in job_places(call)],
        "browser_uses": [(use, translate(text)) for use, text in BROWSER_USES.items()],
    }  # fmt: skip


async def look_at(call: JobCall) -> PageAnswer:
    """The part of the form that follows the typing: the scopes, and the dry run."""
    fields = fields_of(await sent_form(call.request))
    return PageAnswer("new_look.html", await _checked_facts(call, fields))


async def fields_at(call: JobCall) -> PageAnswer:
    """The part of the form with all settings: those of a section, or those that a search finds."""
    fields = fields_of(await sent_form(call.request))
    return PageAnswer(
        "new_fields.html", {**form_facts(call, fields), **await _setting_facts(call, fields)}
    )


async def _setting_facts(call: JobCall, fields: Mapping[str, str]) -> dict[str, object]:
    """Return the settings to show: the changed ones, and the requested ones."""
    typed = changed_values(fields)
    search, section = fields.get("q", "")[:100], fields.get("section", "")[:40]
    # A wrong depth is said when the job is made; it keeps no setting from being shown.
    request = wish_of({**fields, "depth": ""})
    fields_found = await fields_of_new(call, request, section, search.strip(), list(typed))
    fields_found["all_fields"] = fields_found.pop("fields")
    return {**fields_found, "typed": typed, "search": search, "section": section}


async def _form(call: JobCall, fields: Mapping[str, str]) -> dict[str, object]:
    """Return the form as the user typed it, with settings if some were requested or changed."""
    facts = {**await _checked_facts(call, fields), "unsaved": _is_filled(fields)}
    asks = fields.get("do") == "fields" or changed_values(fields)
    return {**facts, **await _setting_facts(call, fields)} if asks else facts


_CHOICES: Final = frozenset(
    ("do", "scope", "kind", "place", "section", "profile", "template", "browser")
)
"""Fields that have a value even if the user types nothing."""


_MORE: Final = {
    "template": "", "kind": "runs", "tags": "", "depth": "", "delay": "", "parallel": "",
    "include": "", "exclude": "", "browser": "",
}  # fmt: skip
"""The folded fields, with the values that they have untouched."""


def _is_filled(fields: Mapping[str, str]) -> bool:
    """Whether the user filled in any field of the form."""
    typed = (value for name, value in fields.items() if name not in _CHOICES and ":" not in name)
    return any(value.strip() for value in typed) or bool(changed_values(fields))


async def _whole(call: JobCall, fields: Mapping[str, str]) -> NewJobWish:
    """The job that all fields ask for, those of the form of all settings among them."""
    return await with_values(call, wish_of(fields), changed_values(fields))


async def _checked_facts(call: JobCall, fields: Mapping[str, str]) -> dict[str, object]:
    facts = form_facts(call, fields)
    try:
        request = await _whole(call, fields)
        urls = samples(first_url(request.seeds))
        decisions = await look(call, request, urls) if urls else ()
    except NacreError as error:
        return {**facts, "problems": _problems(error)}
    return {**facts, "decisions": decisions}


async def submit(call: JobCall) -> PageAnswer | RedirectResponse:
    """Check, create, or create and start the job of a form."""
    form = await sent_form(call.request)
    fields = {**fields_of(form), "seeds": await _seeds_of(form)}
    action = text_of(form, "do")
    if action == "fields":
        return PageAnswer("new.html", await _form(call, fields))
    if action == "check":
        return PageAnswer("new.html", {**await _form(call, fields), **await _checked(call, fields)})
    try:
        job, created = await make(call, await _whole(call, fields))
    except NacreError as error:
        facts = {**await _form(call, fields), "problems": _problems(error)}
        return PageAnswer("new.html", facts, problem_of(error).status)
    translate = call.language.texts.gettext
    name = job_name(call, job)
    notices = [Notice("done", translate(_("{job} is created")).format(job=name))]
    if action == "start":
        try:
            action = "run-rounds" if job.layout.in_rounds else "start"
            result = await act(call.parts.actions, job, action, REQUESTS[action](), call.identity)
            notices.append(notice_of(result, name, translate))
        except NacreError as error:
            notices.append(Notice("error", error.message))
    if call.session is not None:
        for notice in [*notices, *(Notice("done", warning) for warning in created.warnings)]:
            call.notices.add(call.identity.session, notice)
    page = "/settings/form" if action == "more" else ""
    return RedirectResponse(f"/j/{quote(job.id, safe='~')}{page}", status_code=303)


async def _checked(call: JobCall, fields: Mapping[str, str]) -> dict[str, object]:
    """The result of the checks that *Create* runs."""
    try:
        warnings = await check_new(call, await _whole(call, fields))
    except NacreError as error:
        return {"problems": _problems(error)}
    return {"checked": True, "warnings": warnings}


def fields_of(form: FormData) -> dict[str, str]:
    """The fields of a form that are texts, but its token."""
    return {
        name: value.strip() if name != "seeds" else value
        for name, value in form.multi_items()
        if isinstance(value, str) and name != "x-nacre-token"
    }


async def _seeds_of(form: FormData) -> str:
    """The seeds that were typed, and those of a file behind them.

    Raises:
        RefusedRequestError: The file is too large (413).
    """
    typed, file = form.get("seeds"), form.get("file")
    text = typed if isinstance(typed, str) else ""
    if not isinstance(file, UploadFile) or not file.filename:
        return text
    data = await file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise RefusedRequestError(
            413,
            "too-long",
            message(
                "console.upload-size",
                "the file is longer than {largest_file:,} B",
                largest_file=_LARGEST_FILE,
            ),
        )
    return f"{text.rstrip()}\n{decode_list(data)}".lstrip("\n")


def wish_of(fields: Mapping[str, str]) -> NewJobWish:
    """The job that the fields of a form ask for (pure).

    Raises:
        ConfigError: A field has another text than a number.
    """
    settings: dict[str, dict[str, int | float | str]] = {}
    for name, (section, key) in _LIMITS.items():
        if fields.get(name):
            settings.setdefault(section, {})[key] = _number(fields[name])
    depth, profile = fields.get("depth", ""), fields.get("profile", "")
    template = fields.get("template", "")
    if depth and not re.fullmatch(r"[0-9]{1,9}", depth):
        raise ConfigError(
            [
                Problem(
                    "depth",
                    message(
                        "console.depth-format", "{depth!r} is no number of links", depth=depth[:20]
                    ),
                    "",
                    "3",
                )
            ]
        )
    tags = [part.strip() for part in fields.get("tags", "").split(",")]
    return NewJobWish(
        seeds=lines_of(fields.get("seeds", "")),
        name=fields.get("name", ""),
        place=fields.get("place", ""),
        scope="" if profile or template else fields.get("scope", "prefix"),
        depth=int(depth) if depth else None,
        include=lines_of(fields.get("include", "")),
        exclude=lines_of(fields.get("exclude", "")),
        profile=profile,
        settings=settings,
        template=template,
        tags=tuple(tag for tag in tags if tag),
        kind="rounds" if fields.get("kind") == "rounds" else "runs",
    )


def _number(text: str) -> int | float | str:
    """Plain numbers as numbers; `10m` and `500MB` as they are."""
    if re.fullmatch(r"\d{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"\d{1,15}\.\d{1,9}", text) else text


def _problems(error: NacreError) -> list[dict[str, object]]:
    details = problem_of(error)
    return list(details.problems) or [Problem("", details.detail)._asdict()]
