"""The routes of captures: search, facets, export, and one capture."""

from nacre.console.answering import read_row, with_page
from nacre.console.captures import details, exports, listing
from nacre.console.parts import ActionParts
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.ops.captures import CapturesQuery
from nacre.ops.operation import Role
from nacre.ops.packing import CaptureFile

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"
_ONE = f"{_JOB}/captures/{{capture}}"
_BYTES = "application/octet-stream"

CAPTURE_ROUTES: tuple[RouteRow[ActionParts], ...] = (
    RouteRow("GET", "/j/{job}/captures", _V, listing.captures_page, "Search the captures.",
             query=CapturesQuery, view=RouteView("captures.html", listing.captures_facts)),
    read_row(f"{_JOB}/captures", listing.list_captures, "Search the captures."),
    read_row(f"{_JOB}/facets", listing.count_captures, "The captures of a search by facet."),
    RouteRow("GET", f"{_JOB}/captures/export", _V, listing.export_captures,
             "The captures of a search as CSV, JSON or CDXJ.", query=listing.CaptureExport,
             media="text/csv, application/json, text/x-cdxj"),
    RouteRow("POST", f"{_JOB}/exports", _O, exports.export,
             "Write captures as WACZ, WARC, index or list of URLs into `exports/`.",
             body=exports.CaptureFileRequest, answer=CaptureFile),
    RouteRow("POST", "/j/{job}/exports", _O, exports.export, "Write captures into a file; a form.",
             form=exports.CaptureFileForm),
    *with_page(read_row(_ONE, details.show_capture, "A capture."), "/j/{job}/captures/{capture}",
               RouteView("capture.html", details.capture_facts)),
    RouteRow("GET", f"{_ONE}/headers", _V, details.get_headers, "The head of a capture.",
             answer=details.CaptureHeaders),
    RouteRow("GET", f"{_ONE}/body", _V, details.get_body,
             "The body of a capture without codings, as a download.", media=_BYTES),
    RouteRow("GET", f"{_ONE}/picture", _V, details.get_picture,
             "A picture of a page that was run in a browser.", media="image/*"),
    RouteRow("GET", f"{_ONE}/record", _V, details.get_record,
             "The record of a capture as it is in its WARC, as a download.", media=_BYTES),
)  # fmt: skip
"""Its rows."""
