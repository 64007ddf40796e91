"""Words for the results of a recrawl (pure)."""

from collections.abc import Mapping
from typing import Final


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


FOUND_WORDS: Final[Mapping[str, str]] = {
    "new": _("new"),
    "major": _("major changes"),
    "minor": _("minor changes"),
    "template": _("other template only"),
    "noise": _("noise only"),
    "markup": _("other markup only"),
    "none": _("unchanged"),
    "missing": _("newly missing"),
    "gone": _("gone"),
    "soft-404": _("soft-404"),
    "moved": _("moved"),
    "still missing": _("still missing"),
    "never there": _("dead links"),
    "silent": _("no answer or refused"),
}
"""The names of `found_by`, in words."""
