"""Versions of the store's layout: an older one is brought up to date, a newer one refused."""

from collections.abc import Callable, Mapping

from nacre.errors import DamageError, OldLayoutError, StorageError
from nacre.store.seam import Engine

SCHEMA = 2
"""Version of the layout that this Nacre writes."""

KEY = b"schema"

Migration = Callable[[Engine], None]
"""Rewrites the rows of one version for the next; must bear to be run again after a crash."""


def _nothing(_: Engine) -> None:
    """A new family came in, which opening the store makes; no row changes."""


MIGRATIONS: Mapping[int, Migration] = {1: _nothing}
"""Version -> how to get from it to the next."""


def stored_version(engine: Engine) -> int | None:
    """Version in the store; None for a new store."""
    value = engine.get("meta", KEY)
    if value is None:
        return None
    if not value.isdigit() or not int(value):
        raise DamageError(f"The schema version of the store is {value!r}; the first was 1.")
    return int(value)


def upgrade(
    engine: Engine,
    path: str,
    *,
    read_only: bool = False,
    current: int = SCHEMA,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Bring a store to the current version.

    Args:
        engine: The store.
        path: Its directory, for messages.
        read_only: Only check; an older store is then refused too.
        current: The version wanted.
        migrations: Steps from each older version.

    Raises:
        OldLayoutError: It was made by an older Nacre and may not be changed.
        StorageError: It was made by a newer Nacre.
    """
    found = stored_version(engine)
    if found is None and not read_only:
        return _mark(engine, current)
    if found == current:
        return None
    if found is None or found < current:
        if read_only:
            raise OldLayoutError(
                f"{path}: its layout is of version {found or 0}, this Nacre reads {current}. "
                "`nacre run` brings it up to date."
            )
        return _climb(engine, found or 0, current, migrations)
    raise StorageError(
        f"{path}: its layout is of version {found}, made by a newer Nacre; this one knows "
        f"{current}. Use the newer version."
    )


def _climb(engine: Engine, found: int, current: int, migrations: Mapping[int, Migration]) -> None:
    for version in range(found, current):
        migrations[version](engine)
        _mark(engine, version + 1)


def _mark(engine: Engine, version: int) -> None:
    engine.write({"meta": {KEY: b"%d" % version}})
    engine.flush_wal()
