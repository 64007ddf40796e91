"""Regular expressions for URLs (pure)."""

import re


def beginning_with(prefix: str) -> str:
    """The expression for all URLs that begin like one, by http or https."""
    scheme, separator, after = prefix.partition("://")
    return f"^https?://{re.escape(after)}" if separator else f"^{re.escape(scheme)}"
