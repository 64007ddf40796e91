"""Messages: English texts that remember their code and their parameters (pure).

A text that people read and that arises below the command line and the console is a `Message`. Every
part of Nacre that prints or stores it uses its English text; a face writes it in another language
by its code (`nacre.languages`). Nothing recognizes a finished text.

The code and the English template are written where the message is created::

    raise JobError(message("job.no-run", "there is no run {number}", number=number))

`tools.message_texts` collects them for the catalogues.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, Self, SupportsIndex

Param = str | int | float | None
"""A value of a message; a text can be a message itself."""
Translate = Callable[["Message"], str]


class Message(str):
    """An English text with its code and its parameters.

    Args:
        code: Names the message in the catalogues, such as `job.no-run`.
        template: The English text, with a place for each parameter as `str.format` has it.
        params: The parameters, by name.

    Attributes:
        code: As above.
        template: As above.
        params: As above.
    """

    __slots__ = ("code", "params", "template")

    code: str
    template: str
    params: Mapping[str, Param]

    def __new__(cls, code: str, template: str, params: Mapping[str, Param]) -> Self:
        """Fill in the parameters."""
        text = super().__new__(cls, template.format_map(params))
        text.code, text.template, text.params = code, template, params
        return text

    def __reduce_ex__(self, _protocol: SupportsIndex) -> tuple[object, ...]:
        """Copies and pickles have the code and the parameters too."""
        return Message, (self.code, self.template, dict(self.params))

    def write(self, translate: Translate) -> str:
        """The text in another language.

        A translation that does not fit the parameters leaves the text English: the message can be
        of another version of Nacre, as of a job that ran before an upgrade.

        Args:
            translate: Gives the template of a message in that language.
        """
        template = translate(self)
        if self.code == self:  # a static text, whose translation may have braces
            return str(self) if template == self.template else template
        params = {name: write(value, translate) for name, value in self.params.items()}
        try:
            return template.format_map(params)
        except (LookupError, ValueError, TypeError, AttributeError):
            return str(self)


def write(value: Param, translate: Translate) -> Param:
    """A text in another language; other values than messages are not changed."""
    return value.write(translate) if isinstance(value, Message) else value


def message(code: str, template: str, /, **params: object) -> Message:
    """Make a message.

    Args:
        code: Its code: the package, a dot, and words with hyphens. A code has one template.
        template: The English text, with `{name}` for each parameter; a brace is doubled.
        params: The parameters. Numbers and texts stay; an error is its message; anything else
            becomes text.
    """
    return Message(code, template, {name: _param(value) for name, value in params.items()})


def plural(code: str, singular: str, many: str, /, **params: object) -> Message:
    """Make a message about a number of things, which is the first parameter.

    Args:
        code: As for `message`.
        singular: The English text if the number is 1.
        many: The English text for all other numbers; the catalogues translate it.
        params: As for `message`.
    """
    number = next(iter(params.values()))
    return message(code, singular if number == 1 else many, **params)


def static(text: str) -> str:
    """Make a message of a text without parameters whose code is the text; "" stays.

    It is for the meanings and units of settings, which the catalogues have under their texts.
    """
    if not text or isinstance(text, Message):
        return text
    return Message(text, text.replace("{", "{{").replace("}", "}}"), {})


def join(texts: Iterable[str], code: str, template: str) -> str:
    """Join texts, of which each can be a message; "" for none.

    Args:
        texts: The texts; empty texts are left out.
        code: As for `message`.
        template: How two are joined: `{first}` and `{rest}`.
    """
    joined = ""
    for text in texts:
        if text:
            joined = message(code, template, first=joined, rest=text) if joined else text
    return joined


def capitalize(text: str) -> str:
    """Return a text that begins with a capital letter, as the beginning of a sentence does.

    Args:
        text: The text; the template of a message, or its first parameter, is changed.
    """
    if not isinstance(text, Message):
        return text[:1].upper() + text[1:]
    name = text.template[1:].partition("}")[0] if text.template.startswith("{") else ""
    first = text.params.get(name)
    if isinstance(first, str):
        return Message(text.code, text.template, {**text.params, name: capitalize(first)})
    template = text.template[:1].upper() + text.template[1:]
    return Message(text.code, template, text.params)


LINES: Final = "text.lines", "{first}\n{rest}"
SEMICOLON: Final = "text.semicolon", "{first}; {rest}"
COMMA: Final = "text.comma", "{first}, {rest}"
OR: Final = "text.or", "{first} or {rest}"
SENTENCES: Final = "text.sentences", "{first} {rest}"
"""How `join` joins: the code and the template."""


def plain(value: object) -> str:
    """The text alone, for encoders that accept no other class.

    Raises:
        TypeError: It is no message, and nothing that such an encoder can write.
    """
    if isinstance(value, Message):
        return str(value)
    raise TypeError(f"objects of type {type(value).__name__} cannot be encoded")


def _param(value: object) -> Param:
    if value is None or isinstance(value, Message | int | float):
        return value
    return error_text(value) if isinstance(value, BaseException) else format(value)


def find(text: object, codes: Collection[str]) -> Message | None:
    """Find the message of one of these codes: the text itself, or one within it; None for none."""
    if not isinstance(text, Message):
        return None
    if text.code in codes:
        return text
    matches = (find(value, codes) for value in text.params.values())
    return next((match for match in matches if match is not None), None)


def error_text(error: BaseException) -> str:
    """The text of an error: the message that it was raised with, if it was."""
    first = error.args[0] if error.args else None
    return first if isinstance(first, Message) else str(error)


def pack(text: Message) -> dict[str, object]:
    """A message as plain data: `code`, `template` and `params`."""
    params = {
        name: pack(value) if isinstance(value, Message) else value
        for name, value in text.params.items()
    }
    return {"code": text.code, "template": text.template, "params": params}


def unpack(data: object) -> Message:
    """The message of plain data, as `pack` makes them.

    Raises:
        ValueError: The data are no message.
    """
    match data:
        case {"code": str(code), "template": str(template), "params": dict(params)}:
            values = {
                str(name): unpack(value) if isinstance(value, dict) else value
                for name, value in params.items()
            }
            try:
                return Message(code, template, values)
            except (LookupError, TypeError, AttributeError) as error:
                raise ValueError(f"not a message: {error}") from None
        case _:
            raise ValueError("not a message")
