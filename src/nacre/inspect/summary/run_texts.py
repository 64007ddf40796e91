"""The texts of the report of a run: reasons, media types, ends and storage modes (pure)."""

from typing import Final

from nacre.messages import message

_LOGIN = message("run-report.login", "a login is needed")
_SERVER_ERROR = message("run-report.server-error", "the server had an error")
_SERVER_UNAVAILABLE = message("run-report.server-unavailable", "the server is not available")
_HOST_NAME = message("run-report.host-name", "the name of the host could not be resolved")
_EXCLUDED = message("run-report.excluded", "it was excluded by the operator")
_WEB_PAGES = message("run-report.web-pages", "web pages")
_SCRIPTS = message("run-report.scripts", "scripts")
_OFFICE_DOCUMENTS = message("run-report.office-documents", "office documents")
_DATA_FORMATS = message("run-report.data-formats", "data (JSON, XML)")
_FONTS = message("run-report.fonts", "fonts")
_ARCHIVE_FILES = message("run-report.archive-files", "archives")
_END_CRASHED = message("run-report.end-crashed", "cut off; it can be resumed")

_REASONS: Final = {
    400: message("run-report.bad-request", "the request was wrong"),
    401: _LOGIN,
    403: message("run-report.access-refused", "access was refused"),
    404: message("run-report.no-page", "there is no such page"),
    407: _LOGIN,
    410: message("run-report.removed", "it was removed for good"),
    429: message("run-report.too-many-requests", "too many requests"),
    451: message("run-report.legal-reasons", "it is barred for legal reasons"),
    500: _SERVER_ERROR,
    502: _SERVER_UNAVAILABLE,
    503: _SERVER_UNAVAILABLE,
    504: message("run-report.gateway-timeout", "the server had no answer in time"),
    -1: _HOST_NAME,
    -2: message("run-report.no-connection", "no connection to the server"),
    -3: message("run-report.connection-lost", "the connection broke off"),
    -4: message("run-report.timeout", "no answer in time"),
    -5: message("run-report.crawler-error", "an error in the crawler"),
    -6: _HOST_NAME,
    -7: message("run-report.not-fetchable", "it cannot be fetched, or its address is not allowed"),
    -61: message("run-report.no-robots", "its robots.txt could not be fetched"),
    -5000: message("run-report.out-of-scope", "out of the scope of the crawl"),
    -5001: _EXCLUDED,
    -5002: _EXCLUDED,
    -5003: message("run-report.quota", "a quota was reached"),
    -5004: message("run-report.time-limit", "the time limit was reached"),
    -6000: message("run-report.deleted", "it was deleted by the operator"),
    -9998: message("run-report.robots", "robots.txt forbids it"),
}
"""Why a URL could not be fetched, by fetch status."""

_MEDIA_TYPES: Final = (
    ("text/html", _WEB_PAGES),
    ("application/xhtml", _WEB_PAGES),
    ("image/", message("run-report.images", "images")),
    ("text/css", message("run-report.style-sheets", "style sheets")),
    ("text/javascript", _SCRIPTS),
    ("application/javascript", _SCRIPTS),
    ("application/x-javascript", _SCRIPTS),
    ("application/pdf", message("run-report.pdf-documents", "PDF documents")),
    ("application/msword", _OFFICE_DOCUMENTS),
    ("application/vnd.", _OFFICE_DOCUMENTS),
    ("application/rtf", _OFFICE_DOCUMENTS),
    ("text/plain", message("run-report.plain-text", "plain text")),
    ("application/json", _DATA_FORMATS),
    ("application/xml", _DATA_FORMATS),
    ("text/xml", _DATA_FORMATS),
    ("application/rss", _DATA_FORMATS),
    ("application/atom", _DATA_FORMATS),
    ("font/", _FONTS),
    ("application/font", _FONTS),
    ("application/x-font", _FONTS),
    ("audio/", message("run-report.audio", "audio")),
    ("video/", message("run-report.video", "video")),
    ("application/zip", _ARCHIVE_FILES),
    ("application/x-rar", _ARCHIVE_FILES),
    ("application/gzip", _ARCHIVE_FILES),
    ("text/dns", message("run-report.dns", "names of hosts (DNS)")),
    ("unknown", message("run-report.no-media-type", "not given by the server")),
)
"""Kinds of media types, by their beginning."""

ENDS: Final = {
    "RUNNING": message("run-report.end-running", "still running"),
    "FINISHED": message("run-report.end-finished", "finished: everything in scope was tried"),
    "INTERRUPTED": message("run-report.end-interrupted", "interrupted; it can be resumed"),
    "ABORTED": message("run-report.end-stopped", "stopped by the operator; it can be resumed"),
    "FINISHED_DISK_WAIT": message(
        "run-report.end-disk-space", "stopped for lack of disk space; it can be resumed"
    ),
    "FINISHED_ABNORMAL": _END_CRASHED,
    "CRASHED": _END_CRASHED,
}
"""How runs end; all others end at a limit."""

LIMIT: Final = message("run-report.end-limit", "stopped at a limit that was set")

_CUT_OFF = message("run-report.short-end-crashed", "cut off")

_SHORT_ENDS: Final = {
    "RUNNING": ENDS["RUNNING"],
    "FINISHED": message("run-report.short-end-finished", "finished"),
    "INTERRUPTED": message("run-report.short-end-interrupted", "interrupted"),
    "ABORTED": message("run-report.short-end-stopped", "stopped by the operator"),
    "FINISHED_DISK_WAIT": message(
        "run-report.short-end-disk-space", "stopped for lack of disk space"
    ),
    "FINISHED_ABNORMAL": _CUT_OFF,
    "CRASHED": _CUT_OFF,
}

STORAGE_MODES: Final = {
    "strict": message("run-report.keep-strict", "every reply in full (strict)"),
    "lean": message("run-report.keep-lean", "notes for visits that found only noise (lean)"),
    "delta": message("run-report.keep-delta", "differences between versions (delta)"),
}
"""The texts of `archive.keep`."""


def short_end(exit_: str) -> str:
    """Return how a run ended, without what can be done about it.

    Args:
        exit_: State of the run, such as `FINISHED`.
    """
    return _SHORT_ENDS.get(exit_, LIMIT)


def reason_of(status: int) -> str:
    """Return the reason why a URL could not be fetched.

    Args:
        status: Fetch status, as in crawl.log.
    """
    if status in _REASONS:
        return _REASONS[status]
    if 400 <= status < 500:
        return message("run-report.server-refused", "the server refused it")
    if status >= 500:
        return _SERVER_ERROR
    return message("run-report.not-fetched", "it could not be fetched")


def kind_of(mime: str) -> str:
    """Return the kind of a media type."""
    kinds = (kind for start, kind in _MEDIA_TYPES if mime.startswith(start))
    return next(kinds, message("run-report.media-type-unknown", "other"))
