"""`/api/v1/users` and `/api/v1/keys`: the users and keys of the console, for admins."""

from typing import Literal

import msgspec

from nacre.console.call import AdminCall
from nacre.console.links import ItemList
from nacre.core.clock import iso
from nacre.core.message_data import to_plain
from nacre.fleet.passwords import require_good
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.users import ConsoleUser, user_name
from nacre.messages import message
from nacre.ops.fields import Secret, ShortText, ShortTexts
from nacre.ops.operation import Role, role_named
from nacre.web.versions import EditedThing, edited

RoleName = Literal["viewer", "operator", "admin"]


class UserItem(msgspec.Struct, frozen=True):
    """A user in the list.

    Attributes:
        name: Their name.
        role: `viewer`, `operator` or `admin`.
        places: Labels of the places that they see; empty for all.
        made: When they were added, RFC 3339.
        changed: When their password was set last, RFC 3339.
    """

    name: str
    role: str
    places: tuple[str, ...]
    made: str
    changed: str


class UserList(ItemList[UserItem], frozen=True):
    """All users."""


class NewUser(msgspec.Struct, frozen=True):
    """A user to add.

    Attributes:
        name: Their name: letters, digits and `. @ + - _`.
        password: Their password, 12 to 128 characters.
        role: What they may do. The first user has to be an admin.
        places: Labels of the places that they see; empty for all.
    """

    name: ShortText
    password: Secret
    role: RoleName = "viewer"
    places: ShortTexts = ()


class UserChange(msgspec.Struct, frozen=True):
    """A change of a user; it ends their sessions.

    Attributes:
        role: What they may do; null leaves it.
        places: Labels of the places that they see; empty for all; null leaves them.
        password: A new password; null leaves it.
    """

    role: RoleName | None = None
    places: ShortTexts | None = None
    password: Secret | None = None


class KeyItem(msgspec.Struct, frozen=True):
    """A key of a program in the list.

    Attributes:
        name: Its name.
        role: What it may do.
        places: Labels of the places that it sees; empty for all.
        made: When it was made, RFC 3339.
        used: When it was used last, RFC 3339; "" for never.
    """

    name: str
    role: str
    places: tuple[str, ...]
    made: str
    used: str


class KeyList(ItemList[KeyItem], frozen=True):
    """All keys of programs."""


class NewKey(msgspec.Struct, frozen=True):
    """A key to make.

    Attributes:
        name: Its name, which the audit log shows.
        role: What it may do.
        places: Labels of the places that it sees; empty for all.
    """

    name: ShortText
    role: RoleName = "viewer"
    places: ShortTexts = ()


class MadeKey(msgspec.Struct, frozen=True):
    """A key that was made.

    Attributes:
        name: Its name.
        role: What it may do.
        key: The key itself. Only its hash is kept: it is shown this once.
    """

    name: str
    role: str
    key: str


async def list_users(call: AdminCall) -> UserList:
    """All users, without their passwords."""
    items = tuple(user_item(user) for user in call.parts.users.all())
    return UserList(items, None, call.now)


async def add_user(call: AdminCall) -> UserItem:
    """Add a user.

    Raises:
        RefusedRequestError: The name, the password or a place is wrong.
    """
    request: NewUser = call.body
    users = call.parts.users
    name = user_name(request.name)
    require_good(request.password, name)
    _require_places(call, request.places)
    hashed = await call.parts.logins.checker.hash_beside(request.password)
    user = users.add(name, hashed, _role(request.role), request.places)
    call.note.change(None, user)
    return user_item(user)


async def get_user(call: AdminCall) -> UserItem:
    """A user, without their password."""
    return user_item(_user(call))


async def user_version(call: AdminCall) -> EditedThing:
    """A user; a change of the password is one too."""
    return edited(user_item(_user(call)))


async def change_user(call: AdminCall) -> UserItem:
    """Change the role, the places or the password of a user.

    Raises:
        RefusedRequestError: There is none (404), or the change is refused.
    """
    request: UserChange = call.body
    users, before = call.parts.users, _user(call)
    role = _role(request.role or before.role)
    places = before.places if request.places is None else request.places
    if role is Role.ADMIN and request.places is None:
        places = ()
    if request.places is not None:
        _require_places(call, places)
    if request.password is not None:
        require_good(request.password, before.name)
    changed = users.change(before.name, role, places)
    if changed.places:
        call.parts.webhooks.restrict(before.name, changed.places)
    call.note.change(before, {**to_plain(changed), "password": request.password})
    if request.password is not None:
        hashed = await call.parts.logins.checker.hash_beside(request.password)
        users.set_hash(before.name, hashed)
    return user_item(users.find(before.name) or changed)


async def remove_user(call: AdminCall) -> None:
    """Remove a user; their sessions end.

    Raises:
        RefusedRequestError: There is none (404).
    """
    user = _user(call)
    call.note.change(user, None)
    call.parts.users.remove(user.name)


async def list_keys(call: AdminCall) -> KeyList:
    """All keys of programs, without their secrets."""
    items = tuple(
        KeyItem(key.name, key.role, key.places, iso(key.made), iso(key.used) if key.used else "")
        for key in call.parts.keys.all()
    )
    return KeyList(items, None, call.now)


async def add_key(call: AdminCall) -> MadeKey:
    """Make a key of a program; it is shown once.

    Raises:
        RefusedRequestError: The name or a place is wrong.
    """
    request: NewKey = call.body
    _require_places(call, request.places)
    secret = call.parts.keys.add(request.name, _role(request.role), request.places)
    return MadeKey(request.name, request.role, secret)


async def remove_key(call: AdminCall) -> None:
    """Remove a key; programs that have it are refused from now on.

    Raises:
        RefusedRequestError: There is none (404).
    """
    name = str(call.params["key"])
    if not call.parts.keys.remove(name):
        raise not_found("key", name)
    call.note.change({"name": name}, None)


def user_item(user: ConsoleUser) -> UserItem:
    """A user in the list."""
    return UserItem(user.name, user.role, user.places, iso(user.made), iso(user.changed))


def _user(call: AdminCall) -> ConsoleUser:
    """Return the user that the path names.

    Raises:
        RefusedRequestError: There is none (404).
    """
    name = str(call.params["user"])
    user = call.parts.users.find(name)
    if user is None:
        raise not_found("user", name)
    return user


def _role(name: str) -> Role:
    return role_named(name) or Role.VIEWER


def _require_places(call: AdminCall, labels: tuple[str, ...]) -> None:
    """Refuse labels that no place has: a user restricted to a typing error would see nothing."""
    place_labels = {place.label for place in call.fleet.places}
    wrong = [label for label in labels if label not in place_labels]
    if wrong:
        raise RefusedRequestError(
            422,
            "no-place",
            message(
                "console.no-place",
                "there is no place {names}; there are {places}",
                names=", ".join(wrong),
                places=", ".join(sorted(place_labels)),
            ),
        )
