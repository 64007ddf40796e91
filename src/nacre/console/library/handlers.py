"""`/api/v1/profiles` and `/api/v1/clips`: settings to begin with, and pieces to insert."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from nacre.console.call import Call
from nacre.console.cursors import ItemList
from nacre.console.problems import not_found
from nacre.console.readers.task import reader_task
from nacre.console.task_answers import NOWHERE, ask
from nacre.console.versions import EditedThing, edited
from nacre.ops import library
from nacre.ops.fields import LineText, ShortText, Text
from nacre.ops.library import (
    ClipItem,
    ClipResult,
    InsertRequest,
    NameRequest,
    NoOptions,
    ProfileDetails,
    ProfileItem,
    ProfileWish,
)


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
    wish: ProfileWish = call.body
    return await ask(call, SAVE_PROFILE, wish, root=call.job(wish.job).layout.root)


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
    wish: ClipUse = call.body
    request = InsertRequest(call.params["clip"], wish.values, wish.text, call.may_name_files)
    return await ask(call, WITH_CLIP, request, root=call.job(wish.job).layout.root)


PROFILES: Final = reader_task("profiles")(library.all_profiles)
PROFILE_TEXT: Final = reader_task("profile-text")(library.profile_text)
SAVE_PROFILE: Final = reader_task("save-profile")(library.save_profile)
REMOVE_PROFILE: Final = reader_task("remove-profile")(library.remove_profile)
CLIPS: Final = reader_task("clips")(library.all_clips)
CLIP_TEXT: Final = reader_task("clip-text")(library.clip_text)
PUT_CLIP: Final = reader_task("put-clip")(library.put_clip)
DROP_CLIP: Final = reader_task("drop-clip")(library.drop_clip)
WITH_CLIP: Final = reader_task("with-clip")(library.with_clip)
