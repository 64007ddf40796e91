"""HTML and SVG from parts: every text and every attribute is escaped here, and only here (pure).

Pages and URLs of the web are hostile: nothing of them becomes markup, a link or a script, and
characters that turn the direction of writing are shown by their numbers.
"""

from html import escape

_CONTROL = (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))
_TURNING = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_SHOWN = {code: f"\\x{code:02x}" for code in _CONTROL}
_SHOWN |= {code: f"\\u{code:04x}" for code in (*_TURNING, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)}
_VOID = frozenset(("meta", "br", "rect", "line", "polyline"))


def text(value: str) -> str:
    """A text as markup that shows exactly it."""
    if value.isascii() and value.isalnum():
        return value
    return escape(value.translate(_SHOWN), quote=True)


def element(name: str, content: str = "", /, **attributes: str | float) -> str:
    """An element.

    Args:
        name: Its name, ours.
        content: Markup: of other elements, or of `text`.
        attributes: By name; `_` stands for `-`, and one at the end is dropped (`class_`).
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
