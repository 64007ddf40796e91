"""The tree of queued URIs: domains and hosts by the names of queues, paths below a queue."""

from collections import Counter
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from nacre.console.frontier.queues import table_of
from nacre.console.links import ItemList
from nacre.core.clock import iso
from nacre.fleet.refusals import not_found
from nacre.job.diagnosis_facts import path_branch
from nacre.machine.layout import Layout
from nacre.ops.fields import LineText, RowCount
from nacre.ops.queued_uris import QueueNames, count_in_queue, queued_rows
from nacre.web.workers.task import PROGRESS, reader_task
from nacre.web.workers.views import VIEWS, OpenView, ScanBudget

REPORTED: Final = 1024
"""Rows after which a task reports its progress."""
_WHOLE: Final = 50_000_000


class TreeQuery(msgspec.Struct, frozen=True):
    """A place in the tree of queued URIs.

    Attributes:
        prefix: Beginning of the names of queues, with its last comma; "" for the top.
        queue: A queue, below which there are paths; "" for the names.
        path: Beginning of the paths, with its last slash; "" for all.
        after: `next` of the previous page; "" for the first.
        whole: Read all URIs of the queue, even if that takes long.
        limit: Branches on a page, 1 to 500.
    """

    prefix: LineText = ""
    queue: LineText = ""
    path: LineText = ""
    after: LineText = ""
    whole: bool = False
    limit: RowCount = 100


class BranchItem(msgspec.Struct, frozen=True):
    """A branch of the tree.

    Attributes:
        name: Beginning of the queues' names, or of the paths.
        waiting: URIs that wait below it.
        queues: Queues below it; 0 for a branch of paths.
        queue: The queue that it is, or is in; "" for a branch of several.
    """

    name: str
    waiting: int
    queues: int
    queue: str


class BranchList(ItemList[BranchItem], frozen=True):
    """The branches of a place: names in order, or the paths with most URIs first.

    Attributes:
        searched: URIs that were read.
        complete: All URIs were read; else the numbers are those of a part, and `whole` counts all.
        left_out: Further paths, with the fewest URIs, which are not among the items.
        left_waiting: URIs that wait below these.
    """

    searched: int
    complete: bool
    left_out: int = 0
    left_waiting: int = 0


@reader_task("tree")
def show_tree(layout: Layout, query: TreeQuery) -> BranchList:
    """Read the branches below a place, with the number of URIs in each.

    The names of hosts are branches of the queues' names, which are counted anyway. Below a queue,
    its URLs are read: within a page's budget, or all of them.

    Raises:
        RefusedRequestError: There is no such queue (404).
    """
    with VIEWS.looking(layout) as view:
        if query.queue:
            return _most_of(_paths(view, query), query, iso(view.as_of))
        rows = table_of(view).branches(query.prefix, query.after)
        branches = list(islice(rows, query.limit + 1))
        branch = branches[: query.limit]
        items = (
            BranchItem(row.prefix, row.waiting, row.queues, row.prefix if row.is_queue else "")
            for row in branch
        )
        following = branch[-1].prefix if len(branches) > query.limit else None
        return BranchList(tuple(items), following, iso(view.as_of), 0, complete=True)


class _CountedPaths(NamedTuple):
    """The URIs of a queue by path: how many were read, and whether these were all."""

    counts: Counter[str]
    searched: int
    complete: bool


def _most_of(counted: _CountedPaths, query: TreeQuery, as_of: str) -> BranchList:
    """Return the paths with most URIs, and the sums of the others."""
    order = sorted(counted.counts.items(), key=lambda pair: (-pair[1], pair[0]))
    tail = order[query.limit :]
    return BranchList(
        tuple(BranchItem(name, number, 0, query.queue) for name, number in order[: query.limit]),
        None, as_of, counted.searched, counted.complete,
        len(tail), sum(number for _, number in tail),
    )  # fmt: skip


def _paths(view: OpenView, query: TreeQuery) -> _CountedPaths:
    total = count_in_queue(view.store, query.queue)
    if total is None:
        raise not_found("queue", query.queue)
    budget = ScanBudget(_WHOLE, 3600.0) if query.whole else ScanBudget()
    counts: Counter[str] = Counter()
    names, complete = QueueNames(view.store), True
    for queued in queued_rows(view.store, query.queue):
        if budget.spent:
            complete = False
            break
        if not budget.looked % REPORTED:
            PROGRESS.tell(budget.looked, total)
        uri, _ = names.uri(queued)
        if uri.queue == query.queue:
            branch = path_branch(uri.url, query.path)
            if branch:
                counts[branch] += 1
    return _CountedPaths(counts, budget.looked, complete)
