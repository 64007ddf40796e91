"""Text from the web in a line of a log: whatever it is, it cannot break the line."""


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
    """A line that keeps its blanks and its indentation, without control characters."""
    return line if line.isprintable() else line.translate(_BLANKS)
