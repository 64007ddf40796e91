"""Collections: list, show, fill, describe and delete them.

A collection is created by the first member that is added or the first description. Its members are
paths: a job that was moved is a gap in the collection, and no error.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from nacre.catalogue.collections import (
    DUBLIN_CORE,
    Collection,
    CollectionFolder,
    check_name,
)
from nacre.catalogue.holdings import MISSING, Member, archives_in, kind_at, label_of
from nacre.errors import ConfigError, JobError
from nacre.machine.local_files import home_path
from nacre.messages import message

_LONGEST_VALUE = 10_000


class CollectionItem(msgspec.Struct, frozen=True):
    """A collection in the list.

    Attributes:
        name: Its name.
        title: Its title.
        members: Number of its jobs and files.
        missing: Number of those that are not at their path.
        damage: Why its file cannot be read; "" if it can.
    """

    name: str
    title: str
    members: int
    missing: int
    damage: str = ""


class CollectionMember(msgspec.Struct, frozen=True):
    """A job or a file of a collection.

    Attributes:
        path: Its path, absolute.
        kind: `job`, `rounds`, `file` or `missing`.
        warcs: Number of its WARCs; 1 for a file.
        size: Bytes of its WARCs, or of the file.
    """

    path: str
    kind: str
    warcs: int
    size: int


class CollectionDetails(msgspec.Struct, frozen=True):
    """A collection with its members.

    Attributes:
        name: Its name.
        title: Its title.
        label: Its label in addresses of replay.
        fields: Its Dublin Core fields.
        members: Its members.
    """

    name: str
    title: str
    label: str
    fields: dict[str, str]
    members: tuple[CollectionMember, ...]


def list_collections(folder: Path | None = None) -> tuple[CollectionItem, ...]:
    """Return all collections by name.

    Args:
        folder: Their folder; None for the usual one.

    Raises:
        StorageError: A file cannot be read.
    """
    collections = CollectionFolder(folder)
    return tuple(_item(collections, name) for name in collections.names())


def _item(collections: CollectionFolder, name: str) -> CollectionItem:
    try:
        collection = collections.read(name)
    except JobError as error:
        return CollectionItem(name, "", 0, 0, error.message)
    if collection is None:  # it was deleted at this moment
        return CollectionItem(name, "", 0, 0)
    missing = sum(kind_at(Path(path)) == MISSING for path in collection.members)
    return CollectionItem(name, collection.title, len(collection.members), missing)


def show_collection(name: str, folder: Path | None = None) -> CollectionDetails:
    """Return a collection with its members.

    Args:
        name: Its name.
        folder: See `list_collections`.

    Raises:
        JobError: There is none, or it is damaged.
        StorageError: A file cannot be read.
    """
    return _details(_require(CollectionFolder(folder), name))


def add_members(name: str, paths: Sequence[str], folder: Path | None = None) -> CollectionDetails:
    """Add jobs and files to a collection; one that is in it already stays where it is.

    Args:
        name: Its name; a new collection is created.
        paths: Directories of jobs, WARC and WACZ files, directories of such files.
        folder: See `list_collections`.

    Raises:
        JobError: There is no such job or file; nothing is added.
        StorageError: The collection cannot be written.
    """
    members = [str(root) for path in paths for root in archives_in(_absolute(path))]
    collections = CollectionFolder(folder)
    with collections.changing():
        collection = collections.read(name) or Collection(check_name(name))
        members = list(dict.fromkeys((*collection.members, *members)))
        collection = msgspec.structs.replace(collection, members=tuple(members))
        collections.write(collection)
    return _details(collection)


def remove_members(
    name: str, paths: Sequence[str], folder: Path | None = None
) -> CollectionDetails:
    """Remove jobs and files from a collection; they stay as they are.

    Args:
        name: Its name.
        paths: Their paths, or their names without folders.
        folder: See `list_collections`.

    Raises:
        JobError: There is no such collection or member; nothing is removed.
        StorageError: The collection cannot be written.
    """
    collections = CollectionFolder(folder)
    with collections.changing():
        collection = _require(collections, name)
        gone = {_find_member(collection, path) for path in paths}
        members = tuple(member for member in collection.members if member not in gone)
        collection = msgspec.structs.replace(collection, members=members)
        collections.write(collection)
    return _details(collection)


def _find_member(collection: Collection, path: str) -> str:
    """Return the member of a path, or the only one of a name."""
    absolute = str(_absolute(path))
    if absolute in collection.members:
        return absolute
    matches = [member for member in collection.members if Path(member).name == path]
    if len(matches) == 1:
        return matches[0]
    raise JobError(
        message(
            "collections.no-member", "{path} is not in the collection {name}: `nacre collection "
            "{name} show` has the paths of its members", path=path, name=collection.name,
        )
    )  # fmt: skip


def describe_collection(
    name: str, fields: Mapping[str, str], folder: Path | None = None
) -> CollectionDetails:
    """Set Dublin Core fields of a collection.

    Args:
        name: Its name; a new collection is created.
        fields: The fields to change by name; "" removes a field.
        folder: See `list_collections`.

    Raises:
        ConfigError: There is no such field, or a value is too long.
        StorageError: The collection cannot be written.
    """
    for field, value in fields.items():
        if field not in DUBLIN_CORE or len(value) > _LONGEST_VALUE:
            raise ConfigError(
                message(
                    "collections.field", "{field} is no field of Dublin Core, or its value has "
                    "more than {most} characters; the fields are {names}", field=field,
                    most=_LONGEST_VALUE, names=", ".join(DUBLIN_CORE),
                )
            )  # fmt: skip
    collections = CollectionFolder(folder)
    with collections.changing():
        collection = collections.read(name) or Collection(check_name(name))
        all_fields = {**collection.fields, **{key: value.strip() for key, value in fields.items()}}
        ordered = {key: all_fields[key] for key in DUBLIN_CORE if all_fields.get(key)}
        collection = msgspec.structs.replace(collection, fields=ordered)
        collections.write(collection)
    return _details(collection)


def delete_collection(name: str, folder: Path | None = None) -> None:
    """Delete a collection; its members stay as they are.

    Args:
        name: Its name.
        folder: See `list_collections`.

    Raises:
        JobError: There is none.
        StorageError: It cannot be removed.
    """
    collections = CollectionFolder(folder)
    with collections.changing():
        if check_name(name) not in collections.names():
            raise _no_collection(name)
        collections.remove(name)


def _require(collections: CollectionFolder, name: str) -> Collection:
    collection = collections.read(name)
    if collection is None:
        raise _no_collection(name)
    return collection


def _no_collection(name: str) -> JobError:
    return JobError(
        message(
            "collections.none", "there is no collection {name}: `nacre collection list` lists all, "
            "and `nacre collection {name} add JOB` makes it", name=name,
        )
    )  # fmt: skip


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(home_path(path)))  # noqa: PTH100 - `..` goes, and links stay


def _details(collection: Collection) -> CollectionDetails:
    return CollectionDetails(
        collection.name,
        collection.title,
        label_of(f"collection:{collection.name}"),
        dict(collection.fields),
        tuple(_members(collection.members)),
    )


def _members(paths: Iterable[str]) -> Iterable[CollectionMember]:
    for path in paths:
        root = Path(path)
        kind = kind_at(root)
        if kind == MISSING:
            yield CollectionMember(path, kind, 0, 0)
        elif root.is_file():
            yield CollectionMember(path, kind, 1, root.stat().st_size)
        else:
            places = Member(root.name, root, kind, label_of(path)).warcs()
            yield CollectionMember(path, kind, len(places), sum(place.size for place in places))
