"""The rows of the table that are about logins, users, keys and the audit log."""

from nacre.console.access.roles import Role
from nacre.console.api import audit, metrics, places, quota, session, users
from nacre.console.pages import admin, quota_form
from nacre.console.route_row import API, RouteRow

_V, _A = Role.VIEWER, Role.ADMIN

ACCESS_ROUTES: tuple[RouteRow, ...] = (
    RouteRow("GET", f"{API}/session", _V, session.who_am_i, "Who asks.",
             answer=session.SessionFacts),
    RouteRow("PATCH", f"{API}/session", _V, session.choose_language, "Choose the language.",
             body=session.ChosenLanguage, answer=session.SessionFacts),
    RouteRow("DELETE", f"{API}/session", _V, session.log_out, "Log out.", status=204),
    RouteRow("GET", "/login", Role.NOBODY, session.log_in_page, "The form to log in."),
    RouteRow("POST", "/login", Role.NOBODY, session.log_in,
             "Exchange a link, or a name and a password, for a session."),
    RouteRow("PUT", f"{API}/session/password", _V, session.change_password,
             "Change one's own password.", body=session.ChangedPassword, status=204),
    RouteRow("GET", f"{API}/sessions", _V, session.list_sessions,
             "One's own sessions; for admins those of all.", answer=session.SessionList),
    RouteRow("DELETE", f"{API}/sessions/{{session}}", _V, session.revoke_session,
             "End a session.", status=204),
    RouteRow("GET", f"{API}/users", _A, users.list_users, "All users.",
             answer=users.UserList),
    RouteRow("POST", f"{API}/users", _A, users.add_user, "Add a user.",
             body=users.NewUser, answer=users.UserItem, status=201),
    RouteRow("PATCH", f"{API}/users/{{name}}", _A, users.change_user,
             "Change a user; their sessions end.", body=users.UserChange, answer=users.UserItem),
    RouteRow("DELETE", f"{API}/users/{{name}}", _A, users.remove_user,
             "Remove a user.", status=204),
    RouteRow("GET", f"{API}/keys", _A, users.list_keys, "All keys of programs.",
             answer=users.KeyList),
    RouteRow("POST", f"{API}/keys", _A, users.add_key,
             "Make a key of a program; it is shown once.", body=users.NewKey,
             answer=users.MadeKey, status=201),
    RouteRow("DELETE", f"{API}/keys/{{name:path}}", _A, users.remove_key,
             "Remove a key of a program.", status=204),
    RouteRow("GET", "/admin", _A, admin.page, "Users, keys, sessions, places, audit, versions."),
    RouteRow("GET", "/account", _V, admin.account_page, "One's own sessions and password."),
    RouteRow("GET", "/metrics", Role.NOBODY, metrics.metrics,
             "Metrics of the console and of all jobs; from other machines by key.",
             media="text/plain"),
    RouteRow("GET", f"{API}/places", _A, places.list_places, "The places of jobs.",
             answer=places.PlaceList),
    RouteRow("POST", f"{API}/places", _A, places.add_place, "Add a place.",
             body=places.NewPlace, answer=places.PlaceItem, status=201),
    RouteRow("DELETE", f"{API}/places/{{label}}", _A, places.remove_place,
             "Take a place off the list; its jobs stay.", status=204),
    RouteRow("GET", f"{API}/quota", _A, quota.list_quotas, "Quotas of disk space.",
             answer=quota.QuotaList),
    RouteRow("PUT", f"{API}/quota", _A, quota.set_quota,
             "Set the quota of a job, or of all jobs.", body=quota.QuotaWish,
             answer=quota.QuotaItem),
    RouteRow("POST", "/admin/quota", _A, quota_form.answer,
             "Set the quota of a job, or of all jobs; a form."),
    RouteRow("GET", f"{API}/audit", _A, audit.list_audit, "Who changed what.",
             query=audit.AuditQuery, answer=audit.AuditLines),
)  # fmt: skip
"""Rows of logins, users, keys and the audit log."""
