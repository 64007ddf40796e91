"""The annotations of crawl.log: the one table of their tokens, their meanings and their writers.

An annotation is a word in the twelfth field of crawl.log. Whoever writes one uses a constant of
this module, or a function where the word holds a value. docs/reference/annotations.md is made of
`ANNOTATIONS`. A module of every layer may import this one.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple


class Annotation(NamedTuple):
    """One annotation.

    Attributes:
        token: The word, with capitals in place of values: `dol:N`.
        meaning: When it is written, and what its values are.
        writers: The modules that write it.
        heritrix: Heritrix's word for the same; "" where Heritrix has none.
    """

    token: str
    meaning: str
    writers: tuple[str, ...]
    heritrix: str = ""


ANNOTATIONS: dict[str, Annotation] = {}
"""All annotations by the names of their constants and functions here."""


def _token(name: str, token: str, meaning: str, *writers: str, heritrix: str = "") -> str:
    ANNOTATIONS[name] = Annotation(token, meaning, writers, heritrix)
    return token


def _counted(
    name: str, token: str, meaning: str, *writers: str, heritrix: str = ""
) -> Callable[[int], str]:
    """Return the function that writes an annotation with a number: `dol:N`."""
    return _named(name, token, meaning, *writers, heritrix=heritrix)


def _named(
    name: str, token: str, meaning: str, *writers: str, heritrix: str = ""
) -> Callable[[str | int], str]:
    """Return the function that writes an annotation with a value: `wall:VERDICT`."""
    prefix = _token(name, token, meaning, *writers, heritrix=heritrix).partition(":")[0]
    return lambda value: f"{prefix}:{value}"


# The visit

_token(
    "attempts", "Nt", "The URI was tried N times, this one included; only from 2 on.",
    "report/crawllog.py", heritrix="Nt",
)  # fmt: skip


def attempts(count: int) -> str:
    """`Nt`: the number of attempts."""
    return f"{count}t"


_token(
    "error", "err=NAME", "A processor failed (status -5, its links are dropped), or an extractor "
    "gave a document up; NAME is the class of the exception.",
    "engine/visits.py", "engine/disposition.py", "extract/dispatch.py",
    heritrix="err=NAME",
)  # fmt: skip


def error(fault: BaseException) -> str:
    """`err=NAME`: the class of an exception."""
    return f"err={type(fault).__name__}"


ROBOT_EXCLUDED: Final = _token(
    "ROBOT_EXCLUDED", "robotExcluded",
    "robots.txt forbids it, and it was fetched all the same (`robots.calculate_only`).",
    "engine/steps/preconditions.py", heritrix="robotExcluded",
)  # fmt: skip

rights_withheld: Final = _named(
    "rights_withheld", "rightsWithheld:PREFERENCE",
    "It is not written to WARC: its site states PREFERENCE, and `rights.enforce` lists it.",
    "engine/disposition.py",
)  # fmt: skip


def withheld_preference(annotations: Iterable[str]) -> str:
    """Return the enforced preference for which a reply was not written to WARC; "" for none."""
    prefix = rights_withheld("")
    words = (word for word in annotations if word.startswith(prefix))
    return next(words, "").removeprefix(prefix)


HTTP_TRIED: Final = _token(
    "HTTP_TRIED", "httpTried",
    "https was a guess for a seed without a scheme, and cannot be reached: http is tried in its "
    "place. It does not count as a failure.",
    "engine/disposition.py",
)  # fmt: skip

SPECULATIVE_HOPELESS: Final = _token(
    "SPECULATIVE_HOPELESS", "speculativeHopeless",
    "Status -5000: a guess from a script, which was not tried since others like it led nowhere.",
    "engine/steps/preselect.py",
)  # fmt: skip

COOKIE_WALL: Final = _token(
    "COOKIE_WALL", "cookieWall",
    "The URL was asked for once more: a redirect set a cookie and led back to it.",
    "engine/candidates/candidates.py",
)  # fmt: skip

SUBRESOURCE: Final = _token(
    "SUBRESOURCE", "subresource", "A request of a page that was run in a browser.",
    "engine/pages/handler.py",
)  # fmt: skip

FROM_ARCHIVE: Final = _token(
    "FROM_ARCHIVE", "fromArchive",
    "A request of a page: its server said that nothing changed (304), and the browser got the "
    "reply that was stored before.",
    "engine/pages/handler.py",
)  # fmt: skip

BROWSER_FAILED: Final = _token(
    "BROWSER_FAILED", "browserFailed",
    "The page should have been run in a browser, and none could be started.",
    "engine/steps/render.py",
)  # fmt: skip

rendered_by: Final = _named(
    "rendered_by", "browser:SIGN",
    "The page was run in a browser: SIGN is `always`, or the sign that it needs one.",
    "engine/steps/render.py",
)  # fmt: skip

REPEATED_PAGE: Final = _token(
    "REPEATED_PAGE", "browserRepeated",
    "The page was not run in a browser: its requests were repeated by templates "
    "(`browser.repeat`).",
    "engine/pages/repetition.py",
)  # fmt: skip

_token(
    "repeated_by", "repeated:TEMPLATE",
    "A request of a page that was not run: it follows from the requests "
    "of other pages (TEMPLATE).",
    "engine/pages/repetition.py",
)  # fmt: skip


def repeated_by(template: str) -> str:
    """`repeated:TEMPLATE`: the template of a request, without spaces and commas."""
    safe = template.replace(" ", "%20").replace(",", "%2C")
    return f"repeated:{safe}"


page_ended: Final = _named(
    "page_ended", "pageEnd:HOW",
    "The page in the browser did not come to rest: HOW is a limit (`loadTime`, `pageTime`, "
    "`requestLimit`, `byteLimit`, `serverTime`) or what ended it (`crash`, `hang`, `memory`, "
    "`browserGone`, `notLoaded`). What came until then is stored.",
    "engine/steps/render.py",
)  # fmt: skip

refused_requests: Final = _counted(
    "refused_requests", "refused:N",
    "N requests of the page in the browser were not sent; `nacre explain` has the rules.",
    "engine/steps/render.py",
)  # fmt: skip

reused_replies: Final = _counted(
    "reused_replies", "reused:N",
    "N requests of the page in the browser were answered from the archive, without a request.",
    "engine/steps/render.py",
)  # fmt: skip

wall_met: Final = _named(
    "wall_met", "wall:VERDICT",
    "The reply is no page of the site: `challenge`, `signedOut`, `consentWall`, `paywall`, "
    "`rateLimited`, `emptyShell` (empty in a browser, too) or `geoBlocked`.",
    "engine/steps/walls.py",
)  # fmt: skip

IS_SITEMAP: Final = _token(
    "IS_SITEMAP", "isSitemap", "A sitemap that robots.txt or another sitemap lists.",
    "engine/candidates/identity.py", heritrix="isSitemap",
)  # fmt: skip

IGNORED: Final = _token(
    "IGNORED", "ignored",
    "Status -5000: an expression of `control/ignores` matches; it was queued before.",
    "engine/candidates/rejected_uris.py",
)  # fmt: skip

regex_timeout: Final = _counted(
    "regex_timeout", "regexTimeout:N",
    "N matches of operators' expressions were given up since the last such note.",
    "engine/candidates/candidates.py",
)  # fmt: skip

_token(
    "runtime_exceeded", "Runtime exceeded Nms",
    "Status -5004: the crawl has run for longer than `limits.runtime.after`, N milliseconds.",
    "engine/steps/quotas.py", heritrix="Runtime exceeded Nms",
)  # fmt: skip


def runtime_exceeded(seconds: float) -> str:
    """`Runtime exceeded Nms`: the limit in milliseconds."""
    return f"Runtime exceeded {seconds * 1000:.0f}ms"


quota: Final = _named(
    "quota", "Q:KEY",
    "Status -5003, or its queue is retired: a quota is used up. KEY is its level and its limit in "
    "Heritrix's words: `hostMaxFetchSuccesses`.",
    "frontier/quota.py", heritrix="Q:KEY",
)  # fmt: skip

diverted: Final = _named(
    "diverted", "to:NAME", "Status -5002: the URI belongs to the crawler NAME.",
    "engine/steps/mapping.py", heritrix="to:NAME",
)  # fmt: skip

# The reply as it came

UNASKED_REPLY: Final = _token(
    "UNASKED_REPLY", "unaskedReply",
    "Fetched again on a separate connection: the first reply was, or may be, another URL's.",
    "fetch/http.py", "engine/unasked.py",
)  # fmt: skip
ADDRESS_REFUSED: Final = _token(
    "ADDRESS_REFUSED", "addressRefused",
    "Status -7: the address is private, and `network.allow` does not open it; nothing was sent.",
    "fetch/http.py",
)  # fmt: skip
TIME_TRUNCATED: Final = _token(
    "TIME_TRUNCATED", "timeTrunc", "The body is cut at `fetch.timeout`.",
    "fetch/http.py", heritrix="timeTrunc",
)  # fmt: skip
LENGTH_TRUNCATED: Final = _token(
    "LENGTH_TRUNCATED", "lenTrunc",
    "The body is cut at `fetch.max_length`, of a request of a page at `browser.max_bytes`.",
    "wire/http1.py", "fetch/http.py", heritrix="lenTrunc",
)  # fmt: skip
HEADER_TRUNCATED: Final = _token(
    "HEADER_TRUNCATED", "headerTrunc", "The head is cut at `fetch.max_header`.",
    "wire/http1.py", heritrix="headerTrunc",
)  # fmt: skip
MID_FETCH_ABORT: Final = _token(
    "MID_FETCH_ABORT", "midFetchAbort", "The body was not read: `fetch.midfetch` refused the head.",
    "wire/http1.py", heritrix="midFetchAbort",
)  # fmt: skip
TLS_NO_CLOSE_NOTIFY: Final = _token(
    "TLS_NO_CLOSE_NOTIFY", "tlsNoCloseNotify",
    "A body that ends with the connection ended without TLS saying so: it may be cut.",
    "fetch/http.py",
)  # fmt: skip
NO_REPLY: Final = _token(
    "NO_REPLY", "noReply", "The connection was closed without a reply.", "wire/http1.py",
)  # fmt: skip
TLS_ON_PLAIN_PORT: Final = _token(
    "TLS_ON_PLAIN_PORT", "tlsOnPlainPort", "The server uses TLS on a port for plain HTTP.",
    "wire/http1.py",
)  # fmt: skip
TOO_MANY_INTERIM: Final = _token(
    "TOO_MANY_INTERIM", "tooManyInterim", "Too many interim replies (1xx).", "wire/http1.py",
)  # fmt: skip
HEADER_CUT: Final = _token(
    "HEADER_CUT", "headerCut", "The connection was closed within the head.", "wire/http1.py",
)  # fmt: skip
HTTP_09: Final = _token(
    "HTTP_09", "http09", "A reply without a head, as in HTTP/0.9.", "wire/http1.py",
)  # fmt: skip
TRAILER_CUT: Final = _token(
    "TRAILER_CUT", "trailerCut", "The connection was closed within the trailer.", "wire/http1.py",
)  # fmt: skip
SHORT_BODY: Final = _token(
    "SHORT_BODY", "shortBody", "The body is shorter than its head says.", "wire/chunks.py",
    "wire/http1.py",
)  # fmt: skip
EXCESS_DATA: Final = _token(
    "EXCESS_DATA", "excessData", "Bytes came behind the end of the reply; they are left out.",
    "wire/http1.py",
)  # fmt: skip
BAD_CHUNK: Final = _token(
    "BAD_CHUNK", "badChunk", "The chunked coding is broken; the rest is kept as it came.",
    "wire/chunks.py",
)  # fmt: skip
TRAILER_TRUNCATED: Final = _token(
    "TRAILER_TRUNCATED", "trailerTrunc", "The trailer is too long.", "wire/chunks.py",
)  # fmt: skip
TOO_MANY_CHUNKS: Final = _token(
    "TOO_MANY_CHUNKS", "tooManyChunks", "Too many chunks, or too many tiny ones.",
    "wire/chunks.py",
)  # fmt: skip
UNASKED_101: Final = _token(
    "UNASKED_101", "unasked101", "Status 101, which nothing asked for.", "wire/head.py",
)  # fmt: skip
BAD_TRANSFER_ENCODING: Final = _token(
    "BAD_TRANSFER_ENCODING", "badTransferEncoding", "A Transfer-Encoding that is not understood.",
    "wire/head.py",
)  # fmt: skip
LENGTH_AND_CHUNKED: Final = _token(
    "LENGTH_AND_CHUNKED", "lengthAndChunked",
    "Both Content-Length and chunked coding; the latter counts.", "wire/head.py",
)  # fmt: skip
CHUNKED_IN_HTTP10: Final = _token(
    "CHUNKED_IN_HTTP10", "chunkedInHttp10", "Chunked coding in a reply of HTTP/1.0.",
    "wire/head.py",
)  # fmt: skip
CONFLICTING_LENGTH: Final = _token(
    "CONFLICTING_LENGTH", "conflictingLength", "Several different values of Content-Length.",
    "wire/head.py",
)  # fmt: skip
BAD_LENGTH: Final = _token(
    "BAD_LENGTH", "badLength", "A Content-Length that is not a number.", "wire/head.py",
)  # fmt: skip
REPEATED_LENGTH: Final = _token(
    "REPEATED_LENGTH", "repeatedLength", "The same Content-Length several times.", "wire/head.py",
)  # fmt: skip
LEADING_BLANK_LINE: Final = _token(
    "LEADING_BLANK_LINE", "leadingBlankLine", "Blank lines before the status line.",
    "wire/head.py",
)  # fmt: skip
BARE_LF: Final = _token(
    "BARE_LF", "bareLf", "Lines of the head that end with LF alone.", "wire/head.py",
)  # fmt: skip
NUL_IN_HEADER: Final = _token(
    "NUL_IN_HEADER", "nulInHeader", "A NUL byte in the head.", "wire/head.py",
)  # fmt: skip
FOLDED_HEADER: Final = _token(
    "FOLDED_HEADER", "foldedHeader", "A header field that is folded over lines.", "wire/head.py",
)  # fmt: skip
HEADER_WITHOUT_COLON: Final = _token(
    "HEADER_WITHOUT_COLON", "headerWithoutColon", "A line of the head without a colon.",
    "wire/head.py",
)  # fmt: skip
SPACE_BEFORE_COLON: Final = _token(
    "SPACE_BEFORE_COLON", "spaceBeforeColon", "Space between the name of a field and its colon.",
    "wire/head.py",
)  # fmt: skip
HEADER_WITHOUT_NAME: Final = _token(
    "HEADER_WITHOUT_NAME", "headerWithoutName", "A line of the head that begins with a colon.",
    "wire/head.py",
)  # fmt: skip
ICY: Final = _token(
    "ICY", "icy", "A status line that begins with `ICY`, as of a radio stream.", "wire/head.py",
)  # fmt: skip
ODD_VERSION: Final = _token(
    "ODD_VERSION", "oddVersion", "Neither HTTP/1.1 nor HTTP/1.0.", "wire/head.py",
)  # fmt: skip
BAD_STATUS_LINE: Final = _token(
    "BAD_STATUS_LINE", "badStatusLine",
    "A status line without a status, which counts as 200, or with more than a status.",
    "wire/head.py",
)  # fmt: skip
ODD_STATUS: Final = _token(
    "ODD_STATUS", "oddStatus", "A status below 100 or from 600 on.", "wire/head.py",
)  # fmt: skip
NO_REASON: Final = _token(
    "NO_REASON", "noReason", "A status line without a reason phrase.", "wire/head.py",
)  # fmt: skip


# The content

unsatisfiable_encoding: Final = _named(
    "unsatisfiable_encoding", "unsatisfiableContentEncoding:NAME",
    "The Content-Encoding is not known, or there are too many; the content is read as it is.",
    "wire/coding.py", heritrix="unsatisfiableContentEncoding:NAME",
)  # fmt: skip

encoding_mismatch: Final = _named(
    "encoding_mismatch", "contentEncodingMismatch:NAME",
    "The content is not in the coding that its header names; it is read as it is.",
    "wire/coding.py",
)  # fmt: skip

content_checksum: Final = _named(
    "content_checksum", "contentChecksum:NAME", "The checksum of the content coding is wrong.",
    "wire/coding.py",
)  # fmt: skip

content_trailing_junk: Final = _named(
    "content_trailing_junk", "contentTrailingJunk:NAME",
    "Bytes behind the end of the content coding; they are not read.", "wire/coding.py",
)  # fmt: skip

encoding_broken: Final = _named(
    "encoding_broken", "contentEncodingBroken:NAME",
    "The content coding is broken; content before the error was decoded.", "wire/coding.py",
)  # fmt: skip

encoding_cut: Final = _named(
    "encoding_cut", "contentEncodingCut:NAME", "The content coding ends too early.",
    "wire/coding.py",
)  # fmt: skip

_CHARSETS = {
    "meta": ("usingCharsetInHTML", "The charset is that of `meta`."),
    "xml": ("usingCharsetInXML", "The charset is that of the XML declaration, or of `@charset`."),
    "detected": ("usingCharsetDetected", "The charset was found from the letters."),
    "link": ("usingCharsetOfLink", "The charset is the one that the link names."),
    "before": ("usingCharsetOfBefore", "The charset is that of the last visit."),
    "via": ("usingCharsetOfVia", "The charset is that of the page with the link."),
    "host": ("usingCharsetOfHost", "The charset is the one that other pages of the host declare."),
}
for _source, (_word, _meaning) in _CHARSETS.items():
    _token(
        f"charset_of {_source}", f"{_word}:NAME", _meaning, "extract/dispatch.py",
        heritrix=f"{_word}:NAME" if _source in {"meta", "xml"} else "",
    )  # fmt: skip


def charset_of(source: str, name: str) -> str:
    """`usingCharset…:NAME`: where the charset of a document is from; "" for its header."""
    word, _ = _CHARSETS.get(source, ("", ""))
    return word and f"{word}:{name}"


dropped_outlinks: Final = _counted(
    "dropped_outlinks", "dol:N", "N outlinks beyond `extract.max_outlinks` were dropped.",
    "engine/steps/extract.py", heritrix="dol:N",
)  # fmt: skip

PARSER_TIMEOUT: Final = _token(
    "PARSER_TIMEOUT", "parserTimeout", "Reading a large document took too long; it has no links.",
    "engine/steps/extract.py",
)  # fmt: skip
PARSER_FAILED: Final = _token(
    "PARSER_FAILED", "parserFailed", "Reading a large document took too much memory, or failed.",
    "engine/steps/extract.py", "rounds/segments/reparse.py",
)  # fmt: skip
TRAP_SUPPRESSES_EXTRACTOR: Final = _token(
    "TRAP_SUPPRESSES_EXTRACTOR", "trapSuppressExtractor",
    "Its links were not taken: its content is that of the page with the link.",
    "engine/steps/content.py", heritrix="trapSuppressExtractor",
)  # fmt: skip

bot_block: Final = _named(
    "bot_block", "botblock:SERVICE",
    "The reply is that of a service that keeps crawlers out, not of the site: `akamai`, `anubis`, "
    "`cloudflare`, `datadome` or `incapsula` (the processor `bot-block`).",
    "engine/steps/bot_block.py", heritrix="botblock:SERVICE",
)  # fmt: skip

# The archive, and visiting again

DUPLICATE_DIGEST: Final = _token(
    "DUPLICATE_DIGEST", "duplicate:digest", "The same payload is stored already; a revisit record.",
    "engine/steps/archive.py", heritrix="duplicate:digest",
)  # fmt: skip
DUPLICATE_NOT_MODIFIED: Final = _token(
    "DUPLICATE_NOT_MODIFIED", "duplicate:server-not-modified",
    "The server replied that the content did not change (304); a revisit record.",
    "engine/steps/archive.py", heritrix="duplicate:server-not-modified",
)  # fmt: skip
DUPLICATE_NOTED: Final = _token(
    "DUPLICATE_NOTED", "duplicate:noted", "The same as a version of which only a note is kept.",
    "engine/keeping.py",
)  # fmt: skip
DUPLICATE_DELTA: Final = _token(
    "DUPLICATE_DELTA", "duplicate:delta", "The same as a version that is kept as a difference.",
    "engine/keeping.py",
)  # fmt: skip
UNRECORDED: Final = _token(
    "UNRECORDED", "unrecorded", "No record was written: enough of its kind are there (`keep`).",
    "engine/keeping.py",
)  # fmt: skip
LONG_VALIDATOR: Final = _token(
    "LONG_VALIDATOR", "longValidator",
    "An ETag or Last-Modified of more than 2,000 bytes, which is not sent back.",
    "engine/steps/archive.py",
)  # fmt: skip

delta: Final = _counted(
    "delta", "delta:N",
    "Only its difference from an earlier version is kept; it is the Nth from that version.",
    "engine/keeping.py",
)  # fmt: skip

_token(
    "verdict", "verdict:CLASS:SCORE",
    "What an incremental visit showed: the class of the change, and its score from 0 to 1.",
    "recrawl/recrawl.py",
)  # fmt: skip


def verdict(kind: str, score: float) -> str:
    """`verdict:CLASS:SCORE`: the class of a change and its score."""
    return f"verdict:{kind}:{score:.3f}"


AUDIT: Final = _token(
    "AUDIT", "audit", "Requested without validators, to check the 304 replies of the server.",
    "recrawl/knowledge.py",
)  # fmt: skip
UNTRUSTED_VALIDATORS: Final = _token(
    "UNTRUSTED_VALIDATORS", "untrusted-validators",
    "Asked without validators, since those of pages like it lied.",
    "recrawl/knowledge.py",
)  # fmt: skip
PAIR: Final = _token(
    "PAIR", "pair", "Fetched a second time within the step, to see what always changes.",
    "recrawl/knowledge.py",
)  # fmt: skip
