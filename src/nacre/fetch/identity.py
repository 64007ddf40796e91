"""The identity of the crawler: section `identity` of `crawl.yaml`, and the signing of requests."""

import os
import re
import stat
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import ValidationInfo, field_validator, model_validator

from nacre.config.component import Component, setting
from nacre.config.secret import Secret
from nacre.errors import URIError
from nacre.fetch.identity_keys import SigningKey, parse_keys
from nacre.machine.local_files import home_path
from nacre.messages import message
from nacre.uri.parse import parse
from nacre.wire.key_directory import DIRECTORY_PATH
from nacre.wire.message_signatures import LONGEST_LIFETIME, KeyHolder, RequestForm

_OTHERS: Final = 0o077
_DIRECTORY: Final = re.compile(r"https://([A-Za-z0-9.:\[\]-]+)(/[A-Za-z0-9._~%/-]*)?")
"""Host and path: characters that need no escape anywhere."""
_NONCE: Final = 64
"""Bytes of a nonce, as verifiers in use expect."""


class IdentitySettings(Component):
    """Signed requests (Web Bot Auth), by which sites recognize the crawler."""

    sent_to: ClassVar[tuple[str, ...] | None] = ("directory",)

    key: Secret = setting(
        Secret(),
        "`{file: PATH}` of the private key, made by `nacre identity new`; only its owner may read "
        "it. Empty: requests are not signed.",
        sample="{file: identity.pem}",
    )
    directory: str = setting(
        "",
        "https URL of the published keys (`nacre identity publish`), sent with each request. Of an "
        "origin alone, it is `/.well-known/http-message-signatures-directory` there.",
        sample="https://crawler.example.org",
    )
    lifetime: int = setting(
        LONGEST_LIFETIME,
        "For how long a signature is valid.",
        unit="s",
        ge=1,
        le=LONGEST_LIFETIME,
    )

    form: Literal["dictionary", "string"] = setting(
        "dictionary",
        "Form of Signature-Agent. `dictionary`: as the newest draft wants it. `string`: as the "
        "drafts before October 2025, for servers that know nothing else.",
    )

    @field_validator("key")
    @classmethod
    def _check_key(cls, value: Secret, info: ValidationInfo) -> Secret:
        if not value:
            return value
        if not value.source:
            raise ValueError(
                message(
                    "identity.key-in-settings",
                    "a private key does not belong into settings; write `{{file: PATH}}`",
                )
            )
        if "file" in value.source:
            _require_private(value.source["file"], (info.context or {}).get("root"))
        parse_keys(value.text)
        return value

    @field_validator("directory")
    @classmethod
    def _check_directory(cls, value: str) -> str:
        return directory_url(value) if value else value

    @model_validator(mode="after")
    def _has_directory(self) -> "IdentitySettings":
        if self.key and not self.directory:
            raise ValueError(
                message(
                    "identity.no-directory",
                    "`key` needs `directory`, the URL where servers find its public key",
                )
            )
        return self

    @property
    def keys(self) -> list[SigningKey]:
        """The keys, the newest first; none if requests are not signed."""
        return parse_keys(self.key.text) if self.key else []


def directory_url(text: str) -> str:
    """Return the URL of a key directory; an origin alone gets the well-known path.

    Raises:
        ValueError: It is no https URL, or has a query or unusual characters.
    """
    match = _DIRECTORY.fullmatch(text)
    is_file = match is not None and (match[2] == "/" or not text.endswith("/"))
    if match is None or not is_file or ".." in text or not _is_url(text):
        raise ValueError(
            message(
                "identity.directory-url",
                "{text!r} is no https URL, such as https://crawler.example.org",
                text=text,
            )
        )
    return text if (match[2] or "").strip("/") else f"https://{match[1]}{DIRECTORY_PATH}"


def _is_url(text: str) -> bool:
    """Its host and port are valid."""
    try:
        parse(text)
    except URIError:
        return False
    return True


def _require_private(name: str, root: Path | None) -> None:
    """Raise ValueError if a file can be read by others than its owner."""
    path = home_path(name)
    path = path if path.is_absolute() or root is None else root / path
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        raise ValueError(
            message(
                "identity.key-is-open",
                "others can read {path} (mode {mode:04o}); run: chmod 600 {path}",
                path=path,
                mode=mode,
            )
        )


def current_key(keys: Sequence[SigningKey], now: float) -> int:
    """Return the number of the key that signs: the valid key that ends last.

    If none is valid, it is the next whose time comes; if all have ended, the last.

    Args:
        keys: The keys, the newest first.
        now: Seconds since the epoch.
    """

    def rank(number: int) -> tuple[bool, float, float]:
        key = keys[number]
        end = key.expires or inf
        return end > now, -max(key.not_before - now, 0), end

    return max(range(len(keys)), key=rank)


class RequestSigner:
    """Signs requests, each with the key that `current_key` chooses.

    Args:
        settings: The settings; they have a key.
        now: Returns the time of the machine, seconds since the epoch.
    """

    __slots__ = ("_forms", "_keys", "_now")

    def __init__(self, settings: IdentitySettings, now: Callable[[], float]) -> None:
        agent, form = settings.directory, settings.form
        self._keys = settings.keys
        holders = (KeyHolder(key.keyid, key.private.sign, agent, form) for key in self._keys)
        self._forms = [RequestForm(holder, settings.lifetime) for holder in holders]
        self._now = now

    def sign(self, request: bytes) -> bytes:
        """Return the header lines that sign a request, for one use.

        Args:
            request: The request as it would be sent without them.
        """
        now = int(self._now())
        number = current_key(self._keys, now)
        return self._forms[number].sign(request, now, os.urandom(_NONCE))


def make_signer(settings: IdentitySettings, now: Callable[[], float]) -> RequestSigner | None:
    """Return what signs requests; None if they are not signed."""
    return RequestSigner(settings, now) if settings.key else None
