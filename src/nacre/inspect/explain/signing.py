"""Whether requests to a URL are signed, and by which key."""

from typing import Final

import msgspec

from nacre.fetch.identity import IdentitySettings, current_key

_UNSAID: Final = ("default", "program")
"""Origins of values that no user wrote."""


class SigningAnswer(msgspec.Struct, frozen=True):
    """The signatures of requests to the URL.

    Attributes:
        keyid: Thumbprint of the key that signs now; "" if they are not signed, or it is unknown.
        directory: URL of the published keys; "" if they are not signed.
        origin: The sheet with `identity.key`, and its place; else the place of the value.
        unread: Reference to the key, if this user cannot read it; else "".
    """

    keyid: str
    directory: str
    origin: str
    unread: str = ""


def signing_answer(settings: IdentitySettings, now: float, origin: str) -> SigningAnswer | None:
    """Return how requests are signed; None if this is not known.

    Args:
        settings: The settings of the URL.
        now: Time of the machine.
        origin: Origin of `identity.key` among them.
    """
    keys = settings.keys
    if keys:
        keyid = keys[current_key(keys, now)].keyid
        return SigningAnswer(keyid, settings.directory, origin)
    if settings.key.source:
        return SigningAnswer("", settings.directory, origin, unread=str(settings.key))
    return SigningAnswer("", "", origin) if origin not in _UNSAID else None
