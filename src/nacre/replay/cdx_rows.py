"""The fields of captures in answers of CDX servers, and the formats of the answers (pure).

Source: CDXJ and CDX with eleven fields as pywb writes them; JSON and XML as OutbackCDX does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.catalogue.captures import IndexedCapture
from nacre.report.escape import element, safe, text

_CDX11 = (
    "urlkey", "timestamp", "url", "mime", "status", "digest", "redirect", "robotflags", "length",
    "offset", "filename",
)  # fmt: skip
_OUTBACK = tuple("redirecturl" if name == "redirect" else name for name in _CDX11)
_NUMBERS = frozenset(("timestamp", "status", "length", "offset"))
OUTBACK_NAMES = {
    "original": "url", "mimetype": "mime", "statuscode": "status", "redirect": "redirecturl",
}  # fmt: skip
"""Other names of fields in OutbackCDX."""


def capture_row(capture: IndexedCapture) -> dict[str, str]:
    """Return the fields of a capture by name, in the order of CDXJ; absent fields are left out."""
    row = {"urlkey": capture.key, "timestamp": capture.timestamp, "url": capture.url}
    if capture.mime:
        row["mime"] = capture.mime
    if capture.status:
        row["status"] = str(capture.status)
    if capture.digest:
        row["digest"] = capture.digest
    if capture.length:
        row["length"] = str(capture.length)
    row |= {"offset": str(capture.offset), "filename": capture.warc}
    if capture.method:
        row |= {"requestBody": capture.query, "method": capture.method}
    return row


def cdxj_line(capture: IndexedCapture, row: Mapping[str, str], fields: Sequence[str] = ()) -> str:
    """Return a line of CDXJ; the key and the time are always in front."""
    names = [name for name in fields or row if name not in ("urlkey", "timestamp")]
    return f"{capture.key} {capture.timestamp} {json.dumps(_chosen(row, names))}\n"


def text_line(row: Mapping[str, str], fields: Sequence[str] = ()) -> str:
    """Return a line of CDX with eleven fields, or with those that were requested."""
    return " ".join(safe(row.get(name, "-")) for name in fields or _CDX11) + "\n"


def json_line(row: Mapping[str, str], fields: Sequence[str] = ()) -> str:
    """Return a line of JSON."""
    return json.dumps(_chosen(row, fields) if fields else dict(row)) + "\n"


def _chosen(row: Mapping[str, str], fields: Iterable[str]) -> dict[str, str]:
    return {name: row[name] for name in fields if name in row}


def json_array(rows: Iterable[Mapping[str, str]], fields: Sequence[str] = ()) -> Iterator[str]:
    """Yield OutbackCDX's JSON: an array of the names, then one of the values of each capture."""
    names = tuple(fields) or _OUTBACK
    yield "[" + json.dumps(names)
    for row in rows:
        values = [_value(row, name) for name in names]
        yield "," + json.dumps(values)
    yield "]"


def json_objects(rows: Iterable[Mapping[str, str]], fields: Sequence[str] = ()) -> Iterator[str]:
    """Yield OutbackCDX's `jsondict`: an array of objects."""
    names = tuple(fields) or _OUTBACK
    separator = "["
    for row in rows:
        yield separator + json.dumps({name: _value(row, name) for name in names if name in row})
        separator = ","
    yield "[]" if separator == "[" else "]"


def _value(row: Mapping[str, str], name: str) -> str | int | None:
    value = row.get(OUTBACK_NAMES.get(name, name))
    if value is None:
        return None if name == "length" else 0 if name in _NUMBERS else "-"
    return int(value) if name in _NUMBERS and value.isdecimal() else value


class XmlQuery(NamedTuple):
    """A query `q=type:urlquery url:…`.

    Attributes:
        kind: `urlquery` or `prefixquery`; others are answered with an error element.
        key: The index key.
        date: The time whose closest capture is marked, up to 14 digits; "" for none.
        limit: Results at most.
        offset: Results to leave out.
    """

    kind: str
    key: str
    date: str
    limit: int
    offset: int


def xml_error(title: str, reason: str) -> str:
    """Return the document of an error."""
    return _document(
        element("error", element("title", text(title)) + element("message", text(reason)))
    )


def xml_results(query: XmlQuery, results: Sequence[str], total: int, now: str) -> str:
    """Return the document of an answer.

    Args:
        query: The query.
        results: The results, as markup.
        total: Results that there are.
        now: The time of the answer, 14 digits.
    """
    if not results:
        return xml_error(
            "Resource Not In Archive", "The Resource you requested is not in this archive."
        )
    kind = "resultstypecapture" if query.kind == "urlquery" else "resultstypeurl"
    request = {
        "startdate": "19960101000000",
        "enddate": now,
        "type": query.kind,
        "firstreturned": str(query.offset),
        "url": query.key,
        "resultsrequested": str(query.limit),
        "resultstype": kind,
        "numreturned": str(len(results)),
        "numresults": str(total),
    }
    return _document(element("results", "".join(results)) + _elements("request", request))


def xml_capture(capture: IndexedCapture, *, is_closest: bool = False) -> str:
    """Return the result of a capture."""
    row = {
        "compressedoffset": str(capture.offset),
        "compressedendoffset": str(capture.length),
        "mimetype": capture.mime or "-",
        "file": capture.warc,
        "redirecturl": "-",
        "urlkey": capture.key,
        "digest": capture.digest or "-",
        "httpresponsecode": str(capture.status or "-"),
        "robotflags": "-",
        "url": capture.url,
        "capturedate": capture.timestamp,
    }
    return _elements("result", row | ({"closest": "true"} if is_closest else {}))


def xml_url(captures: Sequence[IndexedCapture]) -> str:
    """Return the result of a URL with its captures, in order of time."""
    digests = [capture.digest for capture in captures]
    versions = sum(1 for at, digest in enumerate(digests) if not at or digest != digests[at - 1])
    row = {
        "urlkey": captures[-1].key,
        "originalurl": captures[-1].url,
        "numversions": str(versions),
        "numcaptures": str(len(captures)),
        "firstcapturets": captures[0].timestamp,
        "lastcapturets": captures[-1].timestamp,
    }
    return _elements("result", row)


def _elements(name: str, row: Mapping[str, str]) -> str:
    return element(name, "".join(element(key, text(value)) for key, value in row.items()))


def _document(content: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{element("wayback", content)}\n'
