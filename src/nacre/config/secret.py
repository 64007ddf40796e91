"""Secrets: settings that are given by reference, and never shown."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from nacre.machine.local_files import home_path, read_ordinary
from nacre.messages import message
from nacre.uri.typed import hidden

_EXPECTED = message("config.text-or-reference", "a text, `{{env: NAME}}` or `{{file: PATH}}`")
_LONGEST = 65_536
NOT_SHOWN = "(set, not shown)"
_ADDRESS = re.compile(r"(?:https?|socks5)://[^@\s]+", re.IGNORECASE)
"""A proxy without user and password in it, which may be shown."""
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
"""A private key in PEM, or its begin: a secret in each setting."""


_may_be_unread: ContextVar[bool] = ContextVar("may_be_unread", default=False)


class UnreadSecretError(ValueError):
    """The file or variable of a secret cannot be read by this user."""


@contextmanager
def allow_unread_secrets() -> Iterator[None]:
    """Accept secrets that cannot be read while the block runs: their text is empty.

    For explanations to users who may read a job and not its secrets. A run needs all of them.
    """
    token = _may_be_unread.set(True)
    try:
        yield
    finally:
        _may_be_unread.reset(token)


class Secret:
    """A text that no log, report or message shows; `text` is for the one place that needs it.

    `{env: NAME}` takes it from the environment, `{file: PATH}` from a file (its blanks and line
    ends around the text left out; relative to the job).

    Attributes:
        text: The secret itself; "" for none.
        source: Its reference, such as `{"env": "NAME"}`; empty for a plain text.
    """

    __slots__ = ("source", "text")

    def __init__(self, text: str = "", source: Mapping[str, str] | None = None) -> None:
        self.text = text
        self.source = dict(source or {})

    def __bool__(self) -> bool:
        return bool(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Secret({self})"

    def __str__(self) -> str:
        """Return its reference, or that there is a secret."""
        for kind, name in self.source.items():
            return f"{{{kind}: {name}}}"
        return self._visible or "none"

    @property
    def _visible(self) -> str:
        """The part of the text that may be shown; "" for none."""
        return NOT_SHOWN if self.text and not _ADDRESS.fullmatch(self.text) else self.text

    @property
    def is_plain(self) -> bool:
        """Whether it is in the configuration itself, where others may read it."""
        return self._visible == NOT_SHOWN and not self.source

    def as_setting(self) -> dict[str, str] | str:
        """Return the form for configurations: the reference, or a mark that there is a secret."""
        return dict(self.source) if self.source else self._visible

    @classmethod
    def __get_pydantic_core_schema__(
        cls,
        source: Any,  # noqa: ANN401 - as pydantic calls it
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        """Return how pydantic reads and writes a secret."""
        return core_schema.with_info_plain_validator_function(
            _read, serialization=core_schema.plain_serializer_function_ser_schema(Secret.as_setting)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a text, or one of the two references."""
        references = [
            {
                "type": "object",
                "properties": {kind: {"type": "string"}},
                "required": [kind],
                "additionalProperties": False,
            }
            for kind in ("env", "file")
        ]
        return {"anyOf": [{"type": "string"}, *references]}


_NAMES = frozenset(("password", "proxy"))


def masked(tree: Any, path: str = "") -> Any:  # noqa: ANN401 - YAML
    """Values as written, without the secrets among them: those of sheets are not validated yet.

    Args:
        tree: The values.
        path: Their place.
    """
    if _hides(path, tree):
        return NOT_SHOWN
    if isinstance(tree, Mapping):
        return {key: masked(value, str(key)) for key, value in tree.items()}
    if isinstance(tree, str):
        return NOT_SHOWN if PRIVATE_KEY.search(tree) else hidden(tree)
    return [masked(item) for item in tree] if isinstance(tree, list | tuple) else tree


def _hides(path: str, value: object) -> bool:
    name = path.rpartition(".")[2]
    return (
        name in _NAMES and isinstance(value, str) and bool(value and not _ADDRESS.fullmatch(value))
    )


def _read(value: object, info: ValidationInfo) -> Secret:
    if isinstance(value, Secret):
        return value
    if isinstance(value, str):
        return Secret(value)
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError(
            message("config.must-be-reference", "must be {expected}", expected=_EXPECTED)
        )
    ((kind, name),) = value.items()
    if kind not in ("env", "file") or not isinstance(name, str) or not name:
        raise ValueError(
            message("config.must-be-reference", "must be {expected}", expected=_EXPECTED)
        )
    root = (info.context or {}).get("root")
    try:
        text = _of_environment(name) if kind == "env" else _of_file(name, root)
    except UnreadSecretError:
        if not _may_be_unread.get():
            raise
        text = ""
    return Secret(text, {kind: name})


def _of_environment(name: str) -> str:
    text = os.environ.get(name, "")
    if not text:
        raise UnreadSecretError(
            message(
                "config.environment-has-no-variable",
                "the environment has no variable {name}",
                name=name,
            )
        )
    return text


def _of_file(name: str, root: Path | None) -> str:
    path = home_path(name)
    if not path.is_absolute():
        if root is None:
            raise ValueError(
                message(
                    "config.relative-path",
                    "a relative path is not known here; write that of {name} in full",
                    name=name,
                )
            )
        path = root / path
    try:
        text = read_ordinary(path, _LONGEST).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        kind = UnreadSecretError if isinstance(error, OSError) else ValueError
        raise kind(
            message(
                "config.secret-cannot-be-read",
                "{path} cannot be read: {reason}",
                path=path,
                reason=getattr(error, "strerror", error),
            )
        ) from None
    if not text:
        raise ValueError(message("config.is-empty", "{path} is empty", path=path))
    return text
