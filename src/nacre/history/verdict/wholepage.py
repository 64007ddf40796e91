"""The verdict of a whole-page signature, in place of the comparison by pieces (pure).

Two versions with one signature are the same page: what differs is noise. Others are a change, and
the share of the text that differs says of which size. The signatures are in
`history.verdict.signature`.
"""

from nacre.core.pageview import PageView
from nacre.history.verdict.change import Change, ChangeClass, ChangeSettings
from nacre.history.verdict.signature import TextProfile, paper_changed, text_distance, text_profile

_PROFILES = {"text-profile": False, "text-profile-cjk": True}


def compare_whole(old: PageView, new: PageView, settings: ChangeSettings) -> Change:
    """The verdict on two versions of one page whose payloads differ.

    Args:
        old: The version before.
        new: The version now.
        settings: Which signature, and from which share on a change is major.
    """
    name = settings.signature
    if not _differ(old, new, settings):
        return Change(ChangeClass.NOISE, 0.0, name)
    score = text_distance(old.text, new.text)
    kind = ChangeClass.MAJOR if score >= settings.major else ChangeClass.MINOR
    return Change(kind, score, name)


def _differ(old: PageView, new: PageView, settings: ChangeSettings) -> bool:
    if settings.signature == "paper":
        return paper_changed(old, new, settings.threshold)
    if settings.signature in _PROFILES:
        how = TextProfile(
            **settings.text_profile.model_dump(), unspaced=_PROFILES[settings.signature]
        )
        # Where there is no text the payload signs, and the payloads differ.
        return text_profile(old.text, b"old", how) != text_profile(new.text, b"new", how)
    return True
