"""Addresses as a comparison of two versions sees them: without what changes with each request."""

import re

_BUSTER = re.compile(
    r"(?i)(?:^|(?<=[?&;]))(?:_|t|ts|v|ver|rev|cb|nocache|cachebuster|rnd|rand|random|time|timestamp)"
    r"=(?:(?=[0-9a-f.]*\d)[0-9a-f.]*|)(?=[&;]|$)"
)
_SESSION = re.compile(
    r"(?i)(?:^|(?<=[?&;]))(?:jsessionid|phpsessid|aspsessionid\w*|sid|sessid|session_?id|cfid|cftoken)"
    r"=[^&;#]*"
)
_FILES = re.compile(
    r"(?i)\.(?:pdf|docx?|xlsx?|pptx?|wps|et|dps|od[tsp]|ofd|rtf|csv|zip|rar|7z|gz|tgz|epub|mp3|mp4|apk"
    r"|exe|dmg|iso)$"
)


def stable_address(address: str) -> str:
    """An address as written, without fragment, session ID and cache buster."""
    address = address.partition("#")[0].strip()
    path, mark, query = address.partition("?")
    path = path.partition(";jsessionid=")[0]
    if not mark:
        return path
    kept = _BUSTER.sub("", _SESSION.sub("", query)).strip("&;")
    kept = re.sub("&{2,}", "&", kept)
    return f"{path}?{kept}" if kept else path


def is_file(address: str) -> bool:
    """Whether an address names a document to download rather than a page."""
    return _FILES.search(address.partition("?")[0]) is not None
