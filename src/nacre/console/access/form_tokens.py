"""The form in which pages show the token of their session: different in every answer.

Pages are compressed, and have text in them that others chose, such as URLs that were found. Who can
watch how long the answers are could guess a secret beside such text, letter by letter, as a guess
that fits is compressed better (CVE-2013-3587, "BREACH"). A secret that looks different each time
is never met again in such a way.
"""

import hmac
import secrets
from typing import Final

_BETWEEN: Final = "."


def masked_token(token: str) -> str:
    """A token as one answer shows it: a random mask, a dot, and the token under it, in hex."""
    plain = token.encode()
    mask = secrets.token_bytes(len(plain))
    return f"{mask.hex()}{_BETWEEN}{_under(mask, plain).hex()}"


def is_token(sent: str, token: str) -> bool:
    """Whether a request has a token, masked or as it is.

    Args:
        sent: What it has; "" for nothing.
        token: That of its session.
    """
    mask, dot, hidden = sent.partition(_BETWEEN)
    plain = sent.encode("utf-8", "replace")
    if dot:
        try:
            first, second = bytes.fromhex(mask), bytes.fromhex(hidden)
        except ValueError:
            return False
        plain = _under(first, second) if len(first) == len(second) else b""
    return hmac.compare_digest(plain, token.encode())


def _under(mask: bytes, text: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(mask, text, strict=True))
