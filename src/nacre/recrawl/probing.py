"""Probes: requests for made-up names, which show how a site answers if a page does not exist.

Only this distinguishes an error page with status 200 from a page that changed.
"""

from collections import Counter
from hashlib import blake2b

from nacre.core.pagerow import PageKind
from nacre.core.processor import Visit
from nacre.extract.pageview import page_view
from nacre.planner.slices import ROWS, Slices
from nacre.planner.tuning import guess
from nacre.planner.visited import Rows
from nacre.recrawl.judge import Lessons, directory
from nacre.recrawl.knowledge import text_of
from nacre.uri.parse import origin

PROBE_SHARE = 50
"""One in this many requests may be a probe."""
_LEAST = guess(
    "probing.least", 5, "Number of pages of a directory from which it is probed with made-up names."
)
_EVERY = 30 * 86_400.0
"""Seconds before a directory is probed again."""


def probes(pages: Rows, lessons: Lessons, now: float, most: int) -> Slices[list[str]]:
    """Return made-up names in the directories with most pages, without those probed recently.

    Args:
        pages: The rows of pages.
        lessons: The knowledge learned about directories.
        now: Seconds since the epoch.
        most: Largest number of names.
    """
    counts: Counter[str] = Counter()
    samples: dict[str, str] = {}
    for number, row in enumerate(pages.scan()):
        if not number % ROWS:
            yield
        if row.kind is PageKind.PAGE and row.visits and row.life == "live":
            name = directory(row.url)
            counts[name] += 1
            samples[name] = row.url
    names: list[str] = []
    for name, count in counts.most_common():
        if count < _LEAST or len(names) >= most:
            break
        model = lessons.errors.get(name)
        if model is None or now - model.probed >= _EVERY:
            names.append(_made_up(samples[name], name, now))
    return names


def _made_up(sample: str, name: str, now: float) -> str:
    """Return a made-up name in the directory of a page, with the extension of the page."""
    path = name.partition("/")[2]
    last = sample.partition("?")[0].rpartition("/")[2]
    ending = last[last.rfind(".") :] if "." in last else ""
    word = blake2b(f"{name} {now:.0f}".encode(), digest_size=6).hexdigest()
    return f"{origin(sample)}/{path}{word}{ending}"


def learn_probe(lessons: Lessons, visit: Visit, now: float) -> None:
    """Learn from the answer to a made-up name, if there was one."""
    capture = visit.capture
    if capture is None or visit.status <= 0:
        return
    target = next((link.url for link in visit.outlinks if link.hop == "R"), "")
    page = "html" in visit.mime and capture.body.length > 0
    view = page_view(text_of(capture, visit.charset)) if page else None
    model = lessons.error_model(visit.uri.url)
    model.learn_probe(visit.status, target, view, now)
