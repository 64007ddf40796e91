"""Words for the results of a recrawl (pure)."""

from collections.abc import Mapping
from typing import Final

from nacre.messages import message

FOUND_WORDS: Final[Mapping[str, str]] = {
    "new": message("verdict-short.new", "new"),
    "major": message("verdict-short.major", "major changes"),
    "minor": message("verdict-short.minor", "minor changes"),
    "template": message("verdict-short.template", "other template only"),
    "noise": message("verdict-short.noise", "noise only"),
    "markup": message("verdict-short.markup", "other markup only"),
    "none": message("verdict-short.none", "unchanged"),
    "missing": message("verdict-short.missing", "newly missing"),
    "gone": message("verdict-short.gone", "gone"),
    "soft-404": message("verdict-short.soft-404", "soft-404"),
    "moved": message("verdict-short.moved", "moved"),
    "still missing": message("verdict-short.still-missing", "still missing"),
    "never there": message("verdict-short.dead-links", "dead links"),
    "silent": message("verdict-short.silent", "no answer or refused"),
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


def count_changes(result: Mapping[str, int]) -> dict[str, int]:
    """Pages that changed, stayed, are new and are gone, of a result of `found_by`.

    Args:
        result: Pages by what a visit found.
    """
    return {name: sum(result.get(kind, 0) for kind in kinds) for name, kinds in _SHORT.items()}


def changes_text(result: Mapping[str, int]) -> str:
    """`1 changed, 132 unchanged (3 noise only), 2 gone; still missing 4` (English).

    Args:
        result: Pages by what a visit found.
    """
    parts = []
    for name, number in count_changes(result).items():
        if number or name in _ALWAYS:
            kinds = [kind for kind in _SHORT[name] if kind != "none" and result.get(kind)]
            more = ", ".join(f"{FOUND_WORDS[kind]} {result[kind]:,}" for kind in kinds)
            parts.append(f"{number:,} {name}" + (f" ({more})" if more and name != "new" else ""))
    short = {kind for kinds in _SHORT.values() for kind in kinds}
    unnamed = [f"{FOUND_WORDS.get(k, k)} {n:,}" for k, n in result.items() if k not in short]
    return "; ".join(filter(None, (", ".join(parts), ", ".join(unnamed))))
