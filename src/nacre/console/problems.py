"""Errors as answers: problem details (RFC 9457)."""

from http import HTTPStatus
from typing import Any, Final

import msgspec

from nacre.errors import ConfigError, JobError, NacreError, StorageError, URIError
from nacre.job.control import NotRunningError
from nacre.messages import Message, message

PROBLEM_TYPE = "application/problem+json"
SOON: Final = 10
"""Seconds after which to try again where others have the console busy: most work takes less."""


class ProblemDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a request that cannot be granted.

    Attributes:
        title: The status in words.
        status: Status code of the answer.
        code: The error for programs, such as `not-found`.
        detail: The error for people.
        problems: Findings of a configuration, each with `path`, `message` and its place; the code
            and the parameters of the message are added (`message_code`, `params`).
        message_code: Code of the message in `detail`, for programs that have texts of their own;
            "" if it has none.
        params: Parameters of this message.
    """

    title: str
    status: int
    code: str
    detail: str
    problems: tuple[dict[str, Any], ...] = ()
    message_code: str = ""
    params: dict[str, Any] = {}


class RefusedRequestError(NacreError):
    """A request that cannot be granted.

    Args:
        status: Status code of the answer.
        code: The error for programs.
        detail: The error for people.
        retry_after: Seconds after which it can be tried again; 0: that is not known.
    """

    def __init__(self, status: int, code: str, detail: str, retry_after: int = 0) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after = retry_after


def problem_of(error: NacreError) -> ProblemDetails:
    """The answer that an error becomes."""
    problems: tuple[dict[str, Any], ...] = ()
    if isinstance(error, RefusedRequestError):
        status, code = error.status, error.code
    elif isinstance(error, ConfigError):
        status, code = 422, "bad-settings"
        problems = tuple({**one._asdict(), **_code_of(one.message)} for one in error.problems)
    elif isinstance(error, URIError):
        status, code = 422, "bad-url"
    elif isinstance(error, NotRunningError):
        status, code = 409, "not-running"
    elif isinstance(error, JobError):
        status, code = 409, "refused"
    elif isinstance(error, StorageError):
        status, code = 503, "storage"
    else:
        status, code = 500, "error"
    title, text = HTTPStatus(status).phrase, error.message
    return ProblemDetails(title, status, code, text, problems, **_code_of(text))


def _code_of(text: str) -> dict[str, Any]:
    """The code and the parameters of a message; nothing for another text."""
    if not isinstance(text, Message):
        return {}
    return {"message_code": text.code, "params": dict(text.params)}


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
