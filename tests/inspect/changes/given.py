"""A feed whose texts come from a hostile page, and from a Chinese one."""

from nacre.inspect.changes.feed import (
    ChangeEntry,
    ChangeFeed,
    DifferingText,
    DifferingWords,
    FeedRun,
)

HOSTILE = '<script>alert(1)</script>]]>"&amp;'
NOW = "2026-11-27T10:00:00Z"


def entry(kind: str = "changed", **more: object) -> ChangeEntry:
    given = {"id": f"urn:uuid:{kind}", "url": f"http://a.test/{kind}?a=1&b=2", "time": NOW}
    return ChangeEntry(**{**given, "kind": kind, "run": 2, **more})  # type: ignore[arg-type]


def text(was: str, now: str, kind: str = "text") -> DifferingText:
    words = [DifferingWords("=", "一 "), DifferingWords("-", was), DifferingWords("+", now)]
    return DifferingText(kind, words)


def feed(*entries: ChangeEntry, **more: object) -> ChangeFeed:
    runs = [FeedRun(2, "run-2", NOW, {"new": 1, "changed": 2})]
    return ChangeFeed("urn:uuid:0", "demo", NOW, runs, list(entries), **more)  # type: ignore[arg-type]


FEED = feed(
    entry("new", title="新闻", lead="今年新增展览。"),
    entry(title=HOSTILE, texts=[text("五", HOSTILE), text("/a", "/b", "nav-link")], more=3),
    entry("gone", status=404),
    entry("moved", target="http://a.test/elsewhere"),
    entry("back"),
    entry("changed", id="urn:uuid:pdf", reason="payload"),
)
