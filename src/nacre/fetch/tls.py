"""TLS: one context per policy, handshakes a few at a time, and the facts of each connection."""

import asyncio
import ssl
from collections import deque
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.core.capture import TlsFacts
from nacre.fetch.settings import TlsPolicy

_KEY_EXCHANGES = ("ECDHE", "DHE", "ECDH", "DH", "EDH", "ADH", "AECDH", "PSK", "RSA", "SRP", "KRB5",
                  "ECDSA", "DSS", "ANON", "EXP")  # fmt: skip
_SPELLINGS = {
    "EDH": "DHE", "ADH": "DH_anon", "AECDH": "ECDH_anon", "CHACHA20": "CHACHA20_POLY1305",
    "CCM8": "CCM_8",
}  # fmt: skip
_SIZED = ("AES", "CAMELLIA", "ARIA")
_HASHES = ("SHA", "SHA256", "SHA384", "MD5")


@lru_cache(maxsize=256)
def iana_name(name: str) -> str:
    """IANA's name of a suite that OpenSSL names.

    `ECDHE-RSA-AES128-GCM-SHA256` is `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`; names of TLS 1.3
    are IANA's already.
    """
    if not name or name.startswith("TLS_"):
        return name
    parts = [part for part in name.split("-") if part != "POLY1305"]
    count = 0
    while count < len(parts) and parts[count] in _KEY_EXCHANGES:
        count += 1
    exchange = [_SPELLINGS.get(part, part) for part in parts[:count]] or ["RSA"]
    return f"TLS_{'_'.join(exchange)}_WITH_{_cipher(parts[count:])}"


def _cipher(parts: list[str]) -> str:
    if parts[:2] == ["DES", "CBC3"]:
        parts = ["3DES_EDE_CBC", *parts[2:]]
    elif parts[0].startswith(_SIZED):
        parts = [_with_size(parts[0]), *parts[1:]]
        if len(parts) == 2 and parts[1] in _HASHES:
            parts.insert(1, "CBC")
    elif parts[0] == "CHACHA20" and len(parts) == 1:
        parts = ["CHACHA20", "SHA256"]
    return "_".join(_SPELLINGS.get(part, part) for part in parts)


def _with_size(part: str) -> str:
    letters = part.rstrip("0123456789")
    size = part[len(letters) :]
    return f"{letters}_{size}" if size else letters


if TYPE_CHECKING:
    from nacre.fetch.verify import Verifier

HANDSHAKES_PER_TURN = 4
"""Most handshakes that begin in one turn of the loop; each costs about 1 ms of CPU."""

_LEGACY_SERVER_CONNECT = 0x4


def make_context(policy: TlsPolicy, roots: Path | None = None) -> ssl.SSLContext:
    """Return the context of a policy.

    Args:
        policy: `record` takes any certificate, TLS 1.0 and up, weak keys and old servers without
            secure renegotiation; `strict` is the standard library's default.
        roots: PEM file of root certificates; None for the system's.
    """
    if policy == "strict":
        context = ssl.create_default_context(cafile=roots)
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.set_ciphers("ALL:!aNULL:!eNULL:@SECLEVEL=0")
        context.options |= _LEGACY_SERVER_CONNECT
    context.set_alpn_protocols(["http/1.1"])
    return context


class HandshakeGate:
    """Lets a few through in each turn of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, per_turn: int) -> None:
        self._loop = loop
        self._per_turn = per_turn
        self._passed = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Wait for a place in this turn or a later one."""
        if self._passed == 0:
            self._loop.call_soon(self._turn)
        if self._passed < self._per_turn:
            self._passed += 1
            return
        place = self._loop.create_future()
        self._waiting.append(place)
        await place

    def _turn(self) -> None:
        self._passed = 0
        while self._waiting and self._passed < self._per_turn:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                self._passed += 1
        if self._passed:
            self._loop.call_soon(self._turn)


class Tls:
    """The TLS contexts and sessions that the connections of a fetcher share."""

    def __init__(self, loop: asyncio.AbstractEventLoop, roots: Path | None = None) -> None:
        self._roots = roots
        self._contexts: dict[TlsPolicy, ssl.SSLContext] = {}
        self._made: Verifier | None = None
        self.gate = HandshakeGate(loop, HANDSHAKES_PER_TURN)

    def context(self, policy: TlsPolicy) -> ssl.SSLContext:
        """Return the one context of a policy."""
        context = self._contexts.get(policy)
        if context is None:
            context = self._contexts[policy] = make_context(policy, self._roots)
        return context

    def facts(self, transport: asyncio.BaseTransport, host: str, sni: str, now: float) -> TlsFacts:
        """Return the facts of a handshake; `host` is the name that the certificate should have."""
        session: Any = transport.get_extra_info("ssl_object")
        chain = certificate_chain(session)
        name, version, _ = session.cipher() or ("", "", 0)
        return TlsFacts(
            version=session.version() or version,
            cipher=iana_name(name),
            chain=chain,
            verified=self._verifier().verdict(chain, host, now),
            sni=sni,
        )

    def _verifier(self) -> "Verifier":
        if self._made is None:
            # A tenth of a second to load, which a crawl without TLS need not spend.
            from nacre.fetch.verify import Verifier  # noqa: PLC0415 - slow

            self._made = Verifier(self._roots)
        return self._made


def certificate_chain(session: ssl.SSLObject) -> tuple[bytes, ...]:
    """Certificates as the server sent them, its own first, as DER.

    The chain is public from Python 3.13 on; before, the object beneath has it.
    """
    if hasattr(session, "get_unverified_chain"):
        return tuple(session.get_unverified_chain() or ())
    beneath = getattr(session, "_sslobj", None)
    chain = beneath.get_unverified_chain() if beneath is not None else None
    if chain:
        return tuple(ssl.PEM_cert_to_DER_cert(part.public_bytes()) for part in chain)
    leaf = session.getpeercert(binary_form=True)
    return (leaf,) if leaf else ()
