"""What a mistyped name was meant to be."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known name that is most like another, whatever the case; "" for none."""
    plain = {other.lower().replace("-", "_"): other for other in known}
    near = difflib.get_close_matches(name.lower().replace("-", "_"), plain, n=1, cutoff=cutoff)
    return plain[near[0]] if near else ""
