"""HTTP authentication: tried once when a server asks, sent unasked after it has worked."""

import re
import secrets
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from nacre.fetch.challenge import Call, Challenge, basic, digest, parse_challenges
from nacre.fetch.credential import Credential
from nacre.fetch.message import Origin
from nacre.fetch.request import FetchResult
from nacre.wire.request import header_lines

Once = Callable[[bytes], Awaitable[FetchResult]]
"""Fetches with these header lines added."""

_VALUE = re.compile(rb"(?m)^([A-Za-z-]+: )[^\r\n]+")


class _Known(msgspec.Struct):
    """What an origin accepted: a challenge, the credential that answers it, uses of the nonce."""

    challenge: Challenge
    credential: Credential
    count: int = 0

    def answer(self, method: str, target: str) -> bytes:
        """The Authorization line of the next request."""
        credential = self.credential
        if self.challenge.scheme == "basic":
            value = basic(credential.username, credential.password.text)
        else:
            self.count += 1
            call = Call(method, target, self.count, secrets.token_hex(8))
            value = digest(self.challenge, credential.username, credential.password.text, call)
        return header_lines([("Authorization", value)])


class Authenticator:
    """Remembers which origins accepted which credentials."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], _Known] = {}

    async def fetch(
        self,
        origin: Origin,
        call: tuple[str, str],
        credentials: Sequence[Credential],
        once: Once,
    ) -> FetchResult:
        """Fetch, and answer one challenge; the result is that of the last request.

        Args:
            origin: Where it goes.
            call: Method and request target.
            credentials: Those of the settings; only the origin's own are used.
            once: Fetches with header lines added.
        """
        place = (origin.scheme, origin.host, origin.port)
        own = [credential for credential in credentials if credential.belongs_to(*place)]
        known = self._known.get(place) if own else None
        if known is not None and known.credential not in own:
            known = None
        result = await once(self._line(known, call))
        found = _choose(result, own) if result.status == 401 else None
        if found is None or (known is not None and _is_refusal(known, found)):
            return result
        if result.capture is not None:
            result.capture.body.close()
        result = await once(self._line(found, call))
        if 0 < result.status != 401:
            self._known[place] = found
        else:
            self._known.pop(place, None)
        return result

    def _line(self, known: _Known | None, call: tuple[str, str]) -> bytes:
        """The Authorization line; b"" when nothing is known, or a value cannot be sent."""
        try:
            return known.answer(*call) if known is not None else b""
        except ValueError:
            return b""


def without_values(lines: bytes) -> bytes:
    """Header lines of ours with their values left out: what others may read in the archive."""
    return _VALUE.sub(rb"\1[not archived]", lines)


def _choose(result: FetchResult, credentials: Sequence[Credential]) -> _Known | None:
    """The strongest challenge that one of the credentials can answer."""
    if result.capture is None:
        return None
    for challenge in parse_challenges(result.capture.header_values(b"www-authenticate")):
        for credential in credentials:
            if credential.realm in ("", challenge.realm):
                return _Known(challenge, credential)
    return None


def _is_refusal(known: _Known, found: _Known) -> bool:
    """What was sent unasked was refused, and asking again for the same changes nothing."""
    return (
        known.challenge.scheme == "basic"
        and found.challenge.scheme == "basic"
        and (known.credential == found.credential)
    )
