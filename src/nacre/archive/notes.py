"""The block of a capture's metadata record: how it was found, and what has no other place.

Source: WARC 1.1 clause 6.4; Heritrix 3 (field names and their order).
"""

from collections.abc import Sequence

from nacre.archive.facts import CaptureFacts
from nacre.archive.field import field, uri_field
from nacre.core.capture import Capture
from nacre.core.crawluri import Outlink


def metadata_block(
    capture: Capture, facts: CaptureFacts, not_modified: bytes, head: bytes = b""
) -> bytes:
    """`application/warc-fields`, then the replies that are kept verbatim.

    `interimReplies: N`, `notModifiedReply: N` and `replyHead: N` give the lengths in bytes of the
    1xx replies, of the 304 reply and of the head of another one, which follow the blank line in
    this order, exactly as they were received.

    Args:
        capture: The exchange.
        facts: What the crawl knows of it.
        not_modified: The 304 reply, when the capture became a `server-not-modified` revisit.
        head: Head of the reply, when only a note says that it was the same as a difference.
    """
    lines = _found(facts)
    lines.append(f"fetchTimeMs: {capture.duration}")
    if facts.charset:
        lines.append("charsetForLinkExtraction: " + field(facts.charset))
    if facts.robots:
        lines.append("robotsDirectives: " + field(", ".join(sorted(facts.robots))))
    if facts.verdict:
        lines.append("verdict: " + field(facts.verdict))
    if facts.confirms:
        lines.append(f"confirms: <{field(facts.confirms)}>")
    if facts.annotations:
        lines.append("annotations: " + field(",".join(facts.annotations)))
    lines += _tls(capture)
    if facts.outlinks:
        lines.append(outlink_lines(facts.outlinks))
    verbatim = capture.interim + not_modified + head
    if verbatim:
        lines += _lengths(capture.interim, not_modified, head)
        lines.append("")
    lines.append("")
    return "\r\n".join(lines).encode() + verbatim


def _lengths(*verbatim: bytes) -> list[str]:
    names = ("interimReplies", "notModifiedReply", "replyHead")
    return [f"{name}: {len(one)}" for name, one in zip(names, verbatim, strict=True) if one]


def _found(facts: CaptureFacts) -> list[str]:
    """How it was found. A seed has an empty hop path (WARC 1.1 clause 6.4)."""
    lines = ["seed: "] if facts.is_seed else []
    if facts.via:
        lines.append("via: " + uri_field(facts.via))
    lines.append("hopsFromSeed: " + field(facts.path))
    if facts.source:
        lines.append("sourceTag: " + field(facts.source))
    if facts.force_fetch:
        lines.append("force-fetch: ")
    return lines


def _tls(capture: Capture) -> list[str]:
    """What a verification of the server's certificate would have said, and the name asked for."""
    if capture.tls is None:
        return []
    return [
        "tlsVerified: " + field(capture.tls.verified),
        "tlsServerName: " + field(capture.tls.sni),
    ]


def outlink_lines(outlinks: Sequence[Outlink]) -> str:
    """One `outlink: URL HOP CONTEXT` a link; no CRLF after the last."""
    text = "\r\noutlink: ".join([" ".join((o.url, o.hop, o.context)) for o in outlinks])
    breaks = 2 * (len(outlinks) - 1)
    # One look at the whole tells that no value holds a line break.
    if text.isascii() and text.count("\r") + text.count("\n") == breaks:
        return "outlink: " + text
    return "\r\n".join(
        [f"outlink: {uri_field(o.url)} {field(o.hop)} {field(o.context)}" for o in outlinks]
    )
