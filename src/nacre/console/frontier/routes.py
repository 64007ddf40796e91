"""The routes of a frontier: its queues and queued URIs, and their changes."""

from nacre.console.answering import read_row, with_page
from nacre.console.frontier import changes, pages
from nacre.console.frontier.queues import list_queues, show_queue
from nacre.console.frontier.tree import show_tree
from nacre.console.frontier.uris import ExportQuery, list_uris
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.ops.operation import Role
from nacre.ops.queued_uris import FrontierPreview, PreviewWish

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


FRONTIER_ROUTES: tuple[RouteRow[object], ...] = (
    *with_page(read_row(f"{_JOB}/queues", list_queues, "The queues of a job, sorted."),
               "/j/{job}/frontier",
               RouteView("frontier.html", pages.queue_facts, _("Frontier"), "frontier")),
    *with_page(read_row(f"{_JOB}/uris", list_uris, "The URIs that wait."), "/j/{job}/uris",
               RouteView("uris.html", pages.uri_facts, _("Waiting URIs"), "frontier"),
               pages.UrisPageQuery),
    read_row(f"{_JOB}/queues/{{queue}}", show_queue, "A queue."),
    read_row(f"{_JOB}/uris/tree", show_tree, "What waits by domain, host and path, with counts."),
    RouteRow("GET", "/j/{job}/frontier/change", _V, pages.change_page,
             "The wizard that changes the frontier.", query=pages.ChangePageQuery),
    RouteRow("POST", "/j/{job}/frontier/preview", _V, pages.preview,
             "Count for the wizard.", form=pages.PreviewForm, changes=False),
    RouteRow("POST", f"{_JOB}/frontier/count", _V, pages.count,
             "Count what an action would be done to, with twenty samples.",
             body=PreviewWish, answer=FrontierPreview, changes=False),
    RouteRow("GET", "/j/{job}/frontier/import", _V, pages.import_page,
             "Import into the frontier, and export."),
    RouteRow("POST", "/j/{job}/frontier/import", _O, changes.take_lines,
             "Import into the frontier, by a form.", form=changes.ImportForm),
    RouteRow("POST", f"{_JOB}/frontier/import", _O, changes.take_lines,
             "Take lines into the frontier.",
             body=changes.ImportWish, answer=changes.ImportedLines),
    RouteRow("GET", f"{_JOB}/frontier/export", _V, pages.export,
             "The waiting URIs as a recovery journal.", query=ExportQuery),
    RouteRow("POST", "/j/{job}/frontier/change", _O, changes.change,
             "Change the frontier, by a form.", form=changes.FrontierForm),
    RouteRow("POST", f"{_JOB}/frontier/{{action}}", _O, changes.change,
             "Delete, retire, unretire, wake, forget, reconsider or bring to the front.",
             body=changes.FrontierWish, answer=changes.FrontierChanged),
    RouteRow("POST", "/j/{job}/frontier/delay", _O, changes.set_delay,
             "Set the delay of a host, by a form.", form=changes.DelayForm),
)  # fmt: skip
"""Its rows."""
