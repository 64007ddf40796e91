"""Numbers with their units, as people read them: bytes, spans of time, shares (pure)."""

_SIZES = ("B", "KB", "MB", "GB", "TB", "PB")
_SPANS = ((365.0, "y"), (1.0, "d"), (1 / 24, "h"), (1 / 1440, "min"), (1 / 86400, "s"))
_FOR_EVER = 36_500.0


def size(count: float) -> str:
    """Bytes: `512 B`, `1.5 MB`, in thousands."""
    unit = 0
    while count >= 1000.0 and unit < len(_SIZES) - 1:
        count /= 1000.0
        unit += 1
    digits = 0 if count >= 100.0 or not unit else 1
    return f"{count:.{digits}f} {_SIZES[unit]}"


def span(days: float) -> str:
    """A time in days: `20 s`, `3.5 h`, `12 d`, `2.1 y`; `never` for more than a century."""
    if not days < _FOR_EVER:
        return "never"
    length, name = next((unit for unit in _SPANS if days >= unit[0]), _SPANS[-1])
    return f"{short(days / length)} {name}"


def share(part: float) -> str:
    """A share as per cent, with one digit more near its ends: `99.52 %`."""
    percent = 100.0 * part
    digits = 1 if 1.0 <= percent <= 99.0 or percent in {0.0, 100.0} else 2
    return f"{percent:.{digits}f} %"


def short(value: float) -> str:
    """A number to three digits, or whole: `0.123`, `12.3`, `1,234`."""
    if value >= 100.0 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
