"""The value of `Refresh`, as a header and as a meta element."""

import re

_REFRESH = re.compile(r"\s*([0-9]+[0-9.]*|\.[0-9.]*)?\s*(?:[;,]\s*|\s+|\Z)")
_URL = re.compile(r"url\s*=\s*", re.IGNORECASE)


def refresh_target(value: str) -> str | None:
    """The URL that a refresh leads to, as written; None when it names none or reloads the page.

    Source: HTML Standard, "shared declarative refresh steps"; a missing delay is tolerated
    before `url=`.
    """
    match = _REFRESH.match(value)
    rest = value[match.end() :] if match else value
    named = _URL.match(rest)
    if named:
        rest = rest[named.end() :]
    elif not match or match[1] is None:
        return None
    if rest[:1] in {"'", '"'}:
        rest = rest[1:].partition(rest[0])[0]
    return rest.strip() or None
