"""A capture as evidence: a WACZ with its records, and what proves where and when they came from.

Beside the usual files of a WACZ, `evidence/` has the facts of the capture, its citation, the text
of `explain`, the certificate chain of the server, and `SHA256SUMS` with the digests of all files.
A time-stamping service that the operator names signs the digest of this list, so that the files
existed then. All of it can be verified by plain tools (`evidence/README.txt`): sha256sum, openssl.
TLS proves nothing to others afterwards: the chain shows what the server presented, no more.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from nacre import __version__
from nacre.archive.certificates import CHAIN_FIELD, CHAIN_URN, chain_uri
from nacre.archive.link_reference import LONGEST
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import CaptureIndex
from nacre.core.clock import iso
from nacre.packing.container import WaczFile
from nacre.packing.sources import read_lines
from nacre.packing.timestamp import Timestamp
from nacre.packing.wacz import PackedWacz, PackOptions, pack_wacz
from nacre.packing.windows import WindowReader
from nacre.replay.citation import Citation
from nacre.replay.records import ReplayError, read_record
from nacre.replay.reply import ArchivedExchange
from nacre.uri.surt import index_key

FOLDER: Final = "evidence/"
CAPTURE_FILE: Final = "evidence/capture.json"
CHAIN_FILE: Final = "evidence/certificates.pem"
SUMS_FILE: Final = "evidence/SHA256SUMS"
QUERY_FILE: Final = "evidence/timestamp.tsq"
REPLY_FILE: Final = "evidence/timestamp.tsr"

_FIELDS: Final = "application/warc-fields"
_LONGEST_CHAIN: Final = 1 << 20
"""Bytes of a certificate chain."""
_README: Final = """\
This package is evidence of a capture of a web page. capture.json identifies it.

1. The files are those of the list:    sha256sum -c evidence/SHA256SUMS
2. The list existed at that time, if there is a timestamp:
   openssl ts -reply -in evidence/timestamp.tsr -text
   openssl ts -verify -data evidence/SHA256SUMS -in evidence/timestamp.tsr -CAfile ROOT.pem
   ROOT.pem has the root certificate of the time-stamping service.
3. The records have the digests that they state: warcio check archive/*.warc.gz
4. The server presented these certificates, if its chain was recorded:
   openssl storeutl -noout -text evidence/certificates.pem

The file is a WACZ: unzip it, or open it with a program for web archives to see the page.
Nacre does steps 1 to 4 with: nacre archive FILE.wacz verify-evidence
"""


class TlsEvidence(msgspec.Struct, frozen=True):
    """The facts of the TLS connection of a capture.

    Attributes:
        server_name: Server name that was sent.
        verified: Result of the verification when it was captured: `ok`, or the reason against.
        certificates: URI of the record of the chain; "" if the chain was not recorded.
        has_chain: The chain is in this package.
    """

    server_name: str
    verified: str
    certificates: str = ""
    has_chain: bool = False


class CaptureEvidence(msgspec.Struct, frozen=True):
    """The facts of a capture, as in `capture.json`.

    Attributes:
        citation: Its citation: URL, date, URNs, digest.
        status: HTTP status.
        mime: Media type.
        payload_sha256: SHA-256 of its payload without transfer coding, hexadecimal.
        payload_size: Bytes of this payload.
        record_type: `response`, `revisit` (its original is in the package), `metadata` (a
            difference, which is a response in the package), or `resource`.
        truncated: Why the capture ends early; "" if it is whole.
        tls: Facts of the TLS connection; None for plain HTTP, and if none were recorded.
        archive_file: Name of the WARC in the archive.
        archive_offset: Offset of the record there.
        software: Name and version of the program that made the package.
        created: When it was made, RFC 3339.
    """

    citation: Citation
    status: int
    mime: str
    payload_sha256: str
    payload_size: int
    record_type: str
    truncated: str
    tls: TlsEvidence | None
    archive_file: str
    archive_offset: int
    software: str
    created: str


class EvidenceSource(NamedTuple):
    """The capture of evidence.

    Attributes:
        holding: Where it is.
        lookup: The index of the holding.
        exchange: The capture, with its content coding.
    """

    holding: Holding
    lookup: CaptureIndex
    exchange: ArchivedExchange


class EvidenceTexts(NamedTuple):
    """Texts beside a capture.

    Attributes:
        citation: The citation.
        formats: It in each format, by the name of its file in `evidence/`.
        explanation: The text of `explain`; "" if there is none.
    """

    citation: Citation
    formats: Mapping[str, str]
    explanation: str


class PackedEvidence(NamedTuple):
    """Evidence that was made.

    Attributes:
        package: The WACZ.
        capture: The facts of the capture.
        timestamp: The timestamp; None if none was requested.
        sums: `SHA256SUMS`, which it is of.
    """

    package: PackedWacz
    capture: CaptureEvidence
    timestamp: Timestamp | None
    sums: bytes


def pack_evidence(
    source: EvidenceSource,
    texts: EvidenceTexts,
    target: Path,
    options: PackOptions,
    stamp: Callable[[bytes], Timestamp] | None = None,
) -> PackedEvidence:
    """Write the evidence of a capture.

    Args:
        source: The capture.
        texts: Its citation and explanation.
        target: The file.
        options: Date and replacement of the package.
        stamp: Requests a timestamp of some bytes; None for none.

    Raises:
        JobError: The file exists, or the capture cannot be packed.
        ReplayError: A record cannot be read.
        StorageError: A file cannot be read or written.
        TimestampError: The service gave no timestamp.
    """
    holding, capture = source.holding, source.exchange.capture
    tls = _tls_of(holding, capture)
    chain = _chain_of(source, tls.certificates) if tls else None
    if tls is not None and chain is not None:
        tls = msgspec.structs.replace(tls, has_chain=True)
    facts = _facts(source, texts.citation, tls, options.created)
    result: list[tuple[bytes, Timestamp | None]] = []

    def extend(wacz: WaczFile) -> None:
        _write_files(wacz, facts, texts, chain[1] if chain else b"")
        sums = sums_of(wacz)
        wacz.write(SUMS_FILE, sums)
        timestamp = stamp(sums) if stamp is not None else None
        if timestamp is not None:
            wacz.write(QUERY_FILE, timestamp.query)
            wacz.write(REPLY_FILE, timestamp.reply)
        result.append((sums, timestamp))

    captures = [capture, *((chain[0],) if chain else ())]
    options = msgspec.structs.replace(
        options, resolve=False, with_originals=True, extend=extend,
        title=options.title or f"Evidence: {texts.citation.title or texts.citation.url}",
    )  # fmt: skip
    package = pack_wacz(holding, target, captures, options, lambda _done, _total: None)
    ((sums, timestamp),) = result
    return PackedEvidence(package, facts, timestamp, sums)


def sums_of(wacz: WaczFile) -> bytes:
    """Return the digests of the files of a WACZ so far, as `sha256sum -c` reads them."""
    lines = (f"{file.hash.partition(':')[2]}  {file.path}\n" for file in wacz.files)
    return "".join(lines).encode()


def _write_files(
    wacz: WaczFile, facts: CaptureEvidence, texts: EvidenceTexts, chain: bytes
) -> None:
    text = msgspec.json.format(msgspec.json.encode(facts), indent=2) + b"\n"
    wacz.write(CAPTURE_FILE, text)
    for name, form in texts.formats.items():
        wacz.write(f"{FOLDER}{name}", form.encode())
    if texts.explanation:
        wacz.write(f"{FOLDER}explain.txt", texts.explanation.encode("utf-8", "replace"))
    if chain:
        wacz.write(CHAIN_FILE, chain)
    wacz.write(f"{FOLDER}README.txt", _README.encode())


def _facts(
    source: EvidenceSource, citation: Citation, tls: TlsEvidence | None, created: float
) -> CaptureEvidence:
    exchange, capture = source.exchange, source.exchange.capture
    digest, size = hashlib.sha256(), 0
    exchange.body.seek(0)
    while data := exchange.body.read(1 << 16):
        digest.update(data)
        size += len(data)
    return CaptureEvidence(
        citation=citation,
        status=exchange.status,
        mime=exchange.header("content-type").partition(";")[0].strip().lower(),
        payload_sha256=digest.hexdigest(),
        payload_size=size,
        record_type=read_record(source.holding, capture).type,
        truncated=exchange.truncated,
        tls=tls,
        archive_file=capture.warc,
        archive_offset=capture.offset,
        software=f"Nacre/{__version__}",
        created=iso(created),
    )


def _tls_of(holding: Holding, capture: IndexedCapture) -> TlsEvidence | None:
    """Return the facts in the metadata record of a capture; None if there are none."""
    place = holding.warc(capture.member, capture.warc)
    if place is None:
        return None
    reader = WindowReader(place, capture, read_lines(place, capture.member))
    try:
        for companion in reader.around(capture).companions:
            entry = companion.entry
            is_fields = entry.get("Content-Type") == _FIELDS and entry.length <= LONGEST
            if entry.get("WARC-Type") == "metadata" and is_fields:
                tls = read_tls_fields(reader.block(companion))
                if tls is not None:
                    return tls
    finally:
        reader.close()
    return None


def read_tls_fields(block: bytes) -> TlsEvidence | None:
    """Return the facts of TLS in the block of a metadata record; None if it has none."""
    fields: dict[str, str] = {}
    for line in block.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        name, colon, value = line.partition(b": ")
        if colon and name.startswith(b"tls"):
            fields.setdefault(name.decode("ascii", "replace"), value.decode("utf-8", "replace"))
    if "tlsVerified" not in fields:
        return None
    uri = fields.get(CHAIN_FIELD, "")
    return TlsEvidence(
        fields.get("tlsServerName", ""),
        fields["tlsVerified"],
        uri if uri.startswith(CHAIN_URN) else "",
    )


def _chain_of(source: EvidenceSource, uri: str) -> tuple[IndexedCapture, bytes] | None:
    """Return the record of a certificate chain and its block; None if it is nowhere, or damaged.

    The record in the WARC of the capture comes first.
    """
    if not uri:
        return None
    warc = source.exchange.capture.warc
    records = sorted(source.lookup.exact(index_key(uri)), key=lambda capture: capture.warc != warc)
    for record in records:
        try:
            stored = read_record(source.holding, record)
            if stored.block.length <= _LONGEST_CHAIN:
                block = b"".join(stored.block.pieces())
                if chain_uri(block) == uri:
                    return record, block
        except ReplayError:
            continue
    return None
