"""The parts of unfinished fetches, which no version lists yet.

An interrupted or running fetch keeps the parts of its units. The next `fetch` resumes after them
and commits all; until then this module reads them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.errors import DamageError
from nacre.rounds.journal import GENERATED
from nacre.rounds.segments.parts import Chain, UnitPlace, chain_of
from nacre.rounds.storage import Storage
from nacre.rounds.tables.versions import CycleVersion


class KeptSoFar(NamedTuple):
    """The counts of parts.

    Attributes:
        pages: Replies below 400.
        warc_bytes: Bytes of WARC.
    """

    pages: int = 0
    warc_bytes: int = 0


def chains_so_far(storage: Storage, segment: str) -> dict[str, Chain]:
    """Return the parts of a segment by unit: those of the newest attempt that made any.

    Raises:
        DamageError: A manifest cannot be read, or is missing.
    """
    chains = {}
    for name in storage.list(f"segments/{segment}/lists"):
        if name.endswith(".parquet"):
            parts = UnitPlace(storage, segment, Path(name).stem).manifests()
            chains[Path(name).stem] = chain_of(parts, parts[max(parts)] if parts else None)
    return chains


def count_parts_so_far(storage: Storage, segment: str) -> KeptSoFar:
    """Return the counts of the parts of a segment."""
    parts = [part for chain in chains_so_far(storage, segment).values() for part in chain]
    return KeptSoFar(sum(item.pages for item in parts), sum(item.warc_bytes for item in parts))


def with_parts_so_far(
    storage: Storage, version: CycleVersion, names: Sequence[str] = ()
) -> CycleVersion:
    """Return a version in which unfinished segments have their parts so far.

    It is for readers alone, and never committed.

    Args:
        storage: The storage.
        version: The version.
        names: The requested segments; () for all whose parts can be read.

    Raises:
        DamageError: A manifest of a requested segment cannot be read.
    """
    segments = dict(version.segments)
    for name, state in version.segments.items():
        if state.state == GENERATED and (not names or name in names):
            try:
                chains = chains_so_far(storage, name)
            except DamageError:
                if names:
                    raise
                continue  # `storage check` reports the damage
            parts = {
                unit: [f"{UnitPlace(storage, name, unit).parts}/{part.name}" for part in chain]
                for unit, chain in chains.items()
                if chain
            }
            segments[name] = msgspec.structs.replace(state, parts=parts)
    return msgspec.structs.replace(version, segments=segments)
