"""The routes of batch crawls: the dry run of their next list, and their versions."""

from typing import Final

from nacre.console.answering import with_page
from nacre.console.rounds import handlers
from nacre.console.rounds.tasks import DryRound
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.ops.roles import Role

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"

ROUND_ROUTES: Final[tuple[RouteRow, ...]] = (
    *with_page(RouteRow("POST", f"{_JOB}/dry-run-rounds", _O, handlers.dry_run,
                        "What the next round of a batch crawl would list.", answer=DryRound,
                        changes=False),
               "/j/{job}/dry-run-rounds", RouteView("dry_round.html")),
    RouteRow("GET", f"{_JOB}/versions", _V, handlers.list_versions,
             "The versions of a batch crawl.", answer=handlers.CycleVersionList),
    RouteRow("GET", "/j/{job}/versions", _V, handlers.versions_page,
             "The versions of a batch crawl; a page.",
             view=RouteView("versions.html", handlers.version_facts)),
    RouteRow("POST", f"{_JOB}/versions/{{number}}/restore", _O, handlers.restore_version,
             "Go back to a version of a batch crawl.", answer=handlers.RestoredVersion),
    RouteRow("POST", "/j/{job}/versions", _O, handlers.submit_version,
             "Go back to a version of a batch crawl; a form."),
)  # fmt: skip
"""Its rows."""
