"""Challenges of HTTP authentication and the answers to them: Basic and Digest.

Source: RFC 9110 clause 11, RFC 7617, RFC 7616.
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import NamedTuple

MAX_CHALLENGE = 4096
"""Longest WWW-Authenticate value that is read, bytes."""

_PART = re.compile(r'([\w!#$%&\'*+.^`|~-]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,"]+))?')
_HASHES: dict[str, Callable[[bytes], "hashlib._Hash"]] = {
    "MD5": lambda data: hashlib.md5(data, usedforsecurity=False),
    "SHA-256": hashlib.sha256,
    "SHA-512-256": lambda data: hashlib.new("sha512_256", data),
}


class Challenge(NamedTuple):
    """What a server asks for.

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
    found: list[Challenge] = []
    for value in values:
        for match in _PART.finditer(value[:MAX_CHALLENGE].decode("latin-1")):
            name, text = match[1].lower(), match[2]
            if text is None:
                found.append(Challenge(name, {}))
            elif found:
                found[-1].parameters.setdefault(name, _unquote(text))
    known = [each for each in found if each.scheme == "basic" or _can_digest(each)]
    return sorted(known, key=lambda each: each.scheme == "basic")


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
    """The Authorization value of Basic."""
    return "Basic " + b64encode(f"{username}:{password}".encode()).decode("ascii")


class Call(NamedTuple):
    """What a digest is made for.

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


def digest(challenge: Challenge, username: str, password: str, call: Call) -> str:
    """The Authorization value of Digest."""
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
