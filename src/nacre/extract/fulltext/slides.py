"""The text of slides of OpenDocument, which the library for other office files does not read."""

import re
import zlib
from html import unescape
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from nacre.extract.fulltext.job import PageText, TextJob

_MOST = 100_000_000
"""Bytes of unpacked XML; what has more is not read."""
_END = re.compile(r"</text:[ph]>")
_SPACE = re.compile(r"<text:(?:s|tab|line-break)\b[^<>]*>")
_TAG = re.compile(r"<[^<>]*>")
_TITLE = re.compile(r"<dc:title>([^<]*)</dc:title>")


def slides_text(job: TextJob, _kind: str) -> PageText:
    """Read slides."""
    try:
        with ZipFile(BytesIO(job.document.body)) as file:
            _, _, content = _part(file, "content.xml").partition("<office:presentation")
            named = "meta.xml" in file.namelist()
            title = _TITLE.search(_part(file, "meta.xml")) if named else None
    except (BadZipFile, KeyError, ValueError, RuntimeError, OSError, EOFError, zlib.error):
        return PageText(problem="unreadable")
    plain = _TAG.sub("", _SPACE.sub(" ", _END.sub("\n", f"<{content}")))
    return PageText(title=unescape(title[1]) if title else "", text=unescape(plain).strip())


def _part(file: ZipFile, name: str) -> str:
    with file.open(name) as part:
        data = part.read(_MOST + 1)
    if len(data) > _MOST:
        raise ValueError(name)
    return data.decode()
