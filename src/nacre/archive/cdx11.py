"""CDX lines with eleven fields, as OutbackCDX and other servers take them (pure).

They are converted from lines of CDXJ. Source: ` CDX N b a m s k r M S V g` of the CDX file format
of the Internet Archive; OutbackCDX's README.
"""

import json

HEADER = " CDX N b a m s k r M S V g"
"""The first line of a file: the letters of the fields."""
_ABSENT = "-"


def cdx11_line(line: str) -> str:
    """Return the line of eleven fields for a CDXJ line, without a newline; "" if it is invalid.

    The key is that of CDXJ. A digest has no label, as SHA-1 is understood; others keep theirs.

    Args:
        line: It, with or without a newline.
    """
    key, _, after_key = line.strip().partition(" ")
    time, _, text = after_key.partition(" ")
    try:
        facts = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(facts, dict) or not key or not time.isdecimal():
        return ""
    fields = (
        key, time, _field(facts.get("url")), _field(facts.get("mime")), _field(facts.get("status")),
        _field(facts.get("digest")).removeprefix("sha1:"), _ABSENT, _ABSENT,
        _field(facts.get("length")), _field(facts.get("offset")), _field(facts.get("filename")),
    )  # fmt: skip
    return "" if _ABSENT in (fields[2], fields[9], fields[10]) else " ".join(fields)


def _field(value: object) -> str:
    """Return a field; blanks, which would begin another field, are `%20`."""
    text = str(value) if value is not None else ""
    return "".join(_escaped(char) if char.isspace() or not char.isprintable() else char
                   for char in text) or _ABSENT  # fmt: skip


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
