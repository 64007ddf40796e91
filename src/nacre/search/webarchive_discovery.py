"""Documents as webarchive-discovery's schema for Solr has them, which SolrWayback reads.

A document keeps its own id, by which it is replaced and deleted. Source: the schema of warc-indexer
for Solr 9; SolrWayback, `NetarchiveSolrClient`, for the fields that it requests.
"""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from nacre.search.document import SearchDocument
from nacre.search.writers.servers import iso_time
from nacre.uri.domain import registry_suffix

_NORMS = (
    ("html", ("text/html", "application/xhtml+xml")),
    ("pdf", ("application/pdf",)),
    ("word", ("application/msword", "application/rtf", "text/rtf")),
    ("excel", ("application/vnd.ms-excel",)),
    ("powerpoint", ("application/vnd.ms-powerpoint",)),
)
_PARTS = (
    ("word", ("wordprocessingml", "opendocument.text", "ms-word.")),
    ("excel", ("spreadsheetml", "opendocument.spreadsheet", "ms-excel.")),
    ("powerpoint", ("presentationml", "opendocument.presentation", "ms-powerpoint.")),
    ("image", ("opendocument.graphics",)),
)
_KINDS = {
    "html": "Web Page", "pdf": "Document", "word": "Document", "excel": "Data",
    "powerpoint": "Presentation", "text": "Web Page", "image": "Image",
}  # fmt: skip
_LONGEST_NAME = 200
_LARGEST_INT = 2**31 - 1
_ESCAPES = re.compile(r"(?:%[89a-fA-F][0-9a-fA-F])+")
_WWW = re.compile(r"\Awww\d*\.(?=[^.]+\.)")
_PORT = re.compile(r":\d+\Z")


def discovery_fields(document: SearchDocument, folder: str) -> dict[str, Any]:
    """Return the fields of a document; those that are empty are left out.

    Args:
        document: The document, of a reply with status 200.
        folder: The folder of its WARC file as SolrWayback sees it, with `{segment}` for the segment
            of the document; "" if it finds files by name (`AutoFileResolver`).
    """
    moment = datetime.fromtimestamp(document.tstamp / 1000, UTC)
    norm = content_norm(document.type)
    path = document.warc_filename
    if folder:
        path = f"{folder.rstrip('/').replace('{segment}', document.segment)}/{path}"
    url = document.url or document.id
    name = _resource_name(url)
    fields: dict[str, Any] = {
        "id": document.id,
        "title": document.title,
        "content": document.content,
        "content_text_length": len(document.content),
        "content_language": document.lang.partition("-")[0],
        "content_length": min(document.length, _LARGEST_INT),
        "content_type": document.type,
        "content_type_full": document.type,
        "content_type_served": document.type,
        "content_type_norm": norm,
        "content_type_ext": name.rpartition(".")[2].lower() if "." in name else "",
        "type": _KINDS.get(norm, "Other"),
        "record_type": "response",
        "status_code": 200,
        "hash": document.digest,
        "url": url,
        "url_norm": normal_url(url),
        "url_path": urlsplit(url).path,
        "url_type": "slashpage" if urlsplit(url).path in ("", "/") else "normal",
        "resourcename": name,
        "host": document.host,
        "domain": document.domain,
        "host_surt": _host_surts(document.host),
        "public_suffix": registry_suffix(document.host),
        "source_file": document.warc_filename,
        "source_file_path": path,
        "source_file_offset": document.warc_offset,
        "crawl_date": iso_time(document.tstamp),
        "crawl_year": moment.year,
        "wayback_date": int(moment.strftime("%Y%m%d%H%M%S")),
        "last_modified": iso_time(document.modified) if document.modified else "",
        "last_modified_year": iso_time(document.modified)[:4] if document.modified else "",
    }
    fields |= document.more
    zero_allowed = ("source_file_offset", "content_length", "content_text_length")
    return {
        name: value
        for name, value in fields.items()
        if name in zero_allowed or value not in ("", [], 0)
    }


def content_norm(media_type: str) -> str:
    """The kind of content in the words of the schema: `html`, `pdf`, `word`, `text`, `other`..."""
    for norm, types in _NORMS:
        if media_type in types:
            return norm
    for norm, parts in _PARTS:
        if any(part in media_type for part in parts):
            return norm
    return "text" if media_type.startswith("text/") else "other"


def normal_url(url: str) -> str:
    """The URL by which SolrWayback finds it: http, without `www`, port and final slash, lower case.

    Escapes of non-ASCII characters are decoded. Source: SolrWayback, `canonicaliseURL`.
    """
    plain = _ESCAPES.sub(_unescape, url.partition("#")[0]).lower()
    scheme, sign, after = plain.partition("://")
    if not sign or scheme not in ("http", "https"):
        return plain
    where, slash, path = after.partition("/")
    where = _WWW.sub("", _PORT.sub("", where))
    return f"http://{where}{slash}{path}".rstrip("/") + ("" if path.strip("/") else "/")


def _unescape(match: re.Match[str]) -> str:
    """Decode escapes; they stay if they are not UTF-8."""
    try:
        return unquote(match[0], errors="strict")
    except UnicodeDecodeError:
        return match[0]


def _resource_name(url: str) -> str:
    name = unquote(urlsplit(url).path, errors="replace").rpartition("/")[2]
    return name[:_LONGEST_NAME]


def _host_surts(host: str) -> list[str]:
    """`(dk,`, `(dk,bar,`, `(dk,bar,foo,` of `foo.bar.dk`."""
    surts, text = [], "("
    for label in reversed(host.split(".")):
        if label:
            text += f"{label},"
            surts.append(text)
    return surts
