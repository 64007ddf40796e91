"""The parts that fetches have so far which did not end: no version names them yet.

A fetch that was interrupted, or that still runs, keeps what its units have made. The next `fetch`
goes on behind it and commits all; until then this module tells what there is.
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
    """The parts of a segment by unit, those of the newest attempt that made any.

    Raises:
        DamageError: A manifest cannot be read, or is missing.
    """
    found = {}
    for name in storage.list(f"segments/{segment}/lists"):
        if name.endswith(".parquet"):
            parts = UnitPlace(storage, segment, Path(name).stem).manifests()
            found[Path(name).stem] = chain_of(parts, parts[max(parts)] if parts else None)
    return found


def kept_so_far(storage: Storage, segment: str) -> KeptSoFar:
    """The counts of the parts of a segment."""
    parts = [part for chain in chains_so_far(storage, segment).values() for part in chain]
    return KeptSoFar(sum(one.pages for one in parts), sum(one.warc_bytes for one in parts))


def with_parts_so_far(
    storage: Storage, version: CycleVersion, names: Sequence[str] = ()
) -> CycleVersion:
    """A version in which segments that wait for the end of their fetch have the parts so far.

    It is for readers alone, and never committed.

    Args:
        storage: The storage.
        version: The version.
        names: The segments that are asked for; none for all whose parts can be read.

    Raises:
        DamageError: A manifest of a segment that is asked for cannot be read.
    """
    segments = dict(version.segments)
    for name, state in version.segments.items():
        if state.state == GENERATED and (not names or name in names):
            try:
                chains = chains_so_far(storage, name)
            except DamageError:
                if names:
                    raise
                continue  # `storage check` names what is damaged
            parts = {
                unit: [f"{UnitPlace(storage, name, unit).parts}/{part.name}" for part in chain]
                for unit, chain in chains.items()
                if chain
            }
            segments[name] = msgspec.structs.replace(state, parts=parts)
    return msgspec.structs.replace(version, segments=segments)
