"""Signatures of HTTP requests: the header lines of a signed request, and their verification. Pure.

Source: RFC 9421 (HTTP Message Signatures) with Ed25519 (3.3.6), and the drafts in `DRAFTS`.
"""

from binascii import b2a_base64
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from nacre.wire.signature_base import HttpMessage, SignatureError, signature_base
from nacre.wire.structured_fields import (
    BareItem,
    FieldItem,
    FieldMember,
    FieldSyntaxError,
    InnerList,
    parse_dictionary,
)

DRAFTS: Final = MappingProxyType(
    {
        "signatures": "draft-ietf-webbotauth-httpsig-protocol-01",
        "addresses": "draft-illyes-webbotauth-jafar-00",
        "practices": "draft-illyes-webbotauth-cbcp-01",
    }
)
"""The drafts that Nacre implements: requests and key directory, addresses, good practices."""

REQUEST_TAG: Final = "web-bot-auth"
DIRECTORY_TAG: Final = "http-message-signatures-directory"
LONGEST_LIFETIME: Final = 300
"""Seconds for which a signature of Nacre is valid at most; the draft allows 24 hours."""

LABEL: Final = "sig1"
"""Label of the signature, and key of its Signature-Agent."""
_QUERY: Final = b'\n"@query": ?'
_TARGET: Final = b'\n"@request-target": '
_LABEL: Final = LABEL.encode()
_TAG: Final = f'";tag="{REQUEST_TAG}"'.encode()
_FIELDS: Final = (b"\r\nsignature:", b"\r\nsignature-input:", b"\r\nsignature-agent:")
_FORMS: Final = {
    "dictionary": (f'"signature-agent";key="{LABEL}"', f"{LABEL}="),
    "string": ('"signature-agent"', ""),
}
"""Forms of Signature-Agent: the covered component, and the text before the URL in the header."""

MOST_COMPONENTS: Final = 256
"""Components that the signatures of a message may cover in all; a directory of 100 keys has 200."""
_PARSED_AGAIN: Final = frozenset(("key", "sf"))
"""Parameters of components whose field is parsed again for each."""
_PARSING: Final = 16
"""Components for which one of these counts: a field has up to 65,536 characters."""

Sign = Callable[[bytes], bytes]
"""Signs with a private key of Ed25519."""
Verify = Callable[[bytes, bytes, bytes], bool]
"""Called with a public key, a signature and the signed bytes; returns whether they fit."""


class KeyHolder(NamedTuple):
    """The owner of a key that signs requests.

    Attributes:
        keyid: Thumbprint of the key.
        sign: Signs with it.
        agent: URL of the key directory, ASCII.
        form: Form of Signature-Agent: `dictionary`, or `string` as in older drafts.
    """

    keyid: str
    sign: Sign
    agent: str
    form: str = "dictionary"


class RequestForm:
    """The form of the signatures of one holder, with the text that they have in common.

    They cover method, authority, path, query and the agent. A query that is absent has the value
    `?` (RFC 9421, section 2.2.7). Verifiers of older drafts take it for empty, so that the form
    `string` covers the whole target in its place.

    Args:
        holder: The owner of the key.
        lifetime: For how many seconds a signature is valid.
    """

    __slots__ = ("_has_query", "_lifetime", "_moment", "_sign", "_tail", "_texts", "_times")

    def __init__(self, holder: KeyHolder, lifetime: int) -> None:
        keyid, self._sign, agent, form = holder
        component, label = _FORMS[form]
        self._lifetime = lifetime
        self._moment, self._times = -1, b""
        signed = f'\n{component}: "{agent}"\n"@signature-params": '
        sent = f'Signature-Agent: {label}"{agent}"\r\nSignature-Input: {LABEL}='
        self._has_query = form == "dictionary"  # also if it is absent
        names = ("@query" if self._has_query else "@request-target", "@query")
        lists = [f'("@authority" "@method" "@path" "{name}" {component})' for name in names]
        # Without and with a query: the texts that are signed and sent before the parameters.
        self._texts = [
            ((signed + parameters).encode(), (sent + parameters).encode()) for parameters in lists
        ]
        self._tail = f';keyid="{keyid}";alg="ed25519"'

    def _parameters(self, now: int) -> bytes:
        """Return the parameters before the nonce; those of a second are made once."""
        if now != self._moment:
            ends = now + self._lifetime
            self._times = f';created={now}{self._tail};expires={ends};nonce="'.encode()
            self._moment = now
        return self._times

    def sign(self, message: bytes, now: int, nonce: bytes) -> bytes:
        """Return the header lines that sign a request.

        Args:
            message: The request as it is sent; its first header is Host.
            now: When it is made, seconds since the epoch.
            nonce: Random bytes.
        """
        first_end = message.index(b"\r\n")
        host_end = message.index(b"\r\n", first_end + 2)
        method, target, _ = message[:first_end].split(b" ")
        authority = message[first_end + 8 : host_end].strip().lower()
        if target[:1] != b"/":
            target = b"/" + target.partition(b"://")[2].partition(b"/")[2]
        path, mark, query = target.partition(b"?")
        covered, lines = self._texts[len(mark)]
        parameters = b"%b%b%b" % (self._parameters(now), b2a_base64(nonce, newline=False), _TAG)
        name, value = (_QUERY, query) if mark or self._has_query else (_TARGET, path)
        base = b'"@authority": %b\n"@method": %b\n"@path": %b%b%b%b%b' % (
            authority, method, path, name, value, covered, parameters,
        )  # fmt: skip
        signature = b2a_base64(self._sign(base), newline=False)
        return b"%b%b\r\nSignature: %b=:%b:\r\n" % (lines, parameters, _LABEL, signature)


def has_signature(message: bytes) -> bool:
    """Return whether a request has a field of signatures already, as scripts of pages can add."""
    head = message[: message.index(b"\r\n\r\n")].lower()
    return b"\r\nsignature" in head and any(field in head for field in _FIELDS)


def with_lines(message: bytes, lines: bytes) -> bytes:
    """Return a request with header lines added behind the others."""
    end = message.index(b"\r\n\r\n") + 2
    return b"%b%b%b" % (message[:end], lines, message[end:])


class SignatureCheck(NamedTuple):
    """The result of the check of a signature.

    Attributes:
        label: Its label.
        keyid: Its key; "" if it has none.
        fault: Why it is not valid; "" if it is valid.
        is_known: Whether its key was known; else nothing is proved either way.
        agent: The URL of its Signature-Agent; "" if there is none.
        created: When it was made; 0 if unknown.
        expires: When it ends; 0 if unknown.
    """

    label: str
    keyid: str = ""
    fault: str = ""
    is_known: bool = False
    agent: str = ""
    created: int = 0
    expires: int = 0


def check_signatures(
    message: HttpMessage,
    keys: Mapping[str, bytes],
    verify: Verify,
    *,
    now: float,
    tag: str = REQUEST_TAG,
    request: HttpMessage | None = None,
) -> list[SignatureCheck]:
    """Check the signatures of a message that have a tag.

    Args:
        message: The message.
        keys: Public keys of Ed25519 by thumbprint.
        verify: Verifies.
        now: Seconds since the epoch.
        tag: Signatures with another tag are passed over.
        request: The request of a response.

    Raises:
        SignatureError: Signature-Input or Signature cannot be read, or the signatures cover more
            than `MOST_COMPONENTS`.
    """
    try:
        inputs = parse_dictionary(message.value("signature-input") or "")
        signatures = parse_dictionary(message.value("signature") or "")
    except FieldSyntaxError as error:
        raise SignatureError(f"Signature-Input or Signature: {error}") from None
    if sum(map(_work, inputs.values())) > MOST_COMPONENTS:
        raise SignatureError(f"Signature-Input covers more than {MOST_COMPONENTS} components")
    checks = []
    for label, covered in inputs.items():
        if not isinstance(covered, InnerList):
            checks.append(SignatureCheck(label, fault="Signature-Input is no list of components"))
        elif covered.parameters.get("tag") == tag:
            checks.append(
                _check(_Signed(label, covered, signatures.get(label)), message, request, keys)
                .completed(verify, now)
            )  # fmt: skip
    return checks


def _work(covered: FieldMember) -> int:
    """Return the components of a signature, at least 1, weighed by the time that they take."""
    items = covered.items if isinstance(covered, InnerList) else ()
    return sum(_PARSING if item.parameters.keys() & _PARSED_AGAIN else 1 for item in items) or 1


class _Signed(NamedTuple):
    """A signature as it was received."""

    label: str
    covered: InnerList
    signature: object


class _Prepared(NamedTuple):
    """A signature before its times and bytes are checked."""

    check: SignatureCheck
    key: bytes = b""
    base: str = ""
    signature: bytes = b""

    def completed(self, verify: Verify, now: float) -> SignatureCheck:
        """Check times and bytes, unless a fault was found already."""
        check = self.check
        if check.fault:
            return check
        if check.created > now:
            return check._replace(fault="created in the future")
        if check.expires <= now:
            return check._replace(fault="expired")
        if not verify(self.key, self.signature, self.base.encode("latin-1")):
            return check._replace(fault="the signature does not fit the message")
        return check


def _check(
    signed: _Signed, message: HttpMessage, request: HttpMessage | None, keys: Mapping[str, bytes]
) -> _Prepared:
    parameters = signed.covered.parameters
    created, expires = _seconds(parameters, "created"), _seconds(parameters, "expires")
    keyid = str(parameters.get("keyid") or "")
    check = SignatureCheck(signed.label, keyid, "", keyid in keys, "", created, expires)
    item = signed.signature
    if not isinstance(item, FieldItem) or not isinstance(item.value, bytes):
        return _Prepared(check._replace(fault="Signature has no bytes for it"))
    if not 0 < created < expires:
        return _Prepared(check._replace(fault="created or expires is missing or wrong"))
    if parameters.get("alg") not in (None, "ed25519"):
        return _Prepared(check._replace(fault="its algorithm is not ed25519"))
    try:
        agent = _agent(signed, message)
        base = signature_base(signed.covered, message, request)
    except SignatureError as error:
        return _Prepared(check._replace(fault=str(error)))
    check = check._replace(agent=agent)
    if not check.is_known:
        return _Prepared(check._replace(fault="the key is not known"))
    return _Prepared(check, keys[keyid], base, item.value)


def _seconds(parameters: Mapping[str, BareItem], name: str) -> int:
    value = parameters.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _agent(signed: _Signed, message: HttpMessage) -> str:
    """Return the agent of a signed request, which the signature has to cover; "" of a response."""
    if message.status:
        items = signed.covered.items
        if not any(item.value == "@authority" and "req" in item.parameters for item in items):
            raise SignatureError("does not cover @authority of the request")
        return ""
    names = {str(item.value) for item in signed.covered.items}
    if not names & {"@authority", "@target-uri"}:
        raise SignatureError("covers neither @authority nor @target-uri")
    keys = [i.parameters.get("key") for i in signed.covered.items if i.value == "signature-agent"]
    text = message.value("signature-agent") or ""
    if None in keys and text.startswith('"'):  # the form of older drafts
        text = f"{signed.label}={text}"
    elif signed.label not in keys:
        raise SignatureError("does not cover the member of Signature-Agent with its label")
    try:
        member = parse_dictionary(text).get(signed.label)
    except FieldSyntaxError as error:
        raise SignatureError(f"Signature-Agent: {error}") from None
    url = member.value if isinstance(member, FieldItem) and not member.parameters else ""
    if not isinstance(url, str) or not url.startswith("https://"):
        raise SignatureError("Signature-Agent has no https URL for it")
    return url
