"""`/api/v1/profiles` and `/api/v1/clips`: settings to begin with, and pieces to insert."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from nacre.console.call import Call, PageAnswer
from nacre.console.links import ItemList
from nacre.console.route_row import API, RouteRow
from nacre.console.settings.config import ask_about
from nacre.console.settings.file_page import checked, difference, form_of, frame, shown_text
from nacre.console.task_answers import NOWHERE, ask
from nacre.errors import NacreError
from nacre.fleet.refusals import not_found
from nacre.ops import library
from nacre.ops.fields import LineText, ShortText, Text
from nacre.ops.library import (
    ClipItem,
    ClipResult,
    ClipWish,
    InsertRequest,
    NameRequest,
    NoOptions,
    ProfileDetails,
    ProfileItem,
    ProfileWish,
)
from nacre.ops.operation import Role
from nacre.web.versions import EditedThing, edited
from nacre.web.workers.task import reader_task


class ProfileItems(ItemList[ProfileItem], frozen=True):
    """All profiles."""


class ClipItems(ItemList[ClipItem], frozen=True):
    """All clips."""


class ClipUse(msgspec.Struct, frozen=True):
    """A clip that is put into the settings of a job.

    Attributes:
        job: Id of the job.
        values: Of its parameters; the others have their defaults.
        text: The text that it is put into; null: the saved one.
    """

    job: ShortText
    values: Annotated[dict[ShortText, LineText], Meta(max_length=100)] = {}
    text: Text | None = None


async def list_profiles(call: Call) -> ProfileItems:
    """All profiles."""
    profiles = await ask(call, PROFILES, NoOptions(), root=NOWHERE)
    return ProfileItems(profiles.items, None, call.now)


async def get_profile(call: Call) -> ProfileDetails:
    """A profile with its text."""
    return await profile_named(call, str(call.params["profile"]))


async def profile_named(call: Call, name: str) -> ProfileDetails:
    """A profile by its name.

    Raises:
        RefusedRequestError: There is none (404).
    """
    profile = await ask(call, PROFILE_TEXT, NameRequest(name), root=NOWHERE)
    if profile is None:
        raise not_found("profile", name[:60])
    return profile


async def profile_version(call: Call) -> EditedThing:
    """A profile."""
    return edited(await get_profile(call))


async def save_profile(call: Call) -> ProfileDetails:
    """Save the settings of a job as a profile, without its seeds and secrets."""
    request: ProfileWish = call.body
    return await ask(call, SAVE_PROFILE, request, root=call.job(request.job).layout.root)


async def remove_profile(call: Call) -> None:
    """Remove a profile of the user's."""
    await ask(call, REMOVE_PROFILE, NameRequest(call.params["profile"]), root=NOWHERE)


async def list_clips(call: Call) -> ClipItems:
    """All clips."""
    clips = await ask(call, CLIPS, NoOptions(), root=NOWHERE)
    return ClipItems(clips.items, None, call.now)


async def get_clip(call: Call) -> ClipItem:
    """A clip.

    Raises:
        RefusedRequestError: There is none (404).
    """
    name = str(call.params["clip"])
    clip = await ask(call, CLIP_TEXT, NameRequest(name), root=NOWHERE)
    if clip is None:
        raise not_found("clip", name[:60])
    return clip


async def clip_version(call: Call) -> EditedThing:
    """A clip."""
    return edited(await get_clip(call))


async def save_clip(call: Call) -> ClipItem:
    """Save YAML as a clip."""
    return await ask(call, PUT_CLIP, call.body, root=NOWHERE)


async def remove_clip(call: Call) -> None:
    """Remove a clip of the user's."""
    await ask(call, DROP_CLIP, NameRequest(call.params["clip"]), root=NOWHERE)


async def insert_clip(call: Call) -> ClipResult:
    """The text of a job with a clip in it; it is not saved yet."""
    use: ClipUse = call.body
    request = InsertRequest(call.params["clip"], use.values, use.text, call.may_name_files)
    return await ask(call, WITH_CLIP, request, root=call.job(use.job).layout.root)


PROFILES: Final = reader_task("profiles")(library.all_profiles)
PROFILE_TEXT: Final = reader_task("profile-text")(library.profile_text)
SAVE_PROFILE: Final = reader_task("save-profile")(library.save_profile)
REMOVE_PROFILE: Final = reader_task("remove-profile")(library.remove_profile)
CLIPS: Final = reader_task("clips")(library.all_clips)
CLIP_TEXT: Final = reader_task("clip-text")(library.clip_text)
PUT_CLIP: Final = reader_task("put-clip")(library.put_clip)
DROP_CLIP: Final = reader_task("drop-clip")(library.drop_clip)
WITH_CLIP: Final = reader_task("with-clip")(library.with_clip)


def _common(call: Call) -> dict[str, object]:
    jobs = [job.id for job, _ in call.snapshots()]
    return {"edits": call.identity.role >= Role.OPERATOR, "jobs": jobs, "refused": "", "told": ""}


async def profiles_page(call: Call) -> PageAnswer:
    """All profiles, and the form that saves a job as one."""
    return await _profile_list(call)


async def _profile_list(call: Call, **more: object) -> PageAnswer:
    items = (await list_profiles(call)).items
    facts = {**_common(call), "profiles": items, "form": {}, **more}
    return PageAnswer("profiles.html", facts, 422 if more.get("refused") else 200)


async def submit_profile(call: Call) -> PageAnswer:
    """Save a job as a profile, from the form."""
    form = await form_of(call)
    try:
        fields = {name: form.get(name, "") for name in ("name", "purpose", "job")}
        request = ProfileWish(**fields, replace=form.get("replace") == "1")
        profile = await save_profile(call._replace(body=request))
    except NacreError as error:
        return await _profile_list(call, refused=error.message, form=form)
    call.note.change(None, {"profile": profile.name, "job": request.job})
    return await _profile_list(call, told=profile.name)


async def profile_page(call: Call) -> PageAnswer:
    """Show a profile, and its differences from another profile or from a job."""
    profile = await get_profile(call)
    query = call.request.query_params
    compared, job = query.get("with", ""), query.get("job", "")
    text = ""
    if job:
        text = (await ask_about(call, "config-text", call.job(job)))["text"]
    elif compared:
        text = (await profile_named(call, compared)).text
    facts = {
        **_common(call),
        "profile": profile,
        "others": [
            item.name for item in (await list_profiles(call)).items if item.name != profile.name
        ],
        "other": job or compared,
        "text": text,
        "diff": difference(profile.text, text) if text else (),
    }
    return PageAnswer("profile.html", facts)


async def submit_profile_removal(call: Call) -> PageAnswer:
    """Remove a profile of one's own."""
    try:
        await remove_profile(call)
    except NacreError as error:
        return await _profile_list(call, refused=error.message)
    return await _profile_list(call)


async def clips_page(call: Call) -> PageAnswer:
    """All clips, and the form that saves one."""
    return await _clip_list(call)


async def _clip_list(call: Call, **more: object) -> PageAnswer:
    items = (await list_clips(call)).items
    facts = {**_common(call), "clips": items, "form": {}, **more}
    return PageAnswer("clips.html", facts, 422 if more.get("refused") else 200)


async def submit_clip(call: Call) -> PageAnswer:
    """Save a clip, from the form."""
    form = await form_of(call)
    fields = {name: form.get(name, "") for name in ("name", "title", "place", "text")}
    fields["text"] = fields["text"].replace("\r\n", "\n")
    try:
        await save_clip(call._replace(body=ClipWish(**fields)))
    except NacreError as error:
        return await _clip_list(call, refused=error.message, form=form)
    call.note.change(None, {"clip": fields["name"]})
    return await _clip_list(call, told=fields["name"])


async def submit_clip_removal(call: Call) -> PageAnswer:
    """Remove a clip of one's own."""
    try:
        await remove_clip(call)
    except NacreError as error:
        return await _clip_list(call, refused=error.message)
    return await _clip_list(call)


async def clip_page(call: Call) -> PageAnswer:
    """A clip, with the form that puts it into a job."""
    clip = await get_clip(call)
    facts = {
        **_common(call),
        "clip": clip,
        "form": {},
        "job": call.request.query_params.get("job", ""),
    }
    return PageAnswer("clip.html", facts)


async def submit_clip_use(call: Call) -> PageAnswer:
    """Show what a clip changes in the settings of a job; it is saved there."""
    clip = await get_clip(call)
    form = await form_of(call)
    values = {name: form[f"p:{name}"] for name in clip.parameters if f"p:{name}" in form}
    try:
        job = call.job(form.get("job", ""))
        result = await insert_clip(call._replace(body=ClipUse(job.id, values)))
    except NacreError as error:
        facts = {**_common(call), "clip": clip, "form": form, "job": form.get("job", "")}
        return PageAnswer("clip.html", {**facts, "refused": error.message}, 422)
    saved = await ask_about(call, "config-text", job)
    page_facts = shown_text(result.text, result.etag, await checked(call, job, result.text))
    page_facts["diff"] = difference(saved["text"], result.text)
    page_facts["asks"] = page_facts["unsaved"] = bool(page_facts["diff"])
    return PageAnswer("settings.html", {**await frame(call, job, "yaml"), **page_facts})


_V, _O = Role.VIEWER, Role.OPERATOR

LIBRARY_ROUTES: tuple[RouteRow[object], ...] = (
    RouteRow("GET", "/profiles", _V, profiles_page, "All profiles."),
    RouteRow("POST", "/profiles", _O, submit_profile, "Save a job as a profile."),
    RouteRow("GET", "/profiles/{profile}", _V, profile_page, "A profile."),
    RouteRow("POST", "/profiles/{profile}/remove", _O, submit_profile_removal,
             "Remove a profile of one's own."),
    RouteRow("GET", "/clips", _V, clips_page, "All clips."),
    RouteRow("POST", "/clips", _O, submit_clip, "Save a clip."),
    RouteRow("GET", "/clips/{clip}", _V, clip_page, "A clip."),
    RouteRow("POST", "/clips/{clip}/remove", _O, submit_clip_removal,
             "Remove a clip of one's own."),
    RouteRow("POST", "/clips/{clip}/use", _O, submit_clip_use,
             "Show what a clip changes in a job.", changes=False),
    RouteRow("GET", f"{API}/profiles", _V, list_profiles, "All profiles.",
             answer=ProfileItems),
    RouteRow("POST", f"{API}/profiles", _O, save_profile,
             "Save the settings of a job as a profile, without its seeds and secrets.",
             body=library.ProfileWish, answer=library.ProfileDetails, status=201,
             makes=("profile", "name")),
    RouteRow("GET", f"{API}/profiles/{{profile}}", _V, get_profile, "A profile.",
             answer=library.ProfileDetails,
             version_of=profile_version),
    RouteRow("DELETE", f"{API}/profiles/{{profile}}", _O, remove_profile,
             "Remove a profile of one's own.", status=204,
             version_of=profile_version),
    RouteRow("GET", f"{API}/clips", _V, list_clips, "All clips.",
             answer=ClipItems),
    RouteRow("POST", f"{API}/clips", _O, save_clip, "Save YAML as a clip.",
             body=library.ClipWish, answer=library.ClipItem, status=201, makes=("clip", "name")),
    RouteRow("GET", f"{API}/clips/{{clip}}", _V, get_clip, "A clip.",
             answer=library.ClipItem,
             version_of=clip_version),
    RouteRow("DELETE", f"{API}/clips/{{clip}}", _O, remove_clip,
             "Remove a clip of one's own.", status=204,
             version_of=clip_version),
    RouteRow("POST", f"{API}/clips/{{clip}}/insert", _O, insert_clip,
             "The text of a job with a clip in it; it is not saved.", body=ClipUse,
             answer=library.ClipResult, changes=False),
)  # fmt: skip
"""Its rows."""
