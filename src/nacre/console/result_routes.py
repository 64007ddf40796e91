"""The rows of the table of routes for results: seeds, URLs, reports, runs and files."""

from nacre.console.api import archive_check, pushes, results, seed_list
from nacre.console.pages import results as pages
from nacre.console.pages import seed_list as seed_pages
from nacre.console.route_row import API, RouteRow
from nacre.ops.roles import Role

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"

RESULT_ROUTES: tuple[RouteRow, ...] = (
    # pages
    RouteRow("GET", "/j/{job}/seeds", _V, pages.seeds_page, "The seeds and their outcomes.",
             query=pages.SeedsPageQuery),
    RouteRow("POST", "/j/{job}/seeds", _O, pages.take_seeds, "Add seeds, or retry; a form."),
    RouteRow("GET", "/j/{job}/seeds/list", _V, seed_pages.page, "The file of seeds."),
    RouteRow("POST", "/j/{job}/seeds/list", _O, seed_pages.submit,
             "Save the file of seeds; a form."),
    RouteRow("GET", "/j/{job}/url", _V, pages.url_page, "All that is known of a URL.",
             query=results.UrlQuery),
    RouteRow("GET", "/j/{job}/reports", _V, pages.reports_page, "All reports and studies."),
    RouteRow("GET", "/j/{job}/reports/{report}", _V, pages.report_page, "A report or a study.",
             query=pages.ReportPageQuery),
    RouteRow("GET", "/j/{job}/runs", _V, pages.runs_page, "The runs of a job.",
             query=pages.RunsPageQuery),
    RouteRow("GET", "/j/{job}/checkpoints", _V, pages.checkpoints_page, "Its checkpoints."),
    RouteRow("POST", "/j/{job}/checkpoints", _O, pages.go_back,
             "Start a job from a checkpoint; a form."),
    RouteRow("GET", "/j/{job}/files", _V, pages.files_page, "The files of a job.",
             query=pages.FilesPageQuery),
    # programs
    RouteRow("GET", f"{_JOB}/seeds", _V, results.list_seeds, "The seeds and their outcomes.",
             query=results.SeedsQuery, answer=results.SeedOutcomeList),
    RouteRow("POST", f"{_JOB}/seeds", _O, results.add_seeds, "Add seeds, or retry some.",
             body=results.NewSeeds, answer=results.SeedsTaken),
    RouteRow("GET", f"{_JOB}/seed-list", _V, seed_list.get_seed_list,
             "The file of seeds of a job.", answer=seed_list.SeedListFile,
             version_of=seed_list.seed_list_version),
    RouteRow("PUT", f"{_JOB}/seed-list", _O, seed_list.put_seed_list,
             "Save another file of seeds of a job that does not run.",
             body=seed_list.SeedListWish, answer=seed_list.SavedSeedList,
             version_of=seed_list.seed_list_version),
    RouteRow("GET", f"{_JOB}/explain", _V, results.explain, "Why a URL was or was not crawled.",
             query=results.UrlQuery, answer=results.ExplainedUrl),
    RouteRow("GET", f"{_JOB}/reports", _V, results.list_reports, "The names of all reports.",
             answer=results.ReportNames),
    RouteRow("GET", f"{_JOB}/reports/{{report}}", _V, results.get_report,
             "A report as JSON, text, CSV or HTML, by `Accept`.", query=results.ReportQuery),
    RouteRow("GET", f"{_JOB}/studies/{{report}}", _V, results.get_report,
             "A study, likewise.", query=results.ReportQuery),
    RouteRow("GET", f"{_JOB}/runs", _V, results.list_runs, "The runs, with what each found.",
             query=results.RunsQuery, answer=results.RunList),
    RouteRow("GET", f"{_JOB}/checkpoints", _V, results.list_checkpoints_of, "The checkpoints.",
             answer=results.CheckpointList),
    RouteRow("POST", f"{_JOB}/push/outbackcdx", _O, pushes.push,
             "Post the indexes that the job's OutbackCDX server lacks; delete what is gone here.",
             body=pushes.PushWish, answer=pushes.PushedFiles),
    RouteRow("POST", "/j/{job}/push", _O, pushes.answer,
             "Post the indexes that the job's OutbackCDX server lacks; a form."),
    RouteRow("POST", f"{_JOB}/archive/check", _O, archive_check.check_archive,
             "Read the archive and compare every digest.", answer=archive_check.CheckedArchive),
    RouteRow("POST", "/j/{job}/archive/check", _O, archive_check.answer,
             "Read the archive and compare every digest; a form."),
    RouteRow("GET", f"{_JOB}/files", _V, results.list_files_of, "The files to download.",
             query=results.FilesQuery, answer=results.FileList),
    RouteRow("GET", f"{_JOB}/files/{{path:path}}", _V, results.get_file,
             "A file, whole or a part of it (`Range`).", fields=("range",),
             media="application/octet-stream"),
)  # fmt: skip
"""Its rows."""
