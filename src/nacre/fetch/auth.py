"""HTTP authentication (Basic, Digest): tried after a challenge, then sent with each request.

Source: RFC 9110 clause 11, RFC 7617, RFC 7616.
"""

import hashlib
import re
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from nacre.fetch.request import FetchResult, Origin
from nacre.fetch.settings import Credential
from nacre.wire.head import header_lines

MAX_CHALLENGE = 4096
"""Longest WWW-Authenticate value that is read, bytes."""

_PART = re.compile(r'([\w!#$%&\'*+.^`|~-]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,"]+))?')
_HASHES: dict[str, Callable[[bytes], "hashlib._Hash"]] = {
    "MD5": lambda data: hashlib.md5(data, usedforsecurity=False),
    "SHA-256": hashlib.sha256,
    "SHA-512-256": lambda data: hashlib.new("sha512_256", data),
}


class Challenge(NamedTuple):
    """A challenge of a server, which requires credentials.

    Attributes:
        scheme: `basic` or `digest`.
        parameters: Lower-case name -> value.
    """

    scheme: str
    parameters: dict[str, str]

    @property
    def realm(self) -> str:
        """Its realm; "" when it names none."""
        return self.parameters.get("realm", "")


def parse_challenges(values: Iterable[bytes]) -> list[Challenge]:
    """Read WWW-Authenticate values; Basic and Digest only, the strongest first."""
    challenges: list[Challenge] = []
    for value in values:
        for match in _PART.finditer(value[:MAX_CHALLENGE].decode("latin-1")):
            name, text = match[1].lower(), match[2]
            if text is None:
                challenges.append(Challenge(name, {}))
            elif challenges:
                challenges[-1].parameters.setdefault(name, _unquote(text))
    usable = [c for c in challenges if c.scheme == "basic" or _can_digest(c)]
    return sorted(usable, key=lambda c: c.scheme == "basic")


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def _can_digest(challenge: Challenge) -> bool:
    parameters = challenge.parameters
    qop = [part.strip().lower() for part in parameters.get("qop", "auth").split(",")]
    return (
        challenge.scheme == "digest"
        and "nonce" in parameters
        and (_algorithm(challenge) in _HASHES and "auth" in qop)
    )


def _algorithm(challenge: Challenge) -> str:
    return challenge.parameters.get("algorithm", "MD5").upper().removesuffix("-SESS")


def basic(username: str, password: str) -> str:
    """Return the Authorization value of Basic."""
    return "Basic " + b64encode(f"{username}:{password}".encode()).decode("ascii")


class DigestCall(NamedTuple):
    """A request that a digest is made for.

    Attributes:
        method: Method of the request.
        target: Request target.
        uses: How often the nonce was used, this time included.
        cnonce: Nonce of the client.
    """

    method: str
    target: str
    uses: int
    cnonce: str


def digest(challenge: Challenge, username: str, password: str, call: DigestCall) -> str:
    """Return the Authorization value of Digest."""
    parameters = challenge.parameters
    make = _HASHES[_algorithm(challenge)]

    def hashed(*parts: str) -> str:
        return make(":".join(parts).encode()).hexdigest()

    nonce, count = parameters["nonce"], f"{call.uses:08x}"
    secret = hashed(username, challenge.realm, password)
    if parameters.get("algorithm", "").upper().endswith("-SESS"):
        secret = hashed(secret, nonce, call.cnonce)
    request = hashed(call.method, call.target)
    fields = [("username", username), ("realm", challenge.realm), ("nonce", nonce)]
    fields += [("uri", call.target)]
    if "qop" in parameters:
        response = hashed(secret, nonce, count, call.cnonce, "auth", request)
    else:
        response = hashed(secret, nonce, request)
    fields.append(("response", response))
    if "opaque" in parameters:
        fields.append(("opaque", parameters["opaque"]))
    text = ", ".join(f'{name}="{_escape(value)}"' for name, value in fields)
    if "algorithm" in parameters:
        text += f", algorithm={parameters['algorithm']}"
    if "qop" in parameters:
        text += f', qop=auth, nc={count}, cnonce="{call.cnonce}"'
    return "Digest " + text


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


Once = Callable[[bytes], Awaitable[FetchResult]]
"""Fetches with these header lines added."""

_VALUE = re.compile(rb"(?m)^([A-Za-z-]+: )[^\r\n]+")


class _Known(msgspec.Struct):
    """What an origin accepted: a challenge, the credential that answers it, uses of the nonce."""

    challenge: Challenge
    credential: Credential
    count: int = 0

    def answer(self, method: str, target: str) -> bytes:
        """Return the Authorization line of the next request."""
        credential = self.credential
        if self.challenge.scheme == "basic":
            value = basic(credential.username, credential.password.text)
        else:
            self.count += 1
            call = DigestCall(method, target, self.count, secrets.token_hex(8))
            value = digest(self.challenge, credential.username, credential.password.text, call)
        return header_lines([("Authorization", value)])


class Authenticator:
    """Remembers which origins accepted which credentials."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], _Known] = {}

    async def fetch(
        self, origin: Origin, call: tuple[str, str], credentials: Sequence[Credential], once: Once
    ) -> FetchResult:
        """Fetch, and answer one challenge; the result is that of the last request.

        Args:
            origin: The origin of the request.
            call: Method and request target.
            credentials: Those of the settings; only the origin's own are used.
            once: Fetches with header lines added.
        """
        place = (origin.scheme, origin.host, origin.port)
        own = [credential for credential in credentials if credential.belongs_to(*place)]
        remembered = self._known.get(place) if own else None
        if remembered is not None and remembered.credential not in own:
            remembered = None
        result = await once(self._line(remembered, call))
        chosen = _choose(result, own) if result.status == 401 else None
        if chosen is None or (remembered is not None and _is_refusal(remembered, chosen)):
            return result
        capture = result.capture
        if capture is not None:
            capture.body.close()
        result = await once(self._line(chosen, call))
        if 0 < result.status != 401:
            self._known[place] = chosen
        else:
            self._known.pop(place, None)
        return result

    def _line(self, login: _Known | None, call: tuple[str, str]) -> bytes:
        """Return the Authorization line; b"" without a login, or if a value cannot be sent."""
        try:
            return login.answer(*call) if login is not None else b""
        except ValueError:
            return b""


def without_values(lines: bytes) -> bytes:
    """Return sent header lines without their values, for the archive."""
    return _VALUE.sub(rb"\1[not archived]", lines)


def _choose(result: FetchResult, credentials: Sequence[Credential]) -> _Known | None:
    """Return the strongest challenge that one of the credentials can answer."""
    if result.capture is None:
        return None
    for challenge in parse_challenges(result.capture.header_values(b"www-authenticate")):
        for credential in credentials:
            if credential.realm in ("", challenge.realm):
                return _Known(challenge, credential)
    return None


def _is_refusal(remembered: _Known, chosen: _Known) -> bool:
    """What was sent unasked was refused, and asking again for the same changes nothing."""
    return (
        remembered.challenge.scheme == "basic"
        and chosen.challenge.scheme == "basic"
        and (remembered.credential == chosen.credential)
    )
