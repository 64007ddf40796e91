"""The findings of a check: a code for each defect, and how severe it is."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    """Damage, or a breach of the standard: the check fails."""
    WARNING = "warning"
    """Odd or out of date, yet readable; also oddities of servers."""
    NOTE = "note"
    """For information."""


_WARNINGS = {
    "chunks-broken": "the chunked coding of the body is broken, as the server sent it",
    "concurrent-unknown": "WARC-Concurrent-To refers to a record that is not in the files checked",
    "content-type-missing": "a block without Content-Type",
    "date-precision": "fractions of a second before WARC 1.1",
    "digest-algorithm": "a digest by an algorithm that cannot be checked here",
    "digest-missing": "a revisit by digest without WARC-Payload-Digest",
    "field-case": "a field name in an unusual mixture of cases",
    "field-unknown": "a header field that no standard or known extension defines",
    "fields-malformed": "a block of application/warc-fields with a line that is not a field",
    "gzip-header": "a gzip header unlike the others",
    "header-folded": "a header line continues the one before",
    "header-long": "a record header of more than 64 KiB, which some readers refuse",
    "http-empty": "an HTTP record without a message",
    "http-length": "the HTTP body does not have its Content-Length, and WARC-Truncated is missing",
    "http-malformed": "the block does not begin like an HTTP message, or its head has no end",
    "name-suffix": "the file name does not fit the compression",
    "payload-digest-truncated": "a truncated payload does not match its digest",
    "profile-old": "a WARC-Profile of a draft before WARC 1.0",
    "profile-unknown": "a WARC-Profile that the standard does not define",
    "protocol-unknown": "a WARC-Protocol of unknown form",
    "revisit-unresolved": "the original of a revisit is not in the files checked",
    "truncated-unknown": "WARC-Truncated gives an unknown reason",
    "type-unknown": "a record of unknown type",
    "uri-brackets": "WARC-Target-URI in angle brackets",
    "version-old": "a version before 1.0",
    "warcinfo-missing": "the file does not begin with a warcinfo record",
    "warcinfo-unknown": "WARC-Warcinfo-ID names no warcinfo record of the file",
}
_NOTES = {
    "index-behind": "an open index that does not have all its lines yet",
    "uncommitted": "records that are not committed yet: of a running or an interrupted crawl",
    "payload-digest-wire": "the digest covers the chunked coding, which the standard removes",
}
_ERRORS = {
    "blank-lines": "blank lines before a record",
    "block-digest": "the block does not match WARC-Block-Digest",
    "block-truncated": "the file ends inside a block",
    "byte-order-mark": "a byte order mark before a record",
    "concurrent-date": "records of one capture have different dates",
    "content-type-invalid": "Content-Type does not fit the type of the record",
    "date-invalid": "WARC-Date is not a UTC time",
    "date-missing": "no WARC-Date",
    "delta-base": "the base of a difference is damaged, or not the one that it was made from",
    "delta-digest": "what a difference leads to does not match its digests",
    "delta-invalid": "a difference that cannot be read or applied",
    "delta-unresolved": "the base of a difference is not in the files checked",
    "digest-invalid": "a digest that cannot be read",
    "empty": "no record in the file",
    "field-forbidden": "a field that this type of record must not have",
    "field-repeated": "a field that may occur once occurs twice",
    "file-missing": "a WARC or index of the job is gone, or its end is",
    "gzip-changed": "a gzip header unlike the others in a file that Nacre wrote",
    "gzip-damaged": "a damaged gzip member",
    "gzip-junk": "bytes between or behind the gzip members",
    "gzip-padding": "a gzip member with unused bits that are set",
    "gzip-truncated": "the file ends inside a gzip member",
    "header-control": "a control character in a header",
    "header-encoding": "a header that is not UTF-8",
    "header-line": "a header line that is not a field",
    "header-truncated": "a header without end",
    "id-invalid": "WARC-Record-ID is not a URI in angle brackets",
    "id-missing": "no WARC-Record-ID",
    "id-repeated": "a WARC-Record-ID that another record has",
    "index-extra": "an index line without a record",
    "index-missing": "a record without its index line",
    "index-order": "the index is not sorted",
    "ip-invalid": "WARC-IP-Address is not an address",
    "junk": "bytes that belong to no record",
    "length-invalid": "Content-Length is not a number of bytes",
    "length-missing": "no Content-Length",
    "length-overrun": "Content-Length reaches into the next record",
    "line-end": "a line that does not end with CR LF",
    "links-digest": "the outlinks that a record refers to do not match their digest",
    "links-unresolved": "the record that has the outlinks of another is not in the files checked",
    "member-empty": "a gzip member without a record",
    "member-shared": "several records in one gzip member",
    "no-record": "something else where a record should begin",
    "payload-digest": "the payload does not match WARC-Payload-Digest",
    "profile-invalid": "WARC-Profile does not fit the version",
    "profile-missing": "a revisit without WARC-Profile",
    "reference-invalid": "a reference that is not a URI in angle brackets",
    "revisit-date": "a revisit gives another date for its original than that has",
    "revisit-digest": "a revisit by digest gives another digest than its original has",
    "revisit-uri": "a revisit gives another URI for its original than that has",
    "segment-invalid": "a segment's number or total length cannot be right",
    "segment-missing": "a continuation without its number, or without the record that it continues",
    "trailer": "not exactly two CRLF behind a block",
    "type-missing": "no WARC-Type",
    "unreadable": "the file cannot be read",
    "uri-invalid": "WARC-Target-URI is not a URI",
    "uri-missing": "no WARC-Target-URI",
    "version-unknown": "an unknown version",
}

CODES: dict[str, tuple[Severity, str]] = {
    code: (severity, meaning)
    for severity, table in (
        (Severity.ERROR, _ERRORS),
        (Severity.WARNING, _WARNINGS),
        (Severity.NOTE, _NOTES),
    )
    for code, meaning in sorted(table.items())
}
"""Every code with its severity and meaning."""


class CheckFinding(NamedTuple):
    """One thing that is wrong, or worth knowing.

    Attributes:
        file: Path of the file as given.
        offset: Where: the record or gzip member, or the stray bytes; in an index, its line. Bytes.
        code: One of `CODES`.
        message: The details.
    """

    file: str
    offset: int
    code: str
    message: str

    @property
    def severity(self) -> Severity:
        """The severity of the finding."""
        return CODES[self.code][0]

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}: {self.severity} {self.code}: {self.message}"
