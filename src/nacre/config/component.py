"""The settings of a component: frozen, typed, documented, with units and suffixes."""

import functools
import re
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.config import JsonDict

from nacre.config.registry import Registry
from nacre.messages import message

M = TypeVar("M", bound=BaseModel)

_SIZE = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_TIME = {
    "": 1.0,
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
}
_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*\Z")


def parse_size(value: object) -> object:
    """Return bytes from `500 MB`, `64MiB`, `1g`; numbers and other values are returned as given."""
    if not isinstance(value, str):
        return value
    match = _NUMBER.match(value)
    unit = match[2].lower().removesuffix("b") if match else ""
    factor = _SIZE.get(unit) or _BINARY.get(unit)
    if not match or factor is None:
        raise ValueError(
            message(
                "config.not-size",
                "not a size; write bytes or a number with kB, MB, GB, KiB, MiB or GiB",
            )
        )
    return round(float(match[1]) * factor)


def parse_duration(value: object) -> object:
    """Return seconds from `90`, `1.5 s`, `250ms`, `10m`, `1h`, `7d`; only text is converted."""
    if not isinstance(value, str):
        return value
    match = _NUMBER.match(value)
    factor = _TIME.get(match[2].lower()) if match else None
    if not match or factor is None:
        raise ValueError(
            message(
                "config.not-duration",
                "not a duration; write seconds or a number with ms, s, m, h, d or w",
            )
        )
    return float(match[1]) * factor


_NUMBER_OF = r"^\s*[0-9]+(\.[0-9]+)?\s*"
_SIZES = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": _NUMBER_OF + "([kKmMgGtT][iI]?)?[bB]?$"},
    ]
}
_DURATIONS = {
    "anyOf": [
        {"type": "number", "minimum": 0},
        {"type": "string", "pattern": _NUMBER_OF + "(ms|s|m|min|h|d|w)?$"},
    ]
}

Bytes = Annotated[int, BeforeValidator(parse_size), Field(ge=0), WithJsonSchema(_SIZES)]
"""A size in bytes, in YAML also as `500 MB`."""

Seconds = Annotated[float, BeforeValidator(parse_duration), Field(ge=0), WithJsonSchema(_DURATIONS)]
"""A duration in seconds, in YAML also as `10m`."""


class NamedKind(Enum):
    """The kind of thing outside the crawl that a setting names; rights of the console follow it.

    A setting declares it in its annotation, such as `ca: FileName`; `config.named_values` finds
    the values. `FILE`: a file or directory that is read or written; `PROGRAM`: a program that is
    executed; `VARIABLE`: a variable of the environment; `SERVER`: a server that the crawler
    contacts itself, besides the crawled sites; `NETWORK`: networks and addresses that it may
    connect to; `LISTENER`: a port that others can connect to.
    """

    FILE = "file"
    PROGRAM = "program"
    VARIABLE = "variable"
    SERVER = "server"
    NETWORK = "network"
    LISTENER = "listener"


FileName = Annotated[str, NamedKind.FILE]
"""A path of a file or directory."""

ServerAddress = Annotated[str, NamedKind.SERVER]
"""The URL of a server that the crawler contacts itself."""

ProgramName = Annotated[str, NamedKind.PROGRAM]
"""The name or path of a program that is executed."""

NetworkName = Annotated[str, NamedKind.NETWORK]
"""An address or a network that connections may lead to, or begin at."""

ListenAddress = Annotated[str, NamedKind.LISTENER]
"""An address and port that others can connect to."""


def setting(  # noqa: PLR0913 - properties of a field
    default: Any,
    doc: str,
    *,
    unit: str = "",
    live: bool = True,
    sheets: bool = True,
    items: bool = False,
    sample: str = "",
    **limits: Any,
) -> Any:
    """Return a field of a component.

    Args:
        default: Its default; `...` makes it required.
        doc: Meaning, with that of 0 and None.
        unit: `s`, `bytes`, `URIs` and so on; "" for none.
        live: It can be changed while the job runs.
        sheets: A sheet can change it for some URIs.
        items: Of a list: `live` and `sheets` apply to the list only, not to the values of its
            items.
        sample: A good value as YAML, for messages; "" if the default is one.
        **limits: Constraints of pydantic's `Field`, such as `ge`.
    """
    extra: JsonDict = {"unit": unit, "live": live, "sheets": sheets}
    if items:
        extra["items"] = True
    if sample:
        extra["sample"] = sample
    if callable(default):
        return Field(default_factory=default, description=doc, json_schema_extra=extra, **limits)
    return Field(default, description=doc, json_schema_extra=extra, **limits)


def section(kind: "type[Component]", doc: str, *, sheets: bool = True) -> Any:
    """A field that is a component of Nacre, by default with the default of each of its settings.

    Defaults are used unchanged, already of their types: only the values of a job are validated, and
    no validators are built for components that it does not configure.

    Args:
        kind: The component.
        doc: What it is about.
        sheets: See `setting`.
    """
    # Components are frozen, so that all jobs share one object: to build them again takes longer
    # than the validation of a job's values.
    return setting(functools.cache(kind.model_construct), doc, sheets=sheets)


class Component(BaseModel):
    """Base of every component's settings: frozen; an unknown key is an error.

    Attributes:
        kind_key: Key by which a mapping in a sheet replaces the whole component instead of some of
            its fields; "" if there is none.
        contract: Of a plug-in: the contract that it was written for; 0 for Nacre's own.
        sent_to: Names of the settings that determine the recipients of its secrets. None: those
            whose types name a server or a file.
    """

    kind_key: ClassVar[str] = ""
    contract: ClassVar[int] = 0
    sent_to: ClassVar[tuple[str, ...] | None] = None

    # Most components have no part in a job: their validators are made when they are needed.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    @classmethod
    def chosen(cls, value: object) -> "type[Component]":
        """The component that a mapping of a configuration means, of those that begin alike."""
        return cls


class ComponentRegistry(Registry[type[M]]):
    """Components by the field that names them, such as `rule: accept`; it reads them as well.

    Args:
        base: Base class of the components.
        key: The field with the name of the component; also the word for it: `rule`.
        shape: Form of a component in a configuration, for errors.
    """

    def __init__(self, base: type[M], key: str, shape: str) -> None:
        super().__init__(key, self._is_one, self._name_of_model)
        self._base = base
        self._shape = shape

    def read(self, value: object) -> M:
        """Read a component of a configuration: its name, or a mapping with the name.

        Raises:
            ValueError: It is none, or its settings are wrong.
        """
        if isinstance(value, self._base):
            return value
        key = self.noun
        if isinstance(value, str):
            value = {key: value}
        if not isinstance(value, Mapping):
            raise self._none(self._shape)
        fields = self.spelled(value)
        name = fields.get(key)
        if not isinstance(name, str):
            raise self._none(
                message(
                    "config.component-without-name",
                    "it says no `{key}`, the name of the {key}",
                    key=key,
                )
            )
        kind = self.get(name)
        return kind.model_validate({**fields, key: kind.model_fields[key].default})

    def spelled(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        """Return the input, in Nacre's names of settings."""
        return dict(value)

    def _is_one(self, part: object) -> bool:
        return isinstance(part, type) and issubclass(part, self._base)

    def _name_of_model(self, part: type[M]) -> str:
        field = part.model_fields.get(self.noun)
        name = field.default if field is not None else None
        if not isinstance(name, str):
            key = self.noun
            raise self._none(
                message(
                    "config.component-needs-field",
                    '{qualname} needs a field `{key}: Literal["…"] = "…"`',
                    qualname=part.__qualname__,
                    key=key,
                )
            )
        return name

    def _none(self, reason: str) -> ValueError:
        # Pydantic collects ValueErrors; a TypeError would end the whole check.
        return ValueError(
            message(
                "config.not-a-component", "not a {kind}: {reason}", kind=self.noun, reason=reason
            )
        )
