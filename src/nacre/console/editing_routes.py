"""The rows of the table about editing: the file of a job, its settings, profiles and clips."""

from nacre.console.access.roles import Role
from nacre.console.api import config, settings, sheets
from nacre.console.pages import job_form, job_settings, job_sheets, job_urls
from nacre.console.route_row import API, RouteRow
from nacre.editing.complete import Completions
from nacre.editing.findings import TextFindings
from nacre.editing.hover import HoverCard

_V, _O = Role.VIEWER, Role.OPERATOR

EDITING_ROUTES: tuple[RouteRow, ...] = (
    # pages
    RouteRow("GET", "/j/{job}/settings", _V, job_settings.page, "The file of a job, as YAML."),
    RouteRow("POST", "/j/{job}/settings", _O, job_settings.submit,
             "Check, compare or save the file of a job."),
    RouteRow("GET", "/j/{job}/settings/form", _V, job_form.page, "The settings as a form."),
    RouteRow("POST", "/j/{job}/settings/form", _O, job_form.submit,
             "Show what a form changes; preview and apply it on a running job."),
    RouteRow("GET", "/j/{job}/settings/sheets", _V, job_sheets.page, "Where sheets apply."),
    RouteRow("POST", "/j/{job}/settings/sheets", _O, job_sheets.submit,
             "Preview and apply a change of sheets."),
    RouteRow("GET", "/j/{job}/settings/urls", _V, job_urls.page, "A form to try URLs."),
    RouteRow("POST", "/j/{job}/settings/urls", _V, job_urls.submit,
             "What would become of URLs.", changes=False),
    RouteRow("GET", "/j/{job}/settings/history", _V, job_settings.history,
             "The versions of the file of a job."),
    RouteRow("GET", "/j/{job}/settings/history/{number}", _V, job_settings.version,
             "A version beside another."),
    RouteRow("POST", "/j/{job}/settings/history/{number}/restore", _O, job_settings.restore,
             "Take an earlier version again."),
    # programs
    RouteRow("GET", f"{API}/jobs/{{job}}/config", _V, config.get_config,
             "The file of a job as YAML, with its ETag; marks stand in place of secrets."),
    RouteRow("PUT", f"{API}/jobs/{{job}}/config", _O, config.put_config,
             "Save another file of a job that does not run, as YAML, with If-Match.",
             query=config.SaveQuery, answer=config.SavedConfig),
    RouteRow("GET", f"{API}/jobs/{{job}}/config/effective", _V, config.get_effective,
             "All settings as they hold, with their origins.", answer=config.EffectiveSettings),
    RouteRow("GET", f"{API}/jobs/{{job}}/config/history", _V, config.list_edits,
             "The versions of the file, the newest first.", answer=config.EditList),
    RouteRow("GET", f"{API}/jobs/{{job}}/config/history/{{number}}", _V, config.get_edit,
             "A version of the file.", answer=config.EditText),
    RouteRow("POST", f"{API}/jobs/{{job}}/config/history/{{number}}/restore", _O,
             config.restore_edit, "Take an earlier version again, as a new one.",
             query=config.SaveQuery, answer=config.SavedConfig),
    RouteRow("PATCH", f"{API}/jobs/{{job}}/settings", _O, settings.patch_settings,
             "Change single settings, of a running job at once; or preview it.",
             body=settings.SettingsPatch, answer=settings.ChangedSettings),
    RouteRow("GET", f"{API}/jobs/{{job}}/sheets", _V, sheets.list_sheets,
             "The sheets of a job, and where they apply.", answer=sheets.SheetAnswer),
    RouteRow("POST", f"{API}/jobs/{{job}}/sheets", _O, sheets.put_sheet,
             "Make a sheet, or add settings to it.", body=sheets.SheetWish,
             answer=settings.ChangedSettings),
    RouteRow("GET", f"{API}/jobs/{{job}}/sheets/at", _V, sheets.sheets_at,
             "What sheets say for a URL.", query=sheets.SheetsAtQuery, answer=sheets.SheetsAtUrl),
    RouteRow("DELETE", f"{API}/jobs/{{job}}/sheets/{{name}}", _O, sheets.remove_sheet,
             "Take a sheet away.", query=sheets.PreviewQuery, answer=settings.ChangedSettings),
    RouteRow("POST", f"{API}/jobs/{{job}}/associations", _O, sheets.associate,
             "Apply sheets to some URIs.", body=sheets.AssociationWish,
             answer=settings.ChangedSettings),
    RouteRow("DELETE", f"{API}/jobs/{{job}}/associations", _O, sheets.dissociate,
             "Take a sheet off some URIs.", body=sheets.AssociationWish,
             answer=settings.ChangedSettings),
    RouteRow("POST", f"{API}/jobs/{{job}}/dry-run", _V, settings.dry_run,
             "What would become of URLs, by the saved file or another text.",
             body=settings.UrlQuestion, answer=settings.UrlTrials, changes=False),
    RouteRow("POST", f"{API}/config/check", _O, config.check_text,
             "The findings of a text, each at its place.", body=config.TextQuestion,
             answer=TextFindings, changes=False),
    RouteRow("POST", f"{API}/config/complete", _O, config.complete_at,
             "What may be typed at a place of a text.", body=config.PlaceQuestion,
             answer=Completions, changes=False),
    RouteRow("POST", f"{API}/config/hover", _O, config.hover_at,
             "The meaning of what stands at a place of a text.", body=config.PlaceQuestion,
             answer=HoverCard, changes=False),
    RouteRow("POST", f"{API}/config/format", _O, config.format_yaml,
             "A text in the style of new jobs.", body=config.TextQuestion,
             answer=config.FormattedText, changes=False),
    RouteRow("GET", f"{API}/schema", _V, config.get_schema, "The JSON Schema of the settings."),
    RouteRow("GET", f"{API}/settings/{{path}}", _V, config.get_setting,
             "The facts about a setting.", answer=config.SettingFacts),
)  # fmt: skip
"""Rows of `routes.ROUTES`."""
