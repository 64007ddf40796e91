"""The routes of results: seeds, URLs, reports, runs, checkpoints and files."""

from nacre.console.answering import read_row, reading, with_page
from nacre.console.parts import ActionParts
from nacre.console.results import archive, changes, files, handlers, pages, reports, seed_list
from nacre.console.results.report_tasks import list_reports
from nacre.console.results.runs import list_runs
from nacre.console.results.seeds import SeedsQuery, list_seeds
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.inspect.changes.atom import ATOM_TYPE, JSON_FEED_TYPE
from nacre.inspect.changes.feed import ChangeFeed
from nacre.ops.changes import ChangesQuery
from nacre.ops.operation import Role
from nacre.ops.seed_list import SeedListFile, SeedListForm
from nacre.web.conditional import IF_MODIFIED_SINCE, IF_NONE_MATCH

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"
_VALIDATORS = (IF_NONE_MATCH, IF_MODIFIED_SINCE)


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


RESULT_ROUTES: tuple[RouteRow[ActionParts], ...] = (
    read_row(f"{_JOB}/seeds", list_seeds, "The seeds and their outcomes."),
    RouteRow("GET", "/j/{job}/seeds", _V, pages.seeds_page, "The seeds and their outcomes.",
             query=SeedsQuery, view=RouteView("seeds.html", pages.seed_facts)),
    RouteRow("POST", "/j/{job}/seeds", _O, handlers.add_seeds, "Add seeds, or retry; a form.",
             form=handlers.SeedsForm),
    RouteRow("POST", f"{_JOB}/seeds", _O, handlers.add_seeds, "Add seeds, or retry some.",
             body=handlers.NewSeeds, answer=handlers.SeedsTaken),
    RouteRow("GET", "/j/{job}/seeds/list", _V, seed_list.page, "The file of seeds."),
    RouteRow("POST", "/j/{job}/seeds/list", _O, seed_list.submit,
             "Save the file of seeds; a form.", form=SeedListForm),
    RouteRow("GET", f"{_JOB}/seed-list", _V, seed_list.get_seed_list,
             "The file of seeds of a job.", answer=SeedListFile,
             version_of=seed_list.seed_list_version),
    RouteRow("PUT", f"{_JOB}/seed-list", _O, seed_list.put_seed_list,
             "Save another file of seeds of a job that does not run.",
             body=seed_list.SeedListWish, answer=seed_list.SavedSeedList,
             version_of=seed_list.seed_list_version),
    RouteRow("GET", "/j/{job}/url", _V, pages.url_page, "All that is known of a URL.",
             query=handlers.UrlQuery,
             view=RouteView("url.html", pages.url_facts, _("URL"), "frontier")),
    RouteRow("GET", "/j/{job}/replay", _V, pages.lead_to_replay,
             "Lead to replay, with a ticket.", query=pages.ReplayQuery),
    RouteRow("GET", f"{_JOB}/explain", _V, handlers.explain, "Why a URL was or was not crawled.",
             query=handlers.UrlQuery, answer=handlers.ExplainedUrl),
    *with_page(read_row(f"{_JOB}/reports", list_reports, "The names of all reports."),
               "/j/{job}/reports", RouteView("reports.html")),
    RouteRow("GET", "/j/{job}/reports/{report}", _V, pages.report_page, "A report or a study.",
             query=pages.ReportPageQuery),
    RouteRow("GET", f"{_JOB}/reports/{{report}}", _V, reports.get_report,
             "A report as JSON, text, CSV or HTML, by `Accept`.", query=reports.ReportQuery),
    RouteRow("GET", f"{_JOB}/studies/{{report}}", _V, reports.get_report,
             "A study, likewise.", query=reports.ReportQuery),
    *with_page(read_row(f"{_JOB}/runs", list_runs, "The runs, with what each found."),
               "/j/{job}/runs", RouteView("runs.html", pages.run_facts, _("Runs"), "runs")),
    RouteRow("GET", "/j/{job}/changes", _V, reading(changes.list_changes),
             "What runs found new, changed and gone.", query=ChangesQuery,
             view=RouteView("changes.html", changes.change_facts, _("Changes"), "runs")),
    RouteRow("GET", f"{_JOB}/changes", _V, changes.get_changes,
             "What runs found new, changed and gone, with the words that differ.",
             query=ChangesQuery, answer=ChangeFeed, fields=_VALIDATORS),
    RouteRow("GET", f"{_JOB}/changes/atom", _V, changes.get_atom, "The changes as Atom.",
             query=ChangesQuery, media=ATOM_TYPE, fields=_VALIDATORS),
    RouteRow("GET", f"{_JOB}/changes/json-feed", _V, changes.get_json_feed,
             "The changes as JSON Feed.", query=ChangesQuery, media=JSON_FEED_TYPE,
             fields=_VALIDATORS),
    *with_page(RouteRow("GET", f"{_JOB}/checkpoints", _V, archive.list_job_checkpoints,
                        "The checkpoints.", answer=archive.CheckpointList),
               "/j/{job}/checkpoints", RouteView("checkpoints.html", pages.checkpoint_facts)),
    RouteRow("POST", "/j/{job}/checkpoints", _O, pages.go_back,
             "Start a job from a checkpoint; a form.", form=pages.CheckpointForm),
    *with_page(RouteRow("GET", f"{_JOB}/files", _V, files.list_job_files, "The files to download.",
                        query=files.FilesQuery, answer=files.FileList),
               "/j/{job}/files", RouteView("files.html", pages.file_facts)),
    RouteRow("GET", f"{_JOB}/files/{{path:path}}", _V, files.get_file,
             "A file, whole or a part of it (`Range`).", fields=("range",),
             media="application/octet-stream"),
    RouteRow("POST", f"{_JOB}/push/outbackcdx", _O, archive.push,
             "Post the missing indexes to the job's OutbackCDX server; delete removed ones there.",
             body=archive.PushWish, answer=archive.PushedFiles),
    RouteRow("POST", "/j/{job}/push", _O, archive.push,
             "Post the missing indexes to the job's OutbackCDX server; a form.",
             form=archive.PushWish),
    RouteRow("POST", f"{_JOB}/archive/check", _O, archive.check_archive,
             "Read the archive and compare every digest.", answer=archive.CheckedArchive),
    RouteRow("POST", "/j/{job}/archive/check", _O, archive.check_archive,
             "Read the archive and compare every digest; a form."),
)  # fmt: skip
"""Its rows."""
