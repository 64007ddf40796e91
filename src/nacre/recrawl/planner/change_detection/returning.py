"""Versions of a page that return: known texts that it had before (pure)."""

import msgspec

from nacre.core.pageview import PageView
from nacre.recrawl.planner.change_detection.change import Change, ChangeClass
from nacre.recrawl.planner.change_detection.masking import masked
from nacre.recrawl.planner.change_detection.template import name_of
from nacre.recrawl.planner.tuning import guess

_READ = frozenset(("text", "title", "heading"))
RETURNED = "returned"
"""Reason of a verdict: the page had this text before."""
_VERSIONS = 8
"""A bound of memory: texts of a page that are remembered."""
_OFTEN = guess(
    "returning.often",
    3,
    "Number of returns to known texts, with no new text between, from which on a further one is "
    "noise.",
)
_LATELY = guess("returning.lately", 8, "Number of visits in which those returns are counted.")


class PastVersions(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The texts that a page had, the last one first; kept in the store.

    Attributes:
        texts: Their digests.
        returns: Numbers of the last visits at which a known text returned, since the last new one.
    """

    texts: tuple[int, ...] = ()
    returns: tuple[int, ...] = ()


def own_text(view: PageView) -> int:
    """A digest of what a page says, in whatever order; menus, clocks and counters left out."""
    return name_of(
        "\n".join(sorted(masked(piece.text) for piece in view.pieces if piece.kind in _READ))
    )


def with_past(
    change: Change, past: PastVersions, text: int, visit: int
) -> tuple[Change, PastVersions]:
    """The verdict on a change in the light of earlier versions, and these with the new one.

    A text that returns is a change with the reason `returned`. Of a page that goes to and fro
    between texts that the archive has, a further return is noise.

    Args:
        change: The verdict beside the last version.
        past: Texts before.
        text: Digest of the text now.
        visit: Number of the visit.
    """
    if text == past.texts[0]:
        return change, past
    texts = (text, *(one for one in past.texts if one != text))[:_VERSIONS]
    if text not in past.texts:
        return change, PastVersions(texts)
    lately = tuple(one for one in past.returns if one > visit - _LATELY)
    now = PastVersions(texts, (*lately, visit)[-_LATELY:])
    if len(lately) >= _OFTEN:
        return change._replace(kind=ChangeClass.NOISE, reason=RETURNED), now
    return change._replace(reason=RETURNED), now
