"""Pack a capture as evidence, and verify evidence."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from nacre.core.clock import Clock
from nacre.errors import NacreError
from nacre.machine.clock import SystemClock
from nacre.messages import error_text, message
from nacre.ops.citation import cite_exchange
from nacre.ops.fields import LineText, ShortText, Typed
from nacre.ops.packing import require_wacz_name
from nacre.ops.url_captures import captures_of, choose_capture

if TYPE_CHECKING:
    from nacre.packing.timestamp import Timestamp, TimestampFacts
    from nacre.packing.verify_evidence import VerifiedEvidence
    from nacre.replay.citation import Citation

_FORMS = {"text": "citation.txt", "bibtex": "citation.bib", "ris": "citation.ris",
          "csl": "citation.json"}  # fmt: skip


class EvidenceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The options of evidence.

    Attributes:
        out: Write the WACZ to FILE.
        at: Time of the capture, or its beginning, else the nearest; default: the last.
        timestamp: Address of a time-stamping service (RFC 3161), which gets the digest of the list
            of files.
        timestamp_roots: PEM file with the root certificates of the service, to verify its answer;
            default: those of the system.
        archive_id: Name of your archive in the PWID, such as its domain.
        replace: Replace an existing file.
    """

    out: Annotated[Path, Typed("FILE")]
    at: Annotated[ShortText, Typed("TIME")] = ""
    timestamp: Annotated[LineText, Typed("URL")] = ""
    timestamp_roots: Annotated[Path | None, Typed("FILE")] = None
    archive_id: Annotated[ShortText, Typed("ID")] = ""
    replace: bool = False


class EvidenceResult(msgspec.Struct, frozen=True):
    """Evidence that was made.

    Attributes:
        path: The file.
        bytes: Its size.
        citation: The citation of the capture.
        records: Captures and chains in it.
        has_chain: It has the certificate chain of the server.
        is_tls: The capture was made over TLS.
        timestamp: The verified timestamp; None if none was requested.
    """

    path: Path
    bytes: int
    citation: "Citation"
    records: int
    has_chain: bool
    is_tls: bool
    timestamp: "TimestampFacts | None" = None


def make_evidence(
    target: str | Path,
    url: str,
    request: EvidenceRequest,
    explain: Callable[[str], str] = lambda _url: "",
    clock: Clock | None = None,
) -> EvidenceResult:
    """Pack a capture as evidence.

    Args:
        target: A job, a collection, a WARC or WACZ file.
        url: The URL.
        request: The options.
        explain: Returns the explanation of a URL as text; "" for none.
        clock: The time; None for that of the machine.

    Raises:
        ConfigError: The file is no name of a WACZ.
        JobError: There is no such capture, or the file exists.
        ReplayError: The capture cannot be read.
        StorageError: A file cannot be read or written.
        TimestampError: The service gave no timestamp, or one that its roots do not verify.
    """
    from nacre.catalogue.holdings import open_holding
    from nacre.catalogue.lookup import open_index
    from nacre.packing.evidence import EvidenceSource, EvidenceTexts, pack_evidence
    from nacre.packing.timestamp import verify_timestamp
    from nacre.packing.wacz import PackOptions
    from nacre.replay.citation import format_citation
    from nacre.replay.reply import read_exchange

    require_wacz_name(request.out)
    holding = open_holding([target])
    lookup = open_index(holding)
    capture = choose_capture(captures_of(lookup, url, holding.argument), request.at)
    decoded = read_exchange(holding, lookup, capture, decode=True)
    citation = cite_exchange(holding, decoded, archive_id=request.archive_id)
    texts = EvidenceTexts(
        citation,
        {name: format_citation(citation, form) for form, name in _FORMS.items()},
        _explanation(explain, capture.url),
    )
    source = EvidenceSource(holding, lookup, read_exchange(holding, lookup, capture))
    options = PackOptions(created=(clock or SystemClock()).now(), replace=request.replace)
    stamp = _stamper(request) if request.timestamp else None
    evidence = pack_evidence(source, texts, request.out, options, stamp)
    facts = None
    if evidence.timestamp is not None:
        facts = verify_timestamp(evidence.timestamp, evidence.sums, request.timestamp_roots)
    tls = evidence.capture.tls
    return EvidenceResult(
        evidence.package.path,
        evidence.package.bytes,
        citation,
        evidence.package.captures,
        has_chain=tls is not None and tls.has_chain,
        is_tls=tls is not None or capture.url.startswith("https:"),
        timestamp=facts,
    )


def _explanation(explain: Callable[[str], str], url: str) -> str:
    """Return the explanation; if it fails, why: the capture is evidence without it as well."""
    try:
        return explain(url)
    except NacreError as error:
        return f"not available: {error_text(error)}\n"


def _stamper(request: EvidenceRequest) -> "Callable[[bytes], Timestamp]":
    """Return the function that requests timestamps, and refuses those that are not valid.

    It is called before the file has its name, so that no file has a timestamp of others.
    """
    from nacre.packing.timestamp import TimestampError, request_timestamp, verify_timestamp

    def stamp(data: bytes) -> "Timestamp":
        timestamp = request_timestamp(request.timestamp, data)
        facts = verify_timestamp(timestamp, data, request.timestamp_roots)
        if request.timestamp_roots is not None and not facts.is_trusted:
            raise TimestampError(
                message(
                    "ops.timestamp-untrusted",
                    "the timestamp is not signed by a service with a root in {path}: {reason}",
                    path=request.timestamp_roots,
                    reason=facts.reason,
                )
            )
        return timestamp

    return stamp


class EvidenceRoots(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a verification.

    Attributes:
        timestamp_roots: PEM file with the root certificates of the time-stamping service; default:
            those of the system.
        tls_roots: PEM file with the root certificates of TLS servers; default: those of the system.
    """

    timestamp_roots: Annotated[Path | None, Typed("FILE")] = None
    tls_roots: Annotated[Path | None, Typed("FILE")] = None


def check_evidence(path: Path, roots: EvidenceRoots) -> "VerifiedEvidence":
    """Verify evidence: its files, records, timestamp and certificate chain.

    Raises:
        JobError: The file cannot be read, or is no evidence.
    """
    from nacre.packing.verify_evidence import verify_evidence

    return verify_evidence(path, roots.timestamp_roots, roots.tls_roots)
