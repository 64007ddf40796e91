"""Verdicts of whole-page signatures."""

import pytest

from nacre.core.pagerow import PageRow
from nacre.core.pageview import PageView
from nacre.extract.pageview import page_view
from nacre.history.verdict.change import ChangeClass, ChangeSettings
from nacre.history.verdict.wholepage import compare_whole
from nacre.job.incremental.judge import Lessons, PageJudge

STAY = "The library opens at nine and closes at five on every day of the week but Sunday. "
CHINESE = "各单位:经研究,决定延长政策期限至2024年12月底。请各单位遵照执行。政策性 政策性"
CANCELLED = "各单位:经研究,决定取消政策期限至2023年6月起。请各单位遵照执行。政策性 政策性"


def _view(text: str, outside: str = "") -> PageView:
    return page_view(f"<html><body><p>{text}</p><div>{outside}</div></body></html>")


@pytest.mark.parametrize(
    ("signature", "old", "new", "kind"),
    [
        # The paper looks at p, span and br alone.
        ("paper", _view(STAY, "menu"), _view(STAY, "other menu"), ChangeClass.NOISE),
        ("paper", _view(STAY), _view("Closed."), ChangeClass.MAJOR),
        ("paper", _view(STAY * 9), _view(STAY * 9 + "Ring."), ChangeClass.MINOR),
        ("md5", _view(STAY, "menu"), _view(STAY, "other menu"), ChangeClass.MAJOR),
        ("md5", _view(STAY), _view(STAY), ChangeClass.MINOR),
        # Order and what comes once do not count; words do.
        ("text-profile", _view("bread bread milk"), _view("bread bread tea"), ChangeClass.NOISE),
        ("text-profile", _view("bread bread"), _view("milk milk"), ChangeClass.MAJOR),
        ("text-profile", _view(CHINESE), _view(CANCELLED), ChangeClass.NOISE),
        ("text-profile-cjk", _view(CHINESE), _view(CANCELLED), ChangeClass.MAJOR),
        ("text-profile-cjk", _view(CHINESE), _view(CHINESE), ChangeClass.NOISE),
        ("text-profile", _view(""), _view(""), ChangeClass.MINOR),
    ],
)
def test_verdicts(signature: str, old: PageView, new: PageView, kind: ChangeClass) -> None:
    settings = ChangeSettings.model_validate({"signature": signature})
    change = compare_whole(old, new, settings)
    assert (change.kind, change.reason) == (kind, signature)
    assert 0.0 <= change.score <= 1.0


def test_the_threshold_of_the_paper() -> None:
    old, new = _view(STAY * 9), _view(STAY * 9 + "Ring the bell.")
    settings = {"signature": "paper", "threshold": 0.0}
    assert compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change
    settings["threshold"] = 0.9
    assert not compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change


def test_profiles_count_as_they_are_told() -> None:
    old, new = _view("to be or not to be to"), _view("so be it, not to be so to to")
    profile = {"min_token_len": 3, "quant_rate": 0.0}
    settings = {"signature": "text-profile", "text_profile": profile}
    assert not compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change
    profile["min_token_len"] = 0
    assert compare_whole(old, new, ChangeSettings.model_validate(settings)).kind.is_change


class _Versions:
    def __init__(self, view: PageView) -> None:
        self.view = view

    def last(self, _: str) -> PageView | None:
        return self.view

    def keep(self, _: str, view: PageView) -> None:
        self.view = view


class _Visit:
    """A page of now."""

    url, time, status, digest, mime, links = "http://a.test/1", 5e8, 200, "new", "text/html", ()

    def __init__(self, text: str) -> None:
        self._body = text.encode()
        self.length = len(self._body)

    def body(self) -> bytes:
        return self._body


def _found(signature: str, text: str) -> ChangeClass:
    settings = ChangeSettings.model_validate({"signature": signature})
    versions = _Versions(_view(STAY, "2026-11-20 10:15:17"))
    judge = PageJudge(versions, Lessons.none(), settings)
    row = PageRow("http://a.test/1", visits=1, digest="old", evidence=b"")
    finding = judge.judge(row, _Visit(text))
    assert (judge.pairs_wanted(row.url) > 0) == (signature == "blocks")
    return finding.kind


def test_the_judge_follows_the_signature() -> None:
    counted = f"<html><body><p>{STAY}</p><div>2026-11-20 10:15:17</div><!-- later --></body></html>"
    assert not _found("blocks", counted).is_change
    assert _found("paper", counted) is ChangeClass.NOISE
    assert _found("md5", counted).is_change
    reworded = "<html><body><p>Closed.</p><div>2026-11-20 10:15:17</div></body></html>"
    assert all(_found(name, reworded).is_change for name in ("blocks", "paper", "md5"))
