"""Replace damaged manifests of parts, so that facts can be rebuilt.

A manifest lists the WARCs and facts of a part. The rows of its visits contain their WARCs; without
them a part gets the WARCs of its unit that no other part has.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from nacre.rounds.segments.parts import PartFile, PartManifest
from nacre.rounds.tables.versions import TableFile

_NUMBERS = re.compile(r"(\d+)-(\d+)")


class LostManifest(NamedTuple):
    """A part whose manifest is damaged or gone.

    Attributes:
        part: Folder of the part.
        facts: Its facts, by the record of the segment.
        warcs: Names of the WARCs in its visits; None if those are not whole.
    """

    part: str
    facts: tuple[PartFile, ...] = ()
    warcs: frozenset[str] | None = None


def replace_manifests(
    lost: Sequence[LostManifest],
    claimed: Collection[str],
    archive: Sequence[TableFile],
    of_unit: tuple[str, str],
    last: str,
) -> dict[str, PartManifest]:
    """Return manifests in place of lost ones, by part; their counts are unknown.

    Args:
        lost: The parts without a manifest, in order.
        claimed: Names of the WARCs of the other parts of the unit.
        archive: The WARCs of all segments.
        of_unit: The segment and the unit.
        last: The last part of the unit.
    """
    named = {name for manifest in lost for name in manifest.warcs or ()}
    segment, unit = of_unit
    number = int(unit.lstrip("u") or 0)
    free = {
        _base(file.path)
        for file in archive
        if (file.group, file.bucket) == (segment, number)
        and _base(file.path) not in {*claimed, *named}
    }
    manifests = {}
    for manifest in lost:
        own: Collection[str] = manifest.warcs if manifest.warcs is not None else free
        if manifest.warcs is None:
            free = set()
        manifests[manifest.part] = _replace_manifest(
            manifest, unit, own, archive, is_last=manifest.part == last
        )
    return manifests


def _replace_manifest(
    manifest: LostManifest,
    unit: str,
    warcs: Collection[str],
    archive: Sequence[TableFile],
    *,
    is_last: bool,
) -> PartManifest:
    numbers = _NUMBERS.match(_base(manifest.part))
    files = [
        PartFile(f"{manifest.part}/{_base(file.path)}", file.size, file.sha256)
        for file in archive
        if _base(file.path) in warcs
    ]
    return PartManifest(
        unit=unit,
        attempt=int(numbers[1]) if numbers else 0,
        number=int(numbers[2]) if numbers else 0,
        files=(*files, *manifest.facts),
        last=is_last,
    )


def warcs_of(manifests: Mapping[str, PartManifest]) -> set[str]:
    """Names of the WARCs of parts."""
    return {
        _base(file.name)
        for part in manifests.values()
        for file in part.files
        if file.name.endswith((".warc.gz", ".warc"))
    }


def _base(name: str) -> str:
    return name.rpartition("/")[2]
