"""One POST to a webhook: signed, with a time-out, without redirects."""

import asyncio
import hashlib
import hmac
import re
import ssl
from collections.abc import Mapping

from nacre import __version__
from nacre.uri.parse import host, origin

TIMEOUT = 10.0
"""Limit of the whole exchange, seconds."""

_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})")
_LONGEST = 65_536


class DeliveryError(Exception):
    """A message was not accepted; the text says why, without the path and query of the URL."""


def signature(secret: str, time: str, body: bytes) -> str:
    """HMAC-SHA256 over the time, a full stop and the body, as `sha256=<hex>`."""
    signed = time.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def headers(secret: str, time: str, event: str, number: str, body: bytes) -> dict[str, str]:
    """The fields of a request that are about its message.

    Args:
        secret: Key of the signature; "" for none.
        time: When it is sent, whole seconds since the epoch.
        event: What happened.
        number: The same for each try of one message.
        body: The message.
    """
    found = {"X-Nacre-Event": event, "X-Nacre-Delivery": number, "X-Nacre-Timestamp": time}
    if secret:
        found["X-Nacre-Signature"] = signature(secret, time, body)
    return found


async def post(url: str, body: bytes, fields: Mapping[str, str]) -> None:
    """Send it.

    Raises:
        DeliveryError: The answer is none of 200 to 299, or there is none.
    """
    try:
        async with asyncio.timeout(TIMEOUT):
            status = await _exchange(url, body, fields)
    except TimeoutError:
        raise DeliveryError(f"{origin(url)} gave no answer within {TIMEOUT:.0f} s") from None
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        raise DeliveryError(f"{origin(url)}: {error}") from error
    if not 200 <= status < 300:
        raise DeliveryError(f"{origin(url)} answered {status}")


async def _exchange(url: str, body: bytes, fields: Mapping[str, str]) -> int:
    name = host(url)
    scheme, _, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    port = place.rpartition("@")[2].removeprefix(name).removeprefix(":")
    secure = scheme == "https"
    context = await asyncio.to_thread(ssl.create_default_context) if secure else None
    reader, writer = await asyncio.open_connection(
        name.strip("[]"), int(port or (443 if secure else 80)), ssl=context, limit=_LONGEST
    )
    try:
        writer.write(_head(place.rpartition("@")[2], slash + path, len(body), fields) + body)
        await writer.drain()
        found = _STATUS.match(await reader.readline())
    finally:
        writer.close()
    if found is None:
        raise ValueError("what it answered is no HTTP")
    return int(found[1])


def _head(place: str, target: str, length: int, fields: Mapping[str, str]) -> bytes:
    lines = {
        "Host": place,
        "User-Agent": f"Nacre/{__version__}",
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Connection": "close",
        **fields,
    }
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {target.partition('#')[0] or '/'} HTTP/1.1\r\n{text}\r\n".encode()
