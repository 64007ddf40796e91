"""The error of a refused request, with the status of its response."""

from typing import Final

from nacre.errors import NacreError
from nacre.messages import message

SOON: Final = 10
"""Seconds after which to try again where others have the console busy: most work takes less."""


class RefusedRequestError(NacreError):
    """A refused request.

    Args:
        status: Status code of the response.
        code: The error for programs.
        detail: The error for people.
        retry_after: Seconds after which the client can retry; 0 if unknown.
    """

    def __init__(self, status: int, code: str, detail: str, retry_after: int = 0) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after = retry_after


_KINDS: Final = {
    "clip": message("console.kind-clip", "clip"),
    "file": message("console.kind-file", "file"),
    "job": message("console.kind-job", "job"),
    "key": message("console.kind-key", "key"),
    "log": message("console.kind-log", "log"),
    "place": message("console.kind-place", "place"),
    "profile": message("console.kind-profile", "profile"),
    "queue": message("console.kind-queue", "queue"),
    "run": message("console.kind-run", "run"),
    "schedule": message("console.kind-schedule", "schedule"),
    "session": message("console.kind-session", "session"),
    "setting": message("console.kind-setting", "setting"),
    "task": message("console.kind-task", "task"),
    "user": message("console.kind-user", "user"),
    "version": message("console.kind-version", "version"),
    "webhook": message("console.kind-webhook", "webhook"),
}


def not_found(kind: str, name: object = "") -> RefusedRequestError:
    """Return the error of a missing item.

    Args:
        kind: Its kind, such as `job`, or a message that describes it.
        name: Its name or number; "" if it has none.
    """
    kind = _KINDS.get(kind, kind)
    text = message("console.no-such-item", "there is no {kind}", kind=kind)
    if name != "":
        text = message("console.no-item", "there is no {kind} {name}", kind=kind, name=name)
    return RefusedRequestError(404, "not-found", text)
