"""Timestamps of a time-stamping service (TSA): requested over HTTP, and verified.

The service signs the SHA-256 of some bytes together with the time, so that they existed then. Its
certificate is verified against the roots that the operator names, else against those of the
system. Source: RFC 3161, RFC 5816; over HTTP: RFC 3161, 3.4. Needs the extra `evidence`.
"""

import hashlib
import ssl
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from nacre import __version__
from nacre.config.extras import require_extra
from nacre.core.clock import iso
from nacre.errors import JobError, NacreError
from nacre.machine.connection_end import http_connection
from nacre.messages import error_text, message
from nacre.replay.citation import clean_text

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

PATIENCE: Final = 30.0
"""Seconds for each step of the exchange with a service, and for all of it after the connection."""
LONGEST_ANSWER: Final = 1 << 20
"""Bytes of an answer of a service."""
EXTRA: Final = "evidence"

_QUERY, _REPLY = "application/timestamp-query", "application/timestamp-reply"
_MOST_ROOTS: Final = 16 << 20
"""Bytes of a file of root certificates."""
_GRANTED: Final = (0, 1)
_SHA256: Final = "2.16.840.1.101.3.4.2.1"


class TimestampError(NacreError):
    """A service gave no timestamp, or a timestamp is not that of the bytes."""


class Timestamp(NamedTuple):
    """A timestamp as it is stored.

    Attributes:
        query: The request, DER.
        reply: The answer, DER.
    """

    query: bytes
    reply: bytes


class TimestampFacts(msgspec.Struct, frozen=True):
    """A verified timestamp.

    Attributes:
        time: The time that the service signed, RFC 3339.
        service: Name of the service in its timestamp; "" for none.
        serial: Serial number of the timestamp.
        policy: Policy of the service, an object identifier.
        is_trusted: The signature is that of a certificate for time stamping, which one of the roots
            issued, and which was valid at that time.
        reason: Why it is not trusted; "" if it is.
    """

    time: str
    service: str
    serial: str
    policy: str
    is_trusted: bool
    reason: str = ""


def request_timestamp(url: str, data: bytes) -> Timestamp:
    """Request a timestamp of some bytes; only their SHA-256 is sent.

    Args:
        url: Address of the service, http or https.
        data: The bytes.

    Raises:
        TimestampError: There is no answer, or it is no timestamp.
        MissingExtraError: The library is not installed.
    """
    require_extra("timestamps need", EXTRA)
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder  # noqa: PLC0415 - an extra

    builder = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256)
    query: bytes = builder.build().as_bytes()
    return Timestamp(query, _exchange(url, query))


def verify_timestamp(
    timestamp: Timestamp, data: bytes, roots: Path | None = None
) -> TimestampFacts:
    """Verify a timestamp of some bytes.

    Args:
        timestamp: The timestamp; an empty `query` leaves out the check of the nonce.
        data: The bytes.
        roots: PEM file with the root certificates of the service; None for those of the system.

    Raises:
        TimestampError: It is no timestamp, or not that of these bytes and this request.
        JobError: The file of roots cannot be read.
        MissingExtraError: The library is not installed.
    """
    require_extra("timestamps need", EXTRA)
    certificates = trusted_roots(roots)
    response = _decode(timestamp.reply)
    try:
        info = response.tst_info
        imprint = info.message_imprint
        algorithm, digest = imprint.hash_algorithm.dotted_string, imprint.message
        facts = TimestampFacts(
            time=iso(info.gen_time.timestamp()),
            service=_name_of(info.name),
            serial=str(info.serial_number),
            policy=info.policy.dotted_string,
            is_trusted=False,
        )
        nonce: int | None = info.nonce
    except ValueError as error:
        raise _not_valid(error) from error
    if algorithm != _SHA256 or digest != hashlib.sha256(data).digest():
        raise TimestampError(
            message("packing.timestamp-other", "the timestamp is of other bytes than these")
        )
    if timestamp.query and not _answers(nonce, timestamp.query):
        raise TimestampError(
            message("packing.timestamp-nonce", "the timestamp answers another request")
        )
    reason = _distrust(response, data, certificates)
    return msgspec.structs.replace(facts, is_trusted=not reason, reason=reason)


def _decode(reply: bytes) -> "TimeStampResponse":
    from rfc3161_client import decode_timestamp_response  # noqa: PLC0415 - an extra

    try:
        response = decode_timestamp_response(reply)
        status = int(response.status)
    except ValueError as error:
        raise _not_valid(error) from error
    if status not in _GRANTED:
        raise TimestampError(
            message(
                "packing.timestamp-refused",
                "the time-stamping service refused with status {status}: {text}",
                status=status,
                text=" ".join(response.status_string)[:200] or "-",
            )
        )
    return response


def _answers(nonce: int | None, query: bytes) -> bool:
    """Whether a nonce is that of a request; the library makes requests, but reads none.

    A nonce has 64 bits or more: its encoding (X.690, 8.3) is in no other request.
    """
    if nonce is None or nonce < 0:
        return False
    size = nonce.bit_length() // 8 + 1
    return bytes((2, size)) + nonce.to_bytes(size, "big") in query


def _name_of(name: object) -> str:
    """Return the name of a service as text; "" for none, and for names of another kind."""
    from cryptography.x509 import Name  # noqa: PLC0415 - slow

    value: object = getattr(name, "value", None)
    text = value.rfc4514_string() if isinstance(value, Name) else value
    return clean_text(text) if isinstance(text, str) else ""


def trusted_roots(path: Path | None) -> "list[Certificate]":
    """Return the certificates of a PEM file; of the system if None.

    Raises:
        JobError: The file cannot be read, or has none.
    """
    from nacre.fetch.verify import load_roots  # noqa: PLC0415 - slow

    if path is None:
        return load_roots()
    try:
        roots = load_roots(path) if path.is_file() and path.stat().st_size <= _MOST_ROOTS else []
    except OSError as error:
        raise JobError(
            message(
                "packing.roots-unreadable",
                "cannot read {path}: {reason}. Name a PEM file with root certificates",
                path=path, reason=error.strerror,
            )
        ) from error  # fmt: skip
    if not roots:
        raise JobError(
            message(
                "packing.roots-empty",
                "{path} has no certificates. Name a PEM file with root certificates",
                path=path,
            )
        )
    return roots


def _not_valid(error: ValueError) -> TimestampError:
    return TimestampError(
        message(
            "packing.timestamp-invalid",
            "the answer is no timestamp: {reason}",
            reason=" ".join(error_text(error).split())[:200],
        )
    )


def _distrust(response: "TimeStampResponse", data: bytes, roots: "list[Certificate]") -> str:
    """Return why a timestamp is not trusted; "" if it is."""
    from rfc3161_client import VerificationError, VerifierBuilder  # noqa: PLC0415 - an extra

    if not roots:
        return message("packing.no-roots", "there are no root certificates")
    try:
        VerifierBuilder(roots=roots).build().verify_message(response, data)
    except (VerificationError, ValueError) as error:
        return " ".join(error_text(error).split())[:300]
    return ""


def _exchange(url: str, query: bytes) -> bytes:
    """Post a request; redirects are not followed."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as http://[
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TimestampError(
            message(
                "packing.timestamp-url",
                "{url} is no address of a time-stamping service: it begins with http:// or https://",
                url=url,
            )
        )
    headers = {
        "Content-Type": _QUERY,
        "Accept": _REPLY,
        "User-Agent": f"Nacre/{__version__}",
        "Connection": "close",
    }
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    context = ssl.create_default_context() if parts.scheme == "https" else None
    try:
        with http_connection(parts.hostname, parts.port, PATIENCE, context) as connection:
            connection.request("POST", target, query, headers)
            response = connection.getresponse()
            data = response.read(LONGEST_ANSWER + 1)
    except (OSError, ValueError, HTTPException) as error:
        raise _unanswered(parts.netloc.rpartition("@")[2], error_text(error)) from error
    media = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    if response.status != 200 or media != _REPLY or len(data) > LONGEST_ANSWER:
        reason = f"HTTP {response.status}, {clean_text(media) or '-'}, {len(data):,} B"
        raise _unanswered(parts.netloc.rpartition("@")[2], reason)
    return data


def _unanswered(place: str, reason: str) -> TimestampError:
    return TimestampError(
        message(
            "packing.timestamp-unanswered",
            "the time-stamping service {place} gave no timestamp: {reason}. Try again later, or "
            "name another service",
            place=place, reason=reason,
        )
    )  # fmt: skip
