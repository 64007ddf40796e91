"""Stand-ins for manifests of parts: which WARCs a part has whose manifest is lost."""

from nacre.rounds.segments.part_stand_ins import LostManifest, replace_manifests, warcs_of
from nacre.rounds.segments.parts import PartFile, PartManifest
from nacre.rounds.tables.versions import TableFile

FOLDER = "segments/s/parts/u0007"


def warc(name: str, group: str = "s", bucket: int = 7) -> TableFile:
    return TableFile(path=f"archive/{name}.warc.gz", kind="warc", group=group, bucket=bucket)


def names(manifest: PartManifest) -> list[str]:
    return [one.name.removeprefix(f"{FOLDER}/") for one in manifest.files]


def test_a_part_has_the_warcs_that_its_visits_name_or_that_nobody_has():
    archive = [warc(name) for name in "abcd"] + [warc("x", "other"), warc("y", bucket=8)]
    facts = (PartFile(f"{FOLDER}/2-001/visits.parquet", 3, "0"),)
    lost = [
        LostManifest(f"{FOLDER}/1-002"),
        LostManifest(f"{FOLDER}/2-001", facts, frozenset({"c.warc.gz"})),
        LostManifest(f"{FOLDER}/2-002-p9"),
    ]
    made = replace_manifests(lost, {"a.warc.gz"}, archive, ("s", "u0007"), f"{FOLDER}/2-002-p9")
    first, second, last = (made[one.part] for one in lost)
    assert names(first) == ["1-002/b.warc.gz", "1-002/d.warc.gz"]
    assert names(second) == ["2-001/c.warc.gz", "2-001/visits.parquet"]
    assert names(last) == []
    assert [(one.attempt, one.number, one.last) for one in (first, second, last)] == [
        (1, 2, False), (2, 1, False), (2, 2, True),
    ]  # fmt: skip
    assert warcs_of(made) == {"b.warc.gz", "c.warc.gz", "d.warc.gz"}
