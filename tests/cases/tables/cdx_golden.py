"""Lines of pywb's own indexes: Nacre's index of the same WARC says the same."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from nacre.archive.index import rebuild_index
from tests.cases.table import Answer, Row, Table, Unsupported

LETTERS = {
    "a": "url", "m": "mime", "s": "status", "k": "digest", "r": "redirect", "M": "meta",
    "S": "length", "V": "offset", "g": "filename",
}  # fmt: skip
CDX11 = " CDX N b a m s k r M S V g"


def load(folder: Path) -> Iterator[Row]:
    golden = folder / "cdx_golden"
    if not golden.is_dir():
        raise FileNotFoundError(2, "no such folder", str(golden))
    for path in sorted(golden.iterdir()):
        kind = Path(path.name.removesuffix(".gz")).suffix
        if kind not in (".cdx", ".cdxj"):
            continue
        header = CDX11
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith(" CDX"):
                header = line
            elif line.strip():
                row = _cdxj(line) if kind == ".cdxj" else _cdx(line, header)
                surt = "non-surt" not in path.name
                yield row | {"id": f"{path.name}:{number}", "folder": folder, "surt": surt}


def _cdxj(line: str) -> Row:
    key, time, fields = line.split(" ", 2)
    return {"key": key, "time": time, "fields": json.loads(fields)}


def _cdx(line: str, header: str) -> Row:
    """A line under a header of letters; `-` stands for what is not told."""
    key, time, *values = line.split(" ")
    names = [LETTERS[letter] for letter in header.split()[3:]]
    told = {k: v for k, v in zip(names, values, strict=True) if v != "-"}
    return {"key": key, "time": time, "fields": told}


def check(row: Row) -> Answer:
    """All that the golden line tells; its digests have no label, and its keys may be no SURTs.

    pywb writes `unk` for a media type that is not told, which Nacre leaves out.
    """
    wanted = row["fields"]
    name = wanted["filename"]
    if name.endswith((".arc", ".arc.gz")):
        return Unsupported("ARC files")
    folder: Path = row["folder"]
    places = (folder / "cdx_golden" / name, *sorted(folder.glob(f"warc_bad/*/{name}")))
    lines = rebuild_index(next(filter(Path.is_file, places), places[0])).decode()
    for line in lines.splitlines():
        found = _cdxj(line)
        fields = {"mime": "unk"} | found["fields"]
        fields["digest"] = fields.get("digest", "").removeprefix("sha1:")
        same_key = found["key"] == row["key"] or not row["surt"]
        if same_key and found["time"] == row["time"] and wanted.items() <= fields.items():
            return None
    return lines


TABLE = Table("cdx_golden", load, check)
