"""`/admin` and `/account`: users, keys and the audit log, and the user's own access."""

import asyncio
import platform
import sqlite3
from collections.abc import Mapping
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Final, NamedTuple

from starlette.responses import RedirectResponse

from nacre import __version__
from nacre.console.admin import places, sessions, users
from nacre.console.admin.audit import AuditFilter, audit_page
from nacre.console.admin.quotas import quota_items
from nacre.console.assets import FOLDER
from nacre.console.call import AdminCall, PageAnswer
from nacre.console.forms import FormAction, form_handler, take_action
from nacre.console.route_row import Answer
from nacre.fleet.sessions import cookie_field
from nacre.ops.operation import Role
from nacre.web.decoding import sent_form, text_of
from nacre.web.live.hub import Notice

LINES = 50
"""Lines of the audit log on a page."""


_AUDIT: Final = frozenset((*AuditFilter._fields, "after"))


async def users_page(call: AdminCall) -> PageAnswer | RedirectResponse:
    """Return the users; a query of the audit log, as older links have it, leads to that."""
    query = call.request.url.query
    if _AUDIT.intersection(call.request.query_params):
        return RedirectResponse(f"/admin/audit?{query}", status_code=303)
    facts = {
        "users": (await users.list_users(call)).items,
        "places": (await places.list_places(call)).items,
    }
    return _view("users", facts)


async def keys_page(call: AdminCall) -> PageAnswer:
    """Return the keys of programs, and the sessions."""
    facts = {
        "keys": call.parts.keys.all(),
        "sessions": (await sessions.list_sessions(call)).items,
        "places": (await places.list_places(call)).items,
        "made_key": None,
    }
    return _view("keys", facts)


async def places_page(call: AdminCall) -> PageAnswer:
    """Return the places of jobs."""
    return _view("places", {"places": (await places.list_places(call)).items})


async def quotas_page(call: AdminCall) -> PageAnswer:
    """Return the quotas of disk space."""
    facts = {
        "quotas": quota_items(call, call.parts.quotas),
        "quota_jobs": [job.id for job, _ in call.snapshots()],
        "is_restricted": bool(call.identity.places),
    }
    return _view("quotas", facts)


async def audit_log_page(call: AdminCall) -> PageAnswer:
    """Return the lines of the audit log that pass the filters of the query, the newest first."""
    query = call.request.query_params
    after = query.get("after", "")
    end = int(after) if after.isdecimal() and len(after) < 19 else 0
    filters = AuditFilter(*(query.get(name, "").strip() for name in AuditFilter._fields))
    audit = await asyncio.to_thread(audit_page, call.parts.audit.path, end, LINES, filters)
    facts = {
        "audit": audit.entries, "older": audit.end, "wanted": filters,
        "trouble": call.parts.audit.trouble,
    }  # fmt: skip
    return _view("audit", facts)


async def about_page(_: AdminCall) -> PageAnswer:
    """Return the versions and licences of the console's parts, and where its metrics are."""
    facts = {"versions": versions(), "packages": packages(), "page_licences": page_licences()}
    return _view("about", facts)


def _view(name: str, facts: Mapping[str, object]) -> PageAnswer:
    """Return a view of the administration."""
    roles = [role.title for role in Role if role]
    return PageAnswer("admin.html", {"view": name, "trouble": "", "roles": roles, **facts})


async def account_page(call: AdminCall) -> PageAnswer:
    """One's own role, sessions and password."""
    is_user = call.session is not None and call.parts.users.find(call.identity.name) is not None
    own = [
        item
        for item in (await sessions.list_sessions(call)).items
        if item.name == call.identity.name and call.session is not None
    ]
    return PageAnswer("account.html", {"sessions": own, "is_user": is_user})


async def _add_key(call: AdminCall) -> PageAnswer:
    """Make a key of a program, and show it on the answer itself: nothing keeps it."""
    key = await users.add_key(call)
    answer = await keys_page(call)
    return PageAnswer(answer.template, {**answer.facts, "made_key": key})


async def _change_password(call: AdminCall) -> PageAnswer:
    """Change one's own password; the session gets a new id, which a notice would not reach."""
    answer = await sessions.change_password(call)
    notice = Notice("done", call.language.texts.gettext("The password is changed."))
    fields = {"set-cookie": answer.headers["set-cookie"]}
    return PageAnswer("acted.html", {"notices": [notice]}, headers=fields)


async def _log_out(call: AdminCall) -> RedirectResponse:
    """End this session."""
    call.parts.sessions.end(call.identity)
    return RedirectResponse("/login", status_code=303, headers={"set-cookie": cookie_field("")})


_END_SESSION: Final = FormAction(sessions.revoke_session, params={"session": "name"})
_ACTIONS: Final = {
    "/admin": {
        "add-user": FormAction(users.add_user, users.NewUser),
        "change-user": FormAction(users.change_user, users.UserChange, {"user": "name"}),
        "remove-user": FormAction(users.remove_user, params={"user": "name"}),
    },
    "/admin/keys": {
        "add-key": FormAction(_add_key, users.NewKey),
        "remove-key": FormAction(users.remove_key, params={"key": "name"}),
        "end-session": _END_SESSION,
    },
    "/admin/places": {
        "add-place": FormAction(places.add_place, places.NewPlace),
        "remove-place": FormAction(places.remove_place, params={"place": "name"}),
    },
}
"""The actions of the forms of /admin by the view that is shown afterwards."""


async def admin_form(call: AdminCall) -> Answer:
    """Run the action of a form of /admin, for browsers without script."""
    form = await sent_form(call.request)
    name = text_of(form, "do")
    page = next((page for page, actions in _ACTIONS.items() if name in actions), "/admin")
    return await take_action(call, form, page, _ACTIONS[page].get(name))


account_form: Final = form_handler(
    "/account",
    {
        "change-password": FormAction(_change_password, sessions.ChangedPassword),
        "end-session": _END_SESSION,
        "log-out": FormAction(_log_out),
    },
)
"""The handler of the forms of /account, for browsers without script."""


_NAMES = """
ada-url argon2-cffi brotli cryptography dnspython google-re2 httptools isal jinja2 msgspec
prometheus-client publicsuffixlist pydantic python-multipart python-socks regex rich rocksdict
ruamel.yaml starlette turbohtml typer uvicorn uvloop zstandard
"""
PACKAGES: Final = tuple(_NAMES.split())
"""Names of the packages that Nacre and its console use, as pyproject.toml has them."""


class UsedPackage(NamedTuple):
    """A package that Nacre uses.

    Attributes:
        name: Its name.
        version: Its version.
        licence: Name of its licence; "" if it declares none.
    """

    name: str
    version: str
    licence: str


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return the names and versions of Nacre and its environment."""
    return (
        ("Nacre", __version__),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        ("Linux", platform.release()),
    )


@cache
def packages() -> tuple[UsedPackage, ...]:
    """The packages of `PACKAGES` that are installed, by name."""
    licences = []
    for name in PACKAGES:
        try:
            package = distribution(name)
        except PackageNotFoundError:  # packed in another way
            continue
        licences.append(UsedPackage(name, package.version, _licence(package)))
    return tuple(licences)


def _licence(distribution: Distribution) -> str:
    facts = distribution.metadata.json
    classifiers = facts.get("classifier", [])
    classified = [
        text.rpartition(" :: ")[2]
        for text in classifiers
        if text.startswith("License :: ") and text != "License :: OSI Approved"
    ]
    written = str(facts.get("license", "")).strip().splitlines()
    short = written[0][:80] if written else ""
    return str(facts.get("license_expression", "")) or ", ".join(classified) or short


@cache
def page_licences() -> str:
    """The licences of what the pages' scripts are built from."""
    path = FOLDER / "LICENSES.txt"
    return path.read_text("utf-8") if path.is_file() else ""
