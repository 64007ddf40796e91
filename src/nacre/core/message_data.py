"""Messages within data: how they travel between processes, and how they become plain texts.

msgspec encodes no subclass of `str`. If data can contain messages, these functions take its place.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec

from nacre.messages import Message, pack, plain, unpack

T = TypeVar("T")
_EXTENSION: Final = 1
"""The type of messages among the extensions of msgpack."""
MESSAGES: Final = "messages"
"""The field of JSON with the codes of other texts in the same object."""


def to_builtins(value: object) -> Any:  # noqa: ANN401 - plain data of any shape
    """Plain data of a struct; messages stay messages."""
    return msgspec.to_builtins(value, builtin_types=(Message,))


def to_plain(value: object) -> Any:  # noqa: ANN401 - plain data of any shape
    """Plain data of a struct; messages become texts."""
    return msgspec.to_builtins(value, enc_hook=plain)


def to_json(value: object) -> bytes:
    """Return a value as JSON; messages become texts."""
    return msgspec.json.encode(value, enc_hook=plain)


def encode(value: object) -> bytes:
    """Return a value in msgpack; messages stay messages for `decode_message`."""
    return msgspec.msgpack.encode(value, enc_hook=_encode_message)


def _encode_message(value: object) -> msgspec.msgpack.Ext:
    if isinstance(value, Message):
        return msgspec.msgpack.Ext(_EXTENSION, json.dumps(pack(value)).encode())
    raise TypeError(f"objects of type {type(value).__name__} cannot be encoded")


def decode_message(code: int, data: memoryview) -> Message:
    """Return the hook of a msgpack decoder for messages.

    Raises:
        ValueError: The extension is no message.
    """
    if code != _EXTENSION:
        raise ValueError(f"unknown extension {code}")
    return unpack(json.loads(bytes(data)))


def with_codes(data: Mapping[str, Any]) -> dict[str, Any]:
    """Add the codes of the messages of JSON beside their texts.

    Args:
        data: Plain data.

    Returns:
        The data; if they have messages, with `messages`: each with its code, its parameters, and
        the place of its text as a list of names and numbers (`at`).
    """
    packed = [{"at": place, **pack(text)} for place, text in _messages_in((), data)]
    return {**data, MESSAGES: packed} if packed else {**data}


Place = tuple[str | int, ...]


def _messages_in(place: Place, value: object) -> Iterator[tuple[Place, Message]]:
    match value:
        case Message():
            yield place, value
        case dict():
            for name, part in value.items():
                yield from _messages_in((*place, name), part)
        case list() | tuple():
            for number, part in enumerate(value):
                yield from _messages_in((*place, number), part)
        case _:
            pass


def restore(data: dict[str, Any]) -> dict[str, Any]:
    """Restore messages from texts and their codes in the same object; unfit codes are ignored.

    Args:
        data: The decoded JSON of a result of `with_codes`. It is changed.
    """
    packed = data.pop(MESSAGES, None)
    for entry in packed if isinstance(packed, list) else ():
        with suppress(LookupError, TypeError, ValueError):
            *way, last = entry["at"]
            holder: Any = data
            for part in way:
                holder = holder[part]
            if isinstance(holder[last], str):
                holder[last] = unpack(entry)
    return data


def to_stored_json(value: object) -> bytes:
    """Return a value as JSON that keeps the codes of its messages, for `from_stored_json`."""
    return to_json(_coded(to_builtins(value)))


def _coded(data: object) -> object:
    match data:
        case dict():
            return with_codes(data)
        case list() | tuple():
            return [_coded(item) for item in data]
        case _:
            return data


def from_stored_json(data: bytes | str, kind: type[T]) -> T:
    """Decode a result of `to_stored_json`; texts without codes, as of earlier versions, stay texts.

    Args:
        data: The JSON.
        kind: The type of the value.

    Raises:
        msgspec.MsgspecError: The data are not JSON, or not of this type.
    """
    marker = f'"{MESSAGES}"'
    if marker not in data if isinstance(data, str) else marker.encode() not in data:
        return msgspec.json.decode(data, type=kind)
    return msgspec.convert(_restored(msgspec.json.decode(data)), kind, str_keys=True)


def _restored(data: object) -> object:
    match data:
        case dict():
            return restore(data)
        case list():
            return [_restored(item) for item in data]
        case _:
            return data


_TEXT: Final = "text"


def to_stored_text(text: str) -> str:
    """Return a text for a column of texts: a message as JSON, any other text as it is."""
    return to_stored_json({_TEXT: text}).decode() if isinstance(text, Message) else text


def from_stored_text(text: str) -> str:
    """Return the text of a column that `to_stored_text` wrote, or an earlier version without it."""
    if text.startswith('{"' + _TEXT):
        with suppress(msgspec.MsgspecError, LookupError):
            restored = from_stored_json(text, dict[str, str])[_TEXT]
            if isinstance(restored, Message):
                return restored
    return text
