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
_SHORT: Final[Mapping[str, tuple[str, ...]]] = {
    "changed": ("minor", "major"),
    "unchanged": ("none", "markup", "noise", "template"),
    "new": ("new",),
    "gone": ("missing", "gone", "soft-404"),
}


_ALWAYS = frozenset(("changed", "unchanged"))


def counts_text(counts: Mapping[str, int]) -> str:
    """`1 changed, 132 unchanged, 2 gone` (English).

    Args:
        counts: Pages by kind, as `count_changes` gives them.
    """
    return ", ".join(f"{n:,} {name}" for name, n in counts.items() if n or name in _ALWAYS)


def count_changes(found: Mapping[str, int]) -> dict[str, int]:
    """Pages that changed, stayed, are new and are gone, of a result of `found_by`.

    Args:
        found: Pages by what a visit found.
    """
    return {name: sum(found.get(kind, 0) for kind in kinds) for name, kinds in _SHORT.items()}


def changes_text(found: Mapping[str, int]) -> str:
    """`1 changed, 132 unchanged (3 noise only), 2 gone; still missing 4` (English).

    Args:
        found: Pages by what a visit found.
    """
    parts = []
    for name, number in count_changes(found).items():
        if number or name in _ALWAYS:
            kinds = [kind for kind in _SHORT[name] if kind != "none" and found.get(kind)]
            more = ", ".join(f"{FOUND_WORDS[kind]} {found[kind]:,}" for kind in kinds)
            parts.append(f"{number:,} {name}" + (f" ({more})" if more and name != "new" else ""))
    short = {kind for kinds in _SHORT.values() for kind in kinds}
    others = [f"{FOUND_WORDS.get(k, k)} {n:,}" for k, n in found.items() if k not in short]
    return "; ".join(filter(None, (", ".join(parts), ", ".join(others))))
