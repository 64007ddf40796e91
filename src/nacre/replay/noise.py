"""Parts of a URL that change at each visit and do not decide on the content (pure).

A page asks for `data.json?callback=jQuery31_1638&_=1638` with other numbers each time, so that the
URL of the replayed page is not in the archive. Look-up compares such URLs without their noise, but
only when nothing has the exact key. The table is Nacre's own, made from what libraries document:
jQuery's `cache: false` and JSONP, and the parameters of campaigns that analytics services define.
"""

import re

_CAMPAIGN_NAMES = """
    fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid twclid igshid mc_cid mc_eid _ga _gl
"""
_CAMPAIGNS = frozenset(_CAMPAIGN_NAMES.split())
"""Parameters that never count: marks of campaigns."""

_CAMPAIGN_PREFIXES = ("utm_", "hsa_", "pk_", "mtm_", "piwik_")
"""Beginnings of the names of others."""

_BUSTER_NAMES = """
    _ _t _ts _dc cb rnd rand random cachebust cachebuster cache_bust bust nocache no_cache uncache
    dojo.preventcache
"""
_BUSTERS = frozenset(_BUSTER_NAMES.split())
"""Parameters that do not count when their value is a number: they keep caches away."""

_TIMES = frozenset(("t", "ts", "time", "timestamp", "r", "v"))
"""Parameters that do not count when their value is a time of this century: `_TIME`."""

_NUMBER = re.compile(r"[0-9]*\.?[0-9]*(?:e-[0-9]+)?", re.ASCII)
_TIME = re.compile(r"1[0-9]{9}(?:[0-9]{3})?", re.ASCII)
"""Seconds or milliseconds since 1970."""

_METHOD = "__wb_method="
_JQUERY = re.compile(r"(jquery)[0-9]+_[0-9]+", re.ASCII)
_CALLBACK = re.compile(r"(\w*?)_*[0-9]+(?:[_.-]?[0-9]+)*", re.ASCII)
_CALLBACK_NAME = re.compile(r"\w*callback\w*|jsonp\w*|cb", re.ASCII)

_ENDINGS = """
    css js mjs map json xml txt png jpg jpeg gif webp avif svg ico bmp woff woff2 ttf otf eot
    mp3 mp4 m4a m4v m4s ogg oga ogv webm wav flac aac mpd m3u8 ts vtt swf pdf wasm
"""
_STATIC = frozenset(_ENDINGS.split())
"""Endings of files whose whole query may be dropped: `style.css?v=3` is `style.css?v=4`."""


def without_noise(key: str) -> str:
    """Return an index key without the parameters that do not count.

    Of a page, but not of a form, parameters that begin with two underscores do not count either:
    frameworks make them.

    Args:
        key: An index key, or a URL; its query is compared in lower case.
    """
    path, question, query = key.partition("?")
    if not question:
        return key
    parts = [_plain(part) for part in query.split("&")]
    if _METHOD not in query:  # the action of a form is in `__eventtarget`
        parts = [part for part in parts if not part.startswith("__")]
    plain = "&".join(part for part in parts if part)
    return f"{path}?{plain}" if plain else path


def without_static_query(key: str) -> str:
    """Return the key of a file without its query; "" if its ending is not one of files."""
    path = key.partition("?")[0]
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    return path if ending in _STATIC and "." in path.rpartition("/")[2] else ""


def _plain(part: str) -> str:
    """Return a parameter without its noise; "" if it is nothing else."""
    name, equals, value = part.lower().partition("=")
    if name in _CAMPAIGNS or name.startswith(_CAMPAIGN_PREFIXES):
        return ""
    if name in _BUSTERS and _NUMBER.fullmatch(value):
        return ""
    if name in _TIMES and _TIME.fullmatch(value):
        return ""
    pattern = _CALLBACK if _CALLBACK_NAME.fullmatch(name) else _JQUERY
    if equals and (match := pattern.fullmatch(value)):
        return f"{name}={match[1]}"
    return part
