"""`nacre console user …` and `nacre console session …`: users of the console, their sessions."""

import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nacre.cli import output
from nacre.cli.console_options import Places, State
from nacre.cli.options import AsJson
from nacre.cli.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nacre.fleet.database import ConsoleDatabase
    from nacre.fleet.users import UserBook

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.", show_default=False)]
RoleOption = Literal["viewer", "operator", "admin"]

user = Program()
session = Program()


@user.callback()
def _user() -> None:
    """Users, who log in by name and password. With the first one, links need --local-link."""


@session.callback()
def _session() -> None:
    """Sessions of browsers that are logged in."""


@contextmanager
def _database(state: Path | None) -> "Iterator[ConsoleDatabase]":
    from nacre.fleet.database import ConsoleDatabase, state_folder

    with closing(ConsoleDatabase(state or state_folder())) as database:
        yield database


@contextmanager
def _users(state: Path | None) -> "Iterator[UserBook]":
    from nacre.fleet.users import UserBook
    from nacre.machine.clock import SystemClock

    with _database(state) as database:
        yield UserBook(database, SystemClock())


def _ask_password(name: str) -> str:
    """Ask twice for a password, or read the first line of the input; return its hash.

    Raises:
        ConfigError: It is refused.
    """
    from nacre.fleet.passwords import PasswordChecker, require_good
    from nacre.fleet.users import user_name

    user = user_name(name)
    if sys.stdin.isatty():
        password: str = typer.prompt(
            f"Password of {user}", hide_input=True, confirmation_prompt=True, err=True
        )
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    require_good(password, user)
    return PasswordChecker().hash(password)


@user.command("add")
def add_user(
    name: Name,
    role: Annotated[
        RoleOption | None,
        typer.Option(
            "--role", metavar="viewer|operator|admin", show_default=False,
            help="viewer: read; operator: run and edit jobs; admin: also manage keys, places "
                 "and users. Default: viewer; the first user must be an admin.",
        ),
    ] = None,
    place: Places = None,
    state: State = None,
) -> None:  # fmt: skip
    """Add a user; the first one must be an admin.

    The command asks for the password, or reads it from the first line of stdin.
    """
    from nacre.fleet.place_book import PlaceBook
    from nacre.fleet.users import UserBook, kept_places
    from nacre.machine.clock import SystemClock
    from nacre.ops.operation import Role, role_named

    with _database(state) as database:
        users = UserBook(database, SystemClock())
        default = Role.ADMIN if users.is_empty else Role.VIEWER
        new_role = role_named(role or default.title) or default
        # What can be refused is so before a password is typed.
        users.require_first(new_role)
        kept_places(new_role, place or ())
        PlaceBook(database).require(place or ())
        added = users.add(name, _ask_password(name), new_role, place or ())
    first = "; the first user is an admin" if default is Role.ADMIN and not role else ""
    output.say(f"added {added.name}, {added.role}{first}")


@user.command("password")
def set_password(name: Name, state: State = None) -> None:
    """Set the password of a user; their sessions end."""
    with _users(state) as users:
        users.require(name)
        users.set_hash(name, _ask_password(name))
    output.say(f"the password of {name} is set, and their sessions are over")


@user.command("set")
def set_user(
    name: Name,
    role: Annotated[
        RoleOption | None,
        typer.Option(
            "--role", metavar="viewer|operator|admin", show_default=False, help="Role of the user."
        ),
    ] = None,
    place: Places = None,
    *,
    all_places: Annotated[bool, typer.Option("--all-places", help="Allow all places.")] = False,
    state: State = None,
) -> None:
    """Change the role and the places of a user; their sessions end."""
    from nacre.fleet.place_book import PlaceBook
    from nacre.fleet.users import UserBook
    from nacre.machine.clock import SystemClock
    from nacre.ops.operation import Role, role_named

    with _database(state) as database:
        users = UserBook(database, SystemClock())
        PlaceBook(database).require(place or ())
        before = users.require(name)
        places = () if all_places or role == "admin" else tuple(place or before.places)
        changed = users.change(name, role_named(role or before.role) or Role.VIEWER, places)
    allowed = ", ".join(changed.places) or "all places"
    output.say(f"{changed.name} is {changed.role} of {allowed}; their sessions are over")


@user.command("list")
def list_users(state: State = None, as_json: AsJson = False) -> None:
    """List the users, without their passwords."""
    from nacre.core.clock import iso
    from nacre.core.message_data import to_plain

    with _users(state) as users:
        items = users.all()
    if as_json:
        output.say_json(to_plain(items))
        return
    rows = [
        (item.name, item.role, ", ".join(item.places) or "all", iso(item.made), iso(item.changed))
        for item in items
    ]
    head = ("name", "role", "places", "added", "password set")
    output.say(output.table([head, *rows]) if rows else "no users: links open the console")


@user.command("remove")
def remove_user(name: Name, state: State = None) -> None:
    """Remove a user; their sessions end."""
    with _users(state) as users:
        removed = users.remove(name)
    output.say(f"removed {removed.name}")


@session.command("list")
def list_sessions(state: State = None, as_json: AsJson = False) -> None:
    """List the open sessions."""
    from nacre.core.clock import iso
    from nacre.fleet.sessions import SessionBook
    from nacre.machine.clock import SystemClock

    with _database(state) as database:
        items = SessionBook(database, SystemClock()).all()
    if as_json:
        output.say_json([item._asdict() for item in items])
        return
    rows = [
        (item.id, item.name, item.role, item.how, iso(item.made), iso(item.used), item.address)
        for item in items
    ]
    head = ("id", "name", "role", "by", "began", "used", "address")
    output.say(output.table([head, *rows]) if rows else "no sessions")


@session.command("end")
def end_session(
    number: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the session.", show_default=False)
    ],
    state: State = None,
) -> None:
    """End a session: its browser has to log in again."""
    from nacre.errors import JobError
    from nacre.fleet.sessions import SessionBook
    from nacre.machine.clock import SystemClock

    with _database(state) as database:
        if not SessionBook(database, SystemClock()).revoke(number):
            raise JobError(
                f"there is no session {number!r}; `nacre console session list` lists them"
            )
    output.say(f"session {number} is over")
