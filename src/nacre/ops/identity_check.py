"""Check a published identity, as a server that gets a signed request would."""

import json
import ssl
from collections.abc import Iterator
from http.client import HTTPException
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from nacre import __version__
from nacre.core.clock import Clock, iso
from nacre.errors import ConfigError
from nacre.fetch.identity_keys import verify_ed25519
from nacre.machine.connection_end import http_connection
from nacre.messages import error_text, message
from nacre.ops.fields import Typed
from nacre.ops.identity import CrawlerIdentity, IdentityPlace, find_identity, no_valid_key
from nacre.ops.identity_site import ADDRESSES_PATH, PAGE_PATH, SECURITY_PATH
from nacre.wire.date import parse_http_date
from nacre.wire.key_directory import (
    DIRECTORY_TYPE,
    LARGEST,
    PublicKey,
    content_digest,
    parse_directory,
)
from nacre.wire.message_signatures import DIRECTORY_TAG, check_signatures
from nacre.wire.signature_base import HttpMessage, SignatureError

TIMEOUT: Final = 20.0
"""Seconds for a connection, and for the handshake and the whole reply."""
_LONGEST_TEXT: Final = 200
"""Characters of a server's text in a message."""
_SOON: Final = 7 * 86_400
"""Seconds before the end of a validity from which it is a warning."""
_UNTRUSTED: Final = frozenset((2, 18, 19, 20, 21))
"""Codes of OpenSSL (`X509_V_ERR_…`) for a certificate whose root is not known or not trusted."""
_SKEW: Final = 2.0
"""Seconds by which the clocks may differ: Date has whole seconds, and some servers keep it."""

Outcome = Literal["ok", "warning", "failed"]


class CheckIdentityRequest(IdentityPlace, frozen=True, kw_only=True):
    """The options of the check of an identity.

    Attributes:
        roots: PEM file with root certificates, in place of those of the system.
    """

    roots: Annotated[Path | None, Typed("FILE")] = None


class IdentityCheck(msgspec.Struct, frozen=True):
    """One check of an identity.

    Attributes:
        name: What was checked.
        outcome: Its outcome.
        text: The result, for people.
    """

    name: str
    outcome: Outcome
    text: str


class CheckedIdentity(msgspec.Struct, frozen=True):
    """The checks of a published identity.

    Attributes:
        directory: The URL of the keys.
        checks: The checks, in order.
    """

    directory: str
    checks: list[IdentityCheck]

    @property
    def is_sound(self) -> bool:
        """No check failed."""
        return all(check.outcome != "failed" for check in self.checks)


class _Reply(NamedTuple):
    """A reply, or why there is none.

    Attributes:
        fault: Why there is none; "" if it has status 200.
        fields: Header fields.
        body: At most `LARGEST` bytes and one.
        sent: When it was requested, seconds since the epoch.
        moment: When its head came, seconds since the epoch.
    """

    fault: str
    fields: list[tuple[str, str]]
    body: bytes
    sent: float
    moment: float

    def value(self, name: str) -> str:
        """Return a header field; "" if it is missing."""
        return HttpMessage(self.fields).value(name) or ""


def check_identity(request: CheckIdentityRequest, clock: Clock) -> CheckedIdentity:
    """Check a published identity.

    Raises:
        ConfigError: Key or URL are missing, or the file of roots cannot be read.
    """
    identity = find_identity(request)
    try:
        context = ssl.create_default_context(cafile=request.roots)
    except OSError as error:
        raise ConfigError(f"--roots: {request.roots}: {error.strerror or error}") from None
    fetcher = _Fetcher(context, clock)
    return CheckedIdentity(identity.directory, list(_checks(identity, fetcher, clock.now())))


def _checks(identity: CrawlerIdentity, fetcher: "_Fetcher", now: float) -> Iterator[IdentityCheck]:
    reply = fetcher.fetch(identity.directory)
    if reply.fault:
        yield IdentityCheck("directory", "failed", reply.fault)
        return
    kind = reply.value("content-type").partition(";")[0].strip().lower()
    if kind == DIRECTORY_TYPE:
        yield IdentityCheck("directory", "ok", f"{identity.directory}, {len(reply.body)} bytes")
    else:
        text = message(
            "identity.other-type",
            "Content-Type is {kind!r}, not {expected}. Set it in the server's configuration",
            kind=_cut(kind), expected=DIRECTORY_TYPE,
        )  # fmt: skip
        yield IdentityCheck("directory", "failed", text)
    yield _check_clock(reply)
    try:
        keys = parse_directory(reply.body)
    except ValueError as error:
        yield IdentityCheck("keys", "failed", _cut(error_text(error)))
        return
    yield from _check_keys(identity, keys, now)
    yield from _check_proofs(identity, reply, keys, now)
    yield from _check_site(identity, fetcher, now)


def _check_clock(reply: _Reply) -> IdentityCheck:
    """Compare the clock with that of the server."""
    date = parse_http_date(reply.value("date"))
    if date is None:
        return IdentityCheck("clock", "warning", message("identity.no-date", "no Date to compare"))
    # Date was made between both moments, and has no fractions: it is up to a second too early.
    off = max(reply.sent - date - 1, 0.0) + min(reply.moment - date, 0.0)
    if abs(off) <= _SKEW:
        return IdentityCheck("clock", "ok", message("identity.clock-right", "as the server's"))
    seconds = f"{abs(off):.0f}"
    if off > 0:
        text = message(
            "identity.clock-ahead",
            "this machine is {seconds} s ahead of the server. Synchronize its clock, for example "
            "with chrony: servers refuse signatures of the future",
            seconds=seconds,
        )
    else:
        text = message(
            "identity.clock-behind",
            "this machine is {seconds} s behind the server. Synchronize its clock, for example "
            "with chrony: its signatures end too early",
            seconds=seconds,
        )
    return IdentityCheck("clock", "failed", text)


def _check_keys(
    identity: CrawlerIdentity, keys: list[PublicKey], now: float
) -> Iterator[IdentityCheck]:
    if all(0 < key.expires <= now for key in identity.keys):
        yield IdentityCheck("key", "failed", no_valid_key())
    published = {key.thumbprint: key for key in keys}
    for own in identity.keys:
        key = published.get(own.keyid)
        if own.expires and own.expires <= now:
            yield IdentityCheck("key", "ok", f"{own.keyid} ended {iso(own.expires)}")
        elif key is None:
            is_used = own.not_before <= now
            text = message(
                "identity.key-missing",
                "{keyid} is not published. Run `nacre identity publish DIR` and upload its files",
                keyid=own.keyid,
            )
            yield IdentityCheck("key", "failed" if is_used else "warning", text)
        elif not key.is_valid(now) and own.not_before <= now:
            text = message("identity.key-ended", "{keyid} is published as ended", keyid=own.keyid)
            yield IdentityCheck("key", "failed", text)
        else:
            signs = f"signs from {iso(own.not_before)}" if own.not_before > now else "signs"
            yield IdentityCheck("key", "ok", f"{own.keyid} is published, {signs}")


def _check_proofs(
    identity: CrawlerIdentity, reply: _Reply, keys: list[PublicKey], now: float
) -> Iterator[IdentityCheck]:
    """Check the signatures of the directory itself."""
    digest = reply.value("content-digest")
    if content_digest(reply.body) not in digest:
        text = message(
            "identity.digest",
            "Content-Digest is missing or does not fit. Use the pieces in server/ of the published "
            "folder, and no compression",
        )
        yield IdentityCheck("proof", "warning", text)
        return
    parts = urlsplit(identity.directory)
    asked = HttpMessage([], "GET", "https", parts.netloc, parts.path)
    response = HttpMessage(reply.fields, status=200)
    try:
        proofs = check_signatures(
            response, {key.thumbprint: key.data for key in keys}, verify_ed25519, now=now,
            tag=DIRECTORY_TAG, request=asked,
        )  # fmt: skip
    except SignatureError as error:
        yield IdentityCheck("proof", "failed", _cut(str(error)))
        return
    if not proofs:
        yield IdentityCheck("proof", "warning", message("identity.no-proof", "no signature"))
    for proof in proofs:
        if proof.fault:
            yield IdentityCheck("proof", "failed", _cut(f"{proof.keyid}: {proof.fault}"))
        elif proof.expires - now < _SOON:
            yield IdentityCheck("proof", "warning", _until(proof.keyid, proof.expires))
        else:
            yield IdentityCheck("proof", "ok", _until(proof.keyid, proof.expires))


def _until(keyid: str, expires: int) -> str:
    return message(
        "identity.proof-until",
        "{keyid} until {time}; publish again before",
        keyid=keyid, time=iso(expires),
    )  # fmt: skip


def _check_site(
    identity: CrawlerIdentity, fetcher: "_Fetcher", now: float
) -> Iterator[IdentityCheck]:
    """Check the files beside the keys: they are good practice, and not needed for signatures."""
    origin = f"https://{urlsplit(identity.directory).netloc}"
    for name, path, judge in (
        ("page", PAGE_PATH, _judge_page),
        ("addresses", ADDRESSES_PATH, _judge_addresses),
        ("contact", SECURITY_PATH, _judge_contact),
    ):
        reply = fetcher.fetch(origin + path)
        fault = reply.fault or judge(reply.body, now)
        yield IdentityCheck(name, "warning" if fault else "ok", fault or origin + path)


def _judge_page(body: bytes, _now: float) -> str:
    if b'rel="client-ranges"' in body:
        return ""
    return message("identity.page-without-ranges", "no link to the addresses")


def _judge_addresses(body: bytes, _now: float) -> str:
    try:
        content = json.loads(body)
        prefixes = [each.get("ipv4Prefix") or each["ipv6Prefix"] for each in content["prefixes"]]
        for prefix in prefixes:
            ip_network(prefix.strip())  # a number would be an address, too
        return "" if content["creationTime"] else "no creationTime"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return message("identity.bad-addresses", "no list of addresses in JSON")


def _judge_contact(body: bytes, now: float) -> str:
    lines = [line.partition(":") for line in body.decode("utf-8", "replace").split("\n")]
    values = {name.strip().lower(): value.strip() for name, _, value in lines}
    if not values.get("contact"):
        return message("identity.no-contact-line", "no line Contact")
    if values.get("expires", "") <= iso(now):
        return message("identity.contact-ended", "Expires is missing or has passed; publish again")
    return ""


class _Fetcher:
    """Fetches small files over HTTPS; redirects are not followed."""

    def __init__(self, context: ssl.SSLContext, clock: Clock) -> None:
        self._context = context
        self._clock = clock

    def fetch(self, url: str) -> _Reply:
        """Fetch a file."""
        parts = urlsplit(url)
        headers = {
            "User-Agent": f"Nacre/{__version__}", "Accept": "*/*", "Accept-Encoding": "identity"
        }  # fmt: skip
        sent = self._clock.now()
        try:
            with http_connection(
                parts.hostname or "", parts.port, TIMEOUT, self._context
            ) as connection:
                connection.request("GET", parts.path or "/", headers=headers)
                reply = connection.getresponse()
                moment = self._clock.now()
                body = reply.read(LARGEST + 1)
        except (OSError, HTTPException, ValueError) as error:
            return _Reply(_unreachable(url, error), [], b"", 0.0, 0.0)
        fault = "" if reply.status == 200 else f"{url}: status {reply.status}, not 200"
        fields = reply.getheaders()
        if sum(len(name) + len(value) for name, value in fields) > LARGEST:
            fault = f"{url}: more than {LARGEST} bytes of header lines"
        return _Reply(fault, fields, body, sent, moment)


def _unreachable(url: str, error: Exception) -> str:
    reason = _cut(getattr(error, "strerror", None) or str(error) or type(error).__name__)
    if isinstance(error, ssl.SSLCertVerificationError) and error.verify_code in _UNTRUSTED:
        return message(
            "identity.untrusted",
            "{url}: {reason}. If the certificate comes from an authority of your own, name its "
            "root certificate with --roots FILE; else let the server send the whole chain",
            url=url,
            reason=reason,
        )
    return message("identity.unreachable", "{url}: {reason}", url=url, reason=reason)


def _cut(text: str) -> str:
    """Return the begin of a text that a server may have made."""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
