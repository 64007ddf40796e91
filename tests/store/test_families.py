"""The families of the store."""

from nacre.store.families import FAMILIES, NAMES


def test_every_family_of_the_design_is_there_once():
    designed = "seen queue future wake hosts robots cookies urls outside history digests stats"
    assert set(f"{designed} journal meta".split()) <= set(NAMES)
    assert len(set(NAMES)) == len(NAMES)


def test_families_read_in_key_order_are_not_hashed():
    ordered = {family.name for family in FAMILIES if not family.lookup}
    assert {"queue", "future", "wake", "journal"} <= ordered
    assert all(family.holds for family in FAMILIES)
