"""Citations of captures, and the URNs by which a capture is found again (pure).

`urn:uuid:…` is the id of the record itself. `urn:pwid:…` says archive, time, coverage and URL, so
that any archive can resolve it by its index. Texts from the web are made harmless for each format.

Sources: RFC 9562 (UUID); the registration of the URN namespace `pwid` at IANA of 2022-11-15; ISO
690:2021; BibTeX and its package url; RIS of Research Information Systems; CSL-JSON 1.0.2.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from nacre.archive.fields import date_text, micros
from nacre.catalogue.captures import IndexedCapture
from nacre.core.clock import iso_of_digits

ARCHIVE_ID = re.compile(r"[A-Za-z0-9._~-]{1,255}")
"""Name of an archive in a PWID: characters that a URI need not escape."""

_PWID = re.compile(
    r"urn:pwid:(?P<archive>[A-Za-z0-9._~-]+):"
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z:"
    r"(?P<coverage>part|page|subsite|site|collection|recording|snapshot|other):(?P<url>\S+)",
    re.IGNORECASE,
)
_UUID = re.compile(r"urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LONGEST: Final = 500
"""Characters of a title, a name or a publisher."""
_URI_CHARS = "!#$%&'()+*,-./:;=?@[]_~"
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        **{char: f"\\{char}" for char in "{}$&#_%"},
    }
)  # fmt: skip
_PAGES = ("text/html", "application/xhtml+xml")


class Citation(msgspec.Struct, frozen=True):
    """A reference to a capture.

    Attributes:
        url: The URL that was captured.
        title: Title of the page; "" if unknown.
        date: When it was captured, RFC 3339 in UTC, as its record has it.
        urn: The id of its record, `urn:uuid:…`; "" if the record has none.
        pwid: `urn:pwid:…`.
        digest: Digest of its payload with its label, such as `sha1:…`; "" if unknown.
        archive: Title of the job, the collection or the file that has it.
        publisher: The organisation that made it; "" if unknown.
        replay: Address at which it can be looked at; "" for none.
    """

    url: str
    title: str
    date: str
    urn: str
    pwid: str
    digest: str
    archive: str
    publisher: str = ""
    replay: str = ""


class CitedArchive(NamedTuple):
    """The archive of a citation.

    Attributes:
        name: Its name in a PWID.
        title: Its title for people.
        publisher: The organisation that made it; "" if unknown.
    """

    name: str
    title: str
    publisher: str = ""


class PwidParts(NamedTuple):
    """The parts of a PWID that find a capture.

    Attributes:
        archive: Name of the archive.
        timestamp: Time of the capture, 14 digits.
        url: The URL.
    """

    archive: str
    timestamp: str
    url: str


def make_citation(
    capture: IndexedCapture,
    archive: CitedArchive,
    record: tuple[str, str],
    *,
    title: str = "",
    mime: str = "",
    replay: str = "",
) -> Citation:
    """Return the citation of a capture.

    Args:
        capture: The capture.
        archive: Its archive.
        record: WARC-Record-ID without angle brackets, and WARC-Date, as written.
        title: Title of the page; "" if unknown.
        mime: Media type of its content; that of a revisit is not in the index.
        replay: Address at which it can be looked at; "" for none.
    """
    record_id, date = record
    time = micros(date)
    return Citation(
        url=ascii_url(capture.url),
        title=clean_text(title),
        date=date_text(time, 0) if time > 0 else iso_of_digits(capture.timestamp),
        urn=ascii_url(clean_text(record_id)),
        pwid=make_pwid(archive.name, capture.timestamp, capture.url, mime or capture.mime),
        digest=ascii_url(clean_text(capture.digest)),
        archive=clean_text(archive.title),
        publisher=clean_text(archive.publisher),
        replay=ascii_url(replay),
    )


def make_pwid(archive: str, timestamp: str, url: str, mime: str = "") -> str:
    """Return the PWID of a capture.

    Args:
        archive: Name of the archive; characters that are not allowed become `-`.
        timestamp: When it was captured, 14 digits.
        url: Its URL.
        mime: Its media type: a page is cited as `page`, other captures as `part`.
    """
    name = re.sub(r"[^A-Za-z0-9._~-]+", "-", archive).strip("-")[:255] or "archive"
    coverage = "page" if mime.lower() in _PAGES else "part"
    return f"urn:pwid:{name}:{iso_of_digits(timestamp)}:{coverage}:{ascii_url(url)}"


def read_pwid(urn: str) -> PwidParts | None:
    """Return the parts of a PWID; None for other texts."""
    match = _PWID.fullmatch(urn.strip())
    if match is None:
        return None
    digits = "".join(char for char in match["time"] if char.isdigit())
    return PwidParts(match["archive"], digits, match["url"])


def is_uuid_urn(urn: str) -> bool:
    """Whether a text is the id of a record, `urn:uuid:…`."""
    return _UUID.fullmatch(urn.strip()) is not None


def clean_text(text: str) -> str:
    """Return a text on one line, without characters that control terminals or directions."""
    visible = (
        " " if char.isspace() else char
        for char in text[: 4 * _LONGEST]
        if char.isspace() or not unicodedata.category(char).startswith(("C", "Z"))
    )  # fmt: skip
    return " ".join("".join(visible).split())[:_LONGEST]


def ascii_url(url: str) -> str:
    """Return a URL with its characters that are not allowed in a URI as escapes."""
    return quote(url, safe=_URI_CHARS)


def format_citation(citation: Citation, form: str) -> str:
    """Return a citation as text with its last newline.

    Args:
        citation: The citation.
        form: `text`, `bibtex`, `ris` or `csl`.

    Raises:
        KeyError: There is no such format.
    """
    return CITATION_FORMATS[form](citation)


def _plain(citation: Citation) -> str:
    publisher = f" ({citation.publisher})" if citation.publisher else ""
    parts = [
        f"{citation.title}." if citation.title else "",
        f"{citation.url}.",
        f"Captured {citation.date}.",
        f"In: {citation.archive}{publisher}.",
        *(f"{urn}." for urn in (citation.pwid, citation.urn, citation.digest) if urn),
        f"Available at {citation.replay}" if citation.replay else "",
    ]
    return " ".join(filter(None, parts)) + "\n"


def _bibtex(citation: Citation) -> str:
    names = (f"Captured {citation.date}", citation.pwid, citation.urn, citation.digest)
    fields = {
        "title": f"{{{(citation.title or citation.url).translate(_LATEX)}}}",
        "url": citation.url,
        "urldate": citation.date[:10],
        "year": citation.date[:4],
        "howpublished": f"In: {citation.archive.translate(_LATEX)}",
        "publisher": citation.publisher.translate(_LATEX),
        "note": ", ".join(filter(None, names)).translate(_LATEX),
        "archive": citation.replay,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{_key(citation)},", *lines, "}"]) + "\n"


def _key(citation: Citation) -> str:
    """Return the name of a citation in a list of literature: host, day, beginning of the URN."""
    host = re.sub(r"[^a-z0-9]+", "-", citation.url.lower().partition("//")[2].partition("/")[0])
    number = citation.urn.rpartition(":")[2][:8] or citation.digest.rpartition(":")[2][:8].lower()
    return "-".join(filter(None, (host.strip("-")[:60], citation.date[:10], number)))


def _ris(citation: Citation) -> str:
    day = citation.date[:10].replace("-", "/")
    lines = [
        ("TY", "ELEC"),
        ("TI", citation.title or citation.url),
        ("UR", citation.url),
        ("PY", day[:4]),
        ("Y2", day),
        ("DB", citation.archive),
        ("PB", citation.publisher),
        ("AN", citation.urn),
        ("N1", f"Captured {citation.date}; {citation.pwid}; {citation.digest}".rstrip("; ")),
        ("L2", citation.replay),
    ]
    return "".join(f"{tag}  - {value}\r\n" for tag, value in lines if value) + "ER  - \r\n"


def _csl(citation: Citation) -> str:
    date = [int(part) for part in citation.date[:10].split("-")]
    fields: Mapping[str, object] = {
        "id": _key(citation),
        "type": "webpage",
        "title": citation.title or citation.url,
        "URL": citation.url,
        "accessed": {"date-parts": [date]},
        "archive": citation.archive,
        "archive_location": citation.pwid,
        "publisher": citation.publisher,
        "call-number": citation.urn,
        "note": "; ".join(filter(None, (f"captured {citation.date}", citation.digest))),
    }
    return json.dumps([{k: v for k, v in fields.items() if v}], ensure_ascii=False, indent=2) + "\n"


CITATION_FORMATS: Final[Mapping[str, Callable[[Citation], str]]] = {
    "text": _plain,
    "bibtex": _bibtex,
    "ris": _ris,
    "csl": _csl,
}
"""The formats by name."""
