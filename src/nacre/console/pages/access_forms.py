"""`POST /admin` and `POST /account`: the forms of these pages, for browsers without script."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import msgspec
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse

from nacre.console.access.sessions import cookie_field
from nacre.console.api.places import NewPlace, add_place_of, remove_place_of
from nacre.console.api.session import ChangedPassword, change_password_of, revoke_session_of
from nacre.console.api.users import (
    NewKey,
    NewUser,
    UserChange,
    add_key_of,
    add_user_of,
    change_user_of,
    remove_key_of,
    remove_user_of,
)
from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import lines_of, sent_form, text_of
from nacre.console.live.notices import Notice
from nacre.console.pages import admin
from nacre.console.problems import RefusedRequestError
from nacre.errors import NacreError

Answer = PageAnswer | RedirectResponse
_S = TypeVar("_S", bound=msgspec.Struct)


async def admin_answer(call: Call) -> Answer:
    """Do what a form of the page /admin asks for, and show the page, which says what came of it."""
    return await _done(call, _ADMIN, "/admin")


async def account_answer(call: Call) -> Answer:
    """Do what a form of the page /account asks for, likewise."""
    return await _done(call, _ACCOUNT, "/account")


async def _done(call: Call, actions: "Mapping[str, _Action]", page: str) -> Answer:
    form = await sent_form(call.request)
    name = text_of(form, "do")
    try:
        if name not in actions:
            raise RefusedRequestError(422, "bad-form", f"there is no action {name!r}")
        answer = await actions[name](call, form)
    except NacreError as error:
        return _back(call, page, Notice("error", error.message))
    words = call.language.texts.gettext("It is done.")
    return answer or _back(call, page, Notice("done", words))


def _back(call: Call, page: str, notice: Notice) -> RedirectResponse:
    if call.session is not None:
        call.services.notices.add(call.identity.session, notice)
    return RedirectResponse(page, status_code=303)


_Action = Callable[[Call, FormData], Awaitable[Answer | None]]


async def _add_user(call: Call, form: FormData) -> None:
    await add_user_of(call, _struct(form, NewUser, "name", "role"))


async def _change_user(call: Call, form: FormData) -> None:
    wanted = _struct(form, UserChange, *(["role"] if text_of(form, "role") else []))
    if not wanted.password:  # a field that was left empty
        wanted = msgspec.structs.replace(wanted, password=None)
    await change_user_of(call, text_of(form, "name"), wanted)


async def _remove_user(call: Call, form: FormData) -> None:
    remove_user_of(call, text_of(form, "name"))


async def _add_key(call: Call, form: FormData) -> Answer:
    """The key is on the answer itself: nothing keeps it."""
    made = add_key_of(call, _struct(form, NewKey, "name", "role"))
    page = await admin.page(call)
    return PageAnswer(page.template, {**page.facts, "made_key": made})


async def _remove_key(call: Call, form: FormData) -> None:
    remove_key_of(call, text_of(form, "name"))


async def _end_session(call: Call, form: FormData) -> None:
    revoke_session_of(call, text_of(form, "name"))


async def _add_place(call: Call, form: FormData) -> None:
    await add_place_of(call, _struct(form, NewPlace, "directory"))


async def _remove_place(call: Call, form: FormData) -> None:
    await remove_place_of(call, text_of(form, "name"))


async def _change_password(call: Call, form: FormData) -> Answer:
    """The session gets a new id, so that a notice for the old one would be lost."""
    field = await change_password_of(call, _struct(form, ChangedPassword))
    notice = Notice("done", call.language.texts.gettext("The password is changed."))
    return PageAnswer("acted.html", {"notices": [notice]}, headers={"set-cookie": field})


async def _log_out(call: Call, _: FormData) -> Answer:
    call.services.sessions.end(call.identity)
    return RedirectResponse("/login", status_code=303, headers={"set-cookie": cookie_field("")})


def _struct(form: FormData, kind: type[_S], *names: str) -> _S:
    """The struct of the fields of a form; passwords are taken as they were typed.

    Raises:
        RefusedRequestError: They do not fit (422).
    """
    fields: dict[str, object] = {name: text_of(form, name) for name in names}
    for name in ("password", "old"):
        if name in kind.__struct_fields__ and isinstance(form.get(name), str):
            fields[name] = form.get(name)
    if "places" in kind.__struct_fields__ and "places" in form:
        fields["places"] = lines_of(text_of(form, "places"))
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise RefusedRequestError(422, "bad-form", str(error)) from None


_ADMIN: Final[Mapping[str, _Action]] = {
    "add-user": _add_user, "change-user": _change_user, "remove-user": _remove_user,
    "add-key": _add_key, "remove-key": _remove_key, "end-session": _end_session,
    "add-place": _add_place, "remove-place": _remove_place,
}  # fmt: skip
_ACCOUNT: Final[Mapping[str, _Action]] = {
    "change-password": _change_password,
    "end-session": _end_session,
    "log-out": _log_out,
}
