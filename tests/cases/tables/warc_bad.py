"""Odd and broken WARCs: the check names what is wrong with them, and lets the sound ones pass."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from nacre.archive.findings import CheckFinding, Severity
from tests.archive.checking import check_file
from tests.cases.table import Answer, Differs, Row, Table, json_lines

NAMED: tuple[tuple[str, set[str]], ...] = (
    (r"^control|(?<!not )\b(legal|allowed|valid sha\d*)\b", set()),
    ("clipped|gzip member cut short", {"gzip-truncated"}),
    ("inside a WARC header", {"header-truncated"}),
    ("block cut short", {"block-truncated"}),
    ("CRC", {"gzip-damaged"}),
    ("in one gzip member|one gzip stream|gzip per record", {"member-shared"}),
    ("after the last gzip member", {"gzip-junk"}),
    ("garbage between", {"no-record", "junk", "gzip-junk"}),
    ("Content-Length too large", {"length-overrun", "block-truncated"}),
    ("Content-Length too small", {"trailer"}),
    ("negative Content-Length|Content-Length (over|not|is no)", {"length-invalid"}),
    ("no Content-Length|without Content-Length", {"length-missing"}),
    (r"\bbare LF in|\bLF instead|\bLF line ends", {"line-end"}),
    ("CRLF only|six CRLF|no CRLF|without CRLF", {"trailer"}),
    ("Block-Digest does not match|wrong block digest", {"block-digest"}),
    ("wrong payload digest|Payload-Digest does not match", {"payload-digest", "digest-invalid"}),
    ("without algorithm label", {"digest-invalid"}),
    ("unknown (digest )?algorithm", {"digest-invalid", "digest-algorithm"}),
    ("no WARC-Date", {"date-missing"}),
    ("Date that cannot be parsed|broken headers", {"date-invalid"}),
    ("no WARC-Type", {"type-missing"}),
    ("unknown WARC-Type", {"type-unknown"}),
    ("given twice", {"field-repeated"}),
    ("without WARC-Target-URI", {"uri-missing"}),
    ("no WARC-Record-ID", {"id-missing"}),
    ("raw latin-1", {"header-encoding"}),
    ("(NUL|control).* in a header", {"header-control"}),
    ("megabyte header", {"header-long"}),
    ("empty block", {"http-empty"}),
    ("is not HTTP", {"http-malformed"}),
    ("over the raw", {"payload-digest-wire"}),
    ("broken chunk", {"chunks-broken"}),
    ("revisit without WARC-Profile", {"profile-missing"}),
    ("revisit without .*Digest", {"digest-missing"}),
    ("unknown profile", {"profile-unknown", "profile-invalid"}),
    ("same WARC-Record-ID", {"id-repeated"}),
    ("without angle brackets", {"id-invalid"}),
    ("space in(side)? (the )?(WARC-Target-URI|target URI)|relative .*URI", {"uri-invalid"}),
    ("unknown version|version .*unknown", {"version-unknown"}),
    (r"named \.warc(\.gz)?$", {"name-suffix"}),
    (r"not a WARC|\bARC with|\bARC header|truncated ARC", {"no-record"}),
    ("byte order mark", {"byte-order-mark"}),
    ("blank lines before", {"blank-lines"}),
    (r"WARC-[\w-]+ on (a )?\w+", {"field-forbidden"}),
    ("empty gzip|gzip of nothing", {"member-empty"}),
    ("empty file", {"empty"}),
    (r"line (without|with no) colon", {"header-line"}),
    (r"WARC-Date\b.*\b(no|not|without|offset|zone|local|digits|impossible)", {"date-invalid"}),
    ("WARC-IP-Address .*(no|not|bad|port|host)", {"ip-invalid"}),
    ("continuation without", {"segment-missing"}),
    (r"(mixed|mixture of) case", {"field-case"}),
)


def load(folder: Path) -> Iterator[Row]:
    for row in json_lines("warc_bad_index.jsonl")(folder):
        yield row | {"id": row["file"], "path": folder / row["file"]}


def check(row: Row) -> Answer:
    """The answer: the codes of what was found."""
    findings, _ = check_file(row["path"])
    size = row["path"].stat().st_size
    if any(not 0 <= finding.offset <= size for finding in findings):
        return f"an offset outside the file: {findings}"
    for words, codes in NAMED:
        if re.search(words, row["what"]):
            return _compare(findings, codes)
    judge = row.get("jwarc_validate")
    if judge is None or judge["rc"] or judge["messages"]:
        return None if findings else Differs(set(), f"sound, but jwarc says {judge}")
    return _compare(findings, set())


def _compare(findings: list[CheckFinding], codes: set[str]) -> Answer:
    found = {finding.code for finding in findings}
    errors = {finding.code for finding in findings if finding.severity == Severity.ERROR}
    if not codes:
        return Differs(found, f"{sorted(errors)} in a sound file") if errors else None
    return None if codes & found else Differs(found, f"{sorted(found)}, not {sorted(codes)}")


def repeats_an_id(row: Row) -> bool:
    """The file gives one WARC-Record-ID to two records, which the standard forbids."""
    data = row["path"].read_bytes()
    text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    ids = re.findall(rb"^WARC-Record-ID: *(\S+)", text, re.MULTILINE | re.IGNORECASE)
    return len(set(ids)) < len(ids)


TABLE = Table("warc_bad", load, check)
