"""Errors as answers: problem details (RFC 9457)."""

from http import HTTPStatus
from typing import Any

import msgspec

from nacre.errors import ConfigError, JobError, NacreError, StorageError, URIError
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.control import NotRunningError
from nacre.messages import Message

PROBLEM_TYPE = "application/problem+json"


class ProblemDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """The response to a refused request.

    Attributes:
        title: The status in words.
        status: Status code of the response.
        code: The error for programs, such as `not-found`.
        detail: The error for people.
        problems: Findings of a configuration, each with `path`, `message` and its place; the code
            and the parameters of the message are added (`message_code`, `params`).
        message_code: Code of the message in `detail`, for programs with their own texts; "" if the
            message has no code.
        params: Parameters of this message.
    """

    title: str
    status: int
    code: str
    detail: str
    problems: tuple[dict[str, Any], ...] = ()
    message_code: str = ""
    params: dict[str, Any] = {}


def problem_of(error: NacreError) -> ProblemDetails:
    """The answer that an error becomes."""
    problems: tuple[dict[str, Any], ...] = ()
    if isinstance(error, RefusedRequestError):
        status, code = error.status, error.code
    elif isinstance(error, ConfigError):
        status, code = 422, "bad-settings"
        problems = tuple(
            {**problem._asdict(), **_code_of(problem.message)} for problem in error.problems
        )
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
