"""Text from the web, escaped for a line of a log or terminal, and for HTML and SVG (pure).

Pages and URLs of the web are hostile. No text can break a line of a log. In HTML every text and
every attribute is escaped here and only here: nothing becomes markup, a link or a script, and
characters that change the direction of writing are shown by their numbers.
"""

from html import escape


def _is_break(code: int) -> bool:
    """A blank, or a control character, anywhere in Unicode (the last blank is U+3000)."""
    return chr(code).isspace() or code < 0x20 or 0x7F <= code < 0xA0


_BREAKS = {
    code: "".join(f"%{byte:02X}" for byte in chr(code).encode())
    for code in range(0x3001)
    if _is_break(code)
}
_BLANKS = dict.fromkeys(_BREAKS, " ")


def safe(text: str) -> str:
    """A field of a line: blanks and control characters become `%20` and so on; "-" when empty."""
    if not text:
        return "-"
    return text if text.isascii() and text.isalnum() else text.translate(_BREAKS)


def flat(text: str) -> str:
    """A text for people on one line: each run of blanks and control characters is one blank."""
    return " ".join(text.translate(_BLANKS).split())


def visible(line: str) -> str:
    """Return a line that keeps its blanks and its indentation, without control characters."""
    return line if line.isprintable() else line.translate(_BLANKS)


# ---- HTML and SVG

_CONTROL = (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))
_TURNING = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_SHOWN = {code: f"\\x{code:02x}" for code in _CONTROL}
_SHOWN |= {code: f"\\u{code:04x}" for code in (*_TURNING, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)}
_VOID = frozenset(("meta", "br", "link", "category", "rect", "line", "polyline"))


def text(value: str) -> str:
    """Return a text as markup that shows exactly it."""
    if value.isascii() and value.isalnum():
        return value
    return escape(printable(value), quote=True)


def printable(value: str) -> str:
    """Return a text with control and direction characters as numbers; markup is not escaped."""
    return value if value.isascii() and value.isprintable() else value.translate(_SHOWN)


def element(name: str, content: str = "", /, **attributes: str | float) -> str:
    """Return an element.

    Args:
        name: Its name, ours.
        content: Markup: of other elements, or of `text`.
        attributes: By name; `_` stands for `-`, and a final `_` is dropped (`class_`).
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    if name in _VOID and not content:
        return f"<{name}{written}/>"
    return f"<{name}{written}>{content}</{name}>"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return text(value)
    return f"{value:.1f}".removesuffix(".0")
