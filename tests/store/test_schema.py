"""Versions of the layout.

The families of the store.
"""

import pytest

from nacre.errors import DamageError, OldLayoutError, StorageError
from nacre.store.schema import (
    ADDED,
    FAMILIES,
    KEY,
    MIGRATIONS,
    NAMES,
    READABLE,
    SCHEMA,
    stored_version,
    upgrade,
)
from tests.store.memory import MemoryEngine


def test_a_newer_layout_is_refused_and_an_older_one_migrates():
    engine = MemoryEngine()
    upgrade(engine, "store")
    assert stored_version(engine) == SCHEMA

    def rename(engine):
        engine.write({"meta": {b"new": engine.get("meta", b"old") or b"", b"old": None}})

    engine.write({"meta": {b"old": b"1"}})
    with pytest.raises(OldLayoutError, match="`nacre run JOB` brings it up to date"):
        upgrade(engine, "store", read_only=True, current=SCHEMA + 1)
    upgrade(engine, "store", current=SCHEMA + 1, migrations={SCHEMA: rename})
    assert (engine.get("meta", b"new"), engine.get("meta", b"old")) == (b"1", None)
    with pytest.raises(StorageError, match="made by a newer Nacre"):
        upgrade(engine, "store")


@pytest.mark.parametrize("version", range(READABLE, SCHEMA + 1))
def test_a_version_without_other_rows_is_read_as_it_is(version: int):
    engine = MemoryEngine()
    engine.write({"meta": {KEY: b"%d" % version}})
    upgrade(engine, "store", read_only=True)
    assert stored_version(engine) == version


def test_an_older_version_is_not_read():
    engine = MemoryEngine()
    engine.write({"meta": {KEY: b"%d" % (READABLE - 1)}})
    with pytest.raises(OldLayoutError, match="brings it up to date"):
        upgrade(engine, "store", read_only=True)
    assert set(NAMES) >= ADDED


def test_there_is_a_way_from_every_version_to_the_current_one():
    assert sorted(MIGRATIONS) == list(range(1, SCHEMA))


@pytest.mark.parametrize("version", [b"one", b"0", b""])
def test_a_damaged_version_is_told(version: bytes):
    engine = MemoryEngine()
    engine.write({"meta": {KEY: version}})
    with pytest.raises(DamageError, match="the first was 1"):
        upgrade(engine, "store")


def test_every_family_of_the_design_is_there_once():
    designed = "seen queue future wake hosts robots cookies urls outside history digests stats"
    assert set(f"{designed} journal meta".split()) <= set(NAMES)
    assert len(set(NAMES)) == len(NAMES)


def test_families_read_in_key_order_are_not_hashed():
    ordered = {family.name for family in FAMILIES if not family.lookup}
    assert {"queue", "future", "wake", "journal"} <= ordered
    assert all(family.holds for family in FAMILIES)
