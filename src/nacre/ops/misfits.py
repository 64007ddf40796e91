"""Fields of requests that do not fit their structs (pure)."""

import re
from typing import Final, NamedTuple, TypeVar

import msgspec

from nacre.config.facts import choices_of
from nacre.errors import ConfigError, Problem
from nacre.messages import message

_PLACE: Final = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
S = TypeVar("S", bound=msgspec.Struct)


class FieldMisfit(NamedTuple):
    """A field that does not fit.

    Attributes:
        path: It, such as `seeds[0]`; "" for the whole.
        words: What is wrong with it, and what it may be.
    """

    path: str
    words: str

    def __str__(self) -> str:
        """Both, in one line."""
        return f"{self.path}: {self.words}" if self.path else self.words


def misfit_of(error: msgspec.ValidationError, kind: type[msgspec.Struct]) -> FieldMisfit:
    """The field that an error of decoding is about (pure).

    Args:
        error: The error.
        kind: The struct that the text was decoded as.
    """
    text = str(error)
    place = _PLACE.search(text)
    reason = text[: place.start()] if place else text
    if "matching regex" in reason:
        reason = "it has a line break, another control character, or a sign that cannot be there"
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    field = fields.get(re.split(r"[.\[]", place[1])[0]) if place else None
    choices = choices_of(field.type) if field is not None and reason.startswith("Invalid") else ()
    named = ", ".join(filter(None, choices))
    words = f"{reason}; it is one of {named}" if named else reason
    return FieldMisfit(place[1] if place else "", words)


def bounded(wish: S) -> S:
    """A struct whose fields are within their bounds, so that it is read again as it is (pure).

    The bounds are looked at where something is decoded, and not where commands make a struct.

    Raises:
        ConfigError: A field is not.
    """
    kind = type(wish)
    try:
        return msgspec.json.decode(msgspec.json.encode(wish), type=kind)
    except msgspec.ValidationError as error:
        path, words = misfit_of(error, kind)
        raise ConfigError([Problem(path, words)]) from None
    except UnicodeEncodeError:  # bytes of a command line that are no text
        raise ConfigError(
            message("ops.invalid-characters", "it has characters that are none")
        ) from None
