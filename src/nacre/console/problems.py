"""Errors as answers: problem details (RFC 9457)."""

from http import HTTPStatus
from typing import Any, Final

import msgspec

from nacre.errors import ConfigError, JobError, NacreError, StorageError, URIError
from nacre.job.control import NotRunningError

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
        problems: Findings of a configuration, each with `path`, `message` and its place.
    """

    title: str
    status: int
    code: str
    detail: str
    problems: tuple[dict[str, Any], ...] = ()


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
        problems = tuple(problem._asdict() for problem in error.problems)
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
    return ProblemDetails(HTTPStatus(status).phrase, status, code, str(error), problems)


def not_found(what: str) -> RefusedRequestError:
    """The error of something that is not there."""
    return RefusedRequestError(404, "not-found", f"there is no {what}")
