"""`/api/v1/places`: the directories that are scanned for jobs, for admins."""

import asyncio
import os
import shutil

import msgspec

from nacre.console.call import AdminCall
from nacre.console.links import ItemList
from nacre.fleet.place_book import checked_place
from nacre.fleet.places import JobPlace
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.standing import held_elsewhere
from nacre.messages import message
from nacre.ops.fields import LineText


class PlaceItem(msgspec.Struct, frozen=True):
    """A place in the list.

    Attributes:
        label: The first part of the ids of its jobs.
        directory: Its directory.
        jobs: Jobs that were found there.
        free: Free bytes of its file system; null if not known.
        added: It was added by an admin; false: it was named when the console was started.
    """

    label: str
    directory: str
    jobs: int
    free: int | None
    added: bool


class PlaceList(ItemList[PlaceItem], frozen=True):
    """All places."""


class NewPlace(msgspec.Struct, frozen=True):
    """A place to add.

    Attributes:
        directory: A directory of the console's own user, absolute, in no other place.
    """

    directory: LineText


async def list_places(call: AdminCall) -> PlaceList:
    """All places, with the number of their jobs and their free space."""
    places = call.fleet.places
    free = await asyncio.to_thread(lambda: [_free(place) for place in places])
    items = (_item(call, place, space) for place, space in zip(places, free, strict=True))
    return PlaceList(tuple(items), None, call.now)


def _item(call: AdminCall, place: JobPlace, free: int | None) -> PlaceItem:
    jobs = sum(job.place == place.label for job, _ in call.snapshots())
    added = place.root in call.parts.places.all()
    return PlaceItem(place.label, str(place.root), jobs, free, added)


async def add_place(call: AdminCall) -> PlaceItem:
    """Add a place; its jobs are shown at once, and after the next start too.

    Raises:
        RefusedRequestError: It is refused.
    """
    request: NewPlace = call.body
    place = await asyncio.to_thread(
        checked_place,
        request.directory,
        call.fleet.places,
        os.getuid(),
        call.parts.places.labels,
    )
    elsewhere = await asyncio.to_thread(held_elsewhere, place)
    if elsewhere is not None:
        raise RefusedRequestError(
            409,
            "held",
            message("console.end-job-first", "{words}: end that one first", words=elsewhere.words),
        )
    call.parts.places.add(place)
    call.fleet.places = (*call.fleet.places, place)
    await call.fleet.scan()
    call.note.change(None, {"label": place.label, "directory": str(place.root)})
    return _item(call, place, await asyncio.to_thread(_free, place))


async def remove_place(call: AdminCall) -> None:
    """Remove a place from the list; its jobs stay in their directories, and continue.

    Raises:
        RefusedRequestError: There is none (404), or it was named at the start (409).
    """
    label = str(call.params["place"])
    kept_place = next((place for place in call.fleet.places if place.label == label), None)
    if kept_place is None:
        raise not_found("place", label)
    if not call.parts.places.remove(kept_place.root):
        raise RefusedRequestError(
            409,
            "named-at-start",
            message(
                "console.place-of-command-line",
                "{root} was named when the console was started: leave it out at the next start",
                root=kept_place.root,
            ),
        )
    call.fleet.places = tuple(
        known_place for known_place in call.fleet.places if known_place is not kept_place
    )
    await call.fleet.scan()
    call.note.change({"label": label, "directory": str(kept_place.root)}, None)


def _free(place: JobPlace) -> int | None:
    try:
        return shutil.disk_usage(place.root).free
    except OSError:
        return None
