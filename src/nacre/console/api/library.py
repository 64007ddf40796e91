"""`/api/v1/profiles` and `/api/v1/clips`: settings to begin with, and pieces to put in."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import Response

from nacre.console.api.config import NOWHERE
from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import not_found
from nacre.console.versions import EditedThing, edited
from nacre.core.clock import iso
from nacre.ops.fields import LineText, ShortText, Text

_WAIT = 20.0


class ProfileItem(msgspec.Struct, frozen=True):
    """A profile in the list.

    Attributes:
        name: Its name.
        purpose: What it is for; "" where it does not say.
        source: `shipped` or `yours`.
    """

    name: str
    purpose: str
    source: str


class ProfileItems(msgspec.Struct, frozen=True):
    """All profiles.

    Attributes:
        items: By name.
        next: Always null: all are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[ProfileItem, ...]
    next: None
    as_of: str


class ProfileDetails(msgspec.Struct, frozen=True):
    """A profile with its text.

    Attributes:
        name: Its name.
        purpose: What it is for.
        source: `shipped` or `yours`.
        text: Its YAML.
    """

    name: str
    purpose: str
    source: str
    text: str


class ProfileWish(msgspec.Struct, frozen=True):
    """A job whose settings become a profile.

    Attributes:
        name: Name of the profile.
        purpose: What it is for, a line.
        job: Id of the job; its seeds and secrets are left out.
        replace: A profile of the same name may go.
    """

    name: ShortText
    purpose: LineText
    job: ShortText
    replace: bool = False


class ClipParameterFacts(msgspec.Struct, frozen=True):
    """A parameter of a clip.

    Attributes:
        means: Its meaning.
        default: Its value where none is given.
    """

    means: str
    default: str | int | float | bool


class ClipItem(msgspec.Struct, frozen=True):
    """A clip.

    Attributes:
        name: Its name.
        title: Its purpose.
        source: `shipped` or `yours`.
        place: The settings that it is about.
        parameters: Its parameters by name.
        text: Its YAML with the defaults of its parameters.
    """

    name: str
    title: str
    source: str
    place: str
    parameters: dict[str, ClipParameterFacts]
    text: str


class ClipItems(msgspec.Struct, frozen=True):
    """All clips.

    Attributes:
        items: By name.
        next: Always null: all are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[ClipItem, ...]
    next: None
    as_of: str


class ClipWish(msgspec.Struct, frozen=True):
    """YAML that becomes a clip.

    Attributes:
        name: Name of the clip.
        title: What it is for, a line.
        text: The YAML, as it was selected; `{{name}}` is a parameter.
        place: The setting that the text is the value of, such as `scope`; "" for several sections.
    """

    name: ShortText
    title: LineText
    text: Text
    place: ShortText = ""


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


class ClipResult(msgspec.Struct, frozen=True):
    """A text with a clip in it; nothing was saved.

    Attributes:
        text: It.
        etag: ETag of the saved file, to save it with.
    """

    text: str
    etag: str


async def ask_library(call: Call, task: str, job: FoundJob | None = None, **more: object) -> Any:  # noqa: ANN401 - as the task gives it
    """Ask a reader process about profiles or clips."""
    root = job.layout.root if job is not None else NOWHERE
    return await call.services.readers.ask(task, root, _WAIT, **more)


async def list_profiles(call: Call) -> ProfileItems:
    """All profiles."""
    items = msgspec.convert(await ask_library(call, "profiles"), tuple[ProfileItem, ...])
    return ProfileItems(items, None, iso(call.services.clock.now()))


async def get_profile(call: Call) -> ProfileDetails:
    """A profile with its text."""
    return await profile_named(call, str(call.request.path_params["profile"]))


async def profile_version(call: Call) -> EditedThing:
    """A profile."""
    return edited(await get_profile(call))


async def profile_named(call: Call, name: str) -> ProfileDetails:
    """A profile by its name.

    Raises:
        RefusedRequestError: There is none (404).
    """
    found = await ask_library(call, "profile-text", name=name)
    if not found:
        raise not_found(f"profile {name[:60]}")
    return msgspec.convert(found, ProfileDetails)


async def save_profile(call: Call) -> ProfileDetails:
    """Save the settings of a job as a profile, without its seeds and secrets."""
    wish: ProfileWish = call.body
    found = await ask_library(
        call, "save-profile", call.job(wish.job), name=wish.name, purpose=wish.purpose,
        replace=wish.replace,
    )  # fmt: skip
    return msgspec.convert(found, ProfileDetails)


async def remove_profile(call: Call) -> Response:
    """Remove a profile of one's own."""
    await ask_library(call, "remove-profile", name=str(call.request.path_params["profile"]))
    return Response(status_code=204)


async def list_clips(call: Call) -> ClipItems:
    """All clips."""
    items = msgspec.convert(await ask_library(call, "clips"), tuple[ClipItem, ...])
    return ClipItems(items, None, iso(call.services.clock.now()))


async def get_clip(call: Call) -> ClipItem:
    """A clip."""
    return await clip_named(call, str(call.request.path_params["clip"]))


async def clip_version(call: Call) -> EditedThing:
    """A clip."""
    return edited(await get_clip(call))


async def clip_named(call: Call, name: str) -> ClipItem:
    """A clip by its name.

    Raises:
        RefusedRequestError: There is none (404).
    """
    found = await ask_library(call, "clip-text", name=name)
    if not found:
        raise not_found(f"clip {name[:60]}")
    return msgspec.convert(found, ClipItem)


async def save_clip(call: Call) -> ClipItem:
    """Save YAML as a clip."""
    wish: ClipWish = call.body
    found = await ask_library(call, "put-clip", **msgspec.to_builtins(wish))
    return msgspec.convert(found, ClipItem)


async def remove_clip(call: Call) -> Response:
    """Remove a clip of one's own."""
    await ask_library(call, "drop-clip", name=str(call.request.path_params["clip"]))
    return Response(status_code=204)


async def insert_clip(call: Call) -> ClipResult:
    """The text of a job with a clip in it; it is not saved yet."""
    wish: ClipUse = call.body
    name = str(call.request.path_params["clip"])
    found = await ask_library(
        call,
        "with-clip",
        call.job(wish.job),
        name=name,
        values=wish.values,
        text=wish.text,
        files=call.may_name_files,
    )
    return msgspec.convert(found, ClipResult)
