"""The text that a signature of an HTTP message covers. Pure.

Source: RFC 9421, section 2. Trailers are not supported, because Nacre does not receive them.
"""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

from nacre.wire.structured_fields import (
    FieldItem,
    FieldSyntaxError,
    InnerList,
    parse_dictionary,
    parse_list,
    serialize_dictionary,
    serialize_item,
    serialize_list,
    serialize_member,
)

_PORTS = {"http": ":80", "https": ":443"}
_FLAGS = frozenset(("sf", "key", "bs", "req", "name"))


class SignatureError(ValueError):
    """A signature cannot be made or checked; the text says why."""


class HttpMessage(NamedTuple):
    """A request or a response, as far as a signature covers it.

    Attributes:
        fields: Header fields in order, names in any case.
        method: Method; "" in a response.
        scheme: `http` or `https`; "" if unknown.
        authority: Value of the Host header.
        target: Path and query as sent, such as `/a?b=c`.
        status: Status of a response; 0 in a request.
    """

    fields: Sequence[tuple[str, str]]
    method: str = ""
    scheme: str = ""
    authority: str = ""
    target: str = ""
    status: int = 0

    def values(self, name: str) -> list[str]:
        """Return the values of the fields of a name, in lower case, without blanks around."""
        return [
            " ".join(part.strip(" \t") for part in value.split("\r\n")).strip()
            for field, value in self.fields
            if field.lower() == name
        ]

    def value(self, name: str) -> str | None:
        """Return the value of a field that may be on several lines; None if it is missing."""
        values = self.values(name)
        return ", ".join(values) if values else None


def signature_base(
    covered: InnerList, message: HttpMessage, request: HttpMessage | None = None
) -> str:
    """Return the signature base (section 2.5).

    Args:
        covered: Identifiers of the covered components, with the parameters of the signature.
        message: The message that is signed.
        request: The request that a response answers; None: there is none.

    Raises:
        SignatureError: A component is unknown, repeated, or not in the message.
    """
    lines: list[str] = []
    for item in covered.items:
        identifier = serialize_item(item)
        if any(line.startswith(f"{identifier}: ") for line in lines):
            raise SignatureError(f"covers {identifier} twice")
        lines.append(f"{identifier}: {_component(item, message, request)}")
    lines.append(f'"@signature-params": {serialize_member(covered)}')
    return "\n".join(lines)


def _component(item: FieldItem, message: HttpMessage, request: HttpMessage | None) -> str:
    name, parameters = item.value, item.parameters
    if not isinstance(name, str) or name != name.lower():
        raise SignatureError(f"no name of a component: {name!r}")
    if unknown := sorted(set(parameters) - _FLAGS):
        raise SignatureError(f"{name}: unknown parameter {unknown[0]}")
    source = message
    if "req" in parameters:
        if request is None or not message.status:
            raise SignatureError(f"{name}: req is for responses only")
        source = request
    value = _derived(item, source) if name.startswith("@") else _field(item, source)
    if value is None:
        raise SignatureError(f"the message has no {name}")
    if "\n" in value or not value.isascii():
        raise SignatureError(f"{name}: a line end or text outside ASCII")
    return value


def _derived(item: FieldItem, message: HttpMessage) -> str | None:
    """Return a derived component (section 2.2)."""
    if item.value == "@status":
        return str(message.status) if message.status else None
    if message.status:
        return None
    if item.value == "@query-param":
        return _query_parameter(item.parameters.get("name"), message)
    path, mark, query = message.target.partition("?")
    authority = normal_authority(message)
    return {
        "@method": message.method,
        "@authority": authority,
        "@scheme": message.scheme,
        "@target-uri": f"{message.scheme}://{authority}{message.target}",
        "@request-target": message.target,
        "@path": path or "/",
        "@query": mark + query or "?",
    }.get(str(item.value))


def normal_authority(message: HttpMessage) -> str:
    """Return the authority in lower case, without the default port (section 2.2.3)."""
    return message.authority.lower().removesuffix(_PORTS.get(message.scheme) or "\n")


def _query_parameter(name: object, message: HttpMessage) -> str | None:
    """Return a parameter of the query (section 2.2.8); None if there is not exactly one."""
    pairs = parse_qsl(message.target.partition("?")[2], keep_blank_values=True)
    values = [value for key, value in pairs if quote(key, safe="*-._") == name]
    return quote(values[0], safe="*-._") if len(values) == 1 else None


def _field(item: FieldItem, message: HttpMessage) -> str | None:
    """Return a header field (section 2.1)."""
    name, parameters = str(item.value), item.parameters
    values = message.values(name)
    if not values:
        return None
    if "bs" in parameters:
        return serialize_list([FieldItem(value.encode("latin-1")) for value in values])
    whole = ", ".join(values)
    try:
        if "key" in parameters:
            member = parse_dictionary(whole).get(str(parameters["key"]))
            return None if member is None else serialize_member(member)
        return _strict(whole) if "sf" in parameters else whole
    except FieldSyntaxError as error:
        raise SignatureError(f"{name}: {error}") from None


def _strict(text: str) -> str:
    """Serialize a structured field again: a dictionary, or else a list, which may be one item."""
    try:
        return serialize_dictionary(parse_dictionary(text))
    except FieldSyntaxError:
        return serialize_list(parse_list(text))
