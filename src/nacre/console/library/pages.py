"""`/profiles` and `/clips`: settings to begin with, and pieces of settings to put in."""

from typing import Any

from nacre.console.call import Call, PageAnswer
from nacre.console.library import handlers
from nacre.console.library.handlers import ClipUse
from nacre.console.settings.config import ask_about
from nacre.console.settings.file_page import checked, difference, form_of, frame, shown_text
from nacre.errors import NacreError
from nacre.ops.library import ClipWish, ProfileWish
from nacre.ops.roles import Role


def _common(call: Call) -> dict[str, Any]:
    jobs = [job.id for job, _ in call.snapshots()]
    return {"edits": call.identity.role >= Role.OPERATOR, "jobs": jobs, "refused": "", "told": ""}


async def profiles(call: Call) -> PageAnswer:
    """All profiles, and the form that saves a job as one."""
    return await _profiles(call)


async def _profiles(call: Call, **more: object) -> PageAnswer:
    items = (await handlers.list_profiles(call)).items
    facts = {**_common(call), "profiles": items, "form": {}, **more}
    return PageAnswer("profiles.html", facts, 422 if more.get("refused") else 200)


async def save_profile(call: Call) -> PageAnswer:
    """Save a job as a profile, from the form."""
    form = await form_of(call)
    try:
        fields = {name: form.get(name, "") for name in ("name", "purpose", "job")}
        wish = ProfileWish(**fields, replace=form.get("replace") == "1")
        made = await handlers.save_profile(call._replace(body=wish))
    except NacreError as error:
        return await _profiles(call, refused=error.message, form=form)
    call.note.change(None, {"profile": made.name, "job": wish.job})
    return await _profiles(call, told=made.name)


async def profile(call: Call) -> PageAnswer:
    """A profile, and how it differs from another one or from a job."""
    found = await handlers.get_profile(call)
    query = call.request.query_params
    other, job = query.get("with", ""), query.get("job", "")
    text = ""
    if job:
        text = (await ask_about(call, "config-text", call.job(job)))["text"]
    elif other:
        text = (await handlers.profile_named(call, other)).text
    facts = {
        **_common(call),
        "profile": found,
        "others": [
            item.name
            for item in (await handlers.list_profiles(call)).items
            if item.name != found.name
        ],
        "other": job or other,
        "text": text,
        "diff": difference(found.text, text) if text else (),
    }
    return PageAnswer("profile.html", facts)


async def remove_profile(call: Call) -> PageAnswer:
    """Remove a profile of one's own."""
    try:
        await handlers.remove_profile(call)
    except NacreError as error:
        return await _profiles(call, refused=error.message)
    return await _profiles(call)


async def clips(call: Call) -> PageAnswer:
    """All clips, and the form that saves one."""
    return await _clips(call)


async def _clips(call: Call, **more: object) -> PageAnswer:
    items = (await handlers.list_clips(call)).items
    facts = {**_common(call), "clips": items, "form": {}, **more}
    return PageAnswer("clips.html", facts, 422 if more.get("refused") else 200)


async def save_clip(call: Call) -> PageAnswer:
    """Save a clip, from the form."""
    form = await form_of(call)
    fields = {name: form.get(name, "") for name in ("name", "title", "place", "text")}
    fields["text"] = fields["text"].replace("\r\n", "\n")
    try:
        await handlers.save_clip(call._replace(body=ClipWish(**fields)))
    except NacreError as error:
        return await _clips(call, refused=error.message, form=form)
    call.note.change(None, {"clip": fields["name"]})
    return await _clips(call, told=fields["name"])


async def remove_clip(call: Call) -> PageAnswer:
    """Remove a clip of one's own."""
    try:
        await handlers.remove_clip(call)
    except NacreError as error:
        return await _clips(call, refused=error.message)
    return await _clips(call)


async def clip(call: Call) -> PageAnswer:
    """A clip, with the form that puts it into a job."""
    found = await handlers.get_clip(call)
    facts = {
        **_common(call),
        "clip": found,
        "form": {},
        "job": call.request.query_params.get("job", ""),
    }
    return PageAnswer("clip.html", facts)


async def use_clip(call: Call) -> PageAnswer:
    """Show what a clip changes in the settings of a job; it is saved there."""
    found = await handlers.get_clip(call)
    form = await form_of(call)
    values = {name: form[f"p:{name}"] for name in found.parameters if f"p:{name}" in form}
    try:
        job = call.job(form.get("job", ""))
        made = await handlers.insert_clip(call._replace(body=ClipUse(job.id, values)))
    except NacreError as error:
        facts = {**_common(call), "clip": found, "form": form, "job": form.get("job", "")}
        return PageAnswer("clip.html", {**facts, "refused": error.message}, 422)
    saved = await ask_about(call, "config-text", job)
    shown = shown_text(made.text, made.etag, await checked(call, job, made.text))
    shown["diff"] = difference(saved["text"], made.text)
    shown["asks"] = shown["unsaved"] = bool(shown["diff"])
    return PageAnswer("settings.html", {**await frame(call, job, "yaml"), **shown})
