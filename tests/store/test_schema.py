"""Versions of the layout."""

import pytest

from nacre.errors import DamageError, OldLayoutError, StorageError
from nacre.store.schema import KEY, MIGRATIONS, SCHEMA, stored_version, upgrade
from tests.store.memory import MemoryEngine


def test_a_newer_layout_is_refused_and_an_older_one_migrates():
    engine = MemoryEngine()
    upgrade(engine, "store")
    assert stored_version(engine) == SCHEMA

    def rename(engine):
        engine.write({"meta": {b"new": engine.get("meta", b"old") or b"", b"old": None}})

    engine.write({"meta": {b"old": b"1"}})
    with pytest.raises(OldLayoutError, match="`nacre run` brings it up to date"):
        upgrade(engine, "store", read_only=True, current=SCHEMA + 1)
    upgrade(engine, "store", current=SCHEMA + 1, migrations={SCHEMA: rename})
    assert (engine.get("meta", b"new"), engine.get("meta", b"old")) == (b"1", None)
    with pytest.raises(StorageError, match="made by a newer Nacre"):
        upgrade(engine, "store")


def test_there_is_a_way_from_every_version_to_the_current_one():
    assert sorted(MIGRATIONS) == list(range(1, SCHEMA))


@pytest.mark.parametrize("version", [b"one", b"0", b""])
def test_a_damaged_version_is_told(version: bytes):
    engine = MemoryEngine()
    engine.write({"meta": {KEY: version}})
    with pytest.raises(DamageError, match="the first was 1"):
        upgrade(engine, "store")
