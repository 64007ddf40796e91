"""A storage in a bucket of an object store, with obstore: S3; other stores were not tested.

A put is atomic and durable there. `create` sends If-None-Match, so of two callers one succeeds.
Credentials, endpoint and region come from the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`,
`AWS_REGION`, …), on each executor too; they are never stored.
"""

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.config.extras import MissingExtraError
from nacre.crawldb.settings import OBJECT_SCHEMES
from nacre.errors import ConfigError, StorageError
from nacre.rounds.storage import AlreadyThereError, MissingFileError, StoredFile, check_name

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES = OBJECT_SCHEMES
RETRIES = 5
"""How often a request is repeated after a connection error or an answer 5xx."""

_PATIENCE = timedelta(seconds=90)
_CHUNK = 8 << 20
_REMEDY = "Look at the credentials, the endpoint and the rights in the environment."


def open_objects(place: str) -> "ObjectStorage":
    """Open the storage of a URL.

    Raises:
        ConfigError: No store has such a URL, or the extra `objects` is not installed.
    """
    scheme = place.partition("://")[0]
    if scheme not in SCHEMES:
        examples = ", ".join(f"{name}://" for name in SCHEMES[:4])
        raise ConfigError(
            f"{place}: no storage has URLs of {scheme}://. It may be a path, {examples}"
        )
    if importlib.util.find_spec("obstore") is None:
        raise MissingExtraError(f"cycle.storage {place} needs", "objects")
    from obstore import exceptions  # noqa: PLC0415 - an extra
    from obstore.store import from_url  # noqa: PLC0415

    try:
        store = from_url(place, retry_config={"max_retries": RETRIES, "retry_timeout": _PATIENCE})
    except (exceptions.BaseError, ValueError) as error:
        raise ConfigError(f"{place}: {_first_line(error)}. {_REMEDY}") from error
    return ObjectStorage(place, store)


class ObjectStorage:
    """`Storage` in a bucket.

    Attributes:
        place: Its URL.
    """

    def __init__(self, place: str, store: "ObjectStore") -> None:
        self.place = place
        self._store = store

    def __reduce__(self) -> tuple[Callable[[str], "ObjectStorage"], tuple[str]]:
        """Open it again in another process, with the credentials of its environment."""
        return open_objects, (self.place,)

    def read(self, name: str) -> bytes:
        """See `Storage.read`."""
        from obstore import get  # noqa: PLC0415 - an extra

        with self._translate_errors("read", name):
            return bytes(get(self._store, check_name(name)).bytes())

    def fetch(self, name: str, to: Path) -> None:
        """See `Storage.fetch`."""
        from obstore import get  # noqa: PLC0415 - an extra

        with self._translate_errors("fetch", name):
            answer = get(self._store, check_name(name))
            with to.open("wb") as target:
                for chunk in answer.stream(min_chunk_size=_CHUNK):
                    target.write(memoryview(chunk))
            size = to.stat().st_size
            if size != answer.meta["size"]:
                raise StorageError(
                    f"{self._full(name)}: {size} bytes came instead of {answer.meta['size']}"
                )

    def put(self, name: str, data: bytes) -> None:
        """See `Storage.put`."""
        from obstore import put  # noqa: PLC0415 - an extra

        with self._translate_errors("write", name):
            put(self._store, check_name(name), data)

    def upload(self, path: Path, name: str) -> None:
        """See `Storage.upload`; large files go up in several parts."""
        from obstore import put  # noqa: PLC0415 - an extra

        with self._translate_errors("upload", name):
            put(self._store, check_name(name), path)

    def copy(self, name: str, to: str) -> None:
        """See `Storage.copy`; the store copies it. S3 does so up to 5 GB."""
        from obstore import copy  # noqa: PLC0415 - an extra

        with self._translate_errors("copy", name):
            copy(self._store, check_name(name), check_name(to))

    def create(self, name: str, data: bytes) -> None:
        """See `Storage.create`."""
        from obstore import put  # noqa: PLC0415 - an extra
        from obstore.exceptions import AlreadyExistsError  # noqa: PLC0415

        with self._translate_errors("create", name):
            try:
                put(self._store, check_name(name), data, mode="create", use_multipart=False)
            except AlreadyExistsError as error:
                raise AlreadyThereError(
                    f"{self._full(name)}: another process has created it"
                ) from error

    def list(self, folder: str) -> Sequence[str]:
        """See `Storage.list`."""
        from obstore import list_with_delimiter  # noqa: PLC0415 - an extra

        with self._translate_errors("list", folder):
            listing = list_with_delimiter(self._store, check_name(folder))
            return sorted(meta["path"] for meta in listing["objects"])

    def walk(self, folder: str) -> Sequence[StoredFile]:
        """See `Storage.walk`; an upload that was not finished is no file."""
        from obstore import list as list_all  # noqa: PLC0415 - an extra

        with self._translate_errors("list", folder):
            return sorted(
                StoredFile(
                    meta["path"], meta["size"], int(meta["last_modified"].timestamp() * 1000)
                )
                for page in list_all(self._store, check_name(folder))
                for meta in page
            )

    def delete(self, name: str) -> None:
        """See `Storage.delete`."""
        from obstore import delete  # noqa: PLC0415 - an extra

        with self._translate_errors("delete", name):
            try:
                delete(self._store, check_name(name))
            except FileNotFoundError:
                return

    def local_path(self, name: str) -> Path | None:
        """See `Storage.local_path`; never known."""
        check_name(name)
        return None

    def _full(self, name: str) -> str:
        return f"{self.place.rstrip('/')}/{name}"

    @contextmanager
    def _translate_errors(self, operation: str, name: str) -> Iterator[None]:
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

        try:
            yield
        except FileNotFoundError as error:
            raise MissingFileError(
                f"{self._full(name)}: there is no such file. Restore the removed file."
            ) from error
        except (BaseError, OSError, PermissionError) as error:
            raise StorageError(
                f"{self._full(name)}: {operation} failed: {_first_line(error)}. {_REMEDY}"
            ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
