"""Tracks and archives made by hand, where the right answer is plain."""

from nacre_simweb.kept import KeptCapture, KeptCaptures
from nacre_simweb.recall import CountedWindow
from nacre_simweb.servelog import Row
from nacre_simweb.truth import Track, TrueVersion

WINDOW = CountedWindow([0.0, 10.0, 20.0])
INF = float("inf")

# One page with an edit at 4, gone at 15; one born at 12; one that never changes.
EDITED = Track("e", "article", (TrueVersion(0, "new", -5, 4), TrueVersion(1, "minor", 4, 15)))
BORN = Track("b", "article", (TrueVersion(0, "new", 12, INF),))
STILL = Track("s", "article", (TrueVersion(0, "new", -5, INF),))
TRACKS = [EDITED, BORN, STILL]


def row(url, time, version, kind="article", status=200, *, digest=None):
    text = f"{url}{version}" if digest is None else digest
    return Row(time, url, kind, status, version, 0, False, 100, text, time)


def archive(*rows):
    return KeptCaptures(list(rows), [KeptCapture(each, True, each.length) for each in rows], [])


ALL = archive(
    row("e", 0, 0), row("s", 0, 0), row("e", 10, 1), row("s", 10, 0),
    row("e", 20, -1, "error", 404), row("b", 20, 0),
)  # fmt: skip
NOTHING = archive(row("e", 0, 0), row("s", 0, 0))
