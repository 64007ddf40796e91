"""Verification of evidence (`packing.evidence`): files, records, timestamp, certificate chain.

The file may come from anybody: names, sizes and content are checked before they are used, and
nothing is extracted but WARCs into a temporary folder.
"""

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final, Literal, NamedTuple

import msgspec

from nacre.archive.block import BlockFacts
from nacre.archive.certificates import CHAIN_URN, chain_uri, read_chain
from nacre.archive.check import Checker
from nacre.archive.fields import micros, strip_brackets
from nacre.archive.findings import Severity
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.catalogue.wacz import read_part_list
from nacre.errors import DamageError, JobError
from nacre.fetch.verify import Verifier
from nacre.machine.local_files import open_ordinary
from nacre.messages import error_text, message
from nacre.packing.evidence import (
    CAPTURE_FILE,
    CHAIN_FILE,
    QUERY_FILE,
    REPLY_FILE,
    SUMS_FILE,
    CaptureEvidence,
    read_tls_fields,
)
from nacre.packing.timestamp import (
    Timestamp,
    TimestampError,
    TimestampFacts,
    trusted_roots,
    verify_timestamp,
)
from nacre.replay.citation import Citation, ascii_url, clean_text
from nacre.uri.parse import host

Outcome = Literal["ok", "failed", "open", "absent"]
"""`open`: neither proven nor disproven; `absent`: the package does not have it."""

_MOST_ENTRIES: Final = 10_000
_LONGEST_LIST: Final = 4 << 20
"""Bytes of the list of entries."""
_MOST_UNPACKED: Final = 256 << 20
"""Bytes of all compressed entries; others are as long as they are in the file."""
_SMALL: Final = 16 << 20
"""Bytes of an entry that is read into memory."""
_CHUNK: Final = 1 << 20
_MOST_METADATA: Final = 64 << 20
_CHANGED: Final = frozenset(
    ("block-digest", "block-truncated", "digest-invalid", "empty", "gzip-damaged", "gzip-junk",
     "gzip-truncated", "header-truncated", "junk", "length-invalid", "length-missing",
     "length-overrun", "no-record", "payload-digest", "trailer", "unreadable")
)  # fmt: skip
"""Findings of `archive check` that show changed bytes; others are faults of the writer."""
_LINE: Final = re.compile(r"([0-9a-f]{64})  (\S.*)")
_UNLISTED: Final = frozenset(
    (SUMS_FILE, QUERY_FILE, REPLY_FILE, "datapackage.json", "datapackage-digest.json")
)
_DAMAGE: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class EvidenceCheck(msgspec.Struct, frozen=True):
    """A check.

    Attributes:
        name: `package`, `files`, `records`, `capture`, `timestamp` or `certificates`.
        outcome: Its outcome.
        text: What was found, in words.
    """

    name: str
    outcome: Outcome
    text: str


class VerifiedEvidence(msgspec.Struct, frozen=True):
    """The result of a verification.

    Attributes:
        checks: The checks, in order.
        capture: The facts of the capture; None if they cannot be read.
        timestamp: The timestamp; None if there is none, or it is not valid.
    """

    checks: tuple[EvidenceCheck, ...]
    capture: CaptureEvidence | None = None
    timestamp: TimestampFacts | None = None

    @property
    def is_sound(self) -> bool:
        """Whether no check failed."""
        return all(check.outcome != "failed" for check in self.checks)


class _Records(NamedTuple):
    """What the WARCs of a package have of a capture.

    Attributes:
        url: URL of its record; "" if the record is not there.
        date: WARC-Date of its record.
        digest: WARC-Payload-Digest of its record; "" for none.
        payloads: SHA-256 of the payloads of all responses, without and with transfer coding.
        chains: Certificate chains by their URI.
        certificates: URI of the chain that its metadata record names; "" for none.
    """

    url: str = ""
    date: str = ""
    digest: str = ""
    payloads: frozenset[str] = frozenset()
    chains: frozenset[str] = frozenset()
    certificates: str = ""


def verify_evidence(
    path: Path, timestamp_roots: Path | None = None, tls_roots: Path | None = None
) -> VerifiedEvidence:
    """Verify evidence.

    Args:
        path: The file.
        timestamp_roots: PEM file with roots of the time-stamping service; None for the system's.
        tls_roots: PEM file with roots of TLS servers; None for the system's.

    Raises:
        DamageError: Its bytes were changed, or are missing.
        JobError: The file cannot be read, or is no evidence; or a file of roots cannot be read.
        MissingExtraError: It has a timestamp, and the library for it is not installed.
    """
    if tls_roots is not None:
        trusted_roots(tls_roots)
    try:
        with open_ordinary(path) as file:
            _check_list(file)
            with zipfile.ZipFile(file) as package:
                return _verify_opened(path, package, timestamp_roots, tls_roots)
    except FileNotFoundError:
        raise _unreadable(path, "no such file") from None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except (ValueError, *_DAMAGE) as error:
        raise _unreadable(path, error_text(error)) from error


def _check_list(file: BufferedReader) -> None:
    """Refuse a list of entries that is too long to be read.

    Raises:
        ValueError: It is, or it is missing.
    """
    facts = read_part_list(file)
    if facts is None:
        raise ValueError("the list of its entries is missing")
    if facts.parts > _MOST_ENTRIES or facts.length > _LONGEST_LIST:
        raise ValueError(f"{facts.parts:,} entries in a list of {facts.length:,} bytes")


def _verify_opened(
    path: Path, package: zipfile.ZipFile, timestamp_roots: Path | None, tls_roots: Path | None
) -> VerifiedEvidence:
    """Verify a package whose directory could be read; see `verify_evidence`."""
    try:
        return _verify(_Package(package), timestamp_roots, tls_roots)
    except _DAMAGE as error:
        raise DamageError(
            message(
                "packing.evidence-damaged",
                "{path} was changed or damaged after it was packed: {reason}. It proves nothing; "
                "get the file again from where it is stored",
                path=path, reason=error_text(error),
            )
        ) from error  # fmt: skip


def _unreadable(path: Path, reason: str) -> JobError:
    return JobError(
        message(
            "packing.evidence-unreadable",
            "{path} is no evidence that can be read: {reason}. Name a file that `nacre archive DIR "
            "evidence` made",
            path=path, reason=reason,
        )
    )  # fmt: skip


class _Package:
    """The entries of the ZIP file, read with bounds."""

    def __init__(self, package: zipfile.ZipFile) -> None:
        self._zip = package
        infos = package.infolist()
        self.names = [info.filename for info in infos]
        self._infos = {info.filename: info for info in infos}
        if len(infos) > _MOST_ENTRIES:
            raise ValueError(f"{len(infos):,} entries")
        packed = [info for info in infos if info.compress_type != zipfile.ZIP_STORED]
        if sum(info.file_size for info in packed) > _MOST_UNPACKED:
            raise ValueError("its compressed entries are too large")

    @property
    def is_ambiguous(self) -> bool:
        """Whether two entries have one name, so that programs may read different ones."""
        return len(self._infos) < len(self.names)

    def read(self, name: str) -> bytes:
        """Return an entry of at most `_SMALL` bytes; b"" if it is not there."""
        if name not in self._infos:
            return b""
        data = b""
        for chunk in self.chunks(name):
            data += chunk
            if len(data) > _SMALL:
                raise ValueError(f"{clean_text(name)} is too large")
        return data

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an entry."""
        with self._zip.open(self._infos[name]) as entry:
            while data := entry.read(_CHUNK):
                yield data

    def digest(self, name: str) -> str:
        """Return the SHA-256 of an entry, hexadecimal."""
        digest = hashlib.sha256()
        for data in self.chunks(name):
            digest.update(data)
        return digest.hexdigest()

    def copy(self, name: str, file: BinaryIO) -> None:
        """Copy an entry to a file."""
        file.writelines(self.chunks(name))


def _verify(
    package: _Package, timestamp_roots: Path | None, tls_roots: Path | None
) -> VerifiedEvidence:
    sums, facts = package.read(SUMS_FILE), package.read(CAPTURE_FILE)
    try:
        capture = msgspec.json.decode(facts, type=CaptureEvidence)
    except ValueError as error:
        raise ValueError(f"{CAPTURE_FILE} is missing or damaged") from error
    checks = [_check_package(package), _check_files(package, sums)]
    with TemporaryDirectory() as folder:
        warcs = list(_extract(package, Path(folder)))
        checks.append(_check_records(warcs))
        records = _read_records(warcs, capture.citation.urn)
    checks.append(_check_capture(capture, records))
    timestamp, check = _check_timestamp(package, sums, timestamp_roots)
    checks.append(check)
    checks.append(_check_chain(capture, records, package.read(CHAIN_FILE), tls_roots))
    return VerifiedEvidence(tuple(checks), capture, timestamp)


def _check_package(package: _Package) -> EvidenceCheck:
    """Check the list of files of WACZ against its digest, and the files against the list."""
    if package.is_ambiguous:
        return EvidenceCheck("package", "failed", "two entries of the ZIP file have one name")
    listed = package.read("datapackage.json")
    try:
        digest = json.loads(package.read("datapackage-digest.json"))["hash"]
        resources = {
            str(entry["path"]): str(entry["hash"]) for entry in json.loads(listed)["resources"]
        }
    except (ValueError, KeyError, TypeError, RecursionError):
        return EvidenceCheck("package", "failed", "datapackage.json or its digest is damaged")
    if digest != f"sha256:{hashlib.sha256(listed).hexdigest()}":
        return EvidenceCheck("package", "failed", "datapackage.json has another digest")
    for name, stated in resources.items():
        if name not in package.names or stated != f"sha256:{package.digest(name)}":
            text = f"{clean_text(name)} is not as datapackage.json states"
            return EvidenceCheck("package", "failed", text)
    return EvidenceCheck("package", "ok", f"{len(resources)} files as in datapackage.json")


def _check_files(package: _Package, sums: bytes) -> EvidenceCheck:
    """Check the files against `SHA256SUMS`; nothing else may be in the package."""
    if not sums:
        return EvidenceCheck("files", "failed", f"{SUMS_FILE} is missing")
    listed: dict[str, str] = {}
    for line in sums.decode("utf-8", "replace").removesuffix("\n").split("\n"):
        match = _LINE.fullmatch(line)
        if match is None or match[2] in listed:
            return EvidenceCheck("files", "failed", f"{SUMS_FILE} is damaged")
        listed[match[2]] = match[1]
    extra = {*package.names} - {*listed} - _UNLISTED
    missing = {*listed} - {*package.names}
    for names, state in ((missing, "is missing"), (extra, f"is not in {SUMS_FILE}")):
        if names:
            return EvidenceCheck("files", "failed", f"{clean_text(min(names))} {state}")
    for name, digest in listed.items():
        if package.digest(name) != digest:
            return EvidenceCheck("files", "failed", f"{clean_text(name)} was changed")
    return EvidenceCheck("files", "ok", f"{len(listed)} files as in {SUMS_FILE}")


def _extract(package: _Package, folder: Path) -> Iterator[Path]:
    """Copy the WARCs of a package into a folder, under names of ours."""
    names = (name for name in package.names if name.startswith("archive/"))
    for number, name in enumerate(names):
        path = folder / f"{number}.warc{'.gz' if name.endswith('.gz') else ''}"
        with path.open("wb") as file:
            package.copy(name, file)
        yield path


def _check_records(warcs: list[Path]) -> EvidenceCheck:
    checker = Checker()
    for warc in warcs:
        checker.file(warc)
    errors = [finding for finding in checker.finish() if finding.severity is Severity.ERROR]
    damage = next((finding for finding in errors if finding.code in _CHANGED), None)
    if damage is not None:
        text = f"{damage.code} at byte {damage.offset}: {clean_text(damage.message)}"
        return EvidenceCheck("records", "failed", text)
    summary = checker.summary
    if not summary.digests:
        return EvidenceCheck("records", "absent", "the records state no digests")
    more = f"; {errors[0].code} and the like: {len(errors)}" if errors else ""
    return EvidenceCheck("records", "ok", f"{summary.digests} digests of records compared{more}")


def _read_records(warcs: list[Path], urn: str) -> _Records:
    """Find the records of a capture."""
    records, chains, payloads, certificates = _Records(), set[str](), set[str](), ""
    for warc in warcs:
        with warc.open("rb") as file:
            for entry in WarcReader(file):
                kind, url = entry.get("WARC-Type"), _plain(entry, "WARC-Target-URI")
                is_small = 0 <= entry.length <= _MOST_METADATA
                if _plain(entry, "WARC-Record-ID") == urn:
                    records = _Records(
                        url, entry.get("WARC-Date") or "", entry.get("WARC-Payload-Digest") or ""
                    )
                if kind == "resource" and url.startswith(CHAIN_URN) and is_small:
                    if chain_uri(b"".join(iter(entry.read, b""))) == url:
                        chains.add(url)
                elif kind in ("response", "resource"):
                    payloads.update(_payload_digests(entry))
                elif _plain(entry, "WARC-Concurrent-To") == urn and is_small:
                    tls = read_tls_fields(b"".join(iter(entry.read, b"")))
                    certificates = tls.certificates if tls else certificates
    return records._replace(
        payloads=frozenset(payloads), chains=frozenset(chains), certificates=certificates
    )


def _plain(entry: WarcEntry, name: str) -> str:
    return strip_brackets(entry.get(name) or "")


def _payload_digests(entry: WarcEntry) -> Iterator[str]:
    """Return SHA-256 of the payload of a record, without and with transfer coding."""
    is_http = (entry.get("Content-Type") or "").strip().lower().startswith("application/http")
    facts = BlockFacts(http=is_http, block="sha1", payload="sha256")
    while data := entry.read():
        facts.feed(data)
    facts.close()
    return (digest.hex() for digest in facts.payload_digests())


def _check_capture(capture: CaptureEvidence, records: _Records) -> EvidenceCheck:
    """Check that `capture.json` describes the records."""
    citation = capture.citation
    if not records.url:
        if capture.record_type == "metadata":
            text = (
                "the capture was stored as a difference; its page is in the package as a response"
            )
            return EvidenceCheck("capture", "open", text)
        return EvidenceCheck("capture", "failed", "its record is not in the package")
    difference = _difference(citation, records)
    if difference:
        return EvidenceCheck("capture", "failed", difference)
    if capture.payload_sha256 not in records.payloads:
        text = "no record of the package has a payload with the SHA-256 of capture.json"
        return EvidenceCheck("capture", "open" if records.digest else "failed", text)
    text = f"{clean_text(citation.url)} of {clean_text(citation.date)}"
    return EvidenceCheck("capture", "ok", text)


def _difference(citation: Citation, records: _Records) -> str:
    """Return in what a record is not as its citation states; "" if it is."""
    if not micros(records.date) == micros(citation.date) > 0:
        return f"the record is of {clean_text(records.date)}"
    if records.digest and ascii_url(clean_text(records.digest)) != citation.digest:
        return "the record has another payload digest"
    return "" if ascii_url(records.url) == citation.url else f"it is of {clean_text(records.url)}"


def _check_timestamp(
    package: _Package, sums: bytes, roots: Path | None
) -> tuple[TimestampFacts | None, EvidenceCheck]:
    reply = package.read(REPLY_FILE)
    if not reply:
        return None, EvidenceCheck("timestamp", "absent", "no time-stamping service was named")
    try:
        facts = verify_timestamp(Timestamp(package.read(QUERY_FILE), reply), sums, roots)
    except TimestampError as error:
        return None, EvidenceCheck("timestamp", "failed", error_text(error))
    text = f"{facts.time} by {facts.service or 'an unnamed service'}"
    if facts.is_trusted:
        return facts, EvidenceCheck("timestamp", "ok", text)
    if roots is None:
        more = "name its root certificate with --timestamp-roots"
        return facts, EvidenceCheck("timestamp", "open", f"{text}; {facts.reason}; {more}")
    return facts, EvidenceCheck("timestamp", "failed", f"{text}; {facts.reason}")


def _check_chain(
    capture: CaptureEvidence, records: _Records, block: bytes, roots: Path | None
) -> EvidenceCheck:
    """Check the certificate chain against the records, the host and the date."""
    tls, name = capture.tls, "certificates"
    if not block:
        is_tls = capture.citation.url.startswith("https:")
        text = "the chain was not recorded" if is_tls else "the capture was made without TLS"
        return EvidenceCheck(name, "failed" if tls and tls.has_chain else "absent", text)
    uri = chain_uri(block)
    if tls is None or uri != tls.certificates or uri not in records.chains:
        return EvidenceCheck(name, "failed", "the chain is not the one in the records")
    if records.url and records.certificates != uri:
        return EvidenceCheck(name, "failed", "the records of the capture name another chain")
    date = micros(capture.citation.date) / 1e6
    verdict = Verifier(roots).verdict(read_chain(block), host(capture.citation.url), date)
    if verdict == "ok":
        return EvidenceCheck(name, "ok", f"valid for the host on {capture.citation.date[:10]}")
    text = f"{clean_text(verdict)}; when it was captured: {clean_text(tls.verified)}"
    return EvidenceCheck(name, "open", text)
