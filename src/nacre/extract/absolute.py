"""Absolute URLs that stand in running text."""

import re

_URL = re.compile(r"""https?://[^\s<>"'`\\^{|}\x00-\x1f\ud800-\udfff]{1,2083}+""", re.IGNORECASE)
_TRAILING = ".,;:!?*_~"
_PAIRS = ((")", "("), ("]", "["))


def absolute_urls(text: str) -> list[str]:
    """The http(s) URLs in a text, in order; a text that is nothing but a URL is that URL."""
    if "://" not in text:
        return []
    whole = text.strip()
    match = _URL.fullmatch(whole)
    return [whole] if match else [url for raw in _URL.findall(text) if (url := _trim(raw))]


def _trim(url: str) -> str:
    """Cut the punctuation of the sentence; a closing bracket stays when its opening is within."""
    url = url.rstrip(_TRAILING)
    for end, start in _PAIRS:
        over = url.count(end) - url.count(start)
        tail = len(url) - len(url.rstrip(end))
        if over > 0 and tail:
            url = url[: len(url) - min(over, tail)].rstrip(_TRAILING)
    return url if len(url) > len("https://") else ""
