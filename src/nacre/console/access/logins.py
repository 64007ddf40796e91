"""The exchange of a name and a password for a session."""

import math

from nacre.console.access.passwords import LONGEST, PasswordChecker
from nacre.console.access.sessions import SessionBook
from nacre.console.access.throttle import LoginThrottle, network_of
from nacre.console.access.users import ConsoleUser, UserBook, typed_name
from nacre.console.problems import RefusedRequestError
from nacre.core.clock import Clock
from nacre.messages import message
from nacre.ops.roles import role_named


class LoginDesk:
    """It checks passwords, with pauses after failures.

    Args:
        users: The users.
        sessions: Their sessions.
        clock: The time.
        checker: Makes and checks hashes of passwords.

    Attributes:
        checker: As given.
    """

    def __init__(
        self, users: UserBook, sessions: SessionBook, clock: Clock, checker: PasswordChecker
    ) -> None:
        self._users = users
        self._sessions = sessions
        self._throttle = LoginThrottle(clock)
        self.checker = checker

    async def check(self, name: str, password: str, address: str) -> ConsoleUser:
        """The user of a name and password.

        Args:
            name: As it was typed.
            password: Likewise.
            address: Where it was typed.

        Raises:
            RefusedRequestError: They do not fit (401), or it is too early for another try (429).
                The answer and its time are the same for unknown users.
        """
        known = self._users.find(name)
        name = known.name if known is not None else typed_name(name)
        sessions = self._sessions.all(name or "-")
        if any(network_of(session.address) == network_of(address) for session in sessions):
            self._throttle.welcome(name, address)
        left = self._throttle.left(name, address)
        if left > 0:
            seconds = math.ceil(left)
            raise RefusedRequestError(
                429,
                "too-many-tries",
                message(
                    "console.too-many-logins",
                    "too many failed logins; try again in {seconds} s",
                    seconds=seconds,
                ),
                seconds,
            )
        self._throttle.begin(name, address)
        kept = self._users.hash_of(name)
        is_right = await self.checker.is_right(kept, password[: LONGEST + 1])
        user = self._users.find(name)
        if user is None or not is_right:
            raise RefusedRequestError(
                401,
                "wrong-login",
                message("console.login-failed", "the name or the password is wrong"),
            )
        self._throttle.succeeded(name, address)
        if self.checker.is_outdated(kept):
            self._users.renew_hash(name, await self.checker.hash_beside(password))
        return user

    def begin(self, user: ConsoleUser, address: str, agent: str) -> str:
        """Begin a session of a user; its id, for the cookie."""
        role = role_named(user.role)
        if role is None:  # the database was changed by hand
            raise RefusedRequestError(
                403,
                "role",
                message(
                    "console.role-unknown",
                    "{name} has an unknown role: {role}",
                    name=user.name,
                    role=user.role,
                ),
            )
        return self._sessions.begin(user.name, role, "password", address, agent)
