"""The kind that most queued URIs are of; it can be a trap."""

from collections import Counter
from collections.abc import Collection
from itertools import islice
from typing import Final

from nacre.job.diagnosis import CrowdedKind
from nacre.job.overview import JobOverview, SlowQueue
from nacre.store.store import Store
from nacre.uri.surt import queue_root

MANY: Final = 500
"""URIs that wait, below which nothing is said."""
MOST: Final = 0.8
"""Share of the queued URIs that counts as most. Both are guesses: a calendar soon has 19 of 20."""
LOOKED: Final = 5_000
"""URIs of a queue that are looked at."""


def crowded_queue(
    overview: JobOverview, slowest: Collection[SlowQueue], *, grows: bool
) -> SlowQueue | None:
    """Return the queue with most queued URIs, if the job has many and more come in; None for none.

    Args:
        overview: The numbers of the job.
        slowest: The queues that take longest.
        grows: See `JobPace`.
    """
    if not grows or overview.queued <= MANY or not slowest:
        return None
    largest = max(slowest, key=lambda queue: queue.pending)
    return largest if largest.pending >= MOST * overview.queued else None


def crowded_kind(
    queue: str, branch: str, number: int, inspected: int
) -> CrowdedKind | None:  # fmt: skip
    """The kind that most of a queue is of; None where no kind is.

    Args:
        queue: Key of the queue of a host.
        branch: The largest of its branches, as `path_branch` gives it; "" for none.
        number: URIs of it.
        inspected: URIs of the queue that were looked at.
    """
    # What ends otherwise is a single URL.
    if (
        not inspected
        or branch == "/"
        or not branch.endswith(("/", "?"))
        or number < MOST * inspected
    ):
        return None
    return CrowdedKind(queue, queue_root(queue) + branch.removeprefix("/"), number, inspected)


def find_crowded_kind(store: Store, queue: str) -> CrowdedKind | None:
    """The same, looked for among the first URIs of a queue.

    Args:
        store: The job's.
        queue: Key of the queue.
    """
    from nacre.frontier.pending import of_queue  # noqa: PLC0415 - with patterns; rarely needed

    branches = Counter(
        path_branch(entry.uri.url, "") for entry in islice(of_queue(store, queue), LOOKED)
    )
    (branch, number), *_ = branches.most_common(1) or [("", 0)]
    return crowded_kind(queue, branch, number, branches.total())


def unwanted(crowded: CrowdedKind | None, muted: Collection[str]) -> CrowdedKind | None:
    """Return the kind that most queued URIs are of; None if its warning is muted."""
    return None if crowded is None or crowded.prefix in muted else crowded


def path_branch(url: str, path: str) -> str:
    """The part of a URL's path that is one level below a path; "" for a URL elsewhere.

    Args:
        url: The URL.
        path: "" or `/`, or one that ends with a slash.
    """
    start = url.find("/", url.find("://") + 3)
    url_path = url[start:] if start >= 0 else "/"
    begin = path or "/"
    if not url_path.startswith(begin):
        return ""
    end = url_path.find("/", len(begin))
    mark = url_path.find("?", len(begin))
    if end >= 0 and (mark < 0 or end < mark):
        return url_path[: end + 1]
    return url_path[: mark + 1] if mark >= 0 else url_path
